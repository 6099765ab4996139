"""axisloom.dask.einsum against the whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("dask.array")
import dask
import dask.array as da
from dask_cases import assert_is, chunked, chunks_of, layers, tasks

import axisloom
from axisloom.dask import einsum

RNG = np.random.default_rng(3)


def arrays(*shapes: tuple[int, ...], dtype: str = "float64") -> list[np.ndarray]:
    return [RNG.integers(-3, 4, shape).astype(dtype) for shape in shapes]


PATTERNS = [
    ("ij,jk->ik", ((6, 8), (8, 5))),
    ("ij,jk", ((6, 8), (8, 5))),
    ("ij,kj->", ((6, 8), (3, 8))),
    ("ij,ij->ji", ((6, 8), (6, 8))),
    ("i,j->ij", ((6,), (5,))),
    ("ij->ji", ((6, 8),)),
    ("ij->", ((6, 8),)),
    ("ii->i", ((6, 6),)),
    ("iji->j", ((6, 4, 6),)),
    ("...ij,...jk->...ik", ((3, 1, 4, 5), (6, 5, 2))),
    ("...j,j->...", ((4, 6), (6,))),
    ("ij,jk->ik", ((6, 1), (8, 5))),
    ("ij,jk,kl->il", ((6, 8), (8, 5), (5, 3))),
    ("ij,jk,kl,lm->mi", ((2, 9), (9, 5), (5, 7), (7, 2))),
    ("(ij,jk),kl->il", ((6, 8), (8, 5), (5, 3))),
    ("ij,(jk,kl)->il", ((6, 8), (8, 5), (5, 3))),
    (",ij->ij", ((), (3, 4))),
]


@pytest.mark.parametrize(("pattern", "shapes"), PATTERNS)
@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex64"])
def test_patterns(pattern, shapes, dtype):
    given_arrays = arrays(*shapes, dtype=dtype)
    lazy = [da.from_array(x, chunks=(4,) * x.ndim) for x in given_arrays]
    assert_is(einsum(pattern, *lazy), axisloom.einsum(pattern, *given_arrays))  # of small integers sums are exact


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_random_chunks(data):
    pattern, shapes = data.draw(st.sampled_from(PATTERNS))
    given_arrays = arrays(*shapes)
    lazy = [chunked_as(data, x, number) for number, x in enumerate(given_arrays)]
    assert_is(einsum(pattern, *lazy), axisloom.einsum(pattern, *given_arrays))


def chunked_as(data, x: np.ndarray, number: int) -> da.Array:
    lazy = chunked(x, tuple(chunks_of(data.draw, length) for length in x.shape))
    return da.Array({(f"given{number}", *key[1:]): part for key, part in lazy.dask.items()}, f"given{number}",
                    lazy.chunks, meta=lazy._meta)


def test_spellings_of_einops_and_of_numbers():
    a, b = arrays((6, 8), (8, 5))
    lazy = da.from_array(a, chunks=4), da.from_array(b, chunks=4)
    assert_is(einsum(*lazy, "row inner, inner column -> column row"), (a @ b).T)
    assert_is(einsum(lazy[0], [0, 1], lazy[1], [1, 2], [2, 0]), (a @ b).T)
    assert_is(einsum("ij,jk", lazy[0], b), a @ b)  # arrays of NumPy may be among them


def test_half_precision_keeps_what_one_call_keeps():
    a, b = np.full((1, 40000), 1.0, "float16"), np.full((40000, 1), 1.0, "float16")
    lazy = einsum("ij,jk", da.from_array(a, chunks=(1, 1000)), da.from_array(b, chunks=(1000, 1)))
    assert_is(lazy, axisloom.einsum("ij,jk", a, b), rtol=1e-3)


def test_dtypes_that_differ():
    a, b = arrays((4, 6))[0].astype("float32"), arrays((6, 4), dtype="int32")[0]
    lazy = einsum("ij,jk", da.from_array(a, chunks=3), da.from_array(b, chunks=3))
    assert_is(lazy, axisloom.einsum("ij,jk", a, b))


def test_a_task_for_each_product_of_blocks_and_a_tree_of_sums():
    a, b = da.ones((8, 6), chunks=2), da.ones((6, 4), chunks=2)
    lazy = einsum("ij,jk", a, b)
    assert not layers(lazy, "rechunk")
    (products,) = layers(lazy, "axisloom-einsum")
    assert len(dict(lazy.dask.layers[products])) == 4 * 3 * 2
    assert lazy.chunks == ((2, 2, 2, 2), (2, 2))
    single = einsum("ij,jk", da.ones((8, 6), chunks=(2, 6)), da.ones((6, 4), chunks=(6, 2)))
    assert not layers(single, "axisloom-join")
    assert tasks(single) <= 4 * 2 + 4 + 2


def test_chunks_that_differ_are_cut_and_not_joined():
    lazy = einsum("ij,jk", da.ones((4, 12), chunks=(4, 4)), da.ones((12, 4), chunks=(6, 4)))
    assert_is(lazy, np.full((4, 4), 12.0))
    assert [len(dict(lazy.dask.layers[name])) for name in layers(lazy, "axisloom-einsum")] == [4]


def test_outer_products_leave_blocks_within_the_limit():
    x = np.arange(64.0)
    with dask.config.set({"array.chunk-size": "2KiB"}):
        lazy = einsum("i,j->ij", da.from_array(x, chunks=64), da.from_array(x, chunks=64))
    assert lazy.itemsize * max(lazy.chunks[0]) * max(lazy.chunks[1]) <= 2048
    assert_is(lazy, np.outer(x, x))


def test_a_limit_of_blocks_joins_none():
    x = np.arange(12.0)
    with dask.config.set({"array.chunk-size": "128B"}):
        lazy = einsum("i,j->ij", da.from_array(x, chunks=((8, 1, 1, 1, 1),)), da.from_array(x, chunks=4))
    assert lazy.chunks[0] == (4, 4, 1, 1, 1, 1)
    assert_is(lazy, np.outer(x, x))


def test_more_arrays_are_multiplied_in_the_order_that_costs_least():
    a, b, c = da.ones((50, 2), chunks=50), da.ones((2, 50), chunks=50), da.ones((50, 1), chunks=50)
    lazy = einsum("ij,jk,kl->il", a, b, c)
    products = [lazy.dask.dependencies[name] for name in layers(lazy, "axisloom-einsum")]
    assert {b.name, c.name} in products  # whose product is small


def test_what_is_wrong_is_said_at_once():
    a = da.ones((4, 6), chunks=2)
    with pytest.raises(axisloom.ShapeError, match="the axis 'j' has length 4 here, and 6 elsewhere"):
        einsum("ij,jk", a, a)
    with pytest.raises(TypeError, match=r"axisloom\.einsum takes the others"):
        einsum("ij->ji", np.ones((2, 2)))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        einsum("i,i", a[:, 0][a[:, 0] > 0], a[:, 0])
    with pytest.raises(TypeError, match="dims= names dimensions of xarray"):
        einsum("ij->ji", a, dims=["a", "b"])
