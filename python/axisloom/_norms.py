"""Norms of vectors and matrices, by NumPy's rules."""

from __future__ import annotations

import numbers
import operator
from typing import Any

from . import _native
from ._arrays import Traced, adopt, converted, dtype_of
from ._errors import AxisError, UnsupportedError, UsageError
from ._functions import axes_options, reduced_into

__all__ = ["norm"]

_call = _native.call

_vector_orders = {None: "2", 1: "1", 2: "2", float("inf"): "inf"}


def norm(
    x: Any,
    ord: Any = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    *,
    out: Any = None,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Norm of vectors or matrices, as numpy.linalg.norm.

    Of vectors `ord` is a number; of matrices 1, -1, inf, -inf or "fro". By default it is the root of the sum of all
    squares.

    >>> import numpy
    >>> float(norm(numpy.array([3.0, 4.0])))
    5.0
    >>> norm(numpy.ones((2, 3, 4)), ord=1, axis=-1).shape
    (2, 3)
    """
    try:
        x = adopt(x)
    except Traced:
        return Traced.call(norm, x, ord, axis, keepdims, out=out, device=device, stream=stream)
    if axis is None and ord is not None:
        rank = len(x.shape)
        if rank not in (1, 2):
            raise UsageError(f"a norm with ord={ord!r} is of 1 or 2 axes, the array has {rank}; give axis")
        axis = tuple(range(rank))
    if isinstance(axis, tuple) and len(axis) == 2:
        return _matrix_norm(x, ord, *axis, keepdims, out, device, stream)
    if isinstance(axis, tuple) and len(axis) != 1:
        raise AxisError(f"a norm is over 1 or 2 axes, not {len(axis)}; give axis=None for all")
    if isinstance(ord, str):
        raise UsageError(f"a norm of vectors has no ord={ord!r}; use a number")
    if ord is not None and not isinstance(ord, numbers.Real):
        raise TypeError(f"ord={ord!r} is no order of a norm; give a number, or 'fro'")
    if ord in _vector_orders:
        text = "1" if 0 in x.shape else _vector_orders[ord]  # the largest of no magnitudes is 0, as their sum
        options = {**axes_options(axis, keepdims), "ord": text}
        return _reduced_or_into("norm", x, options, out, device, stream)
    result = _norm_by_elements(x, ord, axes_options(axis, keepdims), device, stream)
    return result if out is None else _call("copy", (), (result,), None, None, out, device, stream)


def _norm_by_elements(x: Any, ord: float, options: dict[str, str], device: str | None, stream: Any) -> Any:
    """Norms of vectors that need an array of magnitudes: orders that the library does not have."""
    if not dtype_of(x).startswith(("float", "bfloat", "complex")):
        x = converted(x, "float64")
    if not hasattr(x, "__abs__"):
        raise UnsupportedError(
            f"a norm with ord={ord!r} needs the operators of the array's library, and {type(x).__name__} has none; use 1, "
            "2 or inf, or take it to NumPy"
        )
    magnitudes = abs(x)
    if ord == 0:
        count = _call("count_nonzero", (), (x,), None, options, None, device, stream)
        return converted(count, dtype_of(magnitudes))
    if ord == float("-inf"):
        return _call("min", (), (magnitudes,), None, options, None, device, stream)
    total = _call("sum", (), (magnitudes**ord,), None, options, None, device, stream)
    return total ** (1 / ord)


def _reduced_or_into(name: str, x: Any, options: dict[str, str], out: Any, device: str | None, stream: Any) -> Any:
    if out is None:
        return _call(name, (), (x,), None, options, None, device, stream)
    return reduced_into(out, name, (x,), options, device, stream)


def _matrix_norm(
    x: Any, ord: Any, rows: int, columns: int, keepdims: bool, out: Any, device: str | None, stream: Any
) -> Any:
    """Frobenius, or the extreme sum of magnitudes down the columns (1: largest, -1) or along the rows (inf, -inf)."""
    rank = len(x.shape)
    rows, columns = operator.index(rows), operator.index(columns)
    for number in (rows, columns):
        if not -rank <= number < rank:
            raise AxisError(f"axis {number} is out of bounds for an array of {rank} axes")
    rows, columns = rows % rank, columns % rank
    if rows == columns:
        raise AxisError(f"axis={rows, columns} names one axis twice")
    if ord in (None, "fro", "f"):
        options = {**axes_options((rows, columns), keepdims), "ord": "2"}
        return _reduced_or_into("norm", x, options, out, device, stream)
    if ord not in (1, -1, float("inf"), float("-inf")):
        raise UsageError(f"a norm of matrices has no ord={ord!r} here; use 1, -1, inf, -inf or 'fro'")
    first, second = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = _call("norm", (), (x,), None, {**axes_options(first, True), "ord": "1"}, None, device, stream)
    options = axes_options((first, second), keepdims)
    if ord > 0:
        options = {**options, "initial": "0"}
    extreme = _call("max" if ord > 0 else "min", (), (sums,), None, options, None, device, stream)
    return extreme if out is None else _call("copy", (), (extreme,), None, None, out, device, stream)
