"""Rearranging tensors that are distributed over the ranks of a process group, and DTensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, SupportsIndex

import torch
from torch.distributed.tensor import DTensor, Placement

from axisloom._cuts import parse_sides
from axisloom._errors import ShapeError, UsageError
from axisloom._patterns import _check_pattern
from axisloom.distributed import Mesh

from ._groups import Route, agreement_of, route_of
from ._redistribute import WORKSPACE, Lengths, Redistribute, dtype_name

__all__ = ["rearrange", "redistribute"]


def rearrange(
    x: torch.Tensor,
    pattern: str,
    *,
    mesh: Any = None,
    group: Any = None,
    shape: Sequence[SupportsIndex] | None = None,
    workspace: int = WORKSPACE,
    **lengths: SupportsIndex,
) -> torch.Tensor:
    """Rearranges an array of which each rank has a part: "b s@x h d -> b s h@x d" cuts h where s was cut.

    x: this rank's part, or a DTensor. pattern: that of rearrange, with cuts (docs/distributed.md). mesh: a DeviceMesh,
    whose names are the pattern's mesh axes, or text ("x=4") for the ranks of `group`, a ProcessGroup, which is
    WORLD if it is left out. shape: that of the whole array. Without it the ranks tell each other the shapes of their
    parts at each call; torch.compile takes the parts to be equal. workspace: bytes of messages in flight, each way.

    Returns this rank's part of the result. Of a DTensor the result is one too; mesh and shape are its own. Its
    placements say how it is cut, so the left side need not. All ranks of the mesh call this together.

    Gradients: of what is replicated, those of all copies are added; each addend has the gradient of the sum.
    """
    _check_pattern(pattern)
    if isinstance(x, DTensor):
        if mesh is not None or group is not None or shape is not None:
            raise UsageError("a DTensor has its own mesh and shape: leave mesh=, group= and shape= out")
        from ._dtensors import rearranged

        return rearranged(x, pattern, tuple(lengths.items()), workspace)
    if mesh is None:
        raise UsageError('give mesh=, a DeviceMesh or text such as "x=4"; for an array of one rank: axisloom.rearrange')
    route = _route(mesh, group)
    call = _call(x, pattern, route, shape, tuple(lengths.items()), workspace)
    return call(x)


def redistribute(x: DTensor, placements: Sequence[Placement], *, workspace: int = WORKSPACE) -> DTensor:
    """The same DTensor with other placements on its mesh: Shard, Replicate, Partial(), in any order.

    As DTensor.redistribute, in one exchange: what a rank sends to another goes there straight.
    """
    from ._dtensors import redistributed

    return redistributed(x, tuple(placements), workspace)


@torch.compiler.assume_constant_result
def _route(mesh: Any, group: Any) -> Route:
    return route_of(mesh, group)


def _call(
    x: torch.Tensor, pattern: str, route: Route, shape: Sequence[Any] | None, lengths: Lengths, workspace: int
) -> Redistribute:
    agreed = False
    if shape is None and _traced(x):
        parts = _parts(pattern, route.mesh, x.dim())
        shape = [extent * count for extent, count in zip(x.shape, parts)]
    elif shape is None:
        agreement = agreement_of(route, x.device)
        plan = agreement.plan(pattern, route.mesh, x.shape, dtype_name(x), None, dict(lengths))
        shape, agreed = plan.in_shape, True
    return Redistribute(pattern, route.mesh, tuple(shape), lengths, route.group, route.order, workspace, agreed)


def _traced(x: torch.Tensor) -> bool:
    return torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0


@torch.compiler.assume_constant_result
def _parts(pattern: str, mesh: str, rank: int) -> tuple[int, ...]:
    """Into how many parts the left side cuts each axis of an array of this rank."""
    side = parse_sides(pattern)[0].spread(rank)
    if side is None:
        raise ShapeError(f'the left side of "{pattern}" does not fit a tensor of {rank} axes: name each of them')
    axes = Mesh(mesh).axes
    if unknown := [name for dim in side.dims for name in dim.over if name not in axes]:
        raise UsageError(f'the mesh "{mesh}" has no axis {unknown[0]}')
    return tuple(math.prod(axes[name] for name in dim.over) for dim in side.dims)
