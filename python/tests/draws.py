"""Random arrays for the tests: any shape, any strides."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)


def filled(shape: tuple[int, ...], dtype: str, seed: int, special: bool = False) -> np.ndarray:
    """Random elements; with `special` NaN, infinities and negative zeros among the floats."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.7
    if kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    x = rng.integers(-8, 9, shape) / 4
    if kind == "c":
        x = x + 1j * rng.integers(-8, 9, shape) / 4
    if special and x.size:
        x = np.where(rng.random(shape) < 0.2, rng.choice([np.nan, np.inf, -np.inf, -0.0], shape), x)
    return np.asarray(x).astype(dtype)


@st.composite
def views(draw, dtypes=DTYPES, max_rank: int = 4, min_length: int = 0, special: bool = False) -> np.ndarray:
    """An array whose axes are sliced, run backwards, are broadcast or are exchanged."""
    rank = draw(st.integers(0, max_rank))
    shape, index = [], []
    for _ in range(rank):
        length, step = draw(st.integers(min_length, 5)), draw(st.sampled_from((1, 1, 1, 2, 3, -1, -2)))
        shape.append(length * abs(step))
        index.append(slice(None, None, step))
    x = filled(tuple(shape), draw(st.sampled_from(dtypes)), draw(st.integers(0, 2**32 - 1)), special)[(*index, ...)]
    for axis in range(rank):
        if x.shape[axis] and draw(st.integers(0, 7)) == 0:
            x = np.broadcast_to(np.take(x, [0], axis), x.shape)
    return x.transpose(draw(st.permutations(range(rank))))


def axes_of(rank: int) -> st.SearchStrategy:
    """None, a number, or a tuple of numbers, of which some count from the end."""
    numbers = st.lists(st.integers(0, max(rank - 1, 0)), unique=True, max_size=rank)
    signed = numbers.flatmap(lambda axes: st.tuples(*[st.sampled_from((axis, axis - rank)) for axis in axes]))
    one = st.integers(-rank, rank - 1) if rank else st.none()
    return st.one_of(st.none(), one, signed)


def same(ours, numpys, rounding: float = 0.0) -> None:
    """The same kind of object, dtype, shape and elements, up to a rounding in units of the dtype's last place."""
    assert type(ours) is type(numpys), (type(ours), type(numpys))
    assert ours.dtype == numpys.dtype, (ours.dtype, numpys.dtype)
    assert ours.shape == numpys.shape, (ours.shape, numpys.shape)
    if ours.dtype.kind in "fc" and rounding:
        unit = np.finfo(ours.dtype).eps
        np.testing.assert_allclose(ours, numpys, rtol=rounding * unit, atol=rounding * unit, equal_nan=True)
    else:
        np.testing.assert_array_equal(ours, numpys)
