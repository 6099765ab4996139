"""The functions with NumPy's names against NumPy's own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from draws import COMPLEX, DTYPES, FLOATS, INTEGERS, axes_of, filled, same, views
from hypothesis import given, settings
from hypothesis import strategies as st

import axisloom

ARITHMETIC = ("sum", "prod", "mean")
ORDERS = ("min", "max")
INDICES = ("argmin", "argmax")
LOGIC = ("any", "all", "count_nonzero")


@pytest.fixture(autouse=True)
def numpys_warnings():
    """NumPy warns of overflows and empty means; Axisloom never does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def numpys(name: str):
    return np.linalg.norm if name == "norm" else getattr(np, name)


def outcome(function, *arguments, **options):
    """The result, or the kind of error."""
    try:
        return function(*arguments, **options), None
    except (ValueError, TypeError, IndexError) as error:
        return None, error


def same_outcome(name: str, rounding: float, x, *arguments, **options) -> None:
    expected, refused = outcome(numpys(name), x, *arguments, **options)
    ours, our_refusal = outcome(getattr(axisloom, name), x, *arguments, **options)
    if refused is not None:
        assert isinstance(our_refusal, ValueError if isinstance(refused, ValueError) else type(refused)), our_refusal
    else:
        assert our_refusal is None, our_refusal
        same(ours, expected, rounding)


class TestReductions:
    @settings(max_examples=400, deadline=None)
    @given(st.data(), st.sampled_from(ARITHMETIC), views(), st.booleans())
    def test_arithmetic(self, data, name, x, keepdims):
        if name == "prod" and x.dtype.kind in "fc":
            x = np.sign(x.real).astype(x.dtype)  # exact in any order
        axis = data.draw(axes_of(x.ndim))
        same_outcome(name, 64.0, x, axis=axis, keepdims=keepdims)

    @settings(max_examples=200, deadline=None)
    @given(st.data(), st.sampled_from((*ARITHMETIC, "norm")), views(dtypes=FLOATS, special=True))
    def test_what_is_not_finite(self, data, name, x):
        if name == "prod":
            x = np.sign(x) * np.abs(x) ** np.inf  # 0, 1, infinity and NaN: exact in any order
        axis = data.draw(st.one_of(st.none(), st.integers(-x.ndim, x.ndim - 1)) if x.ndim else st.none())
        if name == "norm" and x.dtype == np.float16:
            x = x.astype("float32")  # NumPy's squares of float16 overflow
        same_outcome(name, 256.0, x, axis=axis)

    @settings(max_examples=400, deadline=None)
    @given(st.data(), st.sampled_from((*ORDERS, *LOGIC)), views(special=True), st.booleans())
    def test_exact(self, data, name, x, keepdims):
        same_outcome(name, 0.0, x, axis=data.draw(axes_of(x.ndim)), keepdims=keepdims)

    @settings(max_examples=200, deadline=None)
    @given(st.data(), st.sampled_from(INDICES), views(special=True), st.booleans())
    def test_indices(self, data, name, x, keepdims):
        axis = data.draw(st.one_of(st.none(), st.integers(-x.ndim, x.ndim - 1)) if x.ndim else st.none())
        same_outcome(name, 0.0, x, axis=axis, keepdims=keepdims)

    @settings(max_examples=200, deadline=None)
    @given(st.data(), views(dtypes=("bool", *INTEGERS, "float32", "float64", *COMPLEX)), st.booleans())
    def test_norm(self, data, x, keepdims):
        axis = data.draw(st.one_of(st.none(), st.integers(-x.ndim, x.ndim - 1)) if x.ndim else st.none())
        orders = (None,) if axis is None else (None, 1, 2, np.inf, -np.inf, 0, 3)
        same_outcome("norm", 256.0, x, ord=data.draw(st.sampled_from(orders)), axis=axis, keepdims=keepdims)

    @settings(max_examples=200, deadline=None)
    @given(st.data(), st.sampled_from((*ARITHMETIC, *ORDERS, "any", "all")), views(), st.booleans())
    def test_where(self, data, name, x, keepdims):
        if name == "prod" and x.dtype.kind in "fc":
            x = np.sign(x.real).astype(x.dtype)
        shape = tuple(data.draw(st.sampled_from((1, length))) for length in x.shape)
        mask = filled(shape[data.draw(st.integers(0, len(shape))) :], "bool", data.draw(st.integers(0, 99)))
        options = {"where": mask, "keepdims": keepdims, "axis": data.draw(axes_of(x.ndim))}
        if name in ORDERS:
            options["initial"] = True if x.dtype == bool else 1
        same_outcome(name, 64.0, x, **options)

    @pytest.mark.parametrize("where", (True, False, [True, False, True], np.False_))
    def test_where_that_is_no_array(self, where):
        same_outcome("sum", 0.0, np.arange(3), where=where)
        same_outcome("mean", 0.0, np.arange(3.0), where=where)

    def test_where_of_numbers_is_refused(self):
        with pytest.raises(TypeError):
            axisloom.sum(np.arange(3), where=np.arange(3))

    @pytest.mark.parametrize("name", ORDERS)
    def test_extremes_under_a_mask_need_an_initial_value(self, name):
        with pytest.raises(ValueError):
            getattr(axisloom, name)(np.arange(3), where=[True, False, True])

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("name", (*ARITHMETIC, *ORDERS, *INDICES, *LOGIC))
    def test_dtype_of_the_result(self, name, dtype):
        x = filled((3, 4), dtype, 7)
        if name == "prod" and x.dtype.kind in "fc":
            x = np.sign(x.real).astype(dtype)
        same_outcome(name, 64.0, x)
        same_outcome(name, 64.0, x, axis=0)

    @pytest.mark.parametrize("asked", DTYPES)
    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("name", ARITHMETIC)
    def test_asked_dtype(self, name, dtype, asked):
        """NumPy converts first. A float that no integer holds is undefined there, so elements are small."""
        if name == "mean" and np.dtype(asked).kind in "biu":
            with pytest.raises(TypeError):
                axisloom.mean(np.ones(3, dtype), dtype=asked)
            return
        x = np.abs(filled((3, 4), dtype, 7).real) % 3
        x = x.astype(dtype)
        same_outcome(name, 64.0, x, axis=1, dtype=asked)
        same_outcome(name, 64.0, x, axis=1, dtype=np.dtype(asked))

    @pytest.mark.parametrize("asked", (float, int, bool, complex, np.float32, "f4", "i8", "<f8"))
    def test_spellings_of_a_dtype(self, asked):
        same_outcome("sum", 0.0, np.arange(5, dtype="int16"), dtype=asked)

    def test_names_that_numpy_does_not_know(self):
        assert axisloom.sum(np.arange(5, dtype="float32"), dtype="f64").dtype == np.float64
        with pytest.raises(TypeError, match="no dtype"):
            axisloom.sum(np.arange(5), dtype="f99")

    @pytest.mark.parametrize("out_dtype", DTYPES)
    @pytest.mark.parametrize("dtype", ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"))
    @pytest.mark.parametrize("name", (*ARITHMETIC, *ORDERS, "any", "all"))
    def test_out(self, name, dtype, out_dtype):
        x = (np.abs(filled((3, 4), dtype, 7).real) % 3).astype(dtype)
        expected, ours = np.zeros(4, out_dtype), np.zeros(4, out_dtype)
        refused = outcome(numpys(name), x, axis=0, out=expected)[1]
        result, our_refusal = outcome(getattr(axisloom, name), x, axis=0, out=ours)
        if refused is not None:
            return
        assert our_refusal is None, our_refusal
        assert result is ours
        same(ours, expected, 64.0)

    @pytest.mark.parametrize("name", (*ARITHMETIC, *ORDERS, *INDICES))
    def test_out_with_strides(self, name):
        x = np.arange(24.0).reshape(2, 3, 4)
        dtype = "int64" if name in INDICES else "float64"
        expected, ours = np.zeros((4, 8), dtype)[::-1, ::4].T, np.zeros((4, 8), dtype)[::-1, ::4].T
        numpys(name)(x, axis=1, out=expected)
        assert getattr(axisloom, name)(x, axis=1, out=ours) is ours
        same(ours, expected)

    def test_out_in_a_tuple(self):
        out = np.zeros(4)
        assert axisloom.sum(np.ones((3, 4)), axis=0, out=(out,)) is out
        same(out, np.full(4, 3.0))

    def test_out_that_overlaps(self):
        x = np.arange(12.0).reshape(3, 4)
        expected = x.sum(axis=0)
        axisloom.sum(x, axis=0, out=x[1])
        same(x[1], expected)

    def test_out_of_another_shape_is_refused(self):
        for dtype in ("float64", "float32"):
            with pytest.raises(ValueError):
                axisloom.sum(np.ones((3, 4)), axis=0, out=np.zeros(3, dtype))

    @pytest.mark.parametrize("initial", (0, 1, -3, 2.5, True, np.float32(1.5), np.array(2)))
    @pytest.mark.parametrize("dtype", ("int8", "int64", "float32", "float64"))
    @pytest.mark.parametrize("name", ("sum", "prod", *ORDERS))
    def test_initial(self, name, dtype, initial):
        same_outcome(name, 8.0, np.arange(1, 5, dtype=dtype), initial=initial)
        same_outcome(name, 8.0, np.zeros((0, 3), dtype), axis=0, initial=initial)

    @pytest.mark.parametrize("initial", (np.inf, -np.inf, np.nan))
    @pytest.mark.parametrize("name", ORDERS)
    def test_initial_that_is_not_finite(self, name, initial):
        same_outcome(name, 0.0, np.arange(4.0), initial=initial)

    def test_complex_initial(self):
        same_outcome("sum", 8.0, np.arange(4, dtype="complex64"), initial=1 - 2j)

    def test_no_initial(self):
        same_outcome("sum", 0.0, np.arange(4.0), initial=None)
        same_outcome("sum", 0.0, np.zeros(0), initial=None)
        same_outcome("prod", 0.0, np.zeros((3, 0)), axis=0, initial=None)

    def test_initial_out_of_range_is_refused(self):
        with pytest.raises(ValueError):
            axisloom.max(np.arange(3, dtype="int8"), initial=300)

    @pytest.mark.parametrize("name", (*ORDERS, *INDICES))
    def test_of_no_elements(self, name):
        same_outcome(name, 0.0, np.zeros((0, 3)))
        same_outcome(name, 0.0, np.zeros((0, 3)), axis=0)
        same_outcome(name, 0.0, np.zeros((0, 3)), axis=1)

    @pytest.mark.parametrize("axis", (2, -3, (0, 5), (0, 0), (0, -2), 1.0, "0", [0], (0, 1.5)))
    @pytest.mark.parametrize("name", (*ARITHMETIC, *ORDERS, *LOGIC))
    def test_axes_that_are_not_there(self, name, axis):
        same_outcome(name, 0.0, np.ones((2, 3)), axis=axis)

    @pytest.mark.parametrize("axis", (np.int64(1), np.array(1), True))
    def test_numbers_of_axes(self, axis):
        same_outcome("sum", 0.0, np.arange(6).reshape(2, 3), axis=axis)

    def test_an_axis_error_is_numpys_kind(self):
        with pytest.raises(axisloom.AxisError) as caught:
            axisloom.sum(np.ones(3), axis=1)
        assert isinstance(caught.value, ValueError) and isinstance(caught.value, IndexError)

    @pytest.mark.parametrize("x", (3, 2.5, True, 1j, [1, 2, 3], [[1.0, 2.0], [3.0, 4.0]], (1, 2), np.float32(2), []))
    @pytest.mark.parametrize("name", ("sum", "mean", "any"))
    def test_what_is_no_array(self, name, x):
        same_outcome(name, 8.0, x)

    @pytest.mark.parametrize("name", ("sum", "max", "argmax", "mean"))
    @pytest.mark.parametrize("axis", (0, -1, None, ()))
    def test_arrays_without_axes(self, name, axis):
        if name != "argmax" or axis != ():
            same_outcome(name, 0.0, np.array(3), axis=axis)

    def test_several_axes_of_an_index(self):
        x = filled((3, 4, 5), "int16", 3)
        same(axisloom.argmax(x, axis=(0, 2)), x.transpose(1, 0, 2).reshape(4, 15).argmax(axis=1))

    @pytest.mark.parametrize("dtype", (">i4", ">f8", "<f4"))
    def test_byte_order_and_alignment(self, dtype):
        x = np.arange(24).reshape(4, 6).astype(dtype)
        bytes_ = np.zeros(x.nbytes + 1, "uint8")
        unaligned = bytes_[1:].view(x.dtype).reshape(x.shape)
        unaligned[...] = x
        for array in (x, unaligned, unaligned[::-1, ::2]):
            np.testing.assert_array_equal(axisloom.sum(array, axis=0), np.sum(array, axis=0))
            np.testing.assert_array_equal(axisloom.sum(array, axis=0, dtype="float64"), np.sum(array, axis=0))

    @pytest.mark.parametrize("name", ("sum", "max", "any", "argmin"))
    def test_bytes_that_are_not_one_are_true(self, name):
        x = np.array([0, 1, 2, 255], "uint8").view(bool)
        expected = {"sum": 3, "max": True, "any": True, "argmin": 0}[name]
        assert getattr(axisloom, name)(x) == expected

    @pytest.mark.parametrize("dtype", ("longdouble", "clongdouble", "object", "U4", "datetime64[s]"))
    @pytest.mark.parametrize("name", ("sum", "max", "mean", "any", "argmax"))
    def test_what_is_no_number_is_refused(self, name, dtype):
        with pytest.raises(TypeError):
            getattr(axisloom, name)(np.zeros(3, dtype))

    def test_subclasses_give_plain_arrays(self):
        x = np.matrix([[1.0, 2.0], [3.0, 4.0]])
        assert type(axisloom.sum(x, axis=0)) is np.ndarray
        with pytest.raises(TypeError, match="mask"):
            axisloom.sum(np.ma.array([1, 2], mask=[True, False]))

    def test_bfloat16(self):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        x = np.arange(12).reshape(3, 4).astype(ml_dtypes.bfloat16)
        result = axisloom.sum(x, axis=0)
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(result.astype("float32"), np.arange(12.0).reshape(3, 4).sum(axis=0))
        assert axisloom.sum(x, dtype="float32").dtype == np.float32
        assert axisloom.sum(np.ones(3, "float32"), dtype="bfloat16").dtype == x.dtype


class TestMatrixNorms:
    @pytest.mark.parametrize("keepdims", (False, True))
    @pytest.mark.parametrize("axis", ((0, 1), (1, 0), (-1, 0), (0, 2), (2, -2)))
    @pytest.mark.parametrize("ord", (None, "fro", 1, -1, np.inf, -np.inf))
    def test_against_numpy(self, ord, axis, keepdims):
        same_outcome("norm", 64.0, filled((3, 4, 5), "float64", 1), ord=ord, axis=axis, keepdims=keepdims)

    @pytest.mark.parametrize("ord", (1, np.inf, "fro", 2.5, "f", "nuc"))
    @pytest.mark.parametrize("shape", ((), (3,), (3, 4), (3, 4, 2)))
    def test_all_axes(self, ord, shape):
        if len(shape) == 2 and ord == "nuc":
            with pytest.raises(ValueError, match="nuc"):
                axisloom.norm(np.ones(shape), ord)
        else:
            same_outcome("norm", 64.0, filled(shape, "float64", 1), ord)

    @pytest.mark.parametrize("ord", (None, "fro", 1, -1, np.inf, -np.inf))
    @pytest.mark.parametrize("shape", ((0, 3), (3, 0), (0, 0), (2, 0, 3), (0, 2, 3)))
    def test_no_elements(self, shape, ord):
        same_outcome("norm", 0.0, np.zeros(shape), ord=ord, axis=(-2, -1))

    @pytest.mark.parametrize("ord", (None, 0, 1, 2, 3, np.inf, -np.inf))
    def test_vectors_of_no_elements(self, ord):
        for axis in (0, 1):
            same_outcome("norm", 0.0, np.zeros((0, 3), "int8"), ord=ord, axis=axis)

    @pytest.mark.parametrize("axis", ((0, 0), (0, 5), (0, 1, 2), (1, -2)))
    def test_axes_that_are_not_there(self, axis):
        same_outcome("norm", 0.0, np.ones((2, 3, 4)), axis=axis)

    @pytest.mark.parametrize("ord", (None, 1, -np.inf, 3))
    def test_out(self, ord):
        x, out = filled((3, 4), "float64", 1), np.zeros(4)
        assert axisloom.norm(x, ord, axis=0, out=out) is out
        np.testing.assert_allclose(out, np.linalg.norm(x, ord, axis=0))
        out = np.zeros(())
        assert axisloom.norm(x, 1, axis=(0, 1), out=out) is out
        np.testing.assert_allclose(out, np.linalg.norm(x, 1))


class TestMoves:
    @settings(max_examples=200, deadline=None)
    @given(st.data(), views(special=True))
    def test_permute(self, data, x):
        axes = data.draw(st.permutations(range(x.ndim)))
        signed = [data.draw(st.sampled_from((axis, axis - x.ndim))) for axis in axes]
        for ours in (axisloom.permute(x, signed), axisloom.transpose(x, signed)):
            same(ours, np.transpose(x, axes))
            assert ours.flags.c_contiguous and not np.shares_memory(ours, x)
        same(axisloom.transpose(x), np.transpose(x))

    @settings(max_examples=100, deadline=None)
    @given(views(special=True))
    def test_copy(self, x):
        ours = axisloom.copy(x)
        same(ours, np.array(x))
        assert ours.flags.c_contiguous and not np.shares_memory(ours, x)

    @pytest.mark.parametrize("axes", ((0, 0), (0,), (0, 1, 2), (0, 5), (0, -3), (0.0, 1), ()))
    def test_axes_that_are_none(self, axes):
        for name in ("permute", "transpose"):
            expected, refused = outcome(np.transpose, np.ones((2, 3)), axes)
            assert refused is not None
            with pytest.raises(TypeError if isinstance(refused, TypeError) else ValueError):
                getattr(axisloom, name)(np.ones((2, 3)), axes)

    def test_out(self):
        x, out = np.arange(6).reshape(2, 3), np.zeros((3, 4), int)[:, ::2]
        for function in (axisloom.transpose, lambda x, out: axisloom.permute(x, (1, 0), out=out)):
            assert function(x, out=out) is out
            same(out, x.T)
        out = np.zeros((2, 3), int)
        assert axisloom.copy(x, out=out) is out
        same(out, x)

    def test_lists(self):
        same(axisloom.transpose([[1, 2, 3], [4, 5, 6]]), np.array([[1, 4], [2, 5], [3, 6]]))

    def test_dtypes_that_are_only_moved(self):
        for x in (np.array([["ab"], ["cd"]], "U2"), np.array([["2026-01-01"]], "datetime64[s]"), np.ones((2, 3), "g")):
            same(axisloom.transpose(x), np.ascontiguousarray(x.T))

    @pytest.mark.parametrize("channels", (64, 50, 1))
    def test_relayout(self, channels):
        x = filled((2, channels, 3, 5), "float32", 1)
        rows = axisloom.relayout(x, "NCHW", "NHWC")
        same(rows, np.ascontiguousarray(x.transpose(0, 2, 3, 1)))
        blocks = axisloom.relayout(x, "NCHW", "NC/32HW32")
        padded = np.pad(x, ((0, 0), (0, -channels % 32), (0, 0), (0, 0)))
        same(blocks, np.ascontiguousarray(padded.reshape(2, -1, 32, 3, 5).transpose(0, 1, 3, 4, 2)))
        same(axisloom.relayout(blocks, "NC/32HW32", "NCHW", channels=channels), x)

    def test_a_layout_that_is_none(self):
        with pytest.raises(ValueError):
            axisloom.relayout(np.ones((1, 2, 3, 4)), "NCHW", "NWCH")


class TestDevices:
    def test_the_host_by_name(self):
        x = np.arange(6.0).reshape(2, 3)
        same(axisloom.sum(x, axis=0, device="host"), x.sum(axis=0))
        same(axisloom.transpose(x, device="host"), np.ascontiguousarray(x.T))

    def test_a_device_that_is_not_there(self):
        with pytest.raises((RuntimeError, ValueError)):
            axisloom.sum(np.ones(3), device="cuda:99")

    @pytest.mark.parametrize("function", (axisloom.sum, axisloom.mean, axisloom.max, axisloom.any, axisloom.norm))
    def test_own_arrays(self, function):
        x = np.arange(6.0).reshape(2, 3)
        ours = function(axisloom.Array(x), axis=0)
        assert isinstance(ours, axisloom.Array)
        np.testing.assert_array_equal(ours.numpy(), function(x, axis=0))


def test_floats_within_rounding():
    """A sum of many floats is as exact as promised."""
    for dtype in FLOATS:
        x = np.random.default_rng(0).random(100_000).astype(dtype) / 1000
        exact = x.astype("float64").sum()
        assert abs(float(axisloom.sum(x)) - exact) <= 60 * np.finfo(dtype).eps / 2 * exact
