"""Rearranging and reducing tensors that are distributed over the ranks of a process group, and DTensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex
from weakref import WeakKeyDictionary

import torch
from torch.distributed.tensor import DTensor, Placement

from axisloom._cuts import parse_sides
from axisloom._errors import DtypeError, ShapeError, UsageError
from axisloom._patterns import _check_pattern
from axisloom.distributed import Mesh

from ._groups import Route, agreement_of, constant, group_named, route_of
from ._redistribute import WORKSPACE, Lengths, OnCards, Redistribute, Staged, dtype_name, moved, needs_no_operator
from ._reduce import Reduce, check_reduction
from ._symmetric import is_symmetric, symmetric_empty

__all__ = ["rearrange", "redistribute", "reduce", "symmetric_empty"]


def rearrange(
    x: torch.Tensor,
    pattern: str,
    *,
    mesh: Any = None,
    group: Any = None,
    shape: Sequence[SupportsIndex] | None = None,
    out: torch.Tensor | None = None,
    workspace: int = WORKSPACE,
    path: str = "",
    **lengths: int,
) -> torch.Tensor:
    """Rearranges an array of which each rank has a part: "b s@x h d -> b s h@x d" cuts h where s was cut.

    x: this rank's part, or a DTensor. pattern: that of rearrange, with cuts (docs/distributed.md). mesh: a DeviceMesh,
    whose names are the pattern's mesh axes, or text ("x=4") for the ranks of `group`, a ProcessGroup, which is
    WORLD if it is left out. shape: that of the whole array. Without it the ranks tell each other the shapes of their
    parts at each call; torch.compile takes the parts to be equal. out: takes this rank's part of the result; not where
    gradients are recorded. workspace: bytes of messages in flight, each way. path: "staged" goes by way of messages of
    the group, "direct" by memory of cards that reach each other; without it, the latter where that is possible.

    Returns this rank's part of the result. Of a DTensor the result is one too; mesh and shape are its own. Its
    placements say how it is cut, so the left side need not. All ranks of the mesh call this together.

    Gradients: of what is replicated, those of all copies are added; each addend has the gradient of the sum.
    """
    _check_pattern(pattern)
    if isinstance(x, DTensor):
        if not (mesh is None and group is None and shape is None and out is None):
            raise UsageError("a DTensor has its own mesh and shape: leave mesh=, group=, shape= and out= out")
        from ._dtensors import rearranged

        return rearranged(x, pattern, tuple(lengths.items()), workspace, _path(path))
    if mesh is None:
        raise UsageError('give mesh=, a DeviceMesh or text such as "x=4"; for an array of one rank: axisloom.rearrange')
    route = _route(mesh, group)
    whole = None if shape is None else tuple(shape)
    call = _Call(pattern, route, whole, tuple(lengths.items()), workspace, _path(path))
    known = _known(call, x, out)
    if known is not None:
        return known(x, out)
    result = call.redistribute(x)(x) if out is None else call.into(out, x)
    _remember(call, x, out)
    return result


def reduce(
    x: torch.Tensor,
    pattern: str,
    reduction: str,
    *,
    mesh: Any = None,
    group: Any = None,
    shape: Sequence[SupportsIndex] | None = None,
    order: str = "fast",
    workspace: int = WORKSPACE,
    path: str = "",
    **lengths: int,
) -> torch.Tensor:
    """Reduces an array of which each rank has a part: "b s@x h -> b h" with "sum" leaves all sums on all ranks.

    reduction: sum, mean, prod, min, max, any, all, count_nonzero, norm, argmin or argmax. order: "portable" gives sums,
    means, products and norms of floats the same bits for any number of ranks and any cuts: those of axisloom.reduce
    with order="portable" of the whole array. "fast" leaves sums to the engine. The rest is as in rearrange: +x at the
    end of the left side says that ranks hold addends, for sums.

    Returns this rank's part of the result. All ranks of the mesh call this together.
    """
    _check_pattern(pattern)
    check_reduction(reduction)
    if isinstance(x, DTensor):
        if not (mesh is None and group is None and shape is None):
            raise UsageError("a DTensor has its own mesh and shape: leave mesh=, group= and shape= out")
        from ._dtensors import reduced

        return reduced(x, pattern, reduction, order, tuple(lengths.items()), workspace, _path(path))
    if mesh is None:
        raise UsageError('give mesh=, a DeviceMesh or text such as "x=4"; for an array of one rank: axisloom.reduce')
    route = _route(mesh, group)
    call = Reduce(pattern, reduction, order, route, tuple(lengths.items()), workspace, _path(path))
    if not _traced(x):
        return call._replace(agreed=True)(x, call.agree(x, None if shape is None else tuple(shape)))
    if shape is None:
        shape = [extent * count for extent, count in zip(x.shape, _parts(pattern, route.mesh, x.dim()))]
    return call(x, tuple(map(int, shape)))


def redistribute(
    x: DTensor, placements: Sequence[Placement], *, workspace: int = WORKSPACE, path: str = ""
) -> DTensor:
    """The same DTensor with other placements on its mesh: Shard, Replicate, Partial(), in any order.

    As DTensor.redistribute, in one exchange: what a rank sends to another goes there straight.
    """
    from ._dtensors import redistributed

    return redistributed(x, tuple(placements), workspace, _path(path))


@constant
def _route(mesh: Any, group: Any) -> Route:
    return route_of(mesh, group)


def _path(path: str) -> str:
    if path not in ("", "staged", "direct"):
        raise UsageError(f'path={path!r}: give "staged" or "direct", or leave it out')
    return path


class _Call(NamedTuple):
    """What the caller says. The operator wants the whole shape, too."""

    pattern: str
    route: Route
    shape: tuple[Any, ...] | None
    lengths: Lengths
    workspace: int
    path: str

    def redistribute(self, x: torch.Tensor) -> Redistribute:
        if self.shape is not None:
            return self.of(self.shape, False)
        if _traced(x):
            parts = _parts(self.pattern, self.route.mesh, x.dim())
            return self.of(tuple(extent * count for extent, count in zip(x.shape, parts)), False)
        return self.agreed(x)

    def of(self, shape: tuple[Any, ...], agreed: bool) -> Redistribute:
        route = self.route  # not taken apart at once: Dynamo of PyTorch 2.11 cannot
        return Redistribute(
            self.pattern, route.mesh, shape, self.lengths, route.group, route.order, self.workspace, self.path, agreed
        )

    def agreed(self, x: torch.Tensor, out: torch.Tensor | None = None) -> Redistribute:
        """All ranks tell their shapes, and check each other's."""
        call, error = self.of((), True), None
        how = call.how
        if out is not None:
            how += ", into symmetric memory" if is_symmetric(out) else ", into out="
            error = _fault_of(out, x)
        plan = agreement_of(self.route, x.device).plan(
            self.pattern, self.route.mesh, x.shape, dtype_name(x), self.shape, dict(self.lengths), how=how,
            out_shape=None if out is None else out.shape, each_call=x.device.type == "cpu", error=error,
            prepare=call.prepare(x),
        )  # fmt: skip
        return self.of(plan.in_shape, True)

    def into(self, out: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        if _traced(x):
            raise UsageError("out= is not for torch.compile: leave it out")
        call = self.agreed(x, out)
        with torch.no_grad():
            return moved(x, call, out)


# Calls with shape= on cards that all ranks have made before, and what they come to.
_KNOWN: WeakKeyDictionary[Any, dict[Any, OnCards | Staged]] = WeakKeyDictionary()  # by group
_MOST_KNOWN = 256


def _known(call: _Call, x: torch.Tensor, out: torch.Tensor | None) -> OnCards | Staged | None:
    if call.shape is None or not needs_no_operator(x) or not x.is_cuda:
        return None
    if out is not None and _fault_of(out, x) is not None:
        return None
    return _KNOWN.get(group_named(call.route.group), {}).get(_key(call, x, out))


def _key(call: _Call, x: torch.Tensor, out: torch.Tensor | None) -> Any:
    into = None if out is None else (out.shape, is_symmetric(out))
    return call, x.shape, x.dtype, x.device, into


def _remember(call: _Call, x: torch.Tensor, out: torch.Tensor | None) -> None:
    if call.shape is None or not needs_no_operator(x) or not x.is_cuda:
        return
    agreed = call.of(call.shape, True)
    if not agreed.plan.summed:
        kept = _KNOWN.setdefault(group_named(call.route.group), {})
        if len(kept) >= _MOST_KNOWN:
            kept.clear()
        kept[_key(call, x, out)] = agreed.way(agreed.plan, x.device)


def _fault_of(out: torch.Tensor, x: torch.Tensor) -> Exception | None:
    if torch.is_grad_enabled() and (out.requires_grad or x.requires_grad):
        return UsageError("out= has no gradient: call this under torch.no_grad(), or leave out= out")
    if out.dtype is not x.dtype:
        return DtypeError(f"out= has the dtype {out.dtype}, and the array has {x.dtype}: give one of that dtype")
    if out.device != x.device:
        return UsageError(f"out= is on {out.device}, and the array on {x.device}: give one there")
    return None


def _traced(x: torch.Tensor) -> bool:
    return torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0


@constant
def _parts(pattern: str, mesh: str, rank: int) -> tuple[int, ...]:
    """Into how many parts the left side cuts each axis of an array of this rank."""
    side = parse_sides(pattern)[0].spread(rank)
    if side is None:
        raise ShapeError(f'the left side of "{pattern}" does not fit a tensor of {rank} axes: name each of them')
    axes = Mesh(mesh).axes
    if unknown := [name for dim in side.dims for name in dim.over if name not in axes]:
        raise UsageError(f'the mesh "{mesh}" has no axis {unknown[0]}')
    return tuple(math.prod(axes[name] for name in dim.over) for dim in side.dims)
