"""axisloom.dask: rearrange and repeat, what they give and how many tasks it takes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings

pytest.importorskip("dask.array")
import dask
import dask.array as da
from dask_cases import assert_is, cases, chunked, layers, tasks

import axisloom
from axisloom.dask import rearrange, repeat


@settings(max_examples=150, deadline=None)
@given(cases("rearrange"))
def test_random_rearranges(case):
    expected = axisloom.rearrange(case.x, case.pattern, **case.lengths)
    assert_is(rearrange(case.lazy(), case.pattern, **case.lengths), expected)


@settings(max_examples=100, deadline=None)
@given(cases("repeat"))
def test_random_repeats(case):
    assert_is(repeat(case.lazy(), case.pattern, **case.lengths), axisloom.repeat(case.x, case.pattern, **case.lengths))


@settings(max_examples=50, deadline=None)
@given(cases("repeat", "float64"))
def test_random_repeats_with_a_small_limit_of_chunks(case):
    with dask.config.set({"array.chunk-size": "16B"}):
        lazy = repeat(case.lazy(), case.pattern, **case.lengths)
    assert_is(lazy, axisloom.repeat(case.x, case.pattern, **case.lengths))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_elements_of_ml_dtypes(name):
    dtype = getattr(pytest.importorskip("ml_dtypes"), name)
    x = np.arange(24).reshape(6, 4).astype(dtype)
    made = rearrange(da.from_array(x, chunks=(2, 2)), "h w -> w h").compute()
    assert (made.dtype, made.tobytes()) == (x.dtype, x.T.tobytes())


def array(*chunks: tuple[int, ...]) -> tuple[np.ndarray, da.Array]:
    shape = tuple(map(sum, chunks))
    x = np.arange(np.prod(shape)).reshape(shape)
    return x, chunked(x, chunks)


FITTING = [
    # pattern, lengths, chunks of the input, chunks of the result
    ("t h w -> w t h", {}, ((2, 2), (3, 1), (5,)), ((5,), (2, 2), (3, 1))),
    ("... w -> w ...", {}, ((2, 2), (3, 1), (5, 1)), ((5, 1), (2, 2), (3, 1))),
    ("(h y) w -> h w y", {"y": 3}, ((6, 3), (2, 2)), ((2, 1), (2, 2), (3,))),
    ("(h y) w -> w y h", {"y": 4}, ((2, 2, 2, 2), (5,)), ((5,), (2, 2), (1, 1))),
    ("(a b c) -> c b a", {"b": 2, "c": 3}, ((3, 3, 3, 3),), ((3,), (1, 1), (1, 1))),
    ("h w -> (h w)", {}, ((2, 1), (5,)), ((10, 5),)),
    ("h w -> (h w)", {}, ((1, 1), (3, 2)), ((3, 2, 3, 2),)),
    ("a b c -> (a b c)", {}, ((1, 1), (2, 1), (4,)), ((8, 4, 8, 4),)),
    ("(h y) w -> (y h) w", {"y": 3}, ((12,), (2, 2)), ((12,), (2, 2))),
    ("h () w -> () (h w) ()", {}, ((2, 2), (1,), (3,)), ((1,), (6, 6), (1,))),
]


@pytest.mark.parametrize(("pattern", "lengths", "chunks", "expected"), FITTING)
def test_where_chunks_fit_there_is_a_task_for_each_block_and_no_rechunk(pattern, lengths, chunks, expected):
    x, lazy = array(*chunks)
    made = rearrange(lazy, pattern, **lengths)
    assert made.chunks == expected
    assert not layers(made, "rechunk")
    assert len(layers(made, "axisloom")) == 1
    assert tasks(made) == made.npartitions == lazy.npartitions
    assert_is(made, axisloom.rearrange(x, pattern, **lengths))


def test_a_task_is_joined_with_what_is_done_to_its_block():
    x, lazy = array((2, 2), (3, 3))
    made = rearrange(lazy + 1, "h w -> w h") * 2
    assert tasks(made) == 4
    assert_is(made, (x.T + 1) * 2)


def test_a_cut_within_inner_axes_moves_to_the_nearest_multiple():
    x, lazy = array((7, 7, 4), (3, 3))
    made = rearrange(lazy, "(h y) w -> h y w", y=3)
    assert made.chunks == ((2, 3, 1), (3,), (3, 3))
    assert len(layers(made, "rechunk")) == 1
    assert_is(made, axisloom.rearrange(x, "(h y) w -> h y w", y=3))


@pytest.mark.parametrize(
    ("chunk", "h", "y"), [(5, (1, 1), (5, 5)), (7, (1, 1), (10,)), (13, (1, 1), (10,)), (4, (1, 1), (3, 3, 4))]
)
def test_chunks_near_the_inner_axes_make_these_whole_and_shorter_ones_cut_them(chunk, h, y):
    x, lazy = array((20,), (3,))
    made = rearrange(lazy.rechunk((chunk, 3)), "(h y) w -> h y w", y=10)
    assert made.chunks == (h, y, (3,))
    assert_is(made, axisloom.rearrange(x, "(h y) w -> h y w", y=10))


def test_merged_axes_keep_the_size_of_blocks():
    x, lazy = array((4, 4), (2, 2, 2), (5,))
    made = rearrange(lazy, "t h w -> (t h) w")
    assert made.chunks == ((6,) * 8, (5,))
    assert_is(made, axisloom.rearrange(x, "t h w -> (t h) w"))


def test_merged_axes_are_only_cut_where_blocks_stay_large():
    x = np.arange(4 * 4 * 65536.0).reshape(4, 4, 65536)
    made = rearrange(chunked(x, ((2, 2), (2, 2), (65536,))), "t h w -> (t h) w")
    assert made.chunks == ((2,) * 8, (65536,))  # of 1 MiB, each from one block of 2 MiB
    assert_is(made, x.reshape(16, -1))
    made = rearrange(chunked(x[..., :9], ((2, 2), (2, 2), (9,))), "t h w -> (t h) w")
    assert made.chunks == ((4,) * 4, (9,))
    assert_is(made, x[..., :9].reshape(16, 9))


def test_axes_that_no_grid_suits_are_opened_first():
    x, lazy = array((6, 6), (2, 2))
    made = rearrange(lazy, "(a b) w -> (b a) w", a=4)
    assert layers(made, "axisloom-open")
    assert_is(made, axisloom.rearrange(x, "(a b) w -> (b a) w", a=4))


def test_repeats_are_cut_where_blocks_would_be_too_large():
    x, lazy = array((2, 2), (3,))
    with dask.config.set({"array.chunk-size": "96B"}):
        made = repeat(lazy, "h w -> h r w", r=8)
        inner = repeat(lazy, "h w -> (h r) w", r=8)
    assert made.chunks == ((2, 2), (2, 2, 2, 2), (3,))
    assert not layers(made, "rechunk")
    assert max(inner.chunks[0]) * 3 * 8 <= 96
    assert_is(made, axisloom.repeat(x, "h w -> h r w", r=8))
    assert_is(inner, axisloom.repeat(x, "h w -> (h r) w", r=8))


def test_added_axes_have_equal_chunks():
    x, lazy = array((2,), (2, 2, 1))
    made = repeat(lazy, "a b -> (a r b)", r=9)
    assert made.chunks == ((15,) * 6,)
    assert_is(made, axisloom.repeat(x, "a b -> (a r b)", r=9))


def test_a_limit_of_blocks_joins_none():
    x, lazy = array((1, 1, 1, 6), (3,))
    with dask.config.set({"array.chunk-size": "192B"}):
        made = repeat(lazy, "h w -> (h r) w", r=2)
    assert made.chunks == ((2, 2, 2, 6, 6), (3,))
    assert_is(made, axisloom.repeat(x, "h w -> (h r) w", r=2))


def test_tiles_are_made_of_whole_blocks():
    x, lazy = array((2, 1), (3,))
    made = repeat(lazy, "h w -> (r h) w 2", r=2)
    assert made.chunks == ((2, 1, 2, 1), (3,), (2,))
    assert not layers(made, "rechunk")
    assert_is(made, axisloom.repeat(x, "h w -> (r h) w 2", r=2))


def test_lists_are_stacked():
    x, lazy = array((2, 2), (3,))
    assert_is(rearrange([lazy, lazy + 1], "n h w -> h (n w)"), axisloom.rearrange([x, x + 1], "n h w -> h (n w)"))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "complex128", "datetime64[s]", "V16"])
def test_any_elements_are_moved(dtype):
    x = np.frombuffer(np.arange(6 * 4 * 16, dtype="u1").tobytes(), dtype=dtype)[:24].copy().reshape(6, 4)
    x = np.ones((6, 4), bool) if dtype == "bool" else x
    made = rearrange(da.from_array(x, chunks=(2, 2)), "h w -> w h")
    assert made.dtype == x.dtype
    assert made.compute().tobytes() == x.T.tobytes()


def test_elements_come_in_the_byte_order_of_the_machine():
    x = np.arange(24, dtype=">f4").reshape(6, 4)
    assert_is(rearrange(da.from_array(x, chunks=(2, 2)), "h w -> w h"), axisloom.rearrange(x, "h w -> w h"))


def test_axes_may_be_called_as_parameters_are():
    x, lazy = array((2, 2), (3,))
    expected = axisloom.rearrange(x, "(a b) c -> c a b", b=2)
    assert_is(rearrange(lazy, "(x dims) pattern -> pattern x dims", dims=2), expected)


def test_calls_alike_have_one_name_and_can_be_pickled():
    x, lazy = array((4, 4), (3, 3))
    first, second = (rearrange(lazy, "(h y) w -> y h w", y=2) for _ in range(2))
    assert first.name == second.name != rearrange(lazy, "(h y) w -> y w h", y=2).name
    assert_is(pickle.loads(pickle.dumps(first)), axisloom.rearrange(x, "(h y) w -> y h w", y=2))


def test_nothing_is_computed_before_it_is_asked_for():
    def never(block):
        raise AssertionError("a block was computed")

    made = rearrange(da.ones((4, 4), chunks=2).map_blocks(never, dtype=float, meta=np.ones((0, 0))), "h w -> (w h)")
    assert (made.shape, made.dtype) == ((16,), float)


def test_unknown_chunks_are_refused():
    x = da.arange(10, chunks=5)
    with pytest.raises(ValueError, match=r"chunks are not known.*compute_chunk_sizes\(\)"):
        rearrange(x[x > 3], "a -> a")


def test_what_is_wrong_is_said_at_once():
    _, lazy = array((2, 2), (3,))
    with pytest.raises(axisloom.EinopsError, match="pattern has 3 axes"):
        rearrange(lazy, "a b c -> c b a")
    with pytest.raises(axisloom.EinopsError, match="'b' does not appear on the right"):
        rearrange(lazy, "a b -> a c")
    with pytest.raises(TypeError, match=r"not ndarray; axisloom\.rearrange takes it"):
        rearrange(np.ones(3), "a -> a")
    with pytest.raises(TypeError, match="dims= names dimensions of xarray"):
        rearrange(lazy, "a b -> b a", dims=["a", "b"])
    with pytest.raises(TypeError, match="str, not int"):
        rearrange(lazy, 3)
    with pytest.raises(TypeError, match="masked"):
        rearrange(da.ma.masked_equal(lazy, 1), "a b -> b a")
