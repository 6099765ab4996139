"""Plans of chunks: how the axes of a pattern are cut, so that each block of the result is made of few blocks.

The axes of a pattern are elementary; an axis of an array is composed of none, one or several of them (a group). A grid
says how each elementary axis is cut. An array's axis can be cut so, as Dask cuts axes, where the group is *regular*: up
to some axis all chunks have length 1, and behind it all axes are whole. Then blocks of the array and blocks of the grid
are the same, in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

Axis = Hashable
Chunks = tuple[int, ...]
Group = tuple[Axis, ...]
Grid = dict[Axis, Chunks]
Lengths = Mapping[Axis, int]


class Plan(NamedTuple):
    chunks: tuple[Chunks, ...]  # of the input, once it is rechunked
    opened: Grid | None  # the grid of these chunks, where elementary axes have to be rechunked to the final one
    grid: Grid


def ones(length: int) -> Chunks:
    return (1,) * length or (0,)


def largest(chunks: Sequence[Chunks]) -> int:
    """How many elements the largest block has."""
    return math.prod(map(max, chunks))


def without_empty(chunks: Chunks) -> Chunks:
    return tuple(length for length in chunks if length) or (0,)


def cut(chunks: Chunks, most: int) -> Chunks:
    """Chunks that are longer are cut into equal pieces."""
    pieces: list[int] = []
    for chunk in chunks:
        count = max(1, -(-chunk // most))
        pieces += [chunk * (at + 1) // count - chunk * at // count for at in range(count)]
    return tuple(pieces)


def joined(chunks: Chunks, most: int) -> Chunks:
    """Neighbours are joined where they are not longer than this together."""
    made = [chunks[0]]
    for chunk in chunks[1:]:
        if made[-1] + chunk <= most:
            made[-1] += chunk
        else:
            made.append(chunk)
    return tuple(made)


def refined(several: Collection[Chunks]) -> Chunks:
    """Cut wherever one of several ways to cut an axis does."""
    ends = sorted({end for chunks in several for end in accumulate(chunks)})
    return tuple(after - before for before, after in pairwise([0, *ends])) if ends[-1] else (0,)


def is_regular(group: Group, grid: Grid) -> bool:
    at = 0
    while at < len(group) and set(grid[group[at]]) == {1}:
        at += 1
    return all(len(grid[axis]) == 1 for axis in group[at + 1 :])


def composed(group: Group, grid: Grid) -> Chunks:
    """How the array's axis is cut, of a regular group."""
    chunks: Chunks = (1,)
    for axis in group:
        chunks = tuple(outer * inner for outer in chunks for inner in grid[axis])
    return chunks


def opened(group: Group, lengths: Lengths, chunks: Chunks) -> Grid:
    """The grid of an array's axis that is cut like this, or at the nearest places where a grid can be."""
    for at, axis in enumerate(group):
        outer, inner = (math.prod(lengths[other] for other in part) for part in (group[:at], group[at + 1 :]))
        period = chunks[: len(chunks) // outer] if outer else ()
        fits = sum(period) == lengths[axis] * inner and period * outer == chunks
        if fits and (len(chunks) == 1 or not any(chunk % inner for chunk in period)):
            return _grid(group, lengths, at, tuple(chunk // inner for chunk in period) if inner else (lengths[axis],))
    return _nearest(group, lengths, chunks) if group else {}


def _grid(group: Group, lengths: Lengths, at: int, chunks: Chunks) -> Grid:
    """Axes before one are cut into single elements, those behind it are whole."""
    before = {axis: ones(lengths[axis]) for axis in group[:at]}
    return before | {group[at]: chunks} | {axis: (lengths[axis],) for axis in group[at + 1 :]}


def _nearest(group: Group, lengths: Lengths, chunks: Chunks) -> Grid:
    most, at = max(chunks), 0
    while (inner := math.prod(lengths[axis] for axis in group[at + 1 :])) > 2 * most:  # none of its multiples is near
        at += 1
    length = lengths[group[at]]
    if at:
        return _grid(group, lengths, at, cut((length,), max(1, round(most / inner))))
    ends = {round(end / inner) for end in accumulate(chunks)}
    return _grid(group, lengths, at, tuple(after - before for before, after in pairwise(sorted({0, length, *ends}))))


class _Planner:
    def __init__(self, outputs: Sequence[Group], lengths: Lengths, grid: Grid) -> None:
        self.outputs, self.lengths, self.grid = outputs, lengths, grid
        self.added = [axis for group in outputs for axis in group if axis not in grid]

    def compose(self, group: Group, least: int) -> None:
        """Makes a group regular: by cuts alone, where blocks keep this size, or else by new chunks of the old size.

        Axes that are added are cut freely: the input has no blocks of them.
        """
        whole = {axis: (self.lengths[axis],) for axis in group if axis in self.added}
        for candidates, size in ((set(self.added), 0), (set(group), least)):
            for at in range(len(group) + 1):
                single = {axis: ones(self.lengths[axis]) for axis in group[:at] if axis in candidates}
                trial = {**self.grid, **whole, **single}
                if is_regular(group, trial) and largest(list(trial.values())) >= size:
                    self.grid = trial
                    return
        self.grid |= whole
        self.limit(group, largest([self.grid[axis] for axis in group]), join=True)

    def limit(self, group: Group, most: int, join: bool = False) -> None:
        """Blocks with at most so many elements of the composed axis, the inner axes whole where they can be."""
        inner, at = 1, len(group) - 1
        while at > 0 and inner * self.lengths[group[at]] <= most:
            inner *= self.lengths[group[at]]
            at -= 1
        axis, most = group[at], max(1, most // max(1, inner))
        if axis in self.added:
            chunks = self._even(self.lengths[axis], most)
        else:
            chunks = cut(self.grid[axis], most)
            chunks = joined(chunks, most) if join else chunks
        self.grid |= _grid(group, self.lengths, at, chunks)

    @staticmethod
    def _even(length: int, most: int) -> Chunks:
        """Equal chunks: a task is not told which chunk of an axis it makes that its input does not have."""
        chunk = next((chunk for chunk in range(min(most, length), 0, -1) if length % chunk == 0), length)
        return (chunk,) * (length // chunk) if length else (0,)

    def shrink(self, most: int) -> None:
        """Cuts axes until blocks have at most so many elements, first those that are added."""
        for group in sorted(self.outputs, key=lambda group: not set(group) & set(self.added)):
            block = largest(list(self.grid.values()))
            if block > most and group:
                part = largest([self.grid[axis] for axis in group])
                self.limit(group, max(1, part * most // block))


def planned(
    chunks: Sequence[Chunks],
    inputs: Sequence[Group],
    outputs: Sequence[Group],
    lengths: Lengths,
    whole: Collection[Axis],
    most: int,
    least: int,
) -> Plan:
    """A plan for an array of these chunks, of which none is empty.

    whole: axes that must not be cut. most: elements that a block may have; blocks of the input may be larger already.
    least: elements that a block has to keep where cuts alone would do.
    """
    grid: Grid = {}
    for group, axis_chunks in zip(inputs, chunks):
        grid |= opened(group, lengths, axis_chunks)
    planner = _Planner(outputs, lengths, grid | {axis: (lengths[axis],) for axis in whole})
    for group in outputs:
        planner.compose(group, least)
    planner.shrink(max(most, largest(list(chunks))))
    if all(is_regular(group, planner.grid) for group in inputs):
        return Plan(tuple(composed(group, planner.grid) for group in inputs), None, planner.grid)
    return Plan(tuple(composed(group, grid) for group in inputs), grid, planner.grid)
