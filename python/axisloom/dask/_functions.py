"""The functions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsIndex, cast

import dask.array as da

from .._patterns import is_whole_number
from ._blocks import checked, mapped, most_elements, opened_by, rechunked, work_on_blocks
from ._chunks import Axis, Grid, Group, planned
from ._einsum import einsum_of_operands
from ._patterns import Bound, bind
from ._reductions import is_tree, moved_dtype, result_dtype, tree_of

# Bytes that a block keeps where more cuts save an exchange of parts. A task more takes the scheduler a millisecond, in
# which two workers on one machine exchanged 0.2 MiB.
LEAST_BLOCK = 1 << 20

Dims = Sequence[str] | SupportsIndex | None  # a number is the length of an axis that is called so


def rearrange(x: Any, pattern: str, /, *, dims: Dims = None, **lengths: SupportsIndex) -> Any:
    """Reorder, split and merge axes, as axisloom.rearrange, of an array of Dask or xarray. A list of arrays is stacked.

    Where chunks fit the pattern, each block of the result is made of one block. Where an axis is cut within the inner
    axes of a composition, it is rechunked, and where axes are merged, inner axes become whole and outer ones smaller.

    >>> x = da.zeros((6, 40, 50), chunks=(2, 20, 50))
    >>> rearrange(x, "t (h y) w -> w t h y", y=10).chunks
    ((50,), (2, 2, 2), (2, 2), (10,))

    Of xarray, names of axes are names of dimensions, and the left side may be left out. `dims` names those of the
    result; without it a composed one is called by its parts, joined by "_".

    >>> import xarray
    >>> rearrange(xarray.DataArray(x, dims=["time", "lat", "lon"]), "-> lat (lon time)").sizes
    Frozen({'lat': 40, 'lon_time': 300})
    """
    return _called("rearrange", (), x, pattern, dims, lengths)


def repeat(x: Any, pattern: str, /, *, dims: Dims = None, **lengths: SupportsIndex) -> Any:
    """Repeat along new axes, as axisloom.repeat, of an array of Dask or xarray.

    >>> repeat(da.zeros((6, 4), chunks=(2, 4)), "h w -> (h h2) (w w2)", h2=2, w2=2).chunks
    ((4, 4, 4), (8,))
    """
    return _called("repeat", (), x, pattern, dims, lengths)


def reduce(
    x: Any,
    pattern: str,
    reduction: str | Callable[[Any, tuple[int, ...]], Any],
    /,
    *,
    dims: Dims = None,
    **lengths: SupportsIndex,
) -> Any:
    """Reduce the axes that are missing on the right, as axisloom.reduce, of an array of Dask or xarray.

    Blocks are reduced one by one, their results in a tree. For argmin, argmax and functions, axes that they reduce
    become whole first.

    >>> reduce(da.arange(12, chunks=5), "(a b) -> b", "sum", b=3).compute()
    array([18, 22, 26])
    """
    if not isinstance(reduction, str) and not callable(reduction):
        raise TypeError(f"the reduction is of type {type(reduction).__name__}; give a name or a function")
    return _called("reduce", (reduction,), x, pattern, dims, lengths)


def einsum(*operands: Any, dims: Sequence[str] | None = None) -> Any:
    """Sum of products over axes, as axisloom.einsum, of arrays of Dask or xarray, in the spellings of NumPy and einops.

    Each task multiplies blocks; blocks that belong to one sum are added in a tree. More than two arrays are multiplied
    two at a time, in the order that costs least, or in that of parentheses.

    >>> a, b = da.ones((40, 60), chunks=20), da.ones((60, 10), chunks=(30, 10))
    >>> einsum("ij,jk", a, b).compute()[0, 0], einsum(a, b, "i j, j k -> k").chunks
    (np.float64(60.0), ((10,),))

    Of xarray, names are those of dimensions, and the left side may be left out.

    >>> import xarray
    >>> weights = xarray.DataArray(b, dims=["lat", "kind"])
    >>> einsum(xarray.DataArray(a, dims=["time", "lat"]), weights, "-> kind time").sizes
    Frozen({'kind': 10, 'time': 40})
    """
    if any(map(_is_of_xarray, operands)):
        from ._xarray import einsum_by_dims

        return einsum_by_dims(operands, dims)
    if dims is not None:
        raise TypeError("dims= names dimensions of xarray; these arrays have none")
    return einsum_of_operands(operands)


def _is_of_xarray(x: Any) -> bool:
    return isinstance(x, getattr(sys.modules.get("xarray"), "DataArray", ()))


def _called(
    name: str, words: tuple[Any, ...], x: Any, pattern: str, dims: Dims, lengths: dict[str, SupportsIndex]
) -> Any:
    if is_whole_number(dims):
        lengths, dims = {**lengths, "dims": cast(SupportsIndex, dims)}, None
    if _is_of_xarray(x):
        from ._xarray import moved_by_dims

        return moved_by_dims(name, words, x, pattern, cast("Sequence[str] | None", dims), lengths)
    if dims is not None:
        raise TypeError("dims= names dimensions of xarray; this array has none")
    return moved(name, words, x, pattern, lengths)


def moved(name: str, words: tuple[Any, ...], x: Any, pattern: str, lengths: Mapping[str, SupportsIndex]) -> Any:
    """rearrange, repeat or reduce of one array of Dask, or of several in a list."""
    if isinstance(x, (list, tuple)) and x and all(isinstance(part, da.Array) for part in x):
        x = da.stack(x)
    if not isinstance(x, da.Array):
        raise TypeError(
            f"axisloom.dask.{name} takes arrays of Dask and xarray, not {type(x).__name__}; axisloom.{name} takes it"
        )
    x = checked(x)
    texts = tuple(word if isinstance(word, str) else "sum" for word in words)
    bound = bind(x, name, (*texts, pattern), lengths)
    dtype = result_dtype(words[0], x) if words else moved_dtype(x)
    whole = [] if not words or is_tree(words[0]) else bound.removed
    most, least = most_elements(x.dtype.itemsize), LEAST_BLOCK // max(1, x.dtype.itemsize)
    plan = planned(x.chunks, bound.inputs, bound.outputs, bound.lengths, whole, most, least)
    x, inputs = rechunked(x, plan.chunks), bound.inputs
    if plan.opened is not None:
        x = opened_by(x, inputs, plan.opened)
        inputs = tuple((axis,) for group in inputs for axis in group)
        x = rechunked(x, [plan.grid[axis] for axis, in inputs])
    if words:
        return _reduced(x, words[0], bound, inputs, plan.grid, dtype)
    work = work_on_blocks(name, (), inputs, bound.outputs, plan.grid)
    return mapped(x, inputs, bound.outputs, plan.grid, work, dtype, f"axisloom-{name}")


def _reduced(x: Any, reduction: Any, bound: Bound, inputs: Sequence[Group], grid: Grid, dtype: Any) -> Any:
    several: list[Axis] = [axis for axis in bound.removed if len(grid[axis]) > 1]
    if not several:
        work = work_on_blocks("reduce", (reduction,), inputs, bound.outputs, grid)
        return mapped(x, inputs, bound.outputs, grid, work, dtype, "axisloom-reduce")
    tree = tree_of(reduction, x.dtype, dtype, [bound.lengths[axis] for axis in bound.removed])
    work = work_on_blocks(
        "reduce", (tree.first,), inputs, bound.outputs, grid, options=tree.options, more_axes=len(several)
    )
    parts = mapped(x, inputs, bound.outputs, grid, work, tree.dtype, "axisloom-reduce-blocks", several)
    return tree.joined(parts, len(several), dtype)
