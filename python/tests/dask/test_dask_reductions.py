"""axisloom.dask.reduce: values and dtypes of the whole array, by parts of blocks that are joined in a tree."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("dask.array")
import dask
import dask.array as da
from dask_cases import assert_is, cases, chunked, layers

import axisloom
from axisloom.dask import reduce

ALL = ("sum", "mean", "min", "max", "prod", "any", "all", "count_nonzero", "norm", "argmin", "argmax")
TOLERANCE = {"float16": 2e-3, "float32": 1e-5, "complex64": 1e-5}


def x_of(dtype: str, special: bool = False) -> np.ndarray:
    x = np.random.default_rng(1).integers(0, 3, (6, 10, 8)).astype(dtype)
    if special:
        x[0, 0, 0], x[1, 2, 3], x[2, 1, 1] = np.nan, np.inf, -np.inf
    return x


@settings(max_examples=200, deadline=None)
@given(cases("reduce", "int16"), st.sampled_from(ALL))
def test_random_reductions(case, reduction):
    lazy = reduce(case.lazy(), case.pattern, reduction, **case.lengths)
    expected = axisloom.reduce(case.x, case.pattern, reduction, **case.lengths)
    assert_is(lazy, expected, **({"rtol": 1e-12} if reduction in ("mean", "norm") else {}))


@pytest.mark.parametrize("reduction", ALL)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64", "complex64"])
def test_dtypes_are_those_of_the_whole_array(reduction, dtype):
    x = x_of(dtype)
    for pattern, lengths in (("t h w -> h", {}), ("t h w ->", {}), ("t (h y) w -> (w y) t", {"y": 5})):
        lazy = reduce(chunked(x, ((2, 3, 1), (3, 4, 3), (4, 4))), pattern, reduction, **lengths)
        expected = axisloom.reduce(x, pattern, reduction, **lengths)
        assert_is(lazy, expected, rtol=TOLERANCE.get(dtype, 1e-12))


@pytest.mark.parametrize("reduction", ALL)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_nan_and_infinity_are_those_of_the_whole_array(reduction, dtype):
    x = x_of(dtype, special=True)
    with np.errstate(all="ignore"):
        lazy = reduce(da.from_array(x, chunks=(2, 3, 4)), "t h w -> h", reduction)
        assert_is(lazy, axisloom.reduce(x, "t h w -> h", reduction), rtol=1e-5)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_sums_of_16_bits_keep_what_one_call_keeps(reduction):
    x = np.full((64, 1000), 8.0, "float16")
    x[:, 1::2] = -7.9
    lazy = reduce(da.from_array(x, chunks=(1, 1000)), "a b ->", reduction)
    assert_is(lazy, axisloom.reduce(x, "a b ->", reduction), rtol=1e-3)
    large = da.from_array(np.full((64, 1000), 6e4, "float16"), chunks=(1, 1000))
    assert reduce(large, "a b ->", "mean").compute() == np.float16(6e4)  # parts are beyond what 16 bits hold


@pytest.mark.parametrize("reduction", ALL)
def test_bfloat16(reduction):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    x = np.random.default_rng(5).integers(1, 3, (4, 12)).astype(bfloat16)
    made = reduce(da.from_array(x, chunks=(2, 5)), "a b -> a", reduction)
    expected = axisloom.reduce(x, "a b -> a", reduction)
    assert (made.dtype, made.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(made.compute().astype(float), expected.astype(float), rtol=1e-2)


def test_empty_chunks_count_for_nothing():
    x = np.arange(1.0, 13).reshape(3, 4)
    for reduction in ALL:
        lazy = reduce(chunked(x, ((0, 2, 0, 1), (4, 0))), "a b -> b", reduction)
        assert_is(lazy, axisloom.reduce(x, "a b -> b", reduction), rtol=1e-15)


@pytest.mark.parametrize("reduction", ["sum", "prod", "mean", "any", "all", "norm"])
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_reductions_of_no_elements(reduction):
    x = np.ones((4, 0, 6), "float32")
    expected = axisloom.reduce(x, "a b c -> a", reduction)
    assert_is(reduce(da.from_array(x, chunks=(2, 1, 3)), "a b c -> a", reduction), expected)


def test_extremes_of_no_elements_are_refused_at_once():
    with pytest.raises(ValueError, match="the max of no elements is not defined"):
        reduce(da.ones((4, 0), chunks=2), "a b -> a", "max")


def test_no_block_is_joined_before_it_is_reduced():
    lazy = reduce(da.ones((40, 30), chunks=(10, 10)), "a b -> b", "sum")
    assert not layers(lazy, "rechunk")
    assert len(layers(lazy, "axisloom-reduce-blocks")) == 1
    assert lazy.chunks == ((10, 10, 10),)
    whole = reduce(da.ones((40, 30), chunks=(40, 10)), "a b -> b", "sum")
    assert not layers(whole, "axisloom-join")
    partly = reduce(da.ones((40, 30), chunks=(10, 30)), "(a c) b -> a", "sum", c=5)
    assert not layers(partly, "axisloom-join")
    assert not layers(partly, "rechunk")


def test_what_needs_all_elements_makes_their_axes_whole():
    x = np.random.default_rng(2).standard_normal((12, 9))
    lazy = reduce(da.from_array(x, chunks=(4, 3)), "a b -> b", "argmax")
    assert lazy.chunks == ((3, 3, 3),)
    assert_is(lazy, x.argmax(0))
    median = reduce(da.from_array(x, chunks=(4, 3)), "(a c) b -> a b", lambda block, axes: np.median(block, axes), c=6)
    assert_is(median, np.median(x.reshape(2, 6, 9), 1))


def test_whole_axes_leave_blocks_within_the_limit():
    x = np.arange(64.0 * 64).reshape(64, 64)
    with dask.config.set({"array.chunk-size": "1KiB"}):
        lazy = reduce(da.from_array(x, chunks=(2, 64)), "a b -> b", "argmax")
    assert lazy.chunks == ((2,) * 32,)
    assert_is(lazy, x.argmax(0))


def test_wrong_reductions_are_refused_at_once():
    x = da.ones((4, 4), chunks=2)
    with pytest.raises(axisloom.EinopsError, match="unknown reduction 'median'.*; use one of sum"):
        reduce(x, "a b -> a", "median")
    with pytest.raises(TypeError, match="the reduction is of type int; give a name or a function"):
        reduce(x, "a b -> a", 3)
    with pytest.raises(TypeError, match="reduce needs numbers"):
        reduce(da.from_array(np.zeros((4, 4), "M8[s]"), chunks=2), "a b -> a", "sum")


def threads_in(scheduler: str) -> set[int]:
    """Numbers of threads that the library may use within blocks."""
    seen, together = set(), threading.Barrier(2, timeout=30)

    def largest(block, axes):
        if block.size > 1:  # not the element of which the dtype is learnt
            if scheduler == "threads":
                together.wait()  # two blocks at a time
            seen.add(axisloom.get_num_threads())
        return block.max(axes)

    lazy = reduce(da.ones((4, 4), chunks=(1, 4)), "a b -> a", largest)
    lazy.compute(scheduler=scheduler, num_workers=2)
    return seen


def test_blocks_in_a_pool_use_one_thread_each():
    before = axisloom.get_num_threads()
    axisloom.set_num_threads(max(2, before))
    allowed = axisloom.get_num_threads()
    assert threads_in("threads") == {1}
    assert threads_in("synchronous") == {allowed}
    assert axisloom.get_num_threads() == allowed


def threads_of(block, axes):
    return np.full(block.max(axes).shape, axisloom.get_num_threads(), float)


def test_blocks_in_a_pool_of_processes_use_one_thread_each():
    lazy = reduce(da.ones((4, 4), chunks=(2, 4)), "a b -> a", threads_of)
    assert set(lazy.compute(scheduler="processes", num_workers=2)) == {1}


@pytest.mark.parametrize("reduction", ["mean", "argmax"])
def test_graphs_can_be_pickled(reduction):
    lazy = reduce(da.arange(20.0, chunks=3).reshape(4, 5), "a b -> a", reduction)
    assert_is(pickle.loads(pickle.dumps(lazy)), lazy.compute())
