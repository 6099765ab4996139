"""The registered operator axisloom::redistribute: a rank's part goes in, its part of the rearranged array comes out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch.autograd import forward_ad

from axisloom._cuts import Cut, Dim, Side, parse_sides
from axisloom._errors import UnsupportedError
from axisloom.distributed import Redistribution

from ._calls import LIBRARY
from ._groups import Route, agreement_of, found_lost, group_along, group_named, rank_of
from ._inverse import inverse_of
from ._messages import Round, Schedule, bits, run, schedule
from ._symmetric import Reach, is_symmetric, pushed, reach_of, written

LIBRARY.define(
    "redistribute(Tensor x, str pattern, str mesh, SymInt[] shape, str[] length_names, SymInt[] lengths, str group, "
    "int[] order, int workspace, str path, bool agreed, bool copies_add) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
OPERATOR = torch.ops.axisloom.redistribute.default

Lengths = tuple[tuple[str, int], ...]  # of axes, by name

WORKSPACE = 256 << 20  # bytes of messages in flight, each way


class Redistribute(NamedTuple):
    """The arguments of the operator but the tensor.

    shape: the whole input's. path: "direct", "staged", or "", where cards that reach each other take the direct one.
    agreed: whether the ranks know already that all make this call. copies_add: whether gradients of copies of the
    output are addends, as where each rank goes on by itself; else they are copies, too, as those of a DTensor.
    """

    pattern: str
    mesh: str
    shape: tuple[int, ...]
    lengths: Lengths
    group: str
    order: tuple[int, ...]
    workspace: int = WORKSPACE
    path: str = ""
    agreed: bool = False
    copies_add: bool = True

    @property
    def route(self) -> Route:
        return Route(self.mesh, self.group, self.order)

    @property
    def how(self) -> str:
        """What all ranks have to do alike."""
        return ", ".join([f"workspace {self.workspace}", *([f"path {self.path}"] if self.path else [])])

    @property
    def plan(self) -> Redistribution:
        return plan_of(self.pattern, self.mesh, self.shape, self.lengths)

    def prepare(self, x: torch.Tensor) -> Callable[[Redistribution], None]:
        """Lists this rank's copies, which not every plan allows; others are not to wait then."""

        def listed(agreed: Redistribution) -> None:
            plan = plan_of(self.pattern, self.mesh, agreed.in_shape, self.lengths)
            rank = rank_of(self.route)
            plan.packs(rank, x.stride())
            plan.unpacks(rank, row_major(plan.local_out_shape(rank)))
            plan.largest_load(1)

        return listed

    def way(self, plan: Redistribution, device: torch.device) -> OnCards | Staged:
        """How a plan without sums is carried out. All ranks ask, and get the same answer."""
        reach = None if self.path == "staged" else reach_of(group_named(self.group), device)
        rank = rank_of(self.route)
        if reach is not None:
            return OnCards(plan, rank, self.order, self.workspace, reach)
        if self.path == "direct":
            raise UnsupportedError(f"{plan}: the ranks do not reach each other's memory: leave path= out")
        return Staged(plan, rank, self.order, self.workspace, self.group)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if needs_no_operator(x):
            return _run(x, self)
        names, lengths = [name for name, _ in self.lengths], [length for _, length in self.lengths]
        return OPERATOR(
            x, self.pattern, self.mesh, list(self.shape), names, lengths, self.group,
            list(self.order), self.workspace, self.path, self.agreed, self.copies_add,
        )  # fmt: skip


def _call_of(
    pattern: str,
    mesh: str,
    shape: Sequence[int],
    names: Sequence[str],
    lengths: Sequence[int],
    group: str,
    order: Sequence[int],
    *rest: Any,
) -> Redistribute:
    numbers = tuple(zip(names, map(int, lengths)))
    return Redistribute(pattern, mesh, tuple(map(int, shape)), numbers, group, tuple(order), *rest)


@functools.lru_cache(maxsize=256)
def plan_of(pattern: str, mesh: str, shape: tuple[int, ...], lengths: Lengths) -> Redistribution:
    """Kept, as a plan keeps what it was asked."""
    return Redistribution(pattern, mesh, shape, **dict(lengths))


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides as PyTorch has them, where an axis of length 0 counts as one of 1."""
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * max(extent, 1))
    return tuple(reversed(strides))[: len(shape)]


# What a rank does ----------------------------------------------------------------------------------------------------


def needs_no_operator(x: torch.Tensor) -> bool:
    """Whether nothing is recorded or traced: the dispatcher would only cost time."""
    if torch.compiler.is_compiling() or type(x) not in (torch.Tensor, torch.nn.Parameter):
        return False
    if x.requires_grad and torch.is_grad_enabled() or forward_ad._current_level >= 0:
        return False
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return False
    return not torch._C._are_functorch_transforms_active() and x.device.type in ("cpu", "cuda")


def _here(x: torch.Tensor, *arguments: Any) -> torch.Tensor:
    return _run(x, _call_of(*arguments))


def _run(x: torch.Tensor, call: Redistribute) -> torch.Tensor:
    if not call.agreed:
        # Where the host would wait for a card, the ranks agree on a call only once.
        each = x.device.type == "cpu"
        agreement_of(call.route, x.device).plan(
            call.pattern, call.mesh, x.shape, dtype_name(x), call.shape, dict(call.lengths), how=call.how,
            each_call=each, prepare=call.prepare(x),
        )  # fmt: skip
    return moved(x, call)


def dtype_name(x: torch.Tensor) -> str:
    name = str(x.dtype).removeprefix("torch.")
    return name if x.device.type == "cpu" else f"{name} on {x.device.type}"


def moved(x: torch.Tensor, call: Redistribute, out: torch.Tensor | None = None) -> torch.Tensor:
    """This rank's part of the output, in `out` where there is one. All ranks have agreed on the call."""
    plan = call.plan
    if plan.summed:
        return _summed(x, plan, call, out)
    return _sent(x, plan, call, out)


def _sent(x: torch.Tensor, plan: Redistribution, call: Redistribute, out: torch.Tensor | None) -> torch.Tensor:
    return call.way(plan, x.device)(x, out)


class OnCards(NamedTuple):
    """What a call without sums comes to on cards that reach each other, once all ranks have agreed on it."""

    plan: Redistribution
    rank: int
    order: tuple[int, ...]
    workspace: int
    reach: Reach

    def __call__(self, x: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
        plan, rank = self.plan, self.rank
        source = x.resolve_conj().resolve_neg()
        if out is None:
            out = x.new_empty(plan.local_out_shape(rank))
        elif is_symmetric(out) and _is_even(plan):
            written(self.reach, source, out, plan, rank, self.order)
            return out
        pushed(self.reach, source, out, plan, rank, self.order, self.workspace)
        return out


@functools.lru_cache(maxsize=256)
def _is_even(plan: Redistribution) -> bool:
    """Whether all ranks' outputs have one shape, so that their elements are found alike."""
    return len({plan.local_out_shape(rank) for rank in range(plan.mesh.ranks)}) == 1


class Staged(NamedTuple):
    """The same by messages of the group."""

    plan: Redistribution
    rank: int
    order: tuple[int, ...]
    workspace: int
    group: str

    def __call__(self, x: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
        if out is None:
            out = x.new_empty(self.plan.local_out_shape(self.rank))
        source, target = bits(x.resolve_conj().resolve_neg()), bits(out)
        most = max(self.workspace // 2 // source.itemsize, 1)
        steps = schedule(self.plan, self.rank, self.order, source.stride(), target.stride(), most)
        _run_rounds(steps, source, target, _Exchange(group_named(self.group), self.plan))
        return out


def _run_rounds(steps: Schedule, source: torch.Tensor, target: torch.Tensor, exchange: _Exchange) -> None:
    """By messages. A round is packed while the one before it is under way, and unpacked while the next one is."""
    under_way: Callable[[], None] | None = None
    for place, one in enumerate(steps.rounds):
        sent = source.new_empty(sum(one.sent))
        run(one.packs, source, sent)
        started = exchange.start(one, sent, target)
        if place == 0:
            run(steps.kept, source, target)
        if under_way is not None:
            under_way()
        under_way = started
    if under_way is None:
        run(steps.kept, source, target)
    else:
        under_way()


class _Exchange(NamedTuple):
    group: Any
    plan: Redistribution  # for errors

    def start(self, one: Round, sent: torch.Tensor, target: torch.Tensor) -> Callable[[], None]:
        """Sends as bytes: backends differ in the integers that they send. The result waits and unpacks. PyTorch keeps
        both buffers until then."""
        received, width = sent.new_empty(sum(one.received)), sent.itemsize
        with found_lost(self.plan):
            work: Any = dist.all_to_all_single(
                received.view(torch.uint8),
                sent.view(torch.uint8),
                [count * width for count in one.received],
                [count * width for count in one.sent],
                self.group,
                async_op=True,
            )

        def arrive() -> None:
            with found_lost(self.plan):
                work.wait()
            run(one.unpacks, received, target)

        return arrive


# Sums ----------------------------------------------------------------------------------------------------------------


def _summed(x: torch.Tensor, plan: Redistribution, call: Redistribute, out: torch.Tensor | None) -> torch.Tensor:
    """By the engine's reduce-scatter where the sum stays with one rank each and nothing else moves; else all-reduced
    along the axes of addends, which leaves copies, and sent from there."""
    scattered = _scattered(call.pattern, plan)
    if scattered is not None:
        return _in(out, _reduce_scattered(x, call, *scattered))
    for axis in plan.summed:
        x = _all_reduced(x, group_along(call.route, axis), plan)
    left, right = parse_sides(call.pattern)
    staying = Side(left.dims, tuple(name for name in left.addends if name in right.addends))
    pattern = f"{staying} -> {right}"
    return _sent(x, plan_of(pattern, call.mesh, call.shape, call.lengths), call, out)


def _in(out: torch.Tensor | None, result: torch.Tensor) -> torch.Tensor:
    return result if out is None else out.copy_(result)


def _added_as(x: torch.Tensor) -> torch.Tensor:
    """What backends add: none adds integers of 16 bits, and unsigned ones are added as signed ones are."""
    if x.is_complex():
        return torch.view_as_real(x.resolve_conj().contiguous())
    if x.is_floating_point() and x.itemsize > 1:
        return x
    if x.dtype is torch.bool or x.is_floating_point():
        raise UnsupportedError(f"sums of {x.dtype} over ranks: convert the addends, to float32 or int32 say")
    signed = bits(x)
    return signed.to(torch.int32) if signed.itemsize == 2 else signed


def _as_before(added: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    if like.is_complex():
        return torch.view_as_complex(added)
    if added.dtype is like.dtype:
        return added
    return added.to(bits(like).dtype).view(like.dtype)


def _all_reduced(x: torch.Tensor, group: Any, plan: Redistribution) -> torch.Tensor:
    own = _added_as(x)
    added = own.clone(memory_format=torch.contiguous_format)
    with found_lost(plan):
        dist.all_reduce(added, group=group)
    return _as_before(added, x)


def _scattered(pattern: str, plan: Redistribution) -> tuple[str, int, str] | None:
    """Where the plan amounts to a reduce-scatter: the pattern of what each rank does by itself, the axis that is cut
    then, and over which mesh axis. All ranks decide alike."""
    left, right = parse_sides(pattern)
    if len(plan.summed) != 1:
        return None
    (name,) = plan.summed
    at = [place for place, dim in enumerate(right.dims) if name in dim.over]
    if not at or any(dim.axes == (_ELLIPSIS,) for dim in right.dims[: at[0]]):
        return None
    cut = Cut((name,))
    dim = right.dims[at[0]]
    if not (dim.cuts == (cut,) or (len(dim.axes) == 1 and dim.axes[0].cuts == (cut,))):
        return None
    if plan.out_shape[at[0]] % plan.mesh.axes[name]:
        return None
    whole = dim._replace(cuts=()) if dim.cuts else Dim((dim.axes[0]._replace(cuts=()),), dim.composed)
    if whole.over:
        return None
    dims = (*right.dims[: at[0]], whole, *right.dims[at[0] + 1 :])
    addends = tuple(other for other in left.addends if other != name)
    if not _is_local(Side(left.dims, addends), Side(dims, right.addends)):
        return None
    return f"{Side(left.dims, addends)} -> {Side(dims, right.addends)}", at[0], name


_ELLIPSIS = parse_sides("... ->")[0].dims[0].axes[0]


def _is_local(left: Side, right: Side) -> bool:
    """Whether both sides cut the same axes in the same way, so that every rank has what it needs."""
    return left.addends == right.addends and _cuts_of(left) == _cuts_of(right)


def _cuts_of(side: Side) -> set[Any]:
    """By axis, and by composed axis."""
    of_axes = {axis for dim in side.dims for axis in dim.axes if axis.cuts}
    of_dims = {(tuple(axis.name for axis in dim.axes), dim.cuts) for dim in side.dims if dim.cuts}
    return of_axes | of_dims


def _reduce_scattered(x: torch.Tensor, call: Redistribute, pattern: str, dim: int, name: str) -> torch.Tensor:
    whole = _sent(x, plan_of(pattern, call.mesh, call.shape, call.lengths), call, None)
    group = group_along(call.route, name)
    own = _added_as(whole).movedim(dim, 0).contiguous()
    mine = own.new_empty((own.shape[0] // dist.get_world_size(group), *own.shape[1:]))
    with found_lost(f'rearrange "{call.pattern}"'):
        dist.reduce_scatter_tensor(mine, own, group=group)
    return _as_before(mine.movedim(0, dim).contiguous(), whole)


# Shapes and gradients ------------------------------------------------------------------------------------------------


def _fake(x: torch.Tensor, *arguments: Any) -> torch.Tensor:
    call = _call_of(*arguments)
    plan = plan_of(call.pattern, call.mesh, call.shape, call.lengths)
    rank = rank_of(call.route)
    plan.check_local(rank, tuple(map(int, x.shape)))
    return x.new_empty(plan.local_out_shape(rank))


def _setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.call = _call_of(*inputs[1:])


def _backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    call = ctx.call
    inverse = inverse_of(call.pattern, call.mesh, call.shape, call.lengths, call.copies_add)
    whole = plan_of(call.pattern, call.mesh, call.shape, call.lengths).out_shape
    again = call._replace(pattern=inverse.pattern, shape=whole, lengths=inverse.lengths, agreed=False)
    found = again(gradient)
    if inverse.repeated:
        found = found.sum(tuple(range(-inverse.repeated, 0)))
    return found, *[None] * 11


for _key in ("CPU", "CUDA"):
    LIBRARY.impl("redistribute", _here, _key)
torch.library.register_fake("axisloom::redistribute", _fake, lib=LIBRARY)
torch.library.register_autograd("axisloom::redistribute", _backward, setup_context=_setup, lib=LIBRARY)
