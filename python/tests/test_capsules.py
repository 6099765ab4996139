"""What other libraries may give by __dlpack__: used capsules, wrong ones, and tensors that are none."""

import ctypes

import axisloom
import numpy as np
import pytest

CPU, CUDA, OPENCL, ROCM = 1, 2, 4, 10
FLOAT, OPAQUE = 2, 3


class Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int), ("dtype", Dtype),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

ELEMENTS = np.arange(1, 7, dtype="f4")
EXTENTS = (ctypes.c_int64 * 17)(2, 3)
kept = []


def tensor(**wrong):
    fields = {"data": ELEMENTS.ctypes.data, "device": Device(CPU, 0), "ndim": 2, "dtype": Dtype(FLOAT, 32, 1),
              "shape": ctypes.addressof(EXTENTS), "strides": None, "byte_offset": 0}
    return Tensor(**{**fields, **wrong})


def capsule(managed, name):
    kept.append(managed)
    return new_capsule(ctypes.addressof(managed), name, None)


def of(**wrong):
    return capsule(Managed(tensor(**wrong), None, None), b"dltensor")


class Odd:
    """An array of another library, whose __dlpack__ returns what it is given."""

    def __init__(self, given, device=(CPU, 0)):
        self.given, self.device, self.calls = given, device, 0

    def __dlpack__(self, **asked):
        self.calls += 1
        return self.given

    def __dlpack_device__(self):
        return self.device


def used():
    made = np.arange(3.0).__dlpack__()
    axisloom.from_dlpack(Odd(made))
    return made


def test_what_is_right_is_taken():
    np.testing.assert_array_equal(axisloom.from_dlpack(Odd(of())).numpy(), ELEMENTS.reshape(2, 3))
    newer = capsule(Versioned(1, 99, None, None, 1, tensor(byte_offset=4, ndim=1)), b"dltensor_versioned")
    held = axisloom.from_dlpack(Odd(newer))
    np.testing.assert_array_equal(held.numpy(), ELEMENTS[1:3])
    assert memoryview(held).readonly


def test_negative_strides_as_cupy_gives_them():
    strides = (ctypes.c_int64 * 2)((2**64 - 3 * 4) // 4, 1)
    backwards = of(data=ELEMENTS.ctypes.data + 3 * 4, strides=ctypes.addressof(strides))
    np.testing.assert_array_equal(axisloom.from_dlpack(Odd(backwards)).numpy(), ELEMENTS.reshape(2, 3)[::-1])


class WithInterface(Odd):
    """CuPy's arrays before DLPack 1: the interface says what the capsule does not."""

    def __init__(self, read_only):
        super().__init__(of())
        self.__cuda_array_interface__ = {"data": (ELEMENTS.ctypes.data, read_only)}


def test_what_does_not_say_that_it_is_writable_is_not():
    assert memoryview(axisloom.from_dlpack(Odd(of()))).readonly
    assert memoryview(axisloom.from_dlpack(WithInterface(True))).readonly
    assert not memoryview(axisloom.from_dlpack(WithInterface(False))).readonly
    with pytest.raises(ValueError, match="out= cannot be written to: it is read-only"):
        axisloom.rearrange(np.ones((3, 2), "f4"), "a b -> b a", out=Odd(of()))


NONSENSE = {
    "a number": (TypeError, "Odd.__dlpack__ returned int, not a capsule", lambda: Odd(3)),
    "nothing": (TypeError, "Odd.__dlpack__ returned NoneType, not a capsule", lambda: Odd(None)),
    "an array": (TypeError, "Odd.__dlpack__ returned ndarray, not a capsule", lambda: Odd(ELEMENTS)),
    "a used one": (BufferError, "Odd.__dlpack__ returned a capsule whose tensor was taken before", lambda: Odd(used())),
    "no name": (BufferError, 'Odd.__dlpack__ returned a capsule called "", not "dlt', lambda: Odd(new_capsule(1, None, None))),
    "another name": (BufferError, 'called "other", not', lambda: Odd(new_capsule(1, b"other", None))),
    "another version": (
        BufferError,
        "Odd.__dlpack__ returned a tensor of DLPack 2, which is later than 1",
        lambda: Odd(capsule(Versioned(2, 0, None, None, 0, tensor()), b"dltensor_versioned")),
    ),
    "no device": (TypeError, "Odd.__dlpack_device__ returned None, not a device type", lambda: Odd(of(), None)),
    "half a device": (TypeError, r"Odd.__dlpack_device__ returned \(1,\), not a device", lambda: Odd(of(), (1,))),
    "a named device": (TypeError, r"Odd.__dlpack_device__ returned \('cpu', 0\), not", lambda: Odd(of(), ("cpu", 0))),
    "less than no axes": (ValueError, "Odd.__dlpack__: the tensor has -1 axes", lambda: Odd(of(ndim=-1))),
    "more axes than there are": (ValueError, "Odd.__dlpack__: .*16", lambda: Odd(of(ndim=17))),
    "no shape": (ValueError, "Odd.__dlpack__: the tensor has axes, but its shape is null", lambda: Odd(of(shape=None))),
    "a length below 0": (
        ValueError,
        "Odd.__dlpack__: .*-2",
        lambda: Odd(of(shape=ctypes.addressof(kept.append((ctypes.c_int64 * 2)(-2, 3)) or kept[-1]))),
    ),
    "no data": (ValueError, "Odd.__dlpack__: the tensor has elements, but its data is null", lambda: Odd(of(data=None))),
    "lanes": (TypeError, "Odd.__dlpack__: .*2 lanes", lambda: Odd(of(dtype=Dtype(FLOAT, 32, 2)))),
    "no numbers": (TypeError, "Odd.__dlpack__: .*code 3", lambda: Odd(of(dtype=Dtype(OPAQUE, 64, 1)))),
    "another kind of device": (
        NotImplementedError,
        "Odd.__dlpack__: the tensor lies in memory of DLPack's device type 10",
        lambda: Odd(of(device=Device(ROCM, 0)), (ROCM, 0)),
    ),
    "another OpenCL": (
        NotImplementedError,
        "Odd.__dlpack__: the tensor lies in an OpenCL context of its own",
        lambda: Odd(of(device=Device(OPENCL, 0)), (OPENCL, 0)),
    ),
}


@pytest.mark.parametrize("what", NONSENSE)
@pytest.mark.parametrize("take", (axisloom.from_dlpack, lambda x: axisloom.rearrange(x, "a b -> b a"), axisloom.Array))
def test_nonsense_is_refused_and_named(what, take):
    kind, message, odd = NONSENSE[what]
    made = odd()
    with pytest.raises(kind, match=message):
        take(made)
    assert made.calls <= 1


def test_what_is_refused_is_left_to_its_owner():
    freed = []
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda managed: freed.append(managed))
    managed = Managed(tensor(ndim=-1), None, ctypes.cast(deleter, ctypes.c_void_p))
    given = capsule(managed, b"dltensor")
    with pytest.raises(ValueError):
        axisloom.from_dlpack(Odd(given))
    assert ctypes.pythonapi.PyCapsule_IsValid(ctypes.py_object(given), b"dltensor") and not freed


def test_a_library_of_before_dlpack_1_is_asked_again():
    class Older(Odd):
        def __dlpack__(self, *, stream=None):
            return super().__dlpack__()

    older = Older(of())
    assert axisloom.from_dlpack(older).shape == (2, 3) and older.calls == 1


def test_an_array_is_itself():
    array = axisloom.Array(ELEMENTS)
    assert axisloom.from_dlpack(array) is array


@pytest.mark.parametrize("device", [d["device"] for d in axisloom.devices() if d["device"].startswith("opencl")])
def test_memory_of_opencl_is_given_by_its_handle(device):
    part = axisloom.Array(ELEMENTS, device)[1::2]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    made = part.__dlpack__()
    given = Managed.from_address(pointer(made, b"dltensor")).tensor
    assert given.device.device_type == OPENCL and given.data and given.byte_offset == 4
    with pytest.raises(RuntimeError, match="Unsupported device"):
        np.from_dlpack(part)
    np.testing.assert_array_equal(np.from_dlpack(part, device="cpu"), ELEMENTS[1::2])
