"""Patterns of distributed arrays by plain indices: what part of an array each rank has, and random patterns."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import einops
import numpy as np

from axisloom._cuts import Axis, Cut, Dim, Side, parse_sides
from axisloom.distributed import Mesh


class Case(NamedTuple):
    """All lengths are in `extents`, those of the whole array's axes."""

    pattern: str
    mesh: str
    extents: dict[str, int]

    def __str__(self) -> str:
        lengths = " ".join(f"{name}={length}" for name, length in self.extents.items())
        return f'"{self.pattern}" {lengths} over "{self.mesh}"'

    @property
    def sides(self) -> tuple[Side, Side]:
        return parse_sides(self.pattern)

    @property
    def ranks(self) -> int:
        return Mesh(self.mesh).ranks

    @property
    def shape(self) -> tuple[int, ...]:
        """The whole input's."""
        return tuple(math.prod(self.extents[axis.name] for axis in dim.axes) for dim in self.sides[0].dims)

    @property
    def lengths(self) -> dict[str, int]:
        """Those that the shape does not tell."""
        left, right = self.sides
        alone = [dim.axes[0].name for dim in left.dims if len(dim.axes) == 1]
        names = dict.fromkeys(axis.name for side in (left, right) for dim in side.dims for axis in dim.axes)
        return {name: self.extents[name] for name in names if name not in alone}

    @property
    def summed(self) -> list[str]:
        left, right = self.sides
        return [name for name in left.addends if name not in right.addends]

    def part(self, side: Side, rank: int) -> tuple[np.ndarray, ...]:
        """For indexing the whole array: what this rank has of it."""
        return np.ix_(*part(side, self.extents, Mesh(self.mesh), rank))

    def rearranged(self, whole):
        """The whole output, by einops."""
        left, right = (" ".join(map(str, map(_uncut, side.dims))) for side in self.sides)
        return einops.repeat(whole, f"{left} -> {right}", **self.lengths)

    def addend(self, rank: int) -> int:
        """Which of the addends that the ranks hold this rank has a part of; 0 where there is one array."""
        mesh = Mesh(self.mesh)
        at = mesh.coordinates(rank)
        return functools.reduce(lambda found, name: found * mesh.axes[name] + at[name], self.sides[0].addends, 0)

    def addends_of(self, rank: int) -> list[int]:
        """The addends whose sum this rank gets a part of."""
        mesh = Mesh(self.mesh)
        own = mesh.coordinates(rank)
        others = (
            self.addend(other)
            for other in range(mesh.ranks)
            if all(at == own[name] for name, at in mesh.coordinates(other).items() if name not in self.summed)
        )
        return sorted(set(others))


def _uncut(dim: Dim) -> Dim:
    return Dim(tuple(Axis(axis.name) for axis in dim.axes), dim.composed)


def part(side: Side, extents: Mapping[str, int], mesh: Mesh, rank: int) -> list[np.ndarray]:
    """The indices along each axis of the array, in the order of the local array."""
    at = mesh.coordinates(rank)

    def cut(indices: np.ndarray, cuts: Sequence[Cut]) -> np.ndarray:
        for one in cuts:
            count = math.prod(mesh.axes[name] for name in one.over)
            place = functools.reduce(lambda found, name: found * mesh.axes[name] + at[name], one.over, 0)
            indices = _dealt(indices, one.deal, count, place)
        return indices

    found = []
    for dim in side.dims:
        indices = np.zeros(1, np.int64)
        for axis in dim.axes:
            extent = extents[axis.name]
            indices = (indices[:, None] * extent + cut(np.arange(extent), axis.cuts)).ravel()
        found.append(cut(indices, dim.cuts))
    return found


def _dealt(indices: np.ndarray, deal: str, count: int, place: int) -> np.ndarray:
    if deal == "balanced":
        return np.array_split(indices, count)[place]
    if deal:
        return indices[np.arange(len(indices)) // int(deal) % count == place]
    longest = -(-len(indices) // count)
    return indices[place * longest : (place + 1) * longest]


# Random patterns ------------------------------------------------------------------------------------------------------


def draw(seed: int, meshes: Sequence[str], plain_cuts: bool = False, sums: bool = True) -> Case:
    """plain_cuts: equal parts of torch.chunk alone, of lengths that divide. sums: whether ranks may hold addends."""
    dice = random.Random(seed)
    mesh = Mesh(dice.choice(meshes))
    names = list("abcde"[: dice.randint(1, 5)])
    extents = {name: dice.randint(1, 7) for name in names}
    if plain_cuts:
        extents = {name: mesh.ranks * dice.randint(1, 2) for name in names}
    elif dice.random() < 0.05:
        extents[dice.choice(names)] = 0
    left = _grouped(names, dice)
    more = ["r"] if dice.random() < 0.2 else []
    extents.update(dict.fromkeys(more, mesh.ranks if plain_cuts else dice.randint(1, 4)))
    mixed = names + more
    dice.shuffle(mixed)
    right = _grouped(mixed, dice)
    sides = [_with_cuts(dims, mesh, dice, plain_cuts) for dims in (left, right)]
    free = [[name for name in mesh.axes if not [dim for dim in dims if name in dim.over]] for dims in sides]
    addends = [name for name in free[0] if sums and dice.random() < 0.3]
    staying = [name for name in addends if name in free[1] and dice.random() < 0.3]
    text = f"{Side(sides[0], tuple(addends))} -> {Side(sides[1], tuple(staying))}"
    return Case(text, str(mesh), extents)


def _grouped(names: list[str], dice: random.Random) -> list[Dim]:
    dims = []
    rest = list(names)
    while rest:
        count = min(dice.choice((1, 1, 2, 3)), len(rest))
        dims.append(Dim(tuple(map(Axis, rest[:count])), count > 1))
        rest = rest[count:]
    return dims


def _with_cuts(dims: list[Dim], mesh: Mesh, dice: random.Random, plain: bool) -> tuple[Dim, ...]:
    dims = list(dims)
    over = list(mesh.axes)
    dice.shuffle(over)
    while over:
        count = 2 if len(over) > 1 and dice.random() < 0.2 else 1
        names, over = tuple(over[:count]), over[count:]
        if dice.random() < 0.25:
            continue
        deal = "" if plain else dice.choice(("", "", "balanced", str(dice.randint(1, 3))))
        place = dice.randrange(len(dims))
        dims[place] = _cut_more(dims[place], Cut(names, deal), dice)
    return tuple(dims)


def _cut_more(dim: Dim, cut: Cut, dice: random.Random) -> Dim:
    within = any(axis.cuts for axis in dim.axes)
    if dim.composed and not within and (dim.cuts or dice.random() < 0.5):
        return dim._replace(cuts=(*dim.cuts, cut))
    place = dice.randrange(len(dim.axes))
    axes = list(dim.axes)
    axes[place] = axes[place]._replace(cuts=(*axes[place].cuts, cut))
    return dim._replace(axes=tuple(axes))
