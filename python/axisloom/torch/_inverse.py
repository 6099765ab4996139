"""The way back of a redistribution, which gradients take."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from axisloom._cuts import Axis, Dim, Side, parse_sides
from axisloom.distributed import Mesh

from ._patterns import bind


class Inverse(NamedTuple):
    """A pattern from the output to the input, with all lengths; the last axes of its result are yet to be summed."""

    pattern: str
    lengths: tuple[tuple[str, int], ...]
    repeated: int


@functools.lru_cache(maxsize=256)
def inverse_of(
    pattern: str, mesh: str, shape: tuple[int, ...], lengths: tuple[tuple[str, int], ...], copies_add: bool
) -> Inverse:
    """What was repeated is summed: a new axis, and with copies_add copies on several ranks. Each addend has the
    gradient of the sum."""
    left, right, extents = named(pattern, shape, dict(lengths))
    given = {axis.name for dim in left.dims for axis in dim.axes}
    repeated = [axis.name for dim in right.dims for axis in dim.axes if axis.name not in given]
    cut = {name for dim in right.dims for name in dim.over}
    # Ranks that hold addends of the output take part each by itself, and have the gradient of the sum.
    copied = [name for name in Mesh(mesh).axes if name not in cut and name not in right.addends]
    source = Side(right.dims, tuple(copied) if copies_add else ())
    target = Side((*left.dims, *(Dim((Axis(name),)) for name in repeated)))
    return Inverse(f"{source} -> {target}", tuple(extents.items()), len(repeated))


def named(pattern: str, shape: Sequence[int], lengths: Mapping[str, int]) -> tuple[Side, Side, dict[str, int]]:
    """Both sides with a name for each axis, those of the ellipsis and those without a name too, and all lengths."""
    left, right = parse_sides(pattern)
    names = [axis.name for side in (left, right) for dim in side.dims for axis in dim.axes]
    own = next(stem for stem in _stems() if not [name for name in names if name.startswith(stem)])
    more = len(shape) - len(left.dims) + 1
    counted = iter(range(len(names)))

    def spelled(dim: Dim) -> list[Dim]:
        if dim.axes == (Axis("..."),) and not dim.composed:
            return [Dim((Axis(f"{own}{place}"),)) for place in range(more)]
        axes: list[Axis] = []
        for axis in dim.axes:
            if axis.name == "...":
                axes += [Axis(f"{own}{place}") for place in range(more)]
            elif not axis.name.isdigit():
                axes.append(axis)
            elif axis.name != "1":
                number = next(counted)
                fixed[f"{own}n{number}"] = int(axis.name)
                axes.append(Axis(f"{own}n{number}"))
        return [Dim(tuple(axes), dim.composed or not axes, dim.cuts)]

    fixed: dict[str, int] = dict(lengths)
    sides = [Side(tuple(one for dim in side.dims for one in spelled(dim)), side.addends) for side in (left, right)]
    plain = [Side(tuple(map(_uncut, side.dims))) for side in sides]
    bound = bind(f"{plain[0]} -> {plain[1]}", [shape], fixed)
    order = dict.fromkeys(axis.name for side in plain for dim in side.dims for axis in dim.axes)
    return sides[0], sides[1], dict(zip(order, bound.extents))


def _uncut(dim: Dim) -> Dim:
    return Dim(tuple(Axis(axis.name) for axis in dim.axes), dim.composed)


def _stems() -> Iterator[str]:
    """Beginnings of names, of which a pattern uses none."""
    stem = "z"
    while True:
        yield stem
        stem += "z"
