"""The part of the Python array API standard (2024.12) that works on axisloom.Array: what `array.__array_namespace__()`
gives. Moves, reductions and products; for anything else take the array to NumPy, PyTorch or CuPy, in its own memory.

>>> import axisloom, numpy
>>> array = axisloom.Array(numpy.arange(6.0).reshape(2, 3))
>>> xp = array.__array_namespace__()
>>> xp.permute_dims(array, (1, 0)).shape
(3, 2)
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

from . import _functions, _native
from ._einsum import matmul, tensordot
from ._errors import AxisError, DtypeError, ShapeError
from ._functions import all, any, argmax, argmin, count_nonzero, max, mean, min, prod, sum
from ._native import Array, from_dlpack

__array_api_version__ = "2024.12"

__all__ = [
    "all", "any", "argmax", "argmin", "asarray", "astype", "broadcast_to", "concat", "count_nonzero", "expand_dims",
    "from_dlpack", "matmul", "matrix_transpose", "max", "mean", "min", "moveaxis", "permute_dims", "prod",
    "reshape", "squeeze", "stack", "sum", "tensordot", "tile",
]


def asarray(
    obj: Any, /, *, dtype: Any = None, device: str | None = None, copy: bool | None = None
) -> Array:
    """An Array of what is one, or of what NumPy takes for one; in the same memory unless `copy` is true or it has to be
    converted."""
    array = _adopted(obj, device, copy)
    return array if dtype is None else array.astype(dtype, copy=False)


def _adopted(obj: Any, device: str | None, copy: bool | None) -> Array:
    if not copy and hasattr(obj, "__dlpack__"):
        try:
            array = from_dlpack(obj)
            return array if device is None else array.to(device)
        except BufferError:  # in another byte order
            pass
    return Array(obj, device)


def _place(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise AxisError(f"axis {axis} is out of range for an array of {rank} axes")
    return axis % rank


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: str | None = None) -> Array:
    """The elements as another dtype."""
    made = x.astype(dtype, copy=copy)
    return made if device is None else made.to(device)


def reshape(x: Array, /, shape: Sequence[int], *, copy: bool | None = None) -> Array:
    """The same elements in another shape."""
    return (Array(x) if copy else x).reshape(tuple(shape))


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """Axis i of the result is axis axes[i]. The result is contiguous."""
    return _functions.permute(x, tuple(axes))


def matrix_transpose(x: Array, /) -> Array:
    """The last two axes exchanged."""
    if x.ndim < 2:
        raise AxisError(f"a matrix has two axes, the array {x.ndim}")
    axes = list(range(x.ndim))
    axes[-2:] = axes[:-3:-1]
    return permute_dims(x, axes)


def moveaxis(x: Array, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
    """Axes moved to other places; the others keep their order."""
    sources = [source] if isinstance(source, int) else source
    destinations = [destination] if isinstance(destination, int) else destination
    to_from = {_place(d, x.ndim): _place(s, x.ndim) for s, d in zip(sources, destinations, strict=True)}
    others = iter(axis for axis in range(x.ndim) if axis not in to_from.values())
    return permute_dims(x, [to_from[i] if i in to_from else next(others) for i in range(x.ndim)])


def expand_dims(x: Array, /, *, axis: int = 0) -> Array:
    """A new axis of length 1."""
    place = axis + x.ndim + 1 if axis < 0 else axis
    if not 0 <= place <= x.ndim:
        raise AxisError(f"axis {axis} is out of range for an array of {x.ndim} axes and a new one")
    return x.reshape((*x.shape[:place], 1, *x.shape[place:]))


def squeeze(x: Array, /, axis: int | Sequence[int]) -> Array:
    """Without these axes, whose length is 1."""
    gone = {_place(a, x.ndim) for a in ([axis] if isinstance(axis, int) else axis)}
    if not builtins.all(x.shape[a] == 1 for a in gone):
        raise ShapeError(f"an axis of {x.shape} that is to go has not length 1: {sorted(gone)}")
    return x.reshape(tuple(extent for a, extent in enumerate(x.shape) if a not in gone))


def broadcast_to(x: Array, /, shape: Sequence[int]) -> Array:
    """Repeated along new axes in front, and along axes of length 1; a copy."""
    padded = x.reshape((1,) * (len(shape) - x.ndim) + tuple(x.shape))
    left, right, lengths = [], [], {}
    for i, (have, want) in enumerate(zip(padded.shape, shape, strict=True)):
        if have == want:
            left.append(f"a{i}")
            right.append(f"a{i}")
        elif have == 1:
            left.append("1")
            right.append(f"b{i}")
            lengths[f"b{i}"] = want
        else:
            raise ShapeError(f"an array of shape {x.shape} cannot be broadcast to {tuple(shape)}")
    return _native.repeat(padded, f"{' '.join(left)} -> {' '.join(right)}", **lengths)


def tile(x: Array, repetitions: Sequence[int], /) -> Array:
    """Repeated as a whole along each axis."""
    rank = builtins.max(x.ndim, len(repetitions))
    padded = x.reshape((1,) * (rank - x.ndim) + tuple(x.shape))
    counts = (1,) * (rank - len(repetitions)) + tuple(repetitions)
    names = [f"a{i}" for i in range(rank)]
    right = " ".join(f"(r{name} {name})" for name in names)
    return _native.repeat(padded, f"{' '.join(names)} -> {right}", **{f"r{n}": c for n, c in zip(names, counts, strict=True)})


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Arrays one behind the other along an axis."""
    if axis is None:
        arrays, axis = [array.reshape((-1,)) for array in arrays], 0
    if not arrays:
        raise ShapeError("there are no arrays to join")
    first = arrays[0]
    place = _place(axis, first.ndim)
    _check_alike(arrays, place)
    shape = list(first.shape)
    shape[place] = builtins.sum(array.shape[place] for array in arrays)
    outer, inner = math.prod(shape[:place]), math.prod(shape[place + 1:])
    result = _native.empty(first.dtype, tuple(shape), first.device)
    flat, at = result.reshape((outer, shape[place] * inner)), 0
    for array in arrays:
        width = array.shape[place] * inner
        _native.call("copy", (), (array.reshape((outer, width)),), out=flat[:, at : at + width])
        at += width
    return result


def _check_alike(arrays: Sequence[Array], place: int) -> None:
    """Of one dtype, and of one shape but along that axis."""
    dtypes = dict.fromkeys([array.dtype for array in arrays])
    if len(dtypes) > 1:
        raise DtypeError(f"arrays of the dtypes {', '.join(dtypes)} are not joined; make them one by astype")
    others = dict.fromkeys([(*array.shape[:place], *array.shape[place + 1:]) for array in arrays])
    if len(others) > 1:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ShapeError(f"arrays of the shapes {shapes} do not go together along axis {place}")


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Arrays of one shape side by side along a new axis."""
    return concat([expand_dims(array, axis=axis) for array in arrays], axis=axis)
