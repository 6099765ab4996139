"""Arrays of any library, and the names of their dtypes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from . import _native
from ._errors import DeviceError, DtypeError, UsageError
from ._native import Array


class HasShape(Protocol):
    """An array of any library, to who checks types."""

    @property
    def shape(self) -> Any: ...

    @property
    def dtype(self) -> Any: ...


ArrayT = TypeVar("ArrayT", bound=HasShape)


class Traced(Exception):
    """Met where an array should be: what torch.fx.symbolic_trace puts for a tensor, which has no dtype and no shape."""

    @staticmethod
    def call(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """The call as a step of the graph that is traced, to be done when that runs. Options with their defaults are
        left out, and those that the function does not have."""
        import inspect

        from torch.fx import Proxy

        defaults = {name: given.default for name, given in inspect.signature(function).parameters.items()}
        options = {name: value for name, value in options.items() if value is not defaults.get(name, value)}
        return Proxy.__torch_function__(function, (Proxy,), arguments, options)


array_types: set[type] = set()  # those that were met


def adopt(x: Any) -> Any:
    """x where it is an array; else what numpy.asarray makes of it."""
    return x if x.__class__ in array_types else _adopted(x)


def is_traced(x: Any) -> bool:
    """Whether x is what torch.fx.symbolic_trace puts for a tensor."""
    return isinstance(x, getattr(sys.modules.get("torch.fx"), "Proxy", ()))


def is_array(x: Any) -> bool:
    """Whether x is an array of any library. Throws Traced."""
    if x.__class__ in array_types:
        return True
    if is_traced(x):
        raise Traced
    if not (hasattr(x, "dtype") and hasattr(x, "__len__")):  # NumPy's scalars have no length
        return False
    array_types.add(x.__class__)
    return True


def _adopted(x: Any) -> Any:
    if is_array(x):
        return x
    try:
        import numpy
    except ImportError:
        raise TypeError(f"{type(x).__name__} is no array, and NumPy, which could make one of it, is missing") from None
    return as_numpy(numpy, x)


def as_numpy(numpy: Any, x: Any) -> Any:
    """What numpy.asarray makes of x, where that is an array of numbers."""
    if isinstance(x, (list, tuple)):
        refuse_masked(*x)
    made = numpy.asarray(x)
    if made.dtype == object:
        raise TypeError(f"{type(x).__name__} is no array of numbers: NumPy makes one of objects of it")
    return made


def refuse_masked(*arrays: Any) -> None:
    """Their masks would be lost where NumPy makes one array of several."""
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())
    if [x for x in arrays if isinstance(x, masked)]:
        raise TypeError("masked arrays cannot be used: give the data, and the mask by where=")


def is_numpy(x: Any) -> bool:
    """Whether x is an array or a scalar of NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic))


def only(out: Any) -> Any:
    """The output of a tuple of one, as NumPy's ufuncs take it."""
    if not isinstance(out, tuple):
        return out
    if len(out) != 1:
        raise UsageError(f"out= is a tuple of {len(out)}; give an array, or a tuple of one")
    return out[0]


_python_dtypes = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
_long_names = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "c64": "complex64"}
_long_names |= {"c128": "complex128", "bool": "bool"}
_long_names |= {
    f"{sign}{bits}": f"{name}{bits}" for sign, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)
}


@lru_cache(maxsize=256, typed=True)
def dtype_name(dtype: Any) -> str:
    """NumPy's long name ("float32") of a dtype of NumPy or PyTorch, of a type of Python, or of a name that NumPy knows.

    Names that NumPy does not know are Axisloom's own: "f32", "bf16". "i8" is of 8 bytes, as in NumPy.
    """
    if dtype in _python_dtypes:
        return _python_dtypes[dtype]
    text = str(dtype)
    if text.startswith("torch."):
        return text.removeprefix("torch.")
    if text in ("bfloat16", "bf16"):
        return "bfloat16"
    try:
        import numpy
    except ImportError:
        return text
    try:
        return numpy.dtype(dtype).name
    except TypeError:
        if text in _long_names:
            return _long_names[text]
        raise DtypeError(f"{dtype!r} is no dtype; give one such as 'float32'") from None


def arrays_dtype_name(dtype: Any) -> str:
    """The long name of what an array calls its dtype: Array has short names, where "i8" is of 8 bits."""
    return _long_names[dtype] if isinstance(dtype, str) else dtype_name(dtype)


def dtype_of(x: Any) -> str:
    """The long name of an array's dtype."""
    return arrays_dtype_name(x.dtype)


def numpy_dtype(name: str) -> Any:
    """NumPy's dtype of a long name."""
    import numpy

    if name != "bfloat16":
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise DtypeError("bfloat16 in NumPy needs the package ml_dtypes; install it, or ask for float32") from None
    return numpy.dtype(ml_dtypes.bfloat16)


def asked_dtype(dtype: Any, x: Any) -> str:
    """The long name of a dtype that a result shall have. DtypeError where x's library does not have it."""
    name = dtype_name(dtype)
    if name.startswith(("str", "bytes", "object", "datetime", "timedelta", "void")):
        raise DtypeError(f"dtype={name} has no arithmetic; give one of numbers, such as 'float32'")
    if name == "bfloat16" and is_numpy(x):
        numpy_dtype(name)
    return name


def _own_dtype_name(dtype: Any) -> str:
    """The long name of a dtype for an Array, whose own names come first: "i8" is of 8 bits, as Array.dtype has it."""
    name = dtype if isinstance(dtype, str) else dtype_name(dtype)
    if name in _long_names or name in _long_names.values():
        return _long_names.get(name, name)
    raise DtypeError(f"{dtype!r} is no dtype of an Array; give one such as 'f32' or 'float32'")


def as_dtype(x: Array, dtype: Any, copy: bool) -> Array:
    """Array.astype. What a device does not convert goes through the host, where NumPy converts."""
    name = _own_dtype_name(dtype)
    if name == arrays_dtype_name(x.dtype):
        return Array(x) if copy else x
    if x.device != "host":
        try:  # a product along no axes
            return _native.call("prod", (), (x,), None, {"axes": "none", "compute-dtype": name})
        except DtypeError:
            pass
    made = x.numpy().astype(numpy_dtype(name), order="C")
    by_dlpack = x.device == "host" and name != "bfloat16"  # which NumPy does not hand over
    return _native.from_dlpack(made) if by_dlpack else Array(made, x.device)


def assign(into: Array, value: Any) -> None:
    """Writes a number or an array, repeated to the shape and converted to the dtype, into the memory of an Array."""
    from .array_api import broadcast_to

    name = arrays_dtype_name(into.dtype)
    if not hasattr(value, "__dlpack__"):
        import numpy

        value = numpy.asarray(value, numpy_dtype(name))
    there = value.to(into.device) if isinstance(value, Array) else Array(value, into.device)
    source = broadcast_to(as_dtype(there, name, copy=False), into.shape)
    _native.call("copy", (), (source,), out=into)


def restored(dtype: str, shape: tuple[int, ...], elements: bytes, device: str) -> Array:
    """What pickle makes of an Array: one on the same device, or on the host where that is not there."""
    array = _native.from_bytes(dtype, shape, elements)
    try:
        return array.to(device)
    except DeviceError as error:
        warnings.warn(f"an Array of {device} is now on the host: {error}", RuntimeWarning, stacklevel=2)
        return array


def converted(x: Any, name: str) -> Any:
    """A copy of x in the dtype of this long name, of x's own kind."""
    if is_numpy(x):
        return x.astype(numpy_dtype(name))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return x.to(getattr(torch, name))
    if hasattr(x, "astype"):
        return x.astype(name)
    raise DtypeError(f"an array of type {type(x).__name__} cannot be converted to {name}; convert it before the call")
