"""axisloom.dask on arrays of xarray, by the names of their dimensions, in NumPy's memory and in Dask's."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("dask.array")
xarray = pytest.importorskip("xarray")
import dask.array as da
from hypothesis import given, settings
from hypothesis import strategies as st

import axisloom
from axisloom.dask import einsum, rearrange, reduce, repeat

VALUES = np.arange(2 * 3 * 4.0).reshape(2, 3, 4)


def field(lazy: bool) -> xarray.DataArray:
    coords = {
        "time": [10, 20],
        "lat": [1.0, 2.0, 3.0],
        "lon": [5, 6, 7, 8],
        "area": (("lat", "lon"), np.ones((3, 4))),
        "day": ("time", ["a", "b"]),
        "height": 2.0,
    }
    x = xarray.DataArray(VALUES, coords, ["time", "lat", "lon"], "t2m", {"units": "K"})
    return x.chunk(lat=2, lon=2) if lazy else x


@pytest.fixture(params=[False, True], ids=["numpy", "dask"])
def x(request):
    return field(request.param)


def assert_is(made, values, dims, coords, name="t2m", attrs=None):
    assert made.dims == dims
    assert set(made.coords) == set(coords)
    assert (made.name, made.attrs) == (name, {"units": "K"} if attrs is None else attrs)
    assert made.dtype == values.dtype
    np.testing.assert_allclose(made.values, values, rtol=1e-14)


def test_the_left_side_may_be_left_out(x):
    made = rearrange(x, "-> lat (lon time)")
    assert_is(made, axisloom.rearrange(VALUES, "t a o -> a (o t)"), ("lat", "lon_time"), ["lat", "height"])
    assert isinstance(made.data, type(x.data))
    assert_is(
        rearrange(x, "-> lon ..."),
        axisloom.rearrange(VALUES, "t a o -> o t a"),
        ("lon", "time", "lat"),
        ["time", "lat", "lon", "area", "day", "height"],
    )


def test_names_on_the_left_stand_in_any_order(x):
    expected = axisloom.rearrange(VALUES, "t a o -> a o t")
    everything = ["time", "lat", "lon", "area", "day", "height"]
    assert_is(rearrange(x, "time lat lon -> lat lon time"), expected, ("lat", "lon", "time"), everything)
    assert_is(rearrange(x, "lon lat time -> lat lon time"), expected, ("lat", "lon", "time"), everything)
    assert_is(rearrange(x, "time ... -> ... time"), expected, ("lat", "lon", "time"), everything)


def test_a_dimension_that_is_split_keeps_no_coordinates(x):
    made = rearrange(x, "time lat (lon part) -> part lat lon time", part=2)
    expected = axisloom.rearrange(VALUES, "t a (o p) -> p a o t", p=2)
    assert_is(made, expected, ("part", "lat", "lon", "time"), ["time", "lat", "day", "height"])
    made = rearrange(x, "... (lon part) -> (... part) lon", part=2)
    assert_is(made, axisloom.rearrange(VALUES, "t a (o p) -> (t a p) o", p=2), ("time_lat_part", "lon"), ["height"])


def test_dims_names_the_result(x):
    made = rearrange(x, "-> (lat lon) time", dims=["cell", "when"])
    assert_is(made, axisloom.rearrange(VALUES, "t a o -> (a o) t"), ("cell", "when"), ["when", "day", "height"])
    np.testing.assert_array_equal(made.coords["when"], [10, 20])
    with pytest.raises(ValueError, match="2 dimensions, not .*give dims= a name for each"):
        rearrange(x, "-> (lat lon) time", dims=["cell"])
    with pytest.raises(ValueError, match="give dims= a name for each"):
        rearrange(x, "time lat (lon p) -> (time lat) (lon p)", p=2, dims=["a", "a"])


def test_reductions(x):
    assert_is(reduce(x, "-> lat", "mean"), VALUES.mean((0, 2)), ("lat",), ["lat", "height"])
    assert_is(reduce(x, "time ... -> ...", "max"), VALUES.max(0), ("lat", "lon"), ["lat", "lon", "area", "height"])
    assert_is(reduce(x, "->", "sum"), VALUES.sum(), (), ["height"])
    median = reduce(x, "-> lon", lambda part, axes: np.median(part, axes))
    assert_is(median, np.median(VALUES, (0, 1)), ("lon",), ["lon", "height"])


def test_repeats(x):
    made = repeat(x, "-> ... 2 n", n=3)
    expected = axisloom.repeat(VALUES, "... -> ... 2 n", n=3)
    assert_is(made, expected, ("time", "lat", "lon", "dim_3", "n"), list(x.coords))


def test_names_that_no_pattern_can_have():
    x = xarray.DataArray(VALUES, dims=["valid time", "_lat", "lon"]).chunk(lon=2)
    turned = rearrange(x, "... lon -> lon ...")
    assert_is(turned, VALUES.transpose(2, 0, 1), ("lon", "valid time", "_lat"), [], None, {})
    assert_is(einsum(x, x, "-> lon"), (VALUES**2).sum((0, 1)), ("lon",), [], None, {})


def test_an_index_of_several_levels_is_kept():
    x = field(lazy=True).stack(cell=["lat", "lon"]).chunk(time=1)
    made = rearrange(x, "-> cell time")
    assert made.indexes["cell"].equals(x.indexes["cell"])
    np.testing.assert_array_equal(made.values, VALUES.reshape(2, 12).T)


@pytest.mark.parametrize("lazy", [False, True])
def test_einsum(lazy):
    x = field(lazy)
    weights = xarray.DataArray([1.0, 2.0, 3.0], {"lat": [1.0, 2.0, 3.0]}, ["lat"])
    expected = np.einsum("tao,a->ot", VALUES, [1, 2, 3])
    coords = ["lon", "time", "day", "height"]
    for left in ("", "time lat lon, lat", "lon time lat, lat", "... lat, lat"):
        assert_is(einsum(x, weights, f"{left} -> lon time"), expected, ("lon", "time"), coords, None, {})
    assert_is(einsum("-> lon ...", x, weights), np.einsum("tao,a->ota", VALUES, [1, 2, 3]), ("lon", "time", "lat"),
              [*coords, "lat", "area"], None, {})
    made = einsum(x, weights, x, "(time lat lon, lat), time lat lon -> lat", dims=["row"])
    assert_is(made, np.einsum("tao,a,tao->a", VALUES, [1, 2, 3], VALUES), ("row",), ["row", "height"], None, {})


def test_einsum_refuses_what_does_not_lie_together():
    x = field(lazy=True)
    shifted = x.assign_coords(lat=[2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match="lat"):
        einsum(x, shifted, "-> time")
    with pytest.raises(TypeError, match="takes DataArrays and one pattern"):
        einsum(x, VALUES, "-> time")
    with pytest.raises(axisloom.EinopsError, match="there is no '->'"):
        einsum(x, x, "time")
    with pytest.raises(axisloom.EinopsError, match="the left side is of 1 arrays, and 2 were given"):
        einsum(x, x, "time lat lon -> time")
    with pytest.raises(axisloom.EinopsError, match="'height' is none of them"):
        einsum(x, x, "-> height")


def test_what_is_wrong_is_said_with_the_dimensions(x):
    with pytest.raises(axisloom.EinopsError, match=r"\('time', 'lat', 'lon'\): 'depth' is none of them"):
        rearrange(x, "time lat depth -> depth lat time")
    with pytest.raises(axisloom.EinopsError, match="'lon' is not on the left; name every dimension there, or none"):
        rearrange(x, "time lat -> lat time")
    with pytest.raises(axisloom.EinopsError, match="'lat' stands where the dimension is 'time'"):
        rearrange(x, "lat time (lon p) -> lat time lon p", p=2)
    with pytest.raises(axisloom.EinopsError, match="the left side has 2 axes; .* write all in their order"):
        rearrange(x, "time (lon p) -> time lon p", p=2)
    with pytest.raises(axisloom.EinopsError, match="no single '->'"):
        rearrange(x, "lat lon time")
    with pytest.raises(axisloom.EinopsError, match="'lon' does not appear on the right"):
        rearrange(x, "-> lat time")


@settings(max_examples=40, deadline=None)
@given(st.permutations(["time", "lat", "lon"]), st.booleans())
def test_any_order_is_that_of_transpose(order, lazy):
    x = field(lazy)
    expected = x.transpose(*order, transpose_coords=False)
    xarray.testing.assert_identical(rearrange(x, f"-> {' '.join(order)}").compute(), expected.compute())


def test_nothing_is_computed_before_it_is_asked_for():
    made = rearrange(field(lazy=True), "-> (lat lon) time")
    assert isinstance(made.data, da.Array)
