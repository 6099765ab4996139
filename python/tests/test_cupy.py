"""Arrays of CuPy: on a machine with a card."""

import axisloom
import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

if not cupy.cuda.is_available():
    pytest.skip("CuPy finds no card", allow_module_level=True)


def small(*shape):
    return np.random.default_rng(1).integers(0, 100, shape).astype("f4")


def test_results_are_cupy_s():
    source = small(2, 3, 4)
    turned = axisloom.rearrange(cupy.asarray(source), "a b c -> c (a b)")
    assert isinstance(turned, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(turned), source.transpose(2, 0, 1).reshape(4, 6))
    np.testing.assert_array_equal(cupy.asnumpy(axisloom.sum(cupy.asarray(source), axis=1)), source.sum(1))


def test_strides_are_taken_as_they_are():
    source = small(6, 8)
    view = cupy.asarray(source)[::-1, ::2]
    np.testing.assert_array_equal(cupy.asnumpy(axisloom.rearrange(view, "h w -> w h")), source[::-1, ::2].T)


def test_work_of_another_stream_is_waited_for():
    with cupy.cuda.Stream(non_blocking=True):
        array = cupy.zeros((2048, 2048), "f4")
        for _ in range(50):
            array += 1
        total = axisloom.sum(array)
    assert float(total) == 50 * 2048 * 2048


def test_an_output_of_cupy_s():
    source = small(5, 7)
    out = cupy.empty((7, 5), "f4")
    assert axisloom.rearrange(cupy.asarray(source), "h w -> w h", out=out) is out
    np.testing.assert_array_equal(cupy.asnumpy(out), source.T)


def test_an_array_and_cupy_share_memory():
    held = axisloom.from_dlpack(cupy.asarray(small(3, 4)))
    assert held.device.startswith("cuda:")
    other = cupy.asarray(held)
    other[0, 0] = 99
    assert held.numpy()[0, 0] == 99
