"""axisloom.Array, and arrays of other libraries in its place."""

import ctypes
import gc
import os
import weakref

import axisloom
import numpy as np
import pytest

Array = axisloom.Array


def small(dtype="f4"):
    return np.arange(24).reshape(2, 3, 4).astype(dtype)


def test_a_new_array_is_a_copy():
    source = small()
    array = Array(source)
    source[:] = -1
    assert array.shape == (2, 3, 4) and array.strides == (12, 4, 1)
    assert (array.ndim, array.size, array.dtype, array.device, len(array)) == (3, 24, "f32", "host", 2)
    np.testing.assert_array_equal(array.numpy(), small())


def test_results_are_arrays_again():
    turned = axisloom.rearrange(Array(small()), "a b c -> c b a")
    assert isinstance(turned, Array)
    np.testing.assert_array_equal(turned.numpy(), small().transpose(2, 1, 0))


def test_numpy_shares_the_memory():
    array = Array(small())
    array.numpy()[0, 0, 0] = 99
    assert array.numpy()[0, 0, 0] == 99


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_every_dtype_goes_there_and_back(dtype):
    array = Array(small(dtype))
    for back in (array.numpy(), np.from_dlpack(array), np.asarray(memoryview(array))):
        assert back.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(back, small(dtype))


def test_a_buffer_is_the_memory_itself():
    array = Array(small())
    view = memoryview(array)
    assert (view.format, view.shape, view.strides, view.readonly) == ("f", (2, 3, 4), (48, 16, 4), False)
    view[1, 2, 3] = 5.0
    assert array.numpy()[1, 2, 3] == 5


def test_memory_lives_as_long_as_its_last_user():
    array = Array(small())
    exported, view = np.from_dlpack(array), memoryview(array)
    del array
    gc.collect()
    np.testing.assert_array_equal(exported, small())
    np.testing.assert_array_equal(np.asarray(view), small())


def test_what_is_held_is_let_go():
    source = small()
    watched = weakref.ref(source)
    held = axisloom.from_dlpack(source)
    np.testing.assert_array_equal(axisloom.rearrange(held, "a b c -> b a c").numpy(), source.transpose(1, 0, 2))
    del source
    assert watched() is not None
    del held
    gc.collect()
    assert watched() is None


def test_a_capsule_that_nobody_takes_frees_its_array():
    array = Array(small())
    before = len(gc.get_referrers(array))
    capsule = array.__dlpack__(max_version=(1, 0))
    legacy = array.__dlpack__()
    del capsule, legacy
    gc.collect()
    assert len(gc.get_referrers(array)) == before


def test_read_only_memory_stays_so():
    source = small()
    source.flags.writeable = False
    held = axisloom.from_dlpack(source)
    assert memoryview(held).readonly
    with pytest.raises(ValueError, match="read-only"):
        axisloom.rearrange(small(), "a b c -> a b c", out=held)


def test_strides_of_any_kind_are_taken_in_place():
    source = small()[::-1, :, ::2]
    held = axisloom.from_dlpack(source)
    assert held.strides == (-12, 4, 2)
    np.testing.assert_array_equal(axisloom.rearrange(held, "a b c -> c (a b)").numpy(), source.transpose(2, 0, 1).reshape(2, 6))


def test_what_is_no_array_is_refused():
    for thing in ({"a": 1}, object()):
        with pytest.raises(TypeError):
            axisloom.from_dlpack(thing)
    with pytest.raises(AttributeError):
        Array(small()).__cuda_array_interface__
    with pytest.raises(TypeError, match="wrong type"):
        Array(small()).__dlpack__(max_version="a")
    for stream in ("x", 2.5):
        with pytest.raises(TypeError, match="stream="):
            axisloom.rearrange(small(), "a b c -> c b a", stream=stream)
    with pytest.raises(TypeError, match="without axes"):
        len(Array(np.float32(3)))
    with pytest.raises(axisloom.Error):
        Array(small(), "cuda:99")


# ---- arrays of NumPy that are not plain


def test_other_byte_orders_by_one_copy():
    swapped = small(">f4")
    turned = axisloom.rearrange(swapped, "a b c -> c b a")
    assert turned.dtype == np.dtype("f4") and turned.dtype.isnative
    np.testing.assert_array_equal(turned, swapped.transpose(2, 1, 0))
    out = np.empty((4, 3, 2), ">f4")
    assert axisloom.rearrange(small(), "a b c -> c b a", out=out) is out
    np.testing.assert_array_equal(out, small().transpose(2, 1, 0))


def test_unaligned_arrays_by_one_copy():
    raw = np.zeros(24 * 4 + 1, np.uint8)
    unaligned = raw[1:].view("f4").reshape(2, 3, 4)
    unaligned[:] = small()
    assert not unaligned.flags.aligned
    np.testing.assert_array_equal(axisloom.rearrange(unaligned, "a b c -> b c a"), small().transpose(1, 2, 0))
    fields = np.zeros(6, [("x", "u1"), ("y", "f4")])
    fields["y"] = np.arange(6)
    np.testing.assert_array_equal(axisloom.rearrange(fields["y"], "(a b) -> b a", a=2), np.arange(6.0).reshape(2, 3).T)


def test_what_only_moves_may_have_any_meaning():
    days = np.array(["2020-01-01", "2021-05-06", "2022-07-08", "NaT"], "M8[D]")
    np.testing.assert_array_equal(axisloom.rearrange(days, "(a b) -> b a", a=2), days.reshape(2, 2).T)
    pairs = np.array([(1, 2), (3, 4)], [("x", "i4"), ("y", "i4")])
    np.testing.assert_array_equal(axisloom.repeat(pairs, "a -> (2 a)"), np.tile(pairs, 2))
    with pytest.raises(TypeError, match="dtype"):
        axisloom.rearrange(np.array([object()]), "a -> a")
    with pytest.raises(TypeError, match="dtype"):
        axisloom.rearrange(np.zeros(2, "S3"), "a -> a")


def test_what_has_no_meaning_is_not_added():
    for opaque in (np.zeros(4, "M8[D]"), np.zeros(4, "m8[s]"), np.zeros(2, [("x", "i4"), ("y", "i4")]), np.zeros(2, "g")):
        with pytest.raises(TypeError):
            axisloom.reduce(opaque, "a -> ", "sum")


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="where="):
        axisloom.rearrange(np.ma.masked_array([1, 2], [True, False]), "a -> a")


def test_bfloat16_keeps_its_dtype():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = small().astype(ml_dtypes.bfloat16)
    turned = axisloom.rearrange(array, "a b c -> c b a")
    assert turned.dtype == array.dtype
    np.testing.assert_array_equal(turned.astype("f4"), small().transpose(2, 1, 0))
    assert axisloom.reduce(array, "a b c -> ", "sum") == 276


def test_an_output_that_overlaps_gets_the_right_result():
    array = np.arange(12.0).reshape(3, 4)
    wanted = array[::-1].copy()
    axisloom.rearrange(array[::-1], "a b -> a b", out=array)
    np.testing.assert_array_equal(array, wanted)


def test_buffers_and_lists_of_numbers_are_arrays_too():
    import array

    made = axisloom.rearrange(memoryview(array.array("i", range(6))), "(a b) -> b a", a=2)
    np.testing.assert_array_equal(made, np.arange(6).reshape(2, 3).T)


# ---- memory of large results


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory_of_large_results_serves_again():
    source = np.ones((512, 512), "f4")
    first = axisloom.rearrange(source, "a b -> b a")
    address = first.ctypes.data
    del first
    assert axisloom.rearrange(source, "a b -> b a").ctypes.data == address


def test_results_that_grow_keep_no_holes():
    axisloom.rearrange(np.ones(140_000, "f4"), "a -> a")
    before = resident()
    for n in range(0, 60_000, 100):
        axisloom.rearrange(np.ones(140_000 + n, "f4"), "a -> a")
    assert resident() - before < 64 << 20
    axisloom.empty_cache()


def test_memory_that_is_kept_is_given_back():
    axisloom.rearrange(np.ones((4096, 4096), "f4"), "a b -> b a")
    before = resident()
    axisloom.empty_cache()
    assert before - resident() > 32 << 20


def marked_free(array):
    """KiB around an array that the system may take."""
    wanted, address = False, array.ctypes.data
    with open("/proc/self/smaps", encoding="ascii") as maps:
        for line in maps:
            if "-" in (span := line.split()[0]) and ":" not in span:
                begin, end = (int(number, 16) for number in span.split("-"))
                wanted = begin <= address < end
            elif wanted and line.startswith("LazyFree:"):
                return int(line.split()[1])
    raise AssertionError(f"no mapping has {address:#x}")


def test_of_memory_that_is_kept_the_oldest_is_marked_free():
    axisloom.empty_cache()
    results = [axisloom.rearrange(np.ones(n << 18, "f4"), "a -> a") for n in (33, 34, 1)]
    views = [np.frombuffer((ctypes.c_char * result.nbytes).from_address(result.ctypes.data)) for result in results]
    while results:
        del results[0]  # a call of pop() would hold one a little longer
    large, larger, small = (marked_free(view) for view in views)
    assert large > 0 and larger == 0 and small == 0
    axisloom.empty_cache()


def test_too_much_memory_is_refused_with_a_word():
    with pytest.raises(MemoryError, match="bytes"):
        axisloom.repeat(np.ones(1, "f4"), "a -> (a n)", n=1 << 45)
