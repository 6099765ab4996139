"""Arrays that the compiled module does not read by itself: by DLPack, by buffers, or as NumPy makes them."""

import sys

from . import _native
from ._arrays import Traced, as_numpy, is_traced


def adapted(array):
    """An Array in the same memory, or a NumPy array of what is no array yet. NumPy's own stay as they are."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(array, numpy.ndarray):
        return array
    if hasattr(array, "__dlpack__"):
        return _native.from_dlpack(array)
    import numpy

    return as_numpy(numpy, array)


def _adapted_out(out):
    """out, as something that is written to in its own memory. A list has none: the result would be lost."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(out, numpy.ndarray):
        return out
    if hasattr(out, "__dlpack__"):
        return _native.from_dlpack(out)
    try:
        memory = memoryview(out)
    except TypeError:
        memory = None
    if memory is None or memory.readonly:
        raise TypeError(f"out= is of type {type(out).__name__}, which cannot be written to: give an array")
    import numpy

    return numpy.asarray(memory)


def _restored(result, like):
    """The result as the library of `like` has it."""
    if isinstance(result, _native.Array):
        namespace = like.__array_namespace__() if hasattr(like, "__array_namespace__") else _dlpack_module(like)
        return namespace.from_dlpack(result)
    return result


def _dlpack_module(like):
    import importlib

    package = type(like).__module__.partition(".")[0]
    module = importlib.import_module(package)
    if not hasattr(module, "from_dlpack"):
        raise TypeError(f"{type(like).__name__} is not an array that Axisloom can make: {package} has no from_dlpack")
    return module


def call(name, arguments, arrays, lengths, options, out, device, stream):
    """_native.call for arrays of which one is of a kind that it does not read."""
    if any(map(is_traced, arrays)):
        if out is not None or device is not None or stream is not None:
            return Traced.call(_native.call, name, arguments, arrays, lengths, options, out, device, stream)
        from .torch import dispatch

        return dispatch(name, arguments, arrays, lengths, options, out, device, stream)
    inputs = tuple(adapted(array) for array in arrays)
    # A tensor of PyTorch stays one: it counts what is written into it.
    own = out is None or isinstance(out, getattr(sys.modules.get("torch"), "Tensor", ()))
    into = out if own else _adapted_out(out)
    result = _native.call(name, arguments, inputs, lengths, options, into, device, stream)
    return out if out is not None else _restored(result, arrays[0])
