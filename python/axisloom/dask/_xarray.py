"""Arrays of xarray: the names of their dimensions are the names of axes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, SupportsIndex

import dask.array as da
import xarray

from .. import _native
from .._einsum import einsum as einsum_in_memory
from .._errors import EinopsError, UsageError
from .._expressions import ELLIPSIS, Expression, Path, _expression, _Inputs, _names, spread
from .._patterns import _check_pattern, _Length, _parsed
from ._einsum import einsum_of_arrays
from ._functions import moved

Dims = Sequence[Hashable]
Side = list[list[Any]]  # of a pattern: names and lengths, for each axis

# Moves and reductions ------------------------------------------------------------------------------------------------


def moved_by_dims(
    name: str,
    words: tuple[Any, ...],
    x: Any,
    pattern: str,
    dims: Sequence[str] | None,
    lengths: Mapping[str, SupportsIndex],
) -> Any:
    """rearrange, repeat or reduce of a DataArray."""
    what = f'{name}(..., "{pattern}") of the dimensions {x.dims}'
    source, target = _sides(pattern, x.dims, what)
    text = _written(source, target, x.dims)
    if isinstance(x.data, da.Array):
        data = moved(name, words, x.data, text, lengths)
    elif words:
        data = _native.reduce(x.data, text, words[0], **lengths)
    else:
        data = _native.call(name, (text,), (x.data,), lengths)
    made = _dims_of(target, dims, what)
    whole = {group[0] for group in source if len(group) == 1}
    renamed = {group[0]: dim for group, dim in zip(target, made) if len(group) == 1 and group[0] in whole}
    return _named(xarray.DataArray(data, _coords(x, renamed), made, attrs=x.attrs), x.name)


def _sides(pattern: str, dims: Dims, what: str) -> tuple[Side, Side]:
    """Both sides of a pattern, the axes on the left in the order of the dimensions; ellipses are spelled out."""
    _check_pattern(pattern)
    sides = pattern.split("->")
    if len(sides) != 2:
        raise EinopsError(f"{what}: there is no single '->'; write it before the axes of the result")
    left, right = (_parsed(side, what) for side in sides)
    named = {axis for group in left or right if group != ELLIPSIS for axis in group}
    if not left:
        source, rest = [[dim] for dim in dims], [dim for dim in dims if dim not in named]
    elif all(group == ELLIPSIS or len(group) == 1 for group in left):
        _check_names([axis for group in left if group != ELLIPSIS for axis in group], dims, ELLIPSIS in left, what)
        source, rest = [[dim] for dim in dims], [dim for dim in dims if dim not in named]
    else:
        source, rest = _in_order(left, dims, what)
    target: Side = []
    for group in right:
        target += [[dim] for dim in rest] if group == ELLIPSIS else [spread(group, rest)]  # type: ignore[arg-type]
    return source, target


def _check_names(names: Sequence[Any], dims: Dims, has_ellipsis: bool, what: str) -> None:
    for name in names:
        if name not in dims:
            raise EinopsError(f"{what}: {name!r} is none of them; name them as they are called")
    missing = [] if has_ellipsis else [dim for dim in dims if dim not in names]
    if missing:
        raise EinopsError(f"{what}: {missing[0]!r} is not on the left; name every dimension there, or none")


def _in_order(left: list[Any], dims: Dims, what: str) -> tuple[Side, list[Hashable]]:
    """A left side that splits dimensions, which stand there in their order."""
    rest: list[Hashable] = []
    if ELLIPSIS in left:
        at = left.index(ELLIPSIS)
        rest = list(dims[at : at + len(dims) - len(left) + 1])
        left = [*left[:at], *[[dim] for dim in rest], *left[at + 1 :]]
    if len(left) != len(dims):
        raise EinopsError(f"{what}: the left side has {len(left)} axes; where it splits one, write all in their order")
    for group, dim in zip(left, dims):
        if len(group) == 1 and not isinstance(group[0], _Length) and group[0] != dim:
            raise EinopsError(
                f"{what}: {group[0]!r} stands where the dimension is {dim!r}; where one is split, write all in order"
            )
    return left, rest


def _written(source: Side, target: Side, dims: Dims) -> str:
    """The pattern, with plain names for dimensions that cannot stand in one."""
    plain = {dim: f"dimension{number}x" for number, dim in enumerate(dims) if not str(dim).replace("_", "x").isalnum()}
    plain |= {dim: f"dimension{number}x" for number, dim in enumerate(dims) if str(dim)[:1] in "_0123456789"}
    sides = (" ".join(f"({' '.join(str(plain.get(axis, axis)) for axis in group)})" for group in side)
             for side in (source, target))
    return " -> ".join(sides)


def _dims_of(target: Side, dims: Sequence[str] | None, what: str) -> list[Hashable]:
    """Names of the result's dimensions. An axis without a name is called as xarray calls it."""
    if dims is None:
        made: list[Hashable] = [
            group[0] if len(group) == 1 and not isinstance(group[0], _Length) else
            "_".join(map(str, group)) if len(group) > 1 else f"dim_{number}"
            for number, group in enumerate(target)
        ]
    else:
        made = list(dims)
    if isinstance(dims, str) or len(made) != len(target) or len(set(made)) != len(made):
        raise UsageError(f"{what}: the result has {len(target)} dimensions, not {made}; give dims= a name for each")
    return made


def _coords(x: Any, renamed: Mapping[Hashable, Hashable]) -> Any:
    """Coordinates of dimensions that stay whole, with their indexes, by the names that these have in the result."""
    gone = [name for name, coord in x.coords.items() if not set(coord.dims) <= set(renamed)]
    kept = x.coords.to_dataset().drop_vars(gone)
    names = {old: new for old, new in renamed.items() if old != new and (old in kept.dims or old in kept.variables)}
    return kept.rename(names).coords


def _named(x: Any, name: Hashable) -> Any:
    """xarray would take the name of Dask's graph where there is none."""
    x.name = name
    return x


# einsum --------------------------------------------------------------------------------------------------------------


def einsum_by_dims(operands: tuple[Any, ...], dims: Sequence[str] | None) -> Any:
    """einsum of DataArrays, the pattern last, or first."""
    texts = [x for x in operands if isinstance(x, str)]
    arrays = [x for x in operands if not isinstance(x, str)]
    if len(texts) != 1 or not all(isinstance(x, xarray.DataArray) for x in arrays):
        raise TypeError("einsum of xarray takes DataArrays and one pattern, such as einsum(a, b, '-> time lon')")
    (pattern,) = texts
    what = f'einsum(..., "{pattern}") of the dimensions {", ".join(str(x.dims) for x in arrays)}'
    all_dims = list(dict.fromkeys(dim for x in arrays for dim in x.dims))
    output, path = _product_of(pattern, [x.dims for x in arrays], all_dims, what)
    made = _dims_of([[dim] for dim in output], dims, what)
    arrays = list(xarray.align(*arrays, join="exact", copy=False))
    plain = {dim: f"d{number}x" for number, dim in enumerate(all_dims)}
    terms = tuple(tuple(plain[dim] for dim in x.dims) for x in arrays)
    expression = _expression(terms, tuple(plain[dim] for dim in output), path)
    data = _multiplied(expression, [x.data for x in arrays])
    renamed = dict(zip(output, made))
    coords = xarray.merge([_coords(x, {dim: dim for dim in x.dims if dim in renamed}).to_dataset() for x in arrays],
                          compat="minimal", join="exact")
    names = {old: new for old, new in renamed.items() if old in coords.variables or old in coords.dims}
    return _named(xarray.DataArray(data, coords.rename(names).coords, made), None)


def _product_of(
    pattern: str, arrays: Sequence[Dims], all_dims: list[Hashable], what: str
) -> tuple[list[Hashable], Path]:
    """The dimensions of the result, and the order of products where parentheses fix it."""
    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise EinopsError(f"{what}: there is no '->'; write it before the dimensions of the result")
    inputs = _Inputs(left, _names) if left.strip() else None
    terms, path = (inputs.terms, inputs.path) if inputs else ([], ())
    target = _names(right, pattern)
    if terms and len(terms) != len(arrays):
        raise EinopsError(f"{what}: the left side is of {len(terms)} arrays, and {len(arrays)} were given")
    for term, dims in zip(terms, arrays):
        _check_names([name for name in term if name != ELLIPSIS], dims, ELLIPSIS in term, what)
    named = {name for term in terms or (target,) for name in term}
    rest: Any = [dim for dim in all_dims if dim not in named]
    output: list[Hashable] = [*spread(target, rest)]
    _check_names(output, all_dims, True, what)
    return output, path


def _multiplied(expression: Expression, arrays: Sequence[Any]) -> Any:
    if any(isinstance(x, da.Array) for x in arrays):
        return einsum_of_arrays(expression, arrays)
    optimize: Any = ["einsum_path", *expression.path] if expression.path else True
    return einsum_in_memory(*arrays, expression.pattern, optimize=optimize)
