"""The direct path: cards that reach each other's memory, as PyTorch's symmetric memory maps it, write there themselves.

Into an output that is symmetric memory on all ranks go the elements as they are to lie; nothing is packed. Else each
rank packs its messages right into a buffer of the receiver, which unpacks them. Waiting is a matter of the stream, and
ends with the group's timeout.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import torch
import torch.distributed as dist

from axisloom._errors import UnsupportedError
from axisloom.distributed import Copy, Redistribution

from . import _engine
from ._groups import found_lost, timeout_of
from ._messages import Schedule, run, share, within_share

_NO_MULTICAST = "TORCH_SYMM_MEM_DISABLE_MULTICAST"


def reaches(group: Any, device: torch.device) -> bool:
    """Whether all ranks can write into each other's memory. All ranks ask together; they get the same answer."""
    return device.type == "cuda" and _reach(group, device) is not None


class Reach:
    """Two halves of a buffer on every rank. What is written into the one is read while the other is written: who writes
    into a half again has met all others since they read it, when they had written into the other."""

    def __init__(self, group: Any, device: torch.device) -> None:
        self.group, self.device = group.group_name, device  # its name: what is kept keeps no group
        self.rank = dist.get_rank(group)
        timeout = timeout_of(group)
        self.timeout_ms = 600_000 if timeout is None else int(timeout.total_seconds() * 1000)
        self.bytes = 0  # of a half
        self.turn = 0
        self.stream: torch.cuda.Stream | None = None  # of the last call, and where it ended
        self.end = torch.cuda.Event()
        self.side = torch.cuda.Stream(device)  # of the copy engine
        self.halves: dict[Any, torch.Tensor] = {}
        self.grow(1 << 20)

    def grow(self, size: int) -> None:
        """All ranks ask for the same size."""
        if size <= self.bytes:
            return
        torch.cuda.synchronize(self.device)  # calls that are under way use the old one
        self.halves.clear()
        self.bytes = -(-size // (1 << 20)) << 20
        self.buffer = _symmetric().empty(2 * self.bytes, dtype=torch.uint8, device=self.device)
        with _without_multicast():
            self.handle = _symmetric().rendezvous(self.buffer, self.group)

    @contextlib.contextmanager
    def in_turn(self) -> Iterator[None]:
        """Calls on several streams come one after the other. A graph that is captured runs at any time, and again and
        again, with the same halves: all meet before it and behind it."""
        if torch.cuda.is_current_stream_capturing():
            self.meet()
            yield
            self.meet()
            return
        stream = torch.cuda.current_stream(self.device)
        if self.stream is not None and self.stream != stream:
            stream.wait_event(self.end)
        yield
        self.end.record(stream)
        self.stream = stream

    def half_of(self, other: int, dtype: torch.dtype) -> torch.Tensor:
        """The half of a rank's buffer whose turn it is."""
        key = other, self.turn, dtype
        if key not in self.halves:
            count = self.bytes // dtype.itemsize
            self.halves[key] = self.handle.get_buffer(other, (count,), dtype, self.turn * count)
        return self.halves[key]

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """What the copy engine does within goes on beside what the stream does, which then waits for it."""
        stream = torch.cuda.current_stream(self.device)
        self.side.wait_stream(stream)
        yield
        stream.wait_stream(self.side)

    def send(self, copies: Iterable[Copy], source: torch.Tensor, target: torch.Tensor) -> None:
        """By the copy engine where it can, else by kernels of the stream."""
        for copy in copies:
            rows = _engine.rows_of(copy, source.itemsize)
            if rows:
                _engine.start(rows, source, target, self.side)
            else:
                run((copy,), source, target)

    def meet(self) -> None:
        """Behind this, in the stream's order, all ranks have written."""
        self.handle.barrier(channel=0, timeout_ms=self.timeout_ms)


def _symmetric() -> Any:
    import torch.distributed._symmetric_memory as symmetric

    return symmetric


@contextlib.contextmanager
def _without_multicast() -> Iterator[None]:
    """Memory is mapped for one rank each: that is all this needs, and not every host grants more."""
    before = os.environ.get(_NO_MULTICAST)
    os.environ[_NO_MULTICAST] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_NO_MULTICAST]
        else:
            os.environ[_NO_MULTICAST] = before


_REACHES: WeakKeyDictionary[Any, dict[torch.device, Reach | None]] = WeakKeyDictionary()  # by group


def _reach(group: Any, device: torch.device) -> Reach | None:
    """None where cards do not reach each other."""
    kept = _REACHES.setdefault(group, {})
    if device not in kept:
        kept[device] = _found_reach(group, device)
    return kept[device]


def _found_reach(group: Any, device: torch.device) -> Reach | None:
    """Asks first who is where: where ranks are on several hosts, nobody tries to map memory and waits for others."""
    hosts: list[Any] = [None] * dist.get_world_size(group)
    with found_lost("asking which host each rank is on"):
        dist.all_gather_object(hosts, _host(), group=group)
    if None in hosts or len(set(hosts)) > 1 or len(hosts) == 1:
        return None
    try:
        made, fault = Reach(group, device), None
    except (ImportError, AttributeError, RuntimeError) as error:  # this PyTorch or these cards cannot
        made, fault = None, error
    faults: list[Any] = [None] * len(hosts)
    with found_lost("asking whether cards reach each other's memory"):
        dist.all_gather_object(faults, None if fault is None else repr(fault), group=group)
    return made if not any(faults) else None


def _host() -> str | None:
    """A name that processes of one boot of one host share; None where PyTorch has no symmetric memory."""
    try:
        _symmetric()
    except ImportError:
        return None
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()} {boot.read_text() if boot.exists() else ''}"


# Into an output ------------------------------------------------------------------------------------------------------


_MADE: WeakValueDictionary[int, torch.Tensor] = WeakValueDictionary()  # by address, for a PyTorch that does not tell


def symmetric_empty(
    *shape: int, dtype: torch.dtype | None = None, device: torch.device | str = "cuda"
) -> torch.Tensor:
    """A tensor of symmetric memory, whose elements are not set. As `out=` on all ranks, of one shape on each, it is
    written to by the other ranks' cards themselves."""
    made: torch.Tensor = _symmetric().empty(*shape, dtype=dtype, device=torch.device(device))
    _MADE[made.data_ptr()] = made
    return made


def is_symmetric(tensor: torch.Tensor) -> bool:
    """Whether a whole tensor of symmetric memory, so that others can find its elements."""
    try:
        tells = getattr(_symmetric(), "is_symm_mem_tensor", None)
    except ImportError:
        return False
    known = tells(tensor) if tells else tensor.data_ptr() in _MADE
    return bool(known) and tensor.is_contiguous()


def written(source: torch.Tensor, out: torch.Tensor, plan: Redistribution, rank: int, order: tuple[int, ...],
            group: Any) -> None:  # fmt: skip
    """Into all ranks' `out`, which have one shape."""
    reach = _reach(group, source.device)
    if reach is None:
        raise UnsupportedError(f"{plan}: the ranks' cards do not reach each other's memory: leave the path out")
    with _without_multicast():
        handle = _symmetric().rendezvous(out, group)
    handle.barrier(channel=1, timeout_ms=reach.timeout_ms)  # nobody reads the old elements any more
    ranks = plan.mesh.ranks
    with reach.beside():
        for message in sorted(plan.direct(rank, source.stride()), key=lambda message: (message.rank - rank - 1) % ranks):
            if message.rank == rank:  # comes last
                run(message.copies, source, out)
            else:
                target = handle.get_buffer(order[message.rank], tuple(out.shape), source.dtype, 0)
                reach.send(message.copies, source, target)
    handle.barrier(channel=1, timeout_ms=reach.timeout_ms)


# Into buffers --------------------------------------------------------------------------------------------------------


class Push(NamedTuple):
    """What goes into another rank's buffer."""

    to: int  # rank of the group
    copies: tuple[Copy, ...]


@functools.lru_cache(maxsize=256)
def pushes(
    plan: Redistribution, rank: int, order: tuple[int, ...], in_strides: tuple[int, ...], count: int
) -> tuple[tuple[Push, ...], ...]:
    """Round by round, the next rank first, so that no rank gets everyone's at once."""
    messages = sorted(plan.packs(rank, in_strides), key=lambda message: (message.rank - rank) % plan.mesh.ranks)
    begins = {}
    begin = 0
    for message in plan.packs(rank, in_strides):
        begins[message.rank] = begin
        begin += message.elements
    rounds = []
    for place in range(count):
        pushed = []
        for message in messages:
            at = _place(plan, rank, message.rank, order, place, count)
            copies = within_share(message, begins[message.rank], place, count, at, packing=True)
            pushed.append(Push(order[message.rank], tuple(copies)))
        rounds.append(tuple(pushed))
    return tuple(rounds)


def _place(plan: Redistribution, rank: int, receiver: int, order: tuple[int, ...], place: int, count: int) -> int:
    """Where this rank's message begins in the receiver's buffer: behind those of the group's ranks before it."""
    return sum(
        share(message, place, count)
        for message in plan.unpacks(receiver)
        if order[message.rank] < order[rank]
    )


# Rounds: what came in one is unpacked while the next is under way. The host takes some 150 us to start one, in which two
# H200 exchange 60 MB.
LEAST_ROUND = 64 << 20  # bytes
MOST_ROUNDS = 4


def round_of(plan: Redistribution, width: int) -> int:
    """Elements of a round at most, of so many bytes."""
    sent, received, *_ = plan.largest_load(1)
    return max(LEAST_ROUND // width, -(-max(sent, received) // MOST_ROUNDS))


def pushed(
    steps: Schedule, source: torch.Tensor, target: torch.Tensor, plan: Redistribution, rank: int,
    order: tuple[int, ...], group: Any,
) -> None:  # fmt: skip
    """The rounds of a schedule, by way of the receivers' buffers."""
    if not steps.rounds:
        run(steps.kept, source, target)
        return
    reach = _reach(group, source.device)
    if reach is None:
        raise UnsupportedError(f"{plan}: the ranks' cards do not reach each other's memory: leave the path out")
    reach.grow(steps.largest * source.itemsize)
    goes = pushes(plan, rank, order, source.stride(), len(steps.rounds))
    with reach.in_turn():
        came: tuple[Any, ...] = steps.kept, source, target
        for one, pushed_now in zip(steps.rounds, goes):
            with reach.beside():
                for push in pushed_now:
                    reach.send(push.copies, source, reach.half_of(push.to, source.dtype))
                run(*came)
            reach.meet()
            came = one.unpacks, reach.half_of(reach.rank, source.dtype), target
            reach.turn = 1 - reach.turn
        run(*came)
