"""NumPy's functions by NumPy's names. Each is one call of the library; the rest is what NumPy promises around it."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, overload

from . import _native
from ._arrays import ArrayT, Traced, adopt, asked_dtype, converted, dtype_name, dtype_of, is_numpy, only, refuse_masked
from ._errors import AxisError, DtypeError, OverlapError, ShapeError, UsageError

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "copy",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "permute",
    "prod",
    "relayout",
    "sum",
    "transpose",
]

_call = _native.call
_not_given: Any = type("NotGiven", (), {"__repr__": lambda self: "<not given>"})()

# Axes ----------------------------------------------------------------------------------------------------------------


# Each axis is an argument of its own, so that typed=True tells 1 from 1.0, which NumPy refuses.
@lru_cache(maxsize=1024, typed=True)
def _axes_and(keepdims: Any, *axes: Any) -> dict[str, str]:
    """Options of a reduction. They are shared by all calls alike: nobody changes them."""
    options = {"axes": ",".join(map(_number_text, axes)) or "none"}
    if keepdims:
        options["keepdims"] = ""
    return options


_no_options: dict[str, str] = {}
_keepdims_alone = {"keepdims": ""}


def axes_options(axis: Any, keepdims: Any) -> dict[str, str]:
    """Options of a reduction for NumPy's `axis` and `keepdims`."""
    if keepdims is not False and keepdims is not True:
        keepdims = _truth(keepdims)
    if axis is None:
        return _keepdims_alone if keepdims else _no_options
    try:
        return _axes_and(keepdims, *axis) if isinstance(axis, tuple) else _axes_and(keepdims, axis)
    except TypeError:  # what cannot be looked up, such as an array with one number
        axes = axis if isinstance(axis, tuple) else (axis,)
        return _axes_and(keepdims, *[int(_number_text(number)) for number in axes])


def _truth(keepdims: Any) -> bool:
    """As NumPy takes it: a bool or an integer."""
    try:
        return bool(operator.index(keepdims.item() if hasattr(keepdims, "item") else keepdims))
    except TypeError:
        raise TypeError(f"keepdims={keepdims!r} is no bool; give True or False") from None


def _number_text(axis: Any) -> str:
    if isinstance(axis, bool):
        raise TypeError(f"an axis is an int, not {axis}")
    return str(operator.index(axis))


@lru_cache(maxsize=1024, typed=True)
def _permutation(*axes: Any) -> tuple[str]:
    return (",".join(map(_number_text, axes)),)


def _permutation_of(axes: Any) -> tuple[str]:
    try:
        return _permutation(*axes)
    except TypeError:
        if hasattr(axes, "__iter__"):
            raise
        raise TypeError(f"axes={axes!r} is no list of axes; give all of them, such as (1, 0)") from None


@lru_cache(maxsize=64)
def _reversed(rank: int) -> tuple[str]:
    return _permutation(*[rank - 1 - axis for axis in range(rank)])  # PyTorch's Dynamo misreads *range(...)


# Moves ---------------------------------------------------------------------------------------------------------------


# What goes in comes out; of lists NumPy makes an array.
@overload
def transpose(
    x: ArrayT, axes: Sequence[int] | None = None, *, out: Any = None, device: str | None = None, stream: Any = None
) -> ArrayT: ...
@overload
def transpose(
    x: Any, axes: Sequence[int] | None = None, *, out: Any = None, device: str | None = None, stream: Any = None
) -> Any: ...
def transpose(
    x: Any, axes: Sequence[int] | None = None, *, out: Any = None, device: str | None = None, stream: Any = None
) -> Any:
    """Reorder the axes, by default into the opposite order. The result is a new array, contiguous.

    >>> import numpy
    >>> transpose(numpy.zeros((2, 3, 4))).shape
    (4, 3, 2)
    >>> transpose(numpy.zeros((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    try:
        text = _permutation_of(axes) if axes is not None else _reversed(len(adopt(x).shape))
    except Traced:
        return Traced.call(transpose, x, out=out, device=device, stream=stream)
    return _call("permute", text, (x,), None, None, out, device, stream)


@overload
def permute(
    x: ArrayT, axes: Sequence[int], *, out: Any = None, device: str | None = None, stream: Any = None
) -> ArrayT: ...
@overload
def permute(
    x: Any, axes: Sequence[int], *, out: Any = None, device: str | None = None, stream: Any = None
) -> Any: ...
def permute(x: Any, axes: Sequence[int], *, out: Any = None, device: str | None = None, stream: Any = None) -> Any:
    """Axis i of the result is axis axes[i] of x. The result is a new array, contiguous.

    >>> import numpy
    >>> permute(numpy.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return _call("permute", _permutation_of(axes), (x,), None, None, out, device, stream)


@overload
def copy(
    x: ArrayT, *, out: Any = None, device: str | None = None, stream: Any = None
) -> ArrayT: ...
@overload
def copy(
    x: Any, *, out: Any = None, device: str | None = None, stream: Any = None
) -> Any: ...
def copy(x: Any, *, out: Any = None, device: str | None = None, stream: Any = None) -> Any:
    """A contiguous copy.

    >>> import numpy
    >>> copy(numpy.zeros((4, 6))[::2, ::-1]).flags.c_contiguous
    True
    """
    return _call("copy", (), (x,), None, None, out, device, stream)


@overload
def relayout(
    x: ArrayT,
    source: str,
    target: str,
    channels: int = 0,
    *,
    out: Any = None,
    device: str | None = None,
    stream: Any = None,
) -> ArrayT: ...
@overload
def relayout(
    x: Any,
    source: str,
    target: str,
    channels: int = 0,
    *,
    out: Any = None,
    device: str | None = None,
    stream: Any = None,
) -> Any: ...
def relayout(
    x: Any,
    source: str,
    target: str,
    channels: int = 0,
    *,
    out: Any = None,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Change between layouts of images: NCHW, NHWC, CHWN, and NC/xHWx with x in 4, 8, 16, 32.

    The last block of channels is filled up with zeros; on the way back `channels` is their true number (0: all).

    >>> import numpy
    >>> blocks = relayout(numpy.ones((1, 50, 7, 7), "float32"), "NCHW", "NC/32HW32")
    >>> blocks.shape
    (1, 2, 7, 7, 32)
    >>> relayout(blocks, "NC/32HW32", "NCHW", channels=50).shape
    (1, 50, 7, 7)
    """
    lengths = {"channels": channels} if channels else None
    return _call("relayout", (source, target), (x,), lengths, None, out, device, stream)


# Reductions ----------------------------------------------------------------------------------------------------------


def _plain(name: str, x: Any, axis: Any, keepdims: Any, device: str | None, stream: Any) -> Any:
    """A reduction without other options."""
    try:
        return _call(name, (), (x,), None, axes_options(axis, keepdims), None, device, stream)
    except AxisError:
        if _axis_of(axis, x, name) is not None:
            raise
    return _call(name, (), (x,), None, axes_options(None, keepdims), None, device, stream)


def _axis_of(axis: Any, x: Any, name: str) -> Any:
    """The axis, or None for the one that NumPy sees in an array without axes, but not for a mean."""
    return None if axis in (0, -1) and name != "mean" and not len(adopt(x).shape) else axis


def _reduction(
    name: str,
    x: Any,
    axis: Any,
    keepdims: Any,
    device: str | None,
    stream: Any,
    dtype: Any = None,
    out: Any = None,
    initial: Any = _not_given,
    where: Any = True,
) -> Any:
    """A reduction with any of its options, by NumPy's rules."""
    try:
        x = adopt(x)
    except Traced:
        given = {"dtype": dtype, "out": out, "keepdims": keepdims, "initial": initial, "where": where}
        return Traced.call(globals()[name], x, axis, **given, device=device, stream=stream)
    axis = _axis_of(axis, x, name)
    options = dict(axes_options(axis, keepdims))
    arrays: tuple[Any, ...] = (x,)
    if where is not True:
        arrays, options["where"] = (x, _mask(where)), ""
    if dtype is not None:
        options["compute-dtype"] = asked_dtype(dtype, x)
    if initial is None:
        _require_elements(name, x, axis)
    elif initial is not _not_given:
        options["initial"] = _number(initial, options.get("compute-dtype") or dtype_of(x))
    if out is None:
        return _reduced(name, arrays, options, None, device, stream)
    return reduced_into(only(out), name, arrays, options, device, stream)


def _mask(where: Any) -> Any:
    """A mask that `_native.call` takes: bools."""
    if hasattr(where, "dtype") and not is_numpy(where):
        return where
    import numpy

    refuse_masked(where)
    mask = numpy.asarray(where)
    if not hasattr(where, "dtype"):
        mask = mask.astype(bool)
    if mask.dtype != bool:
        raise DtypeError(f"where is of {mask.dtype}; give bools, such as x != 0")
    return mask


def _require_elements(name: str, x: Any, axis: Any) -> None:
    """initial=None: NumPy then knows no result of no elements."""
    numbers = range(len(x.shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if 0 in [x.shape[number] for number in numbers]:
        raise UsageError(f"the {name} of no elements is not defined without an initial value; leave initial=None out")


def _number(initial: Any, dtype: str) -> str:
    """The text of an initial value. Of integers NumPy takes the whole part."""
    if math.prod(getattr(initial, "shape", ())) != 1:
        raise UsageError(f"initial= is a number, not an array of the shape {tuple(initial.shape)}")
    value = initial.item() if hasattr(initial, "item") else initial
    if (
        isinstance(value, float)
        and value == value
        and abs(value) != float("inf")
        and dtype.startswith(("int", "uint", "bool"))
    ):
        value = int(value)
    if isinstance(value, bool):
        value = int(value)
    return repr(value).strip("()")


def _reduced(name: str, arrays: tuple, options: dict[str, str], out: Any, device: str | None, stream: Any) -> Any:
    """Where the library does not compute in the dtype that is asked for, the array is converted first, as in NumPy."""
    dtype = options.get("compute-dtype")
    if dtype == "bool":
        if name == "mean":
            raise DtypeError("there is no mean in bool; give a dtype of floats")
        name = {"sum": "any", "prod": "all"}[name]
        del options["compute-dtype"]
        options.pop("initial", None)
    try:
        return _call(name, (), arrays, None, options, out, device, stream)
    except DtypeError:
        if dtype is None or dtype == "bool" or dtype_of(arrays[0]) == dtype:
            raise
    arrays = (converted(arrays[0], dtype), *arrays[1:])
    return _call(name, (), arrays, None, options, out, device, stream)


def reduced_into(out: Any, name: str, arrays: tuple, options: dict[str, str], device: str | None, stream: Any) -> Any:
    """Into an array of any dtype and place, as NumPy does: computed in the wider of both dtypes, and cast."""
    try:
        return _reduced(name, arrays, dict(options), out, device, stream)
    except (DtypeError, OverlapError):
        if not is_numpy(out) or out.dtype.kind in "mMOSU" or out.dtype.names:
            raise
    import numpy

    if name in ("argmin", "argmax") and not numpy.can_cast(out.dtype, numpy.intp):  # NumPy's rule
        raise DtypeError(f"{name} gives int64, which is not written to an out= of {out.dtype}; give one of integers")
    if "compute-dtype" not in options and name in ("sum", "prod", "mean"):
        dtype = numpy.result_type(arrays[0].dtype, out.dtype)
        if name != "mean" or dtype.kind not in "biu":
            options["compute-dtype"] = dtype_name(dtype)
    result = _reduced(name, arrays, options, None, device, stream)
    if result.shape != out.shape:
        raise ShapeError(f"out has the shape {out.shape}, the {name} {result.shape}; give one of that shape")
    numpy.copyto(out, result, casting="unsafe")
    return out


def sum(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = _not_given,
    where: Any = True,
    *,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Sum over axes, as numpy.sum. Integers become 64 bits wide.

    >>> import numpy
    >>> x = numpy.ones((2, 3, 4), "float32")
    >>> sum(x, axis=(0, 2)).shape
    (3,)
    >>> sum(x, axis=1, keepdims=True).shape
    (2, 1, 4)
    """
    if dtype is None and out is None and initial is _not_given and where is True:
        return _plain("sum", x, axis, keepdims, device, stream)
    return _reduction("sum", x, axis, keepdims, device, stream, dtype, out, initial, where)


def prod(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = _not_given,
    where: Any = True,
    *,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Product over axes, as numpy.prod. Integers become 64 bits wide.

    >>> import numpy
    >>> int(prod(numpy.array([2, 3, 4])))
    24
    """
    if dtype is None and out is None and initial is _not_given and where is True:
        return _plain("prod", x, axis, keepdims, device, stream)
    return _reduction("prod", x, axis, keepdims, device, stream, dtype, out, initial, where)


def mean(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Mean over axes, as numpy.mean. That of integers is float64.

    >>> import numpy
    >>> mean(numpy.ones((2, 3), "float32"), axis=0).dtype
    dtype('float32')
    """
    if dtype is None and out is None and where is True:
        return _plain("mean", x, axis, keepdims, device, stream)
    return _reduction("mean", x, axis, keepdims, device, stream, dtype, out, where=where)


def min(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = _not_given,
    where: Any = True,
    *,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Smallest element along axes, as numpy.min; NaN where there is one.

    >>> import numpy
    >>> min(numpy.arange(6).reshape(2, 3), axis=1)
    array([0, 3])
    """
    if out is None and initial is _not_given and where is True:
        return _plain("min", x, axis, keepdims, device, stream)
    return _reduction("min", x, axis, keepdims, device, stream, None, out, initial, where)


def max(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = _not_given,
    where: Any = True,
    *,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Largest element along axes, as numpy.max; NaN where there is one.

    >>> import numpy
    >>> max(numpy.arange(6).reshape(2, 3), axis=1)
    array([2, 5])
    """
    if out is None and initial is _not_given and where is True:
        return _plain("max", x, axis, keepdims, device, stream)
    return _reduction("max", x, axis, keepdims, device, stream, None, out, initial, where)


def argmin(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    out: Any = None,
    *,
    keepdims: bool = False,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Index of the first smallest element, as numpy.argmin; over several axes it counts in their order.

    >>> import numpy
    >>> argmin(numpy.array([[3, 1, 2], [0, 5, 4]]), axis=1)
    array([1, 0])
    """
    if out is None:
        return _plain("argmin", x, axis, keepdims, device, stream)
    return _reduction("argmin", x, axis, keepdims, device, stream, None, out)


def argmax(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    out: Any = None,
    *,
    keepdims: bool = False,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Index of the first largest element, as numpy.argmax; over several axes it counts in their order.

    >>> import numpy
    >>> argmax(numpy.array([[3, 1, 2], [0, 5, 4]]), axis=1)
    array([0, 1])
    """
    if out is None:
        return _plain("argmax", x, axis, keepdims, device, stream)
    return _reduction("argmax", x, axis, keepdims, device, stream, None, out)


def any(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Whether an element is not zero, as numpy.any.

    >>> import numpy
    >>> any(numpy.array([[0, 2], [0, 0]]), axis=1)
    array([ True, False])
    """
    if out is None and where is True:
        return _plain("any", x, axis, keepdims, device, stream)
    return _reduction("any", x, axis, keepdims, device, stream, None, out, where=where)


def all(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Whether no element is zero, as numpy.all.

    >>> import numpy
    >>> all(numpy.array([[1, 2], [0, 3]]), axis=1)
    array([ True, False])
    """
    if out is None and where is True:
        return _plain("all", x, axis, keepdims, device, stream)
    return _reduction("all", x, axis, keepdims, device, stream, None, out, where=where)


def count_nonzero(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    *,
    keepdims: bool = False,
    out: Any = None,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """How many elements are not zero, as numpy.count_nonzero.

    >>> import numpy
    >>> count_nonzero(numpy.array([[0, 1, 7], [3, 0, 2]]), axis=0)
    array([1, 1, 2])
    """
    if out is None:
        return _plain("count_nonzero", x, axis, keepdims, device, stream)
    return _reduction("count_nonzero", x, axis, keepdims, device, stream, None, out)
