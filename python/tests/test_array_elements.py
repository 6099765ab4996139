"""Parts of an axisloom.Array, its elements as numbers of Python and in other dtypes, and pickle."""

import copy
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import axisloom

Array = axisloom.Array
DEVICES = [device["device"] for device in axisloom.devices()]


def counted(*shape, dtype="f4"):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


# ---- parts

KEYS = (
    1, -1, (), ..., None, (1, 2), (0, -1, 3), np.int8(1), (np.array(1), 0),
    slice(None), slice(1, None), slice(None, None, -1), slice(5, 1, -2), slice(2, 2), slice(-100, 100),
    slice(1, 2, 10**18), (slice(None), 1), (..., 1), (1, ..., 2), (..., slice(None, None, -2)), (None, ..., None), (slice(0, 0), 2),
    (slice(None, None, -1), None, slice(1, 3), 2), (slice(None), slice(None), slice(None), ...), (0, 0, 0, None),
)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_part_is_what_numpy_has(device, key):
    source = counted(2, 3, 4)
    part = Array(source, device)[key]
    assert isinstance(part, Array) and part.device == device and part.shape == source[key].shape
    np.testing.assert_array_equal(part.numpy(), source[key])
    np.testing.assert_array_equal(axisloom.sum(part).numpy(), source[key].sum())  # as a call reads it


@st.composite
def shapes_and_keys(draw):
    """A shape, and some keys, each for the part that the one before it leaves."""
    shape = tuple(draw(st.lists(st.integers(0, 5), min_size=0, max_size=4)))
    keys, left = [], np.empty(shape)
    for _ in range(draw(st.integers(1, 3))):
        keys.append(draw(keys_of(left.shape)))
        left = left[keys[-1]] if not isinstance(left[keys[-1]], np.generic) else left[(..., *keys[-1])]
    return shape, keys


@st.composite
def keys_of(draw, shape):
    numbers = [st.slices(extent) | (st.integers(-extent, extent - 1) if extent else st.nothing()) for extent in shape]
    items = [draw(number) for number in numbers[: draw(st.integers(0, len(shape)))]]
    if draw(st.booleans()):
        at = draw(st.integers(0, len(items)))
        items[at:] = [..., *[draw(number) for number in numbers[at + len(shape) - len(items) :]]]
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    return tuple(items)


@given(shapes_and_keys())
def test_parts_of_parts_are_what_numpy_has(shape_and_keys):
    shape, keys = shape_and_keys
    wanted = counted(*shape)
    part = Array(wanted)
    for key in keys:
        part, wanted = part[key], np.asarray(wanted[key])
    np.testing.assert_array_equal(part.numpy(), wanted)


@given(shapes_and_keys())
def test_parts_of_parts_are_written_as_numpy_writes_them(shape_and_keys):
    shape, keys = shape_and_keys
    wanted, array = counted(*shape), Array(counted(*shape))
    to, part = wanted, array
    for key in keys[:-1]:  # with an ellipsis NumPy gives a view, of one element too
        to, part = to[key if ... in key else (*key, ...)], part[key]
    values = np.arange(2.0, 2 + to[keys[-1]].shape[-1]) if np.ndim(to[keys[-1]]) else 9
    to[keys[-1]], part[keys[-1]] = values, values
    np.testing.assert_array_equal(array.numpy(), wanted)


def test_a_part_is_in_the_same_memory():
    array = Array(counted(3, 4))
    array[1:, ::2].numpy()[:] = -1
    wanted = counted(3, 4)
    wanted[1:, ::2] = -1
    np.testing.assert_array_equal(array.numpy(), wanted)
    kept = array[2]
    del array
    np.testing.assert_array_equal(kept.numpy(), wanted[2])


def test_other_libraries_read_parts():
    source = counted(3, 4)
    part = Array(source)[::-1, 1::2]
    for read in (np.from_dlpack(part), np.asarray(memoryview(part)), np.asarray(part)):
        np.testing.assert_array_equal(read, source[::-1, 1::2])


@pytest.mark.parametrize(
    "key, message",
    (
        (2, "index 2 is out of bounds for axis 0 with length 2"),
        (-3, "index -3 is out of bounds"),
        ((0, 0, 4), "index 4 is out of bounds for axis 2 with length 4"),
        ((0, 0, 0, 0), "3 axes, but 4 were indexed"),
        ((..., 0, ...), "only one ellipsis"),
        (1 << 80, "cannot fit"),
        (True, "not by bool"),
        ([0, 1], "not by list"),
        (np.array([0, 1]), "not by ndarray"),
        ((slice(None), np.ones(3, bool)), "not by ndarray"),
        (np.True_, "not by"),
        (1.0, "not by float"),
        ("x", "not by str"),
    ),
)
def test_what_is_no_index_is_an_index_error(key, message):
    array = Array(counted(2, 3, 4))
    for call in (lambda: array[key], lambda: operator.setitem(array, key, 0)):
        with pytest.raises(IndexError, match=message):
            call()


def test_a_step_of_zero_is_no_slice():
    with pytest.raises(ValueError, match="zero"):
        Array(counted(2))[::0]


@pytest.mark.parametrize("device", DEVICES)
def test_an_array_is_iterated_over(device):
    source = counted(3, 2)
    rows = list(Array(source, device))
    assert [row.shape for row in rows] == [(2,)] * 3
    np.testing.assert_array_equal(np.stack([row.numpy() for row in rows]), source)
    assert list(Array(source[:0], device)) == []
    with pytest.raises(TypeError, match="without axes"):
        iter(Array(source[0, 0], device))
    for element in (3.0, None):
        with pytest.raises(TypeError, match="compares no elements"):
            assert element in Array(source, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "value", (7, -2.5, [1, 2, 3, 4], counted(4), counted(3, 1, dtype="i8"), counted(3, 4, dtype=">f8"))
)
def test_a_part_is_written_to(device, value):
    wanted, array = counted(2, 3, 4), Array(counted(2, 3, 4), device)
    wanted[1, ::-1], array[1, ::-1] = value, value
    np.testing.assert_array_equal(array.numpy(), wanted)
    array[...] = array[0, 0] if device == "host" else array[0, 0].to("host")
    np.testing.assert_array_equal(array.numpy(), np.broadcast_to(wanted[0, 0], wanted.shape))


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_written_may_overlap(device):
    wanted, array = counted(4, 4), Array(counted(4, 4), device)
    wanted[1:], array[1:] = wanted[:-1].copy(), array[:-1]
    np.testing.assert_array_equal(array.numpy(), wanted)
    assert axisloom.rearrange(array, "a b -> b a", out=array) is array
    np.testing.assert_array_equal(array.numpy(), wanted.T)


def test_what_cannot_be_written_is_refused():
    array = Array(counted(2, 3))
    with pytest.raises(ValueError, match="broadcast"):
        array[:] = np.zeros(2)
    with pytest.raises(OverflowError):
        Array(counted(2, dtype="u1"))[0] = 300
    source = counted(2, 3)
    source.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        axisloom.from_dlpack(source)[0] = 1


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_are_packed_and_unpacked(device):
    arrays = [Array(counted(2, 3), device), Array(counted(2, 5, 2), device)]
    packed, shapes = axisloom.pack(arrays, "a *")
    pieces = axisloom.unpack(packed, shapes, "a *")
    for piece, array in zip(pieces, arrays):
        np.testing.assert_array_equal(piece.numpy(), array.numpy())


# ---- numbers

NUMBERS = ("?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_one_element_is_a_number_of_python(device, dtype):
    largest = {"?": True, "c": 1.5 - 2j, "f": -0.1}.get(dtype[0]) if dtype[0] in "?cf" else np.iinfo(dtype).max
    for number in (largest, 0 if dtype[0] in "ui" else np.dtype(dtype).type(0)):
        source = np.full((3, 1, 1), number, dtype)
        array = Array(source, device)[2]
        item = array.item()
        assert type(item) is type(source[0].item()) and item == source[0].item()
        assert bool(array) is bool(source[0]) and complex(array) == complex(item)
        if dtype[0] != "c":
            assert int(array) == int(item) and float(array) == float(item)
        if dtype[0] in "ui":
            assert operator.index(array[0, 0]) == item


def test_bfloat16_is_a_number_too():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert Array(np.array([1.5], ml_dtypes.bfloat16)).item() == 1.5


@pytest.mark.parametrize(
    "kind, message, call",
    (
        (ValueError, "neither true nor false", bool),
        (TypeError, "only an array of one element", int),
        (TypeError, "only an array of one element", float),
        (TypeError, "only an array of one element", complex),
        (TypeError, "only an array of one element", Array.item),
        (TypeError, "only an integer without axes", operator.index),
    ),
)
@pytest.mark.parametrize("shape", ((2,), (0,), (1, 3)))
def test_several_elements_are_no_number(shape, kind, message, call):
    with pytest.raises(kind, match=message):
        call(Array(counted(*shape, dtype="i4")))


@pytest.mark.parametrize("source", (counted(1, dtype="i4"), np.float32(1), np.True_))
def test_an_index_is_an_integer_without_axes(source):
    with pytest.raises(TypeError, match="only an integer without axes"):
        operator.index(Array(source))


def test_a_complex_number_is_no_float():
    with pytest.raises(TypeError):
        float(Array(np.complex64(1)))


# ---- other dtypes


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("target", NUMBERS)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_astype_is_numpys(dtype, target):
    source = np.array([0, 1, 2, 3, 100, 120], dtype)[::2]
    made = Array(source).astype(np.dtype(target).name).numpy()
    assert made.dtype == np.dtype(target) and made.flags.c_contiguous and made.flags.writeable
    np.testing.assert_array_equal(made, source.astype(target))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "dtype, target", (("f4", "f8"), ("f8", "f4"), ("f2", "f4"), ("f8", "f2"), ("i8", "f4"), ("i4", "i1"))
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_astype_keeps_what_is_special(device, dtype, target):
    values = [-0.0, np.inf, -np.inf, np.nan, 1e30, 1 / 3] if dtype[0] == "f" else [-1, 1 << 30, 300, (1 << 24) + 1, 0]
    with np.errstate(all="ignore"):
        source = np.array(values).astype(dtype)
        wanted = source.astype(target)
    there = Array(source, device).astype(np.dtype(target))
    made = there.numpy()
    assert there.device == device
    np.testing.assert_array_equal(made, wanted)
    np.testing.assert_array_equal(np.signbit(made), np.signbit(wanted))


def test_names_of_dtypes_are_those_of_arrays():
    array = Array(counted(3))
    assert [array.astype(name).dtype for name in ("i8", "int64", int, np.int8)] == ["i8", "i64", "i64", "i8"]
    assert array.astype(array.astype("u8").dtype).dtype == "u8"
    for unknown in ("f4", "i4", "text", "float128"):
        with pytest.raises(TypeError, match="is no dtype of an Array"):
            array.astype(unknown)


def test_the_same_dtype_is_copied_where_that_is_asked_for():
    array = Array(counted(3))
    assert array.astype("f32", copy=False) is array
    made = array.astype("f32")
    made[0] = 9
    assert array[0].item() == 0


def test_bfloat16_is_a_dtype_to_convert_to():
    pytest.importorskip("ml_dtypes")
    array = Array(counted(3))
    assert array.astype("bf16").dtype == "bf16"
    for back in ("f32", "i32"):
        np.testing.assert_array_equal(array.astype("bf16").astype(back).numpy(), array.numpy())


def test_numpy_reads_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = Array(counted(3)).astype("bf16")
    assert np.asarray(array).dtype == ml_dtypes.bfloat16 and np.asarray(array, "f4").dtype == np.float32
    np.testing.assert_array_equal(np.asarray(array, "f4"), counted(3))
    np.asarray(array)[0] = 7
    assert array[0].item() == 7
    np.array(array)[0] = 8
    assert array[0].item() == 7
    with pytest.raises(BufferError, match="bf16"):
        memoryview(array)


def test_functions_convert_arrays():
    array = Array(counted(4, dtype="f8"))
    assert axisloom.sum(array, dtype="float32").dtype == "f32"
    assert axisloom.sum(array, dtype="float32").item() == 6


# ---- pickle and copy


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_brings_an_array_back_to_its_device(device, protocol):
    source = counted(2, 3, 4)
    for key in ((), (slice(None), slice(None, None, -2)), (1, 2, 3), slice(0, 0)):
        array = pickle.loads(pickle.dumps(Array(source, device)[key], protocol))
        assert (array.device, array.dtype) == (device, "f32")
        np.testing.assert_array_equal(array.numpy(), source[key])
        array[...] = 1  # it may be written to


def test_pickle_of_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    source = counted(3, 4).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(Array(source))).numpy(), source)


def test_a_device_that_is_not_here_becomes_the_host():
    restored, (dtype, shape, elements, _) = Array(counted(2, 3)).__reduce__()
    with pytest.warns(RuntimeWarning, match="an Array of cuda:99 is now on the host: .*cuda:99"):
        array = restored(dtype, shape, elements, "cuda:99")
    assert array.device == "host"
    np.testing.assert_array_equal(array.numpy(), counted(2, 3))


def test_bytes_that_are_too_few_are_no_array():
    with pytest.raises(ValueError, match="has 24 bytes, not 23"):
        axisloom._native.from_bytes("f32", (2, 3), bytes(23))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("copied", (copy.copy, copy.deepcopy))
def test_copies_have_memory_of_their_own(device, copied):
    array = Array(counted(3, 4), device)
    made = copied(array[::2])
    array[...] = 0
    assert made.device == device
    np.testing.assert_array_equal(made.numpy(), counted(3, 4)[::2])
