"""What is done to one block, and the layers of a graph that do it to each."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from dask.utils import parse_bytes

from .. import _native
from .._arrays import refuse_masked
from ._chunks import Axis, Chunks, Grid, Group, composed, ones, without_empty
from ._patterns import block_lengths, written

# Threads -------------------------------------------------------------------------------------------------------------

_lock = threading.Lock()
_blocks_at_work = 0
_threads_before = 0


@contextmanager
def one_thread() -> Iterator[None]:
    """Dask's pool has a thread, or a process, for each processor: blocks that run in it start no threads of their own.

    The limit is that of the process; it is lifted when no block is at work. The synchronous scheduler has no pool: it
    runs in the thread that asks, which mostly is the main one.
    """
    global _blocks_at_work, _threads_before
    if threading.current_thread() is threading.main_thread() and multiprocessing.parent_process() is None:
        yield
        return
    with _lock:
        if not _blocks_at_work:
            _threads_before = _native.get_num_threads()
            _native.set_num_threads(1)
        _blocks_at_work += 1
    try:
        yield
    finally:
        with _lock:
            _blocks_at_work -= 1
            if not _blocks_at_work:
                _native.set_num_threads(_threads_before)


# Blocks --------------------------------------------------------------------------------------------------------------


def only_block(block: Any) -> Any:
    """Dask gives a list where the result does not have the axis of the blocks; there is one of them."""
    while isinstance(block, list):
        (block,) = block
    return block


@dataclass(frozen=True)
class Work:
    """One call of the library; its result gets axes of length 1 at its end, for a tree of reductions."""

    name: str
    texts: tuple[Any, ...]  # as the library takes them; the reduction may be a function
    lengths: tuple[tuple[str, int], ...]
    options: tuple[tuple[str, str], ...] = ()
    more_axes: int = 0

    def __call__(self, block: Any) -> Any:
        with one_thread():
            result = self._done(only_block(block))
        return result.reshape((*result.shape, *ones(self.more_axes))) if self.more_axes else result

    def _done(self, block: Any) -> Any:
        if self.name == "reduce" and callable(self.texts[0]):
            return _native.reduce(block, self.texts[1], self.texts[0], **dict(self.lengths))
        return _native.call(self.name, self.texts, (block,), dict(self.lengths), dict(self.options))


@dataclass(frozen=True)
class Opening:
    """A view of a block whose composed axes are split; of each, one part at most has a length of its own."""

    groups: tuple[tuple[int | None, ...], ...]

    def __call__(self, block: Any) -> Any:
        block, shape = only_block(block), []
        for group, extent in zip(self.groups, block.shape):
            rest = math.prod(length for length in group if length is not None)
            shape += [extent // rest if length is None else length for length in group]
        return block.reshape(shape)


# Layers --------------------------------------------------------------------------------------------------------------


def checked(x: Any) -> Any:
    """The array, with chunks that are known and not empty."""
    if any(math.isnan(length) for chunks in x.chunks for length in chunks):
        raise ValueError(
            f"the lengths of some chunks are not known, the shape is {x.shape}; call compute_chunk_sizes() on it before"
        )
    refuse_masked(x._meta)
    return rechunked(x, tuple(map(without_empty, x.chunks)))


def rechunked(x: Any, chunks: Sequence[Chunks]) -> Any:
    """Dask chooses how: where there is a cluster and blocks are made of many, its workers exchange parts (p2p)."""
    if tuple(chunks) == x.chunks:
        return x
    if not x.size:  # which Dask leaves as they are
        return da.empty(x.shape, dtype=x.dtype, chunks=tuple(chunks))
    return x.rechunk(tuple(chunks))


def most_elements(size: int) -> int:
    """How many elements of so many bytes Dask allows in a block."""
    return max(1, parse_bytes(dask.config.get("array.chunk-size")) // max(1, size))


def meta_like(x: Any, ndim: int, dtype: Any) -> Any:
    """An empty array of the kind that the blocks of x are."""
    return numpy.empty_like(x._meta, dtype=dtype, shape=(0,) * ndim)


def mapped(
    x: Any,
    inputs: Sequence[Group],
    outputs: Sequence[Group],
    grid: Grid,
    work: Callable[[Any], Any],
    dtype: Any,
    token: str,
    kept: Sequence[Axis] = (),
) -> Any:
    """One task for each block. Reduced axes in `kept` stay as axes of a length of 1 for each chunk."""
    outputs = [*outputs, *((axis,) for axis in kept)]
    numbers = {axis: number for number, axis in enumerate(grid)}
    fresh = itertools.count(len(numbers))

    def indices(groups: Sequence[Group]) -> list[list[int]]:
        """Of each axis: the axes of the grid that have several blocks, or one that stands for it."""
        several = ([numbers[axis] for axis in group if len(grid[axis]) > 1] for group in groups)
        return [some or [numbers[group[0]] if group else next(fresh)] for some, group in zip(several, groups)]

    blocks = {numbers[axis]: len(chunks) for axis, chunks in grid.items()}
    reading, writing = indices(inputs), indices(outputs)
    chunks = [composed(group, grid) for group in outputs]
    chunks[len(chunks) - len(kept) :] = [ones(len(grid[axis])) for axis in kept]
    sizes: dict[int, Chunks] = {}
    for group, axis_chunks in zip(writing, chunks):
        sizes |= {group[0]: axis_chunks} if len(group) == 1 else {index: ones(blocks[index]) for index in group}
    opened_x = _renamed(x, reading, [[blocks.get(index, 1) for index in group] for group in reading])
    given = {index for group in reading for index in group}
    made = da.blockwise(
        work,
        [index for group in writing for index in group],
        opened_x,
        [index for group in reading for index in group],
        new_axes={index: size for index, size in sizes.items() if index not in given},
        adjust_chunks={index: size for index, size in sizes.items() if index in given},
        align_arrays=False,
        dtype=dtype,
        meta=meta_like(x, sum(map(len, writing)), dtype),
        token=token,
    )
    return _named(made, writing, tuple(chunks))


def _renamed(x: Any, groups: list[list[int]], counts: list[list[int]]) -> Any:
    """The same blocks, by a number for each axis of the grid: other names, no work."""
    if all(len(group) == 1 for group in groups):
        return x
    flat = [count for group in counts for count in group]
    name = f"blocks-{tokenize(x.name, counts)}"
    graph = {(name, *index): (x.name, *_joined(index, counts)) for index in itertools.product(*map(range, flat))}
    return _array(name, graph, x, tuple(map(ones, flat)))


def _named(x: Any, groups: list[list[int]], chunks: tuple[Chunks, ...]) -> Any:
    """The same blocks, by a number for each axis of the array."""
    if all(len(group) == 1 for group in groups):
        return x
    sizes = iter(x.numblocks)
    counts = [[next(sizes) for _ in group] for group in groups]
    name = f"axes-{tokenize(x.name, chunks)}"
    graph = {(name, *_joined(index, counts)): (x.name, *index) for index in itertools.product(*map(range, x.numblocks))}
    return _array(name, graph, x, chunks)


def _joined(index: tuple[int, ...], counts: list[list[int]]) -> list[int]:
    """One number for each group, the last of a group counts fastest."""
    numbers, joined = iter(index), []
    for group in counts:
        number = 0
        for count in group:
            number = number * count + next(numbers)
        joined.append(number)
    return joined


def _array(name: str, graph: dict[Any, Any], x: Any, chunks: tuple[Chunks, ...]) -> Any:
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[x])
    return da.Array(layers, name, chunks, meta=meta_like(x, len(chunks), x.dtype))


def opened_by(x: Any, inputs: Sequence[Group], grid: Grid) -> Any:
    """Views of the blocks, whose axes are those of the grid."""
    groups = tuple(
        tuple(grid[axis][0] if len(set(grid[axis])) == 1 else None for axis in group) for group in inputs
    )
    outputs = [(axis,) for group in inputs for axis in group]
    return mapped(x, inputs, outputs, grid, Opening(groups), x.dtype, "axisloom-open")


def work_on_blocks(
    name: str, words: tuple[Any, ...], inputs: Sequence[Group], outputs: Sequence[Group], grid: Grid, **more: Any
) -> Work:
    return Work(name, (*words, written(inputs, outputs, grid)), block_lengths(grid), **more)
