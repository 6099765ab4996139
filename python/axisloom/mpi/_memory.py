"""Local arrays as the host has them, views of them, and copies from one to another."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _kinds, _native
from .._arrays import adopt, refuse_masked
from .._errors import DtypeError, OverlapError, ShapeError, UsageError
from ..distributed import Copy

Shape = tuple[int, ...]

# A copy moves bits, whatever they stand for.
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


def bits_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype of that size which every copy takes."""
    if dtype.hasobject or dtype.itemsize not in _BITS:
        raise DtypeError(f"elements of {dtype} cannot be sent: give some of 1, 2, 4, 8 or 16 bytes, no objects")
    return np.dtype(_BITS[dtype.itemsize])


# Views ---------------------------------------------------------------------------------------------------------------


class _Memory:
    """Names memory for NumPy, and keeps it alive as long as arrays in it live."""

    __slots__ = ("__array_interface__", "__weakref__", "owner")

    def __init__(self, owner: Any, address: int, dtype: np.dtype[Any], shape: Shape, strides: Shape | None) -> None:
        self.owner = owner
        self.__array_interface__: dict[str, Any] = {
            "shape": shape, "typestr": dtype.str, "data": (address, False), "strides": strides, "version": 3
        }  # fmt: skip


def address_of(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__["data"][0]


def _array(
    owner: Any, address: int, dtype: np.dtype[Any], shape: Shape, strides: Shape | None = None
) -> np.ndarray[Any, Any]:
    """An array in that memory, with strides in bytes. An interface cannot name bfloat16."""
    raw = np.dtype((np.void, dtype.itemsize)) if dtype.kind == "V" else dtype
    array = np.asarray(_Memory(owner, address, raw, shape, strides))
    return array.view(dtype) if dtype is not raw else array


def array_at(owner: Any, address: int, dtype: np.dtype[Any], shape: Shape) -> np.ndarray[Any, Any]:
    """A row-major array there, of which owner_of() tells the owner."""
    return _array(owner, address, dtype, shape)


def owner_of(array: Any) -> Any:
    """What array_at() was given, where this is the whole of such an array."""
    base = getattr(array, "base", None)
    while isinstance(base, np.ndarray):
        base = base.base
    if not isinstance(base, _Memory):
        return None
    whole = array.flags.c_contiguous and address_of(array) == base.__array_interface__["data"][0]
    return base.owner if whole and array.size == math.prod(base.__array_interface__["shape"]) else None


def _part(array: np.ndarray[Any, Any], shape: Shape, offset: int, strides: Shape) -> np.ndarray[Any, Any]:
    """Elements of an array from one on, with other steps. All in elements, `offset` from the one that is lowest."""
    size = array.dtype.itemsize
    lowest = sum(step * (extent - 1) for step, extent in zip(array.strides, array.shape) if step < 0 < extent)
    bytes_ = tuple(step * size for step in strides)
    return _array(array, address_of(array) + lowest + offset * size, array.dtype, shape, bytes_)


def sides(copy: Copy, source: np.ndarray[Any, Any], target: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """What a copy reads and what it writes."""
    return (
        _part(source, copy.shape, copy.from_offset, copy.from_strides),
        _part(target, copy.shape, copy.to_offset, copy.to_strides),
    )


def run(copy: Copy, source: np.ndarray[Any, Any], target: np.ndarray[Any, Any]) -> None:
    """A copy between arrays of one dtype, that of bits_of()."""
    read, written = sides(copy, source, target)
    _native.call("copy", (), (read,), None, None, written, "host", None)


def steps_of(array: np.ndarray[Any, Any]) -> Shape | None:
    """Strides in elements; None where the array is row-major."""
    if array.flags.c_contiguous or not array.size:
        return None
    size = array.itemsize
    return tuple(step // size if extent > 1 else 1 for step, extent in zip(array.strides, array.shape))


def with_whole_steps(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array, or a copy where it repeats elements, or where a step is no number of elements."""
    odd = any(step % array.itemsize or step == 0 for step, extent in zip(array.strides, array.shape) if extent > 1)
    return np.ascontiguousarray(array).reshape(array.shape) if odd and array.size else array


# What is given and returned ------------------------------------------------------------------------------------------


def on_host(x: Any) -> np.ndarray[Any, Any]:
    """The elements of an array, in its own memory where that is the host's."""
    refuse_masked(x)
    array = _kinds.adapted(adopt(x))
    if isinstance(array, _native.Array):
        array = array.to("host").numpy()
    bits_of(array.dtype)
    return array


class Target(NamedTuple):
    """Where a result is written, and what becomes of it then."""

    array: np.ndarray[Any, Any]
    finish: Callable[[], Any]


def new_target(x: Any, host: np.ndarray[Any, Any], shape: Shape) -> Target:
    """For a result of the kind of x, whose elements on the host are `host`."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
        made = _new(shape, host)
        return Target(made, lambda: made)
    array = _kinds.adapted(x)
    held = _native.empty(array.dtype, shape)

    def finish() -> Any:
        moved = held.to(array.device)
        return moved if x is array else _kinds._restored(moved, x)

    return Target(held.numpy(), finish)


def _new(shape: Shape, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The library's memory is for the dtypes that it knows."""
    known = like.dtype.kind in "biufc" and like.dtype.isnative
    return _native.empty_numpy(shape, like) if known else np.empty(shape, like.dtype)


def given_target(out: Any, host: np.ndarray[Any, Any], shape: Shape) -> Target:
    """For a result that goes into `out`."""
    array = _kinds._adapted_out(out)
    if tuple(array.shape) != shape:
        raise ShapeError(f"out= has shape {list(array.shape)}, and the local result {list(shape)}: give that shape")
    on_card = isinstance(array, _native.Array) and array.device != "host"
    held = _native.empty(array.dtype, shape) if on_card else array
    written = held.numpy() if isinstance(held, _native.Array) else held
    if written.dtype != host.dtype:
        raise DtypeError(f"out= is of {written.dtype}, and the local array of {host.dtype}: give one of the same dtype")
    if not written.flags.writeable or with_whole_steps(written) is not written:
        raise UsageError("out= cannot be written to element by element: give an ordinary array")
    if np.may_share_memory(written, host):
        raise OverlapError("out= shares memory with the local array: give another one")

    def finish() -> Any:
        if on_card:
            _native.call("copy", (), (held.to(array.device),), None, None, array, None, None)
        return out

    return Target(written, finish)
