"""The namespace of axisloom.Array against NumPy's, and einops' own functions for the array API on it."""

import axisloom
import numpy as np
import pytest

xp = axisloom.Array(np.zeros(1)).__array_namespace__()


def small(*shape):
    return np.random.default_rng(1).integers(0, 100, shape).astype("f4")


CALLS = {
    "astype": lambda n, x: n.astype(x, "float64"),
    "reshape": lambda n, x: n.reshape(x, (4, -1)),
    "permute_dims": lambda n, x: n.permute_dims(x, (2, 0, 1)),
    "matrix_transpose": lambda n, x: n.matrix_transpose(x),
    "moveaxis": lambda n, x: n.moveaxis(x, 0, -1),
    "moveaxis of two": lambda n, x: n.moveaxis(x, (0, 1), (2, 0)),
    "expand_dims": lambda n, x: n.expand_dims(x, axis=-1),
    "squeeze": lambda n, x: n.squeeze(n.expand_dims(x, axis=1), 1),
    "broadcast_to": lambda n, x: n.broadcast_to(n.reshape(x, (2, 1, 12)), (3, 2, 5, 12)),
    "tile": lambda n, x: n.tile(x, (2, 1, 3)),
    "tile to more axes": lambda n, x: n.tile(x, (2, 1, 1, 2)),
    "concat": lambda n, x: n.concat([x, x, x], axis=1),
    "concat of all": lambda n, x: n.concat([x, x], axis=None),
    "stack": lambda n, x: n.stack([x, x], axis=0),
    "stack behind": lambda n, x: n.stack([x, x, x], axis=-1),
    "sum": lambda n, x: n.sum(x, axis=(0, 2)),
    "prod": lambda n, x: n.prod(n.reshape(x, (12, 2)), axis=1),
    "max": lambda n, x: n.max(x, axis=1, keepdims=True),
    "argmax": lambda n, x: n.argmax(x, axis=1),
    "all": lambda n, x: n.all(x, axis=0),
    "count_nonzero": lambda n, x: n.count_nonzero(x, axis=0),
    "matmul": lambda n, x: n.matmul(x, n.matrix_transpose(x)),
    "tensordot": lambda n, x: n.tensordot(x, x, axes=((0, 1), (0, 1))),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(name):
    source = small(2, 3, 4)
    result = CALLS[name](xp, axisloom.Array(source))
    assert isinstance(result, axisloom.Array)
    wanted = CALLS[name](np, source)
    assert result.shape == wanted.shape
    np.testing.assert_array_equal(result.numpy(), wanted)


def test_every_name_is_there_and_tested():
    others = {"asarray", "from_dlpack", "any", "min", "argmin", "mean"}
    tested = {name.split(" ")[0] for name in CALLS}
    assert set(xp.__all__) == tested | others
    source = small(3, 5)
    array = xp.asarray(source)
    assert xp.asarray(array) is array and xp.asarray([1, 2]).shape == (2,)
    for name in ("any", "min", "argmin", "mean"):
        np.testing.assert_allclose(getattr(xp, name)(array, axis=1).numpy(), getattr(np, name)(source, axis=1))


def test_what_does_not_go_is_refused():
    array = axisloom.Array(small(2, 3))
    for call in (lambda: array.reshape((4, 2)), lambda: xp.squeeze(array, 0), lambda: xp.broadcast_to(array, (2, 4))):
        with pytest.raises(ValueError):
            call()
    for call in (lambda: xp.expand_dims(array, axis=4), lambda: xp.concat([array, array], axis=2),
                 lambda: xp.squeeze(array, 2), lambda: xp.moveaxis(array, -3, 0), lambda: xp.moveaxis(array, 0, 2),
                 lambda: xp.matrix_transpose(array[0])):
        with pytest.raises(IndexError, match="ax"):
            call()


def test_what_cannot_be_joined_is_refused():
    array = axisloom.Array(small(2, 3))
    with pytest.raises(ValueError, match="no arrays"):
        xp.concat([])
    with pytest.raises(TypeError, match="dtypes f32, f64 .* astype"):
        xp.concat([array, array.astype("f64")])
    with pytest.raises(ValueError, match=r"shapes \(2, 3\), \(2, 2\) do not go together along axis 0"):
        xp.concat([array, array[:, :2]])
    assert xp.concat([array, array[:, :2]], axis=-1).shape == (2, 5)


def test_asarray():
    swapped = small(3).astype(">f4")
    np.testing.assert_array_equal(xp.asarray(swapped).numpy(), swapped)
    assert xp.asarray([1, 2], dtype="f32").dtype == "f32"
    source = small(2)
    xp.asarray(source).numpy()[0] = -1
    assert source[0] == -1
    xp.asarray(source, copy=True).numpy()[0] = -2
    assert source[0] == -1
    with pytest.raises(TypeError, match="is of numbers or bools"):
        xp.asarray(np.zeros(2, "M8[D]"))


def test_einops_pack():
    from einops.array_api import pack

    arrays = [axisloom.Array(small(2, 3, 4)), axisloom.Array(small(2, 5, 4))]
    packed, shapes = pack(arrays, "a * c")
    np.testing.assert_array_equal(packed.numpy(), np.concatenate([array.numpy() for array in arrays], 1))
    assert packed.shape == (2, 8, 4) and len(shapes) == 2
