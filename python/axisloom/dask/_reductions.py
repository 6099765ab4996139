"""Reductions in a tree: what is made of each block, and how these parts are joined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask.array as da
import numpy

from .. import _native
from .._arrays import dtype_name
from .._functions import axes_options
from .._reduced import JOINED
from ._blocks import meta_like, one_thread

def is_tree(reduction: Any) -> bool:
    return isinstance(reduction, str) and reduction in JOINED


def result_dtype(reduction: Any, x: Any) -> Any:
    """What the library, or a function, makes of one element."""
    return _native.reduce(one_element(x, 1), "a ->", reduction).dtype


def moved_dtype(x: Any) -> Any:
    """The library gives elements in the byte order of the machine."""
    return _native.call("copy", (), (numpy.zeros_like(x._meta, shape=(1,)),)).dtype


def one_element(x: Any, ndim: int) -> Any:
    """An array as the blocks of x are."""
    return numpy.ones_like(x._meta, shape=(1,) * ndim)


def wide_dtype(dtype: Any) -> Any:
    """In which sums of blocks are kept: 16 bits would lose what the library keeps within one call."""
    return numpy.dtype("float32") if dtype_name(dtype) in ("float16", "bfloat16") else dtype


@dataclass(frozen=True)
class Tree:
    """`dtype` is that of the parts. Of a mean they are sums, to be divided by `count`."""

    first: str
    then: str
    dtype: Any
    options: tuple[tuple[str, str], ...] = ()
    count: int | None = None

    def joined(self, parts: Any, axes: int, dtype: Any) -> Any:
        """The parts along the last axes become one, of the dtype of the result."""
        kept = parts.ndim - axes
        return da.reduction(
            parts,
            chunk=_unchanged,
            combine=partial(_joined, name=self.then, options=self.options),
            aggregate=partial(_joined, name=self.then, options=self.options, count=self.count, result=dtype),
            axis=tuple(range(kept, parts.ndim)),
            dtype=dtype,
            meta=meta_like(parts, kept, dtype),
            name="axisloom-join",
        )


def tree_of(reduction: str, source: Any, result: Any, lengths: Sequence[int]) -> Tree:
    """For elements of one dtype whose reduction is of another, over axes of these lengths."""
    first, then = JOINED[reduction]
    dtype = wide_dtype(result) if reduction in ("sum", "prod", "mean") else result
    asked = dtype != result or (reduction == "mean" and source.kind in "biu")
    options = (("compute-dtype", dtype_name(dtype)),) if asked else ()
    return Tree(first, then, dtype, options, math.prod(lengths) if reduction == "mean" else None)


def _unchanged(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    return x


def _joined(
    x: Any,
    axis: tuple[int, ...],
    keepdims: bool,
    name: str,
    options: tuple[tuple[str, str], ...],
    count: int | None = None,
    result: Any = None,
) -> Any:
    """One step of a tree; the last one knows the dtype of the result."""
    with one_thread():
        made = _native.call(name, (), (x,), None, {**axes_options(axis, keepdims), **dict(options)})
    if count is not None:
        with numpy.errstate(all="ignore"):
            made = numpy.true_divide(made, count)
    return made if result is None else made.astype(result, copy=False)
