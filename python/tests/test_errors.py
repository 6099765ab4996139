"""Kinds of errors, and outputs that are none."""

from __future__ import annotations

import array
import gc
import sys
import weakref

import numpy as np
import pytest

import axisloom
from axisloom import EinopsError, ShapeError, UnsupportedError, UsageError, _program

X = np.ones((2, 3))

INTO = {
    "sum": lambda out: axisloom.sum(X, axis=0, out=out),
    "mean": lambda out: axisloom.mean(X, axis=0, out=out),
    "argmax": lambda out: axisloom.argmax(X, axis=0, out=out),
    "count_nonzero": lambda out: axisloom.count_nonzero(X, axis=0, out=out),
    "norm": lambda out: axisloom.norm(X, 3, axis=0, out=out),
    "transpose": lambda out: axisloom.transpose(X, out=out),
    "permute": lambda out: axisloom.permute(X, (1, 0), out=out),
    "copy": lambda out: axisloom.copy(X, out=out),
    "matmul": lambda out: axisloom.matmul(X, X.T, out=out),
    "dot": lambda out: axisloom.dot(X, X.T, out=out),
    "tensordot": lambda out: axisloom.tensordot(X, X, out=out),
    "einsum": lambda out: axisloom.einsum("ij->j", X, out=out),
    "rearrange": lambda out: axisloom.rearrange(X, "a b -> b a", out=out),
    "repeat": lambda out: axisloom.repeat(X, "a b -> a b 2", out=out),
    "reduce": lambda out: axisloom.reduce(X, "a b -> b", "sum", out=out),
    "reduce by a function": lambda out: axisloom.reduce(X, "a b -> b", np.sum, out=out),
    "rearrange of a list": lambda out: axisloom.rearrange([X, X], "n a b -> a b n", out=out),
    "plan": lambda out: axisloom.plan("sum", X, options={"axes": "0"})(X, out=out),
}


@pytest.mark.parametrize("name", INTO)
def test_an_output_without_memory_is_refused(name):
    """The result would be lost: a list is read as a new array."""
    right = np.asarray(INTO[name](None))
    for out in (right.tolist(), tuple(right.ravel().tolist()), np.float64(0), "text", b"12345678"):
        if isinstance(out, tuple) and (len(out) == 1 or name in ("sum", "mean", "argmax", "count_nonzero", "matmul")):
            continue  # there a tuple is of arrays
        with pytest.raises(TypeError, match="out= is of type"):
            INTO[name](out)


@pytest.mark.parametrize("name", ("transpose", "copy", "einsum", "dot", "norm", "rearrange", "reduce"))
def test_an_output_in_a_tuple_is_refused_where_numpy_has_no_ufunc(name):
    with pytest.raises(TypeError, match="out= is of type tuple"):
        INTO[name]((np.empty_like(INTO[name](None)),))


@pytest.mark.parametrize("name", ("sum", "matmul"))
def test_an_output_in_a_tuple(name):
    out = np.zeros_like(INTO[name](None))
    assert INTO[name]((out,)) is out
    np.testing.assert_array_equal(out, INTO[name](None))
    with pytest.raises(UsageError, match="tuple of 2"):
        INTO[name]((out, out))


def test_a_buffer_is_an_output():
    out = bytearray(4)
    assert axisloom.rearrange(np.arange(4, dtype="u1"), "(a b) -> (b a)", a=2, out=out) is out
    assert out == bytes([0, 2, 1, 3])


@pytest.mark.parametrize(
    "kind, call",
    (
        (UsageError, lambda: axisloom.norm(X, "nuc")),
        (UsageError, lambda: axisloom.norm(X[0], "fro")),
        (UsageError, lambda: axisloom.norm(np.ones((2, 2, 2)), 1)),
        (UsageError, lambda: axisloom.max(X[:0], initial=None)),
        (UsageError, lambda: axisloom.einsum("ij->i", X, order="Z")),
        (UsageError, lambda: axisloom.einsum("ij->i", X, casting="all")),
        (UsageError, lambda: axisloom.einsum("ij->i", X, copy=False)),
        (UsageError, lambda: axisloom.einsum("ij,jk", X, X.T, memory_limit=-1)),
        (UsageError, lambda: axisloom.einsum("ij,jk", X, X.T, optimize=["einsum_path", (0, 2)])),
        (UsageError, lambda: axisloom.sum(X, device="abacus")),
        (axisloom.AxisError, lambda: axisloom.norm(np.ones((2, 2, 2)), axis=(0, 1, 2))),
        (axisloom.AxisError, lambda: axisloom.norm(X, axis=(0, 0))),
        (axisloom.AxisError, lambda: axisloom.tensordot(X, X, axes=(0, 1, 1))),
        (axisloom.AxisError, lambda: axisloom.tensordot(X, X, axes=3)),
        (ShapeError, lambda: axisloom.sum(X, axis=0, out=np.zeros(2, "f4"))),
        (ShapeError, lambda: axisloom.reduce(X, "a b -> a", lambda x, axes: x.sum())),
        (EinopsError, lambda: axisloom.einsum("ij,jk", X)),
        (EinopsError, lambda: axisloom.einsum(X, X, "a b, c d")),
        (EinopsError, lambda: axisloom.einsum()),
        (UnsupportedError, lambda: axisloom.einsum(X, "(a b) c -> a")),
        (UnsupportedError, lambda: axisloom.einsum(X, "a 3 -> a")),
        (axisloom.OutOfMemoryError, lambda: axisloom.einsum("ij,jk,kl", X, X.T, X, memory_limit=0)),
    ),
)
def test_kinds(kind, call):
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, axisloom.Error)


@pytest.mark.parametrize(
    "message, call",
    (
        ("memory_limit='all' is no limit", lambda: axisloom.einsum("ij,jk", X, X.T, memory_limit="all")),
        ("keepdims='no' is no bool", lambda: axisloom.sum(X, keepdims="no")),
        ("keepdims=1.0 is no bool", lambda: axisloom.max(X, axis=0, keepdims=1.0)),
        ("keepdims=None is no bool", lambda: axisloom.norm(X, keepdims=None)),
        ("the pattern has to be a str", lambda: axisloom.rearrange(X, None)),
        ("the pattern has to be a str, not int", lambda: axisloom.parse_shape(X, 3)),
        ("the pattern has to be a str, not None", lambda: axisloom.pack([X], None)),
        ("the pattern has to be a str, not None", lambda: axisloom.unpack(X, [()], None)),
        ("a list of arrays, not int", lambda: axisloom.pack(3, "a *")),
        ("list has no arrays", lambda: axisloom.pack([], "a *")),
        ("int is no array", lambda: axisloom.unpack(3, [()], "*")),
        ("reduction returned int", lambda: axisloom.reduce(X, "a b -> a", lambda x, axes: 3)),
    ),
)
def test_wrong_types_of_arguments(message, call):
    with pytest.raises(TypeError, match=message):
        call()


def test_a_program_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setattr(axisloom, "__path__", [str(tmp_path)])
    with pytest.raises(axisloom.FileError, match="install axisloom again"):
        _program.program()


@pytest.mark.parametrize("name", ("sum", "mean", "max", "argmin", "any", "norm", "count_nonzero"))
@pytest.mark.parametrize("keepdims", (1, 2, np.int8(1), np.True_, np.array(1)))
def test_numbers_are_bools_to_keepdims(name, keepdims):
    assert getattr(axisloom, name)(X, keepdims=keepdims).shape == (1, 1)
    assert getattr(axisloom, name)(X, axis=1, keepdims=keepdims * 0).shape == (2,)


@pytest.mark.parametrize(
    "call",
    (
        lambda: axisloom.sum(X, dtype="bf16"),
        lambda: axisloom.einsum("ij->i", X, dtype="bfloat16", casting="unsafe"),
        lambda: axisloom.matmul(X, X.T, dtype="bf16", casting="unsafe"),
    ),
)
def test_bfloat16_needs_its_package(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(axisloom.DtypeError, match="ml_dtypes"):
        call()


@pytest.mark.parametrize(
    "pattern, arrays",
    (
        ("row in, in col -> row col", (X, X.T)),
        ("row in, in col -> row", (X, X.T)),
        ("row col -> r", (X,)),
        ("row in, x -> row in_", (X, X)),
    ),
)
def test_words_in_front_are_letters_of_axes(pattern, arrays):
    for _ in range(2):  # nothing is remembered
        with pytest.raises(EinopsError, match="put it last for words"):
            axisloom.einsum(pattern, *arrays)


def test_letters_with_blanks_in_front():
    np.testing.assert_array_equal(axisloom.einsum("ij , jk -> i k", X, X.T), X @ X.T)
    np.testing.assert_array_equal(axisloom.einsum("i j, jk->ik", X, X.T), X @ X.T)
    np.testing.assert_array_equal(axisloom.einsum("ab c -> c", np.ones((2, 3, 4))), np.full(4, 6.0))
    np.testing.assert_array_equal(axisloom.einsum("ij ... -> ij", X), X)


@pytest.mark.parametrize("reduction", ("median", "", "a b -> a"))
def test_unknown_reductions_are_errors_of_einops(reduction):
    for x in (X, [X, X], axisloom.Array(X)):
        with pytest.raises(EinopsError):
            axisloom.reduce(x, "a ... -> a", reduction)


def test_a_reduction_that_is_a_pattern():
    with pytest.raises(EinopsError, match="give the pattern first"):
        axisloom.reduce(X, "max", "a b -> a")


def test_a_device_that_is_none_stays_an_argument_that_is_not_valid():
    with pytest.raises(UsageError):
        axisloom.reduce(X, "a b -> a", "sum", device="abacus")


@pytest.mark.parametrize("strides", ((0, 8), (8, 0), (0, 0)))
def test_an_output_whose_elements_share_memory_is_refused(strides):
    out = np.lib.stride_tricks.as_strided(np.zeros(4), (2, 3), strides)
    with pytest.raises(UsageError, match="stride 0 along axis"):
        axisloom.copy(X, out=out)
    with pytest.raises(UsageError, match="stride 0 along axis"):
        axisloom.sum(np.ones((2, 3, 2)), axis=2, out=out)


def test_an_axis_of_length_1_may_have_any_stride():
    out = np.lib.stride_tricks.as_strided(np.zeros(3), (1, 3), (0, 8))
    np.testing.assert_array_equal(axisloom.sum(X, axis=0, keepdims=True, out=out), [[2.0, 2.0, 2.0]])
    out = np.lib.stride_tricks.as_strided(np.zeros(3), (0, 3), (0, 0))
    assert axisloom.copy(X[:0], out=out) is out


def test_kinds_of_what_the_compiled_module_refuses():
    with pytest.raises(UsageError, match="read-only"):
        axisloom.copy(X, out=np.broadcast_to(np.zeros(3), (2, 3)))
    with pytest.raises(UsageError, match="at least 1 thread"):
        axisloom.set_num_threads(0)


MASKED = np.ma.masked_array([1, 2], [True, False])


@pytest.mark.parametrize(
    "call",
    (
        lambda: axisloom.rearrange([MASKED, MASKED], "n a -> a n"),
        lambda: axisloom.rearrange([np.array([1, 2]), MASKED], "n a -> a n"),
        lambda: axisloom.pack([MASKED, MASKED], "*"),
        lambda: axisloom.pack([np.array([1, 2]), MASKED], "*"),
        lambda: axisloom.sum([MASKED, MASKED]),
        lambda: axisloom.sum([1, 2], where=np.ma.masked_array([True, True], [True, False])),
        lambda: axisloom.from_dlpack(MASKED),
        lambda: axisloom.Array(MASKED),
        lambda: axisloom.Array([MASKED]),
    ),
)
def test_no_mask_is_lost(call):
    with pytest.raises(TypeError, match="masked arrays cannot be used"):
        call()


@pytest.mark.parametrize("dtype", ("M8[D]", "m8[s]", "U1", "S2", "g", [("a", "i4"), ("b", "i4")]), ids=str)
def test_an_array_keeps_no_elements_without_a_dtype(dtype):
    """They would come back as other ones."""
    source = np.zeros(2, dtype)
    with pytest.raises(TypeError, match=r"is of numbers or bools, not of dtype"):
        axisloom.Array(source)
    with pytest.raises(TypeError, match="sum needs numbers: arrays of dtype .* can only be moved") as caught:
        axisloom.sum(source)
    assert str(source.dtype) in str(caught.value)
    np.testing.assert_array_equal(axisloom.rearrange(source, "a -> a"), source)


@pytest.mark.parametrize("thing", (None, {1, 2}, {}, (i for i in range(3)), [None, 1], [2**70], object()), ids=type)
@pytest.mark.parametrize(
    "call", (axisloom.sum, axisloom.norm, axisloom.Array, lambda x: axisloom.rearrange(x, "a -> a"))
)
def test_what_is_no_array_is_named(thing, call):
    with pytest.raises(TypeError, match=f"{type(thing).__name__} is no array of numbers"):
        call(thing)


@pytest.mark.parametrize(
    "kind, message, call",
    (
        (TypeError, "axes=1 is no list of axes", lambda: axisloom.transpose(X, 1)),
        (TypeError, "axes=1 is no list of axes", lambda: axisloom.permute(X, 1)),
        (TypeError, "'float' object cannot", lambda: axisloom.permute(X, (1.0, 0))),
        (
            ShapeError,
            r"dot of the shapes \(2, 3\) and \(1, 2, 3\): axis 1 .* length 3, axis 1 .* 2",
            lambda: axisloom.dot(X, X[None]),
        ),
        (
            ShapeError,
            "tensordot of the shapes .*: axis 0 of one has the length 2, axis 0 of the other 3",
            lambda: axisloom.tensordot(X, X.T),
        ),
        (ShapeError, r"one shape, not \(2, 3\), \(3, 2\)", lambda: axisloom.rearrange([X, X, X.T], "n a b -> a b n")),
        (TypeError, "argmax gives int64", lambda: axisloom.argmax(X, axis=0, out=np.zeros(3))),
        (TypeError, "argmin gives int64", lambda: axisloom.argmin(X, axis=0, out=np.zeros(3, "u8"))),
        (UsageError, "initial= is a number", lambda: axisloom.sum(X, initial=np.zeros(2))),
        (TypeError, "dtype=str has no arithmetic", lambda: axisloom.sum(X, dtype=str)),
        (TypeError, "dtype=datetime64.* has no arithmetic", lambda: axisloom.sum(X, dtype="M8[s]")),
        (TypeError, "a pattern, first or last", lambda: axisloom.einsum(X, X)),
        (TypeError, "is no order of a norm", lambda: axisloom.norm(X[0], [1])),
        (TypeError, "NoneType", lambda: axisloom.unpack(X, None, "a *")),
        (EinopsError, "cannot be cut", lambda: axisloom.unpack(X, [(1.0,), (2,)], "a *")),
        (TypeError, "'str' object cannot", lambda: axisloom.Array(X).reshape("ab")),
        (TypeError, "'float' object cannot", lambda: axisloom.Array(X).reshape((2.0, 3))),
    ),
)
def test_what_an_error_says(kind, message, call):
    with pytest.raises(kind, match=message):
        call()


def test_what_numpy_takes_is_taken():
    np.testing.assert_array_equal(axisloom.einsum(b"ij->j", X), X.sum(0))
    assert [piece.shape for piece in axisloom.unpack(X, np.array([[1], [2]]), "a *")] == [(2, 1), (2, 2)]
    assert axisloom.unpack(X, (), "a *") == []
    for initial in (np.float32(2), np.full((1, 1), 2), axisloom.Array([2.0])):
        assert axisloom.max(X, initial=initial) == 2
    out = np.zeros(3, "i4")
    assert axisloom.argmax(X, axis=0, out=out) is out
    for shape in ((3, 2), [3, 2], np.array([3, 2]), (np.int64(3), -1)):
        assert axisloom.Array(X).reshape(shape).shape == axisloom.Array(X).reshape(*shape).shape == (3, 2)
    assert axisloom.Array(X).reshape(np.int64(6)).shape == axisloom.Array(X).reshape(-1).shape == (6,)
    assert axisloom.Array(X[:1, :1]).reshape(()).shape == axisloom.Array(X[:1, :1]).reshape().shape == ()


@pytest.mark.parametrize(
    "source, out",
    (
        ("M8[Y]", "M8[D]"),
        ("M8[D]", "i8"),
        ("u8", "M8[D]"),
        ("f8", "M8[D]"),
        ("U1", "u4"),
        ("S1", "u1"),
        ([("a", "i4"), ("b", "i4")], [("x", "f4"), ("y", "f4")]),
        ([("a", "i4"), ("b", "i4")], "u8"),
    ),
    ids=str,
)
def test_dates_text_and_records_are_moved_into_their_own_dtype(source, out):
    """Bytes would mean something else there."""
    x, into = np.ones((2, 3), source), np.zeros((3, 2), out)
    before = into.copy()
    with pytest.raises(TypeError, match="out= is of"):
        axisloom.transpose(x, out=into)
    np.testing.assert_array_equal(into, before)
    for same in (x.T.copy(), np.zeros((3, 2), x.dtype if x.dtype.names else x.dtype.newbyteorder())):
        assert axisloom.transpose(x, out=same) is same
        np.testing.assert_array_equal(same, x.T)


@pytest.mark.parametrize("dtype", ("M8[D]", "U3", [("a", "i8")]), ids=str)
@pytest.mark.parametrize("call", (axisloom.sum, axisloom.max, axisloom.argmax, axisloom.any))
def test_no_reduction_is_written_to_what_is_no_number(dtype, call):
    with pytest.raises(TypeError):
        call(X, axis=0, out=np.zeros(3, dtype))


@pytest.mark.parametrize("dtype", ("U3", object, "V3", "f4"))
def test_packed_arrays_may_be_large_and_of_any_dtype(dtype):
    arrays = [np.zeros(n, dtype) for n in (100_000, 200_000)]
    packed, shapes = axisloom.pack(arrays, "*")
    assert packed.dtype == np.dtype(dtype) and packed.shape == (300_000,) and shapes == [(100_000,), (200_000,)]


def test_what_is_like_an_array_is_reduced_by_a_function():
    for one in (array.array("i", [1, 2]), memoryview(b"\x01\x02"), range(1, 3)):
        assert axisloom.reduce(one, "a -> ", np.sum) == 3
    assert axisloom.reduce(3, "-> ", lambda x, axes: x) == 3


def test_an_array_has_no_norm_that_needs_operators():
    with pytest.raises(UnsupportedError, match="Array has none; use 1, 2 or inf"):
        axisloom.norm(axisloom.Array(X), 3, axis=0)


def test_an_array_can_be_watched():
    array = axisloom.Array(X)
    watched = weakref.ref(array)
    del array
    gc.collect()
    assert watched() is None
