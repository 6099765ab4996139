"""axisloom.dask on a cluster of two processes, with one and with two threads each."""

from __future__ import annotations

import logging

import numpy as np
import pytest

pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
import dask
import dask.array as da
from dask_cases import layers

import axisloom
from axisloom.dask import einsum, rearrange, reduce


@pytest.fixture(scope="module", params=[1, 2], ids=["one thread", "two threads"])
def client(request, tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("workers"))
    threads = {"distributed.nanny.pre-spawn-environ.OMP_NUM_THREADS": 2}  # of which the blocks use one
    with dask.config.set({"temporary-directory": folder, **threads}):
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=request.param, dashboard_address=None, silence_logs=logging.ERROR
        ) as cluster, distributed.Client(cluster) as client:
            yield client


@pytest.fixture
def x():
    return np.random.default_rng(4).standard_normal((24, 32, 10))


def assert_is(lazy, expected):
    np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-12, atol=1e-12)


def test_blocks_move_on_workers(client, x):
    made = rearrange(da.from_array(x, chunks=(6, 8, 10)), "t (h y) w -> w h t y", y=4)
    assert not layers(made, "rechunk")
    assert_is(made, axisloom.rearrange(x, "t (h y) w -> w h t y", y=4))


def test_bytes_cross_chunks_between_workers_directly(client, x):
    """Each block of the result is made of many: tasks for all parts would be too many, and Dask takes p2p."""
    made = rearrange(da.from_array(x, chunks=(24, 1, 10)), "t h w -> (t h) w")
    assert layers(made, "rechunk-p2p")
    assert_is(made, x.reshape(-1, 10))


def test_the_users_choice_of_a_method_is_kept(client, x):
    with dask.config.set({"array.rechunk.method": "tasks"}):
        made = rearrange(da.from_array(x, chunks=(24, 1, 10)), "t h w -> (t h) w")
    assert not layers(made, "rechunk-p2p")
    assert_is(made, x.reshape(-1, 10))


def test_reductions_and_products(client, x):
    lazy = da.from_array(x, chunks=(6, 8, 5))
    assert_is(reduce(lazy, "t h w -> h", "mean"), x.mean((0, 2)))
    assert_is(reduce(lazy, "t h w -> h", "argmax"), axisloom.reduce(x, "t h w -> h", "argmax"))
    assert_is(einsum("thw,thv->wv", lazy, lazy), np.einsum("thw,thv->wv", x, x))


def test_blocks_use_one_thread_each(client):
    threads = reduce(da.ones((8, 4), chunks=(1, 4)), "a b -> a", threads_of)
    assert set(threads.compute()) == {1}


def threads_of(block, axes):
    return np.full(block.max(axes).shape, axisloom.get_num_threads(), float)
