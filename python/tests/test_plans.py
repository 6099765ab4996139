"""plan(), and the plans that it returns."""

from __future__ import annotations

import numpy as np
import pytest

import axisloom
from axisloom import plan

X = np.arange(6.0).reshape(2, 3)


def test_a_plan_runs_again_and_again():
    turn = plan("rearrange", "h w -> w h", X)
    for array in (X, X + 1, X[::1]):
        np.testing.assert_array_equal(turn(array), array.T)
    out = np.empty((3, 2))
    assert turn(X, out=out) is out
    np.testing.assert_array_equal(out, X.T)
    assert turn.report["shapes"] == "f64[2,3] -> f64[3,2]" and "rearrange" in repr(turn)


def test_lengths_and_options():
    split = plan("rearrange", "(a b) w -> b a w", X, a=2)
    np.testing.assert_array_equal(split(X), X.reshape(2, 1, 3).transpose(1, 0, 2))
    np.testing.assert_array_equal(plan("sum", X, options={"axes": "0"})(X), X.sum(axis=0))


@pytest.mark.parametrize(
    "given", (("max", "a b -> b", X), (X, "a b -> b", "max"), ("a b -> b", "max", X), (X, "max", "a b -> b"))
)
def test_reduce_in_any_order(given):
    np.testing.assert_array_equal(plan("reduce", *given)(X), X.max(axis=0))


@pytest.mark.parametrize("other", ([1, 2], None, 3.0, np.max))
def test_what_is_no_array_is_refused(other):
    with pytest.raises(TypeError, match=f"for arrays, not for {type(other).__name__}"):
        plan("sum", other)
    with pytest.raises(TypeError, match=f"for arrays, not for {type(other).__name__}"):
        plan("sum", X)(other)


def test_the_name_comes_first():
    with pytest.raises(TypeError, match="named by a str, not by ndarray"):
        plan(X, "sum")


def test_arrays_of_another_shape_or_number_are_refused():
    made = plan("sum", X)
    for arrays in ((X.T,), (), (X, X)):
        with pytest.raises(axisloom.ShapeError, match="this plan is for arrays of shapes"):
            made(*arrays)


@pytest.mark.parametrize("dtype", ("int32", "float32", "complex128", "datetime64[s]"))
def test_arrays_of_another_dtype_are_refused(dtype):
    with pytest.raises(axisloom.DtypeError, match="this plan is for arrays of dtypes"):
        plan("copy", X)(X.astype("int64").astype(dtype))


def test_one_dtype_by_other_names():
    """In another byte order, or of another library."""
    made = plan("sum", X)
    assert made(X.astype(">f8")) == 15
    own = made(axisloom.Array(X))
    assert float(own.numpy()) == 15
    assert plan("sum", axisloom.Array(X))(X) == 15
    with pytest.raises(axisloom.DtypeError):
        made(axisloom.Array(X.astype("f4")))
