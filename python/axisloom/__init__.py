"""Rearranges, reduces and multiplies arrays at the speed of memory, in the notation of einops and by NumPy's names.

>>> import numpy
>>> from axisloom import rearrange
>>> rearrange(numpy.zeros((2, 3, 4)), "h w c -> c h w").shape
(4, 2, 3)

What the parameters of most functions mean:
- out: an array of the result's shape, which takes it and is returned. NumPy's functions cast to its dtype where NumPy
  does; elsewhere it is the result's own. Any strides but 0.
- device: where arrays of the host are worked on: "host", "cuda:0", "opencl:1". Without it a GPU is used only where the
  way there and back pays.
- stream: a CUDA stream to queue work on: a number, or an object of PyTorch, CuPy or cuda.core. The call does not wait.
- lengths: lengths of axes by name, in rearrange, repeat, reduce and plan: those that the array does not tell. Axes may
  be called as options are: where the pattern has an axis "stream", stream=2 is its length.
Results are new arrays of the first array's library. All errors of the library are axisloom.Error, and Python's own
kinds too; an argument of a wrong type is a plain TypeError.
"""

from __future__ import annotations

from typing import Any

from ._einsum import dot, einsum, matmul, tensordot
from ._errors import (
    AxisError,
    DeviceError,
    DtypeError,
    EinopsError,
    Error,
    FileError,
    OutOfMemoryError,
    OverlapError,
    ShapeError,
    UnsupportedError,
    UsageError,
)
from ._functions import (
    all,
    any,
    argmax,
    argmin,
    copy,
    count_nonzero,
    max,
    mean,
    min,
    permute,
    prod,
    relayout,
    sum,
    transpose,
)
from ._native import (
    Array,
    __version__,
    devices,
    empty_cache,
    from_dlpack,
    get_num_threads,
    rearrange,
    reduce,
    repeat,
    set_num_threads,
)
from ._norms import norm
from ._patterns import pack, parse_shape, unpack
from ._plans import Plan, plan
from .torch import _on_import

__all__ = [
    "Array",
    "AxisError",
    "DeviceError",
    "DtypeError",
    "EinopsError",
    "Error",
    "FileError",
    "OutOfMemoryError",
    "OverlapError",
    "Plan",
    "ShapeError",
    "UnsupportedError",
    "UsageError",
    "__version__",
    "all",
    "any",
    "argmax",
    "argmin",
    "bench",
    "calibrate",
    "copy",
    "count_nonzero",
    "devices",
    "dot",
    "einsum",
    "empty_cache",
    "from_dlpack",
    "get_num_threads",
    "ladder",
    "matmul",
    "max",
    "mean",
    "min",
    "norm",
    "pack",
    "parse_shape",
    "permute",
    "plan",
    "prod",
    "rearrange",
    "reduce",
    "relayout",
    "repeat",
    "set_num_threads",
    "sum",
    "tensordot",
    "transpose",
    "unpack",
]

_on_import.install()

_lazily = {"bench": "_bench", "calibrate": "_bench", "ladder": "_bench"}


def __getattr__(name: str) -> Any:
    """What takes time to import, when it is first used."""
    if name not in _lazily:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = getattr(importlib.import_module(f".{_lazily[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
