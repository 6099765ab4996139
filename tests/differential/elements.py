"""Elements: the dtypes, arrays of them, and the numbers that they are.

An array is a Typed: the name of a dtype and NumPy's array of it. NumPy has no bf16, so such an array holds the bits, as
uint16. Numbers are exact: integers as they are, floats as long doubles, which hold every value of every dtype."""
from typing import NamedTuple

import numpy as np

LONG, COMPLEX_LONG = np.longdouble, np.clongdouble
assert np.finfo(LONG).nmant >= 63, "long doubles are no wider than f64 here: there is nothing to compare f64 with"

NUMPY = {"u8": np.uint8, "i8": np.int8, "bool": np.bool_, "u16": np.uint16, "i16": np.int16, "f16": np.float16,
         "bf16": np.uint16, "u32": np.uint32, "i32": np.int32, "f32": np.float32, "u64": np.uint64, "i64": np.int64,
         "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
NAMES = {np.dtype(numpy): name for name, numpy in NUMPY.items() if name != "bf16"}
DTYPES = tuple(NUMPY)
COMPONENT = {"c64": "f32", "c128": "f64"}

# Half of the distance between 1 and the next number, the largest number, and the smallest above 0.
ROUNDOFF = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}
LARGEST = {"f16": LONG(65504), "bf16": LONG(2) ** 128 - LONG(2) ** 120, "f32": LONG(np.finfo(np.float32).max),
           "f64": LONG(np.finfo(np.float64).max)}
LEAST = {"f16": LONG(2) ** -24, "bf16": LONG(2) ** -133, "f32": LONG(2) ** -149, "f64": LONG(2) ** -1074}


class Typed(NamedTuple):
    dtype: str
    data: np.ndarray


def component(dtype):
    """The real dtype that a complex one consists of; of others the dtype itself."""
    return COMPONENT.get(dtype, dtype)


def is_float(dtype):
    return component(dtype) in ROUNDOFF


def is_complex(dtype):
    return dtype in COMPONENT


def size_of(dtype):
    return np.dtype(NUMPY[dtype]).itemsize


def joined(real, imag):
    """The complex array of two real ones, without arithmetic, which would spread what is not finite."""
    result = np.empty(np.shape(real), COMPLEX_LONG)
    result.real, result.imag = real, imag
    return result


def numbers(array):
    """The exact values of an array's elements. A bool may be any byte: what is not 0 is true."""
    if array.dtype == "bool":
        return np.asarray(array.data.view(np.uint8) != 0)
    if not is_float(array.dtype):
        return array.data
    data = array.data
    if array.dtype == "bf16":
        data = np.asarray(data.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):  # NaNs that signal
        return data.astype(COMPLEX_LONG if is_complex(array.dtype) else LONG)


def stored(dtype, values):
    """Numbers as an array of a dtype, floats rounded."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.asarray(values).astype(np.float32 if dtype == "bf16" else NUMPY[dtype])
    if dtype != "bf16":
        return Typed(dtype, near)
    pattern = near.view(np.uint32).astype(np.uint64)
    to_even = (pattern + 0x7FFF + (pattern >> 16 & 1)) >> 16
    return Typed(dtype, np.asarray(np.where(np.isnan(near), 0x7FC0, to_even), np.uint16))


def promoted(first, second):
    """What NumPy makes of two dtypes. bf16 is no dtype of NumPy's: it is promoted as f16, but with f16 itself, and with
    what f16 would have to grow for, to f32 or wider."""
    if "bf16" not in (first, second):
        return NAMES[np.result_type(NUMPY[first], NUMPY[second])]
    if first == second:
        return "bf16"
    other = second if first == "bf16" else first
    if other == "f16":
        return "f32"
    as_half = promoted("f16", other)
    return "bf16" if as_half == "f16" else as_half


def bits(array):
    """The bytes of an array's elements in order."""
    return np.ascontiguousarray(array).tobytes()
