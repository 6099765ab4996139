"""Arrays of JAX, on its default device: the host, or a card."""

import axisloom
import numpy as np
import pytest

jax = pytest.importorskip("jax")


def integers(*shape):
    return np.random.default_rng(1).integers(0, 100, shape).astype("f4")


def test_results_are_jax_s():
    source = integers(2, 3, 4)
    turned = axisloom.rearrange(jax.numpy.asarray(source), "a b c -> c (a b)")
    assert isinstance(turned, jax.Array)
    assert turned.devices() == jax.numpy.asarray(source).devices()
    np.testing.assert_array_equal(turned, source.transpose(2, 0, 1).reshape(4, 6))


def test_work_under_way_is_waited_for():
    array = jax.numpy.zeros((1024, 1024))
    for _ in range(50):
        array = array + 1
    assert float(axisloom.sum(array)) == 50 * 1024 * 1024


def test_bfloat16_stays():
    array = jax.numpy.asarray(integers(8, 8), dtype=jax.numpy.bfloat16)
    turned = axisloom.rearrange(array, "h w -> w h")
    assert turned.dtype == jax.numpy.bfloat16
    np.testing.assert_array_equal(turned, array.T)


def test_products_of_two():
    left, right = integers(5, 7), integers(7, 3)
    got = axisloom.einsum("i j, j k -> i k", jax.numpy.asarray(left), jax.numpy.asarray(right))
    np.testing.assert_array_equal(got, left @ right)  # whole numbers below 2**24


def test_it_cannot_be_written_to():
    out = jax.numpy.zeros((3, 2), "f4")
    with pytest.raises(ValueError, match="read-only"):
        axisloom.rearrange(jax.numpy.asarray(integers(2, 3)), "a b -> b a", out=out)
    assert not np.asarray(out).any()
