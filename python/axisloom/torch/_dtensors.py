"""DTensors: their placements become the cuts of a pattern, and the cuts of its right side the result's placements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard
from torch.distributed.tensor.placement_types import _StridedShard

from axisloom._cuts import Axis, Dim, Side
from axisloom._errors import EinopsError, UnsupportedError, UsageError
from axisloom._reduced import named_sides

from ._groups import Route, constant, names_of, route_of
from ._inverse import named
from ._placements import Spelled, addends_of, placements_of, spelled_dims
from ._redistribute import Lengths, Redistribute, plan_of, row_major
from ._reduce import Reduce


class _Step(NamedTuple):
    """What is to be done with a local tensor, and what the DTensor is that comes out."""

    pattern: str
    lengths: Lengths
    route: Route
    placements: tuple[Placement, ...]
    shape: tuple[int, ...]


def rearranged(x: DTensor, pattern: str, lengths: Lengths, workspace: int, path: str) -> DTensor:
    return _done(x, _rearrange_step(x.device_mesh, x.placements, tuple(x.shape), pattern, lengths), workspace, path)


def redistributed(x: DTensor, placements: Sequence[Placement], workspace: int, path: str) -> DTensor:
    targets = _normal(placements, x.ndim)
    if len(targets) != x.device_mesh.ndim:
        raise UsageError(f"give {x.device_mesh.ndim} placements, one for each axis of the mesh, not {len(targets)}")
    between = tuple(
        target if target.is_partial() and isinstance(source, Shard) else source
        for source, target in zip(x.placements, targets)
    )
    if between != x.placements:  # this sends nothing
        x = x.redistribute(placements=between)
    if x.placements == targets:
        return x
    for step in _redistribute_steps(x.device_mesh, x.placements, targets, tuple(x.shape)):
        x = _done(x, step, workspace, path)
    return x


def reduced(
    x: DTensor, pattern: str, reduction: str, order: str, lengths: Lengths, workspace: int, path: str
) -> DTensor:
    step = _reduce_step(x.device_mesh, x.placements, tuple(x.shape), pattern, lengths)
    call = Reduce(step.pattern, reduction, order, step.route, step.lengths, workspace, path, copies_add=False)
    return _of_local(call(_local(x), tuple(x.shape)), x, step)


def _done(x: DTensor, step: _Step, workspace: int, path: str) -> DTensor:
    mesh, group, order = step.route
    call = Redistribute(
        step.pattern, mesh, tuple(x.shape), step.lengths, group, order, workspace, path, copies_add=False
    )
    return _of_local(call(_local(x)), x, step)


def _local(x: DTensor) -> torch.Tensor:
    # Each rank has the whole gradient of its addend.
    whole = [Replicate() if placement.is_partial() else placement for placement in x.placements]
    return x.to_local(grad_placements=whole)


def _of_local(local: torch.Tensor, x: DTensor, step: _Step) -> DTensor:
    return DTensor.from_local(
        local,
        x.device_mesh,
        step.placements,
        run_check=False,
        shape=torch.Size(step.shape),
        stride=row_major(step.shape),
    )


def _normal(placements: Sequence[Placement], rank: int) -> tuple[Placement, ...]:
    """With axes that count from the first one on."""
    found: list[Placement] = []
    for placement in placements:
        if isinstance(placement, (Shard, _StridedShard)):
            if not -rank <= placement.dim < rank:
                raise UsageError(f"{placement} is of an axis that a tensor of {rank} axes does not have")
            dim = placement.dim % rank
            if isinstance(placement, _StridedShard):
                placement = _StridedShard(dim, split_factor=placement.split_factor)
            else:
                placement = Shard(dim)
        found.append(placement)
    return tuple(found)


def _mesh_of(mesh: Any) -> dict[str, int]:
    return dict(zip(names_of(mesh), mesh.shape))


# Placements to placements --------------------------------------------------------------------------------------------


@constant
def _redistribute_steps(
    mesh: Any, sources: tuple[Placement, ...], targets: tuple[Placement, ...], shape: tuple[int, ...]
) -> list[_Step]:
    """One; two where an axis is cut within on both sides, in different ways."""
    axes, names = _mesh_of(mesh), names_of(mesh)
    for source, target in zip(sources, targets):
        if target.is_partial() and not source.is_partial():
            raise UnsupportedError(f"{source} cannot become {target}: only Shard can")
    left, right = (spelled_dims(placements, axes, shape, "d") for placements in (sources, targets))
    if [one for one, other in zip(left, right) if not _go_together(one, other)]:
        middle = tuple(Replicate() if isinstance(placement, _StridedShard) else placement for placement in sources)
        pairs_of = ((sources, middle), (middle, targets))
        return [step for pair in pairs_of for step in _redistribute_steps(mesh, *pair, shape)]
    pairs = [_together(one, other) for one, other in zip(left, right)]
    before = Side(tuple(pair[0] for pair in pairs), addends_of(sources, names))
    after = Side(tuple(pair[1] for pair in pairs), addends_of(targets, names))
    lengths = tuple(item for pair in pairs for item in pair[2].items())
    return [_Step(f"{before} -> {after}", lengths, route_of(mesh), targets, shape)]


def _go_together(one: Spelled, other: Spelled) -> bool:
    return not (one.dim.composed and other.dim.composed) or one.extents == other.extents


def _together(one: Spelled, other: Spelled) -> tuple[Dim, Dim, dict[str, int]]:
    """Both with the same axes: the one that is cut as a whole gets those of the other."""
    if one.dim.composed == other.dim.composed:
        return one.dim, other.dim, one.extents
    if one.dim.composed:
        return one.dim, _as_whole(other.dim, one.dim), one.extents
    return _as_whole(one.dim, other.dim), other.dim, other.extents


def _as_whole(plain: Dim, composed: Dim) -> Dim:
    return Dim(tuple(Axis(axis.name) for axis in composed.axes), True, plain.axes[0].cuts)


# Patterns ------------------------------------------------------------------------------------------------------------


@constant
def _rearrange_step(
    mesh: Any, placements: tuple[Placement, ...], shape: tuple[int, ...], pattern: str, lengths: Lengths
) -> _Step:
    route = route_of(mesh)
    # The library says what is wrong with the pattern.
    whole = plan_of(pattern, route.mesh, shape, lengths).out_shape
    left, right, extents = named(pattern, shape, dict(lengths))
    axes, names = _mesh_of(mesh), names_of(mesh)
    left = _as_placed(left, extents, placements, axes, shape, pattern)
    left = left._replace(addends=addends_of(placements, names))
    result = placements_of(right, extents, axes)
    return _Step(f"{left} -> {right}", tuple(extents.items()), route, result, whole)


@constant
def _reduce_step(
    mesh: Any, placements: tuple[Placement, ...], shape: tuple[int, ...], pattern: str, lengths: Lengths
) -> _Step:
    route = route_of(mesh)
    left, right, extents = named_sides(pattern, shape, lengths)
    axes, names = _mesh_of(mesh), names_of(mesh)
    left = _as_placed(left, extents, placements, axes, shape, pattern)
    left = left._replace(addends=addends_of(placements, names))
    whole = tuple(math.prod(extents[axis.name] for axis in dim.axes) for dim in right.dims)
    result = placements_of(right, extents, axes)
    return _Step(f"{left} -> {right}", tuple(extents.items()), route, result, whole)


def _alike(said: Sequence[Placement], placements: Sequence[Placement]) -> bool:
    """A placement that leaves one part is as good as another."""
    return list(said) == list(placements)


def _as_placed(
    left: Side,
    extents: Mapping[str, int],
    placements: tuple[Placement, ...],
    mesh: Mapping[str, int],
    shape: Sequence[int],
    pattern: str,
) -> Side:
    """The left side with its cuts, which agree with the placements where it says them."""
    if not left.has_cuts:
        return _cut(left, extents, placements, mesh, shape, pattern)
    said = placements_of(left, extents, mesh)
    if not _alike(said, placements):
        raise EinopsError(f'the left side of "{pattern}" says {said}, and the tensor has {placements}')
    return left


def _cut(
    left: Side,
    extents: Mapping[str, int],
    placements: Sequence[Placement],
    mesh: Mapping[str, int],
    shape: Sequence[int],
    pattern: str,
) -> Side:
    """The left side as the tensor's placements cut it."""
    dims = []
    for dim, spelled in zip(left.dims, spelled_dims(placements, mesh, shape, "d")):
        own = spelled.dim
        if not own.over:
            dims.append(dim)
        elif not own.composed and len(dim.axes) == 1:
            dims.append(dim._replace(axes=(dim.axes[0]._replace(cuts=own.axes[0].cuts),)))
        elif not own.composed:
            dims.append(dim._replace(cuts=own.axes[0].cuts))
        elif [extents[axis.name] for axis in dim.axes] == list(spelled.extents.values()):
            cut = (axis._replace(cuts=like.cuts) for axis, like in zip(dim.axes, own.axes))
            dims.append(dim._replace(axes=tuple(cut)))
        else:
            raise UnsupportedError(
                f'"{dim}" of the left side of "{pattern}" is cut as "{own}" with {spelled.extents}: write it as axes '
                f"of these lengths, or call axisloom.torch.redistribute first"
            )
    return left._replace(dims=tuple(dims))
