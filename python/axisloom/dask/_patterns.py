"""Patterns bound to shapes: which axes an array's axes are composed of, and how long these are."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex

from .. import _native
from .._arrays import _long_names
from .._errors import EinopsError, ShapeError, UsageError
from .._expressions import ELLIPSIS
from .._patterns import _check_pattern, _Length, _parsed
from ._chunks import Axis, Grid, Group

_short_names = {name: short for short, name in _long_names.items()}


class Bound(NamedTuple):
    inputs: tuple[Group, ...]
    outputs: tuple[Group, ...]
    lengths: dict[Axis, int]

    @property
    def removed(self) -> list[Axis]:
        kept = {axis for group in self.outputs for axis in group}
        return [axis for group in self.inputs for axis in group if axis not in kept]


def described(x: Any) -> tuple[str, tuple[int, ...]]:
    """Dtype and shape as the library checks them. What it has no name for, such as dates, it moves as numbers."""
    return _short_names.get(str(x.dtype), "u8"), tuple(map(int, x.shape))


def bind(x: Any, name: str, texts: Sequence[str], lengths: Mapping[str, SupportsIndex]) -> Bound:
    """The last of the texts is the pattern. The library refuses what is wrong with it, in its own words."""
    pattern = texts[-1]
    _check_pattern(pattern)
    try:
        _native.result(name, texts, (described(x),), lengths)
    except (ShapeError, UsageError) as error:  # as in axisloom.rearrange, they are errors of the pattern
        if isinstance(error, UsageError) and "unknown reduction" not in str(error):
            raise
        raise EinopsError(str(error)) from None
    left, right = (_parsed(side, pattern) for side in pattern.split("->"))
    dots = tuple((ELLIPSIS, number) for number in range(x.ndim - len(left) + 1))
    inputs, outputs = _groups(left, dots), _groups(right, dots)
    known: dict[Axis, int] = {axis: operator.index(length) for axis, length in lengths.items()}
    known |= {axis: int(axis) for group in (*inputs, *outputs) for axis in group if isinstance(axis, _Length)}
    for group, extent in zip(inputs, x.shape):
        rest = math.prod(known[axis] for axis in group if axis in known)
        known.update({axis: extent // max(rest, 1) for axis in group if axis not in known})
    return Bound(inputs, outputs, {axis: known[axis] for group in (*inputs, *outputs) for axis in group})


def _groups(side: list[Any], dots: Group) -> tuple[Group, ...]:
    groups: list[Group] = []
    for group in side:
        if group == ELLIPSIS:
            groups += [(axis,) for axis in dots]
        else:
            groups.append(tuple(axis for part in group for axis in (dots if part == ELLIPSIS else (part,))))
    return tuple(groups)


def written(inputs: Sequence[Group], outputs: Sequence[Group], axes: Collection[Axis]) -> str:
    """The pattern of a block, whose axes have plain names."""
    names = {axis: f"a{number}" for number, axis in enumerate(axes)}
    sides = (" ".join(f"({' '.join(names[axis] for axis in group)})" for group in side) for side in (inputs, outputs))
    return " -> ".join(sides)


def block_lengths(grid: Grid) -> tuple[tuple[str, int], ...]:
    """Those that all blocks have alike, by the names of `written`. The others a block tells by its shape."""
    return tuple((f"a{number}", chunks[0]) for number, chunks in enumerate(grid.values()) if len(set(chunks)) == 1)
