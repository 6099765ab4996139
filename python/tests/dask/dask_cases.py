"""Random patterns, arrays and chunks for the tests of axisloom.dask, and how results are compared."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask._task_spec import Alias
from dask.local import get_sync
from hypothesis import strategies as st

LENGTHS = (0, 1, 1, 2, 3, 4, 6)


class Case(NamedTuple):
    x: np.ndarray
    chunks: tuple[tuple[int, ...], ...]
    pattern: str
    lengths: dict[str, int]

    def lazy(self) -> da.Array:
        return chunked(self.x, self.chunks)


def chunked(x: np.ndarray, chunks: tuple[tuple[int, ...], ...]) -> da.Array:
    """An array of Dask with these chunks, which may be empty."""
    ends = [np.cumsum((0, *parts)) for parts in chunks]
    graph = {}
    for index in itertools.product(*(range(len(parts)) for parts in chunks)):
        graph[("given", *index)] = x[tuple(slice(end[at], end[at + 1]) for at, end in zip(index, ends))]
    return da.Array(graph, "given", chunks, meta=x[(slice(0, 0),) * x.ndim])


def groups_of(draw: Any, axes: list[str]) -> list[list[str]]:
    """Axes in a row, some of them in parentheses, some parentheses empty."""
    groups: list[list[str]] = []
    for axis in axes:
        if groups and draw(st.booleans()):
            groups[-1].append(axis)
        else:
            groups += [[]] * draw(st.sampled_from((0, 0, 0, 1))) + [[axis]]
    return groups


def written(groups: list[list[str]]) -> str:
    return " ".join(f"({' '.join(group)})" for group in groups)


def chunks_of(draw: Any, length: int) -> tuple[int, ...]:
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=4)))
    return tuple(int(part) for part in np.diff([0, *cuts, length]))


@st.composite
def cases(draw: Any, name: str = "rearrange", dtype: str = "int32") -> Case:
    axes = [f"a{number}" for number in range(draw(st.integers(0, 5)))]
    lengths = {axis: draw(st.sampled_from(LENGTHS if name != "reduce" else LENGTHS[1:])) for axis in axes}
    inputs = groups_of(draw, axes)
    shape = tuple(int(np.prod([lengths[axis] for axis in group], dtype=int)) for group in inputs)
    chunks = tuple(chunks_of(draw, length) for length in shape)
    kept = draw(st.permutations(axes))
    if name == "reduce":
        kept = kept[: draw(st.integers(0, len(kept)))]
    if name == "repeat":
        added = {f"r{number}": draw(st.sampled_from(LENGTHS)) for number in range(draw(st.integers(0, 2)))}
        lengths |= added
        kept = draw(st.permutations([*kept, *added]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    x = rng.integers(-4, 5, shape).astype(dtype)
    return Case(x, chunks, f"{written(inputs)} -> {written(groups_of(draw, kept))}", lengths)


def assert_is(lazy: da.Array, expected: Any, **tolerance: float) -> None:
    """Shape, dtype and chunks are as announced before anything was computed, and elements are right."""
    assert isinstance(lazy, da.Array)
    assert (lazy.shape, lazy.dtype, lazy._meta.dtype) == (np.shape(expected), expected.dtype, expected.dtype)
    computed = lazy.compute(scheduler="synchronous")
    assert (np.shape(computed), computed.dtype) == (np.shape(expected), expected.dtype)
    if tolerance:
        np.testing.assert_allclose(computed, expected, **tolerance)
    else:
        np.testing.assert_array_equal(computed, expected)
    graph = dict(lazy.__dask_graph__())
    keys = [(lazy.name, *index) for index in itertools.product(*map(range, lazy.numblocks))]
    blocks = get_sync(graph, keys)
    shapes = list(itertools.product(*lazy.chunks))
    assert [np.shape(block) for block in blocks] == shapes


def layers(lazy: da.Array, kind: str) -> list[str]:
    """Names of the layers that begin so."""
    return [name for name in lazy.dask.layers if name.startswith(kind)]


def tasks(lazy: da.Array) -> int:
    """How many are left of the whole graph when Dask has joined those that follow each other, without the input."""
    (optimized,) = dask.optimize(lazy)
    graph = dict(optimized.__dask_graph__())
    return len([key for key, task in graph.items() if key[0] != "given" and not isinstance(task, Alias)])
