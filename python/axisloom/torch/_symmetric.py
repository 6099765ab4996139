"""The direct path: cards that reach each other's memory, as PyTorch's symmetric memory maps it, write there themselves.

Into an output that is symmetric memory on all ranks go the elements as they are to lie; nothing is packed. Else each
rank packs its messages right into a buffer of the receiver, which unpacks them. Waiting is a matter of the stream, and
ends with the group's timeout.
"""

from __future__ import annotations

import contextlib
import os
import socket
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import torch
import torch.distributed as dist

from axisloom import _native
from axisloom._errors import Error
from axisloom.distributed import Copy, Redistribution

from ._groups import found_lost, group_named, timeout_of
from ._messages import aligned, bits, run, schedule, share, within_share

_NO_MULTICAST = "TORCH_SYMM_MEM_DISABLE_MULTICAST"


def reaches(group: Any, device: torch.device) -> bool:
    """Whether all ranks can write into each other's memory. All ranks ask together; they get the same answer."""
    return reach_of(group, device) is not None


_ROUNDS_KEPT = 256  # lists of launches


class Shared(NamedTuple):
    """Bytes of each rank that all cards reach."""

    memory: torch.Tensor
    windows: list[int]  # where those of each rank are, as this card reaches them


class Reach:
    """Two halves of a buffer on every rank. What is written into the one is read while the other is written: who writes
    into a half again has met all others since they read it, when they had written into the other."""

    def __init__(self, group: Any, device: torch.device, most_single: int) -> None:
        self.group, self.device = group.group_name, device  # its name: what is kept keeps no group
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)
        timeout = timeout_of(group)
        patience = 600.0 if timeout is None else timeout.total_seconds()
        self.bytes = 0  # of a half
        self.turn = 0
        self.buffer: Any = None
        self.lists: dict[Any, Any] = {}
        self.rooms: list[Shared] = []
        self.flags = self._shared(4 * (2 * self.ranks + 2))  # as CardGroup wants them
        self.grow(1 << 20)
        # Last: where it fails on one rank, for want of a compiler say, no other one waits in what comes before.
        self.cards = _native.CardGroup(device.index, self.rank, self.flags.windows, patience, most_single)
        self.meeting = _launches(self, 1, (), (1, 1), [([], [], True, False)])

    def _shared(self, size: int) -> Shared:
        """They are zero."""
        made = _symmetric().empty(size, dtype=torch.uint8, device=self.device).zero_()
        torch.cuda.synchronize(self.device)
        windows = self.windows_of(made)
        with found_lost("telling each other that memory is ready"):
            dist.barrier(group_named(self.group))
        return Shared(made, windows)

    def windows_of(self, tensor: torch.Tensor) -> list[int]:
        """Where each rank's tensor is, as this card reaches it. All ranks call it."""
        with _without_multicast():
            handle = _symmetric().rendezvous(tensor, self.group)
        return [handle.get_buffer(rank, (1,), torch.uint8, 0).data_ptr() for rank in range(self.ranks)]

    def grow(self, size: int) -> None:
        """All ranks ask for the same size."""
        if size <= self.bytes:
            return
        torch.cuda.synchronize(self.device)  # calls that are under way use the old one
        self.lists.clear()
        self.bytes = -(-size // (1 << 20)) << 20
        self.buffer, self.windows = self._shared(2 * self.bytes)

    def room(self, place: int, size: int) -> Shared:
        """The room of that number, kept for calls that come again. All ranks ask for the same, one after the other."""
        if place < len(self.rooms) and size <= self.rooms[place].memory.numel():
            return self.rooms[place]
        torch.cuda.synchronize(self.device)
        self.lists.clear()
        self.rooms[place : place + 1] = []  # its memory is free before there is other
        self.rooms.insert(place, self._shared(-(-size // (1 << 20)) << 20))
        return self.rooms[place]

    def keep(self, key: Any, made: Any) -> Any:
        if len(self.lists) >= _ROUNDS_KEPT:
            self.lists.clear()
        self.lists[key] = made
        return made

    def captures(self) -> bool:
        return torch.cuda.is_current_stream_capturing()

    def run(self, launches: Any, source: torch.Tensor, target: torch.Tensor, captured: bool) -> None:
        index = self.device.index
        stream = torch._C._cuda_getCurrentRawStream(index)
        launches.run(index, stream, source.data_ptr(), target.data_ptr(), apart=not captured)

    def meet(self, stream: torch.cuda.Stream) -> None:
        """Of all cards, when what this stream and the others' have so far is done."""
        self.meeting.run(self.device.index, stream.cuda_stream, 0, 0, apart=False)


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


_REACHES: WeakKeyDictionary[Any, dict[Any, Reach | None]] = WeakKeyDictionary()  # by group


def reach_of(group: Any, device: torch.device, most_single: int = _native.SINGLE_LAUNCH) -> Reach | None:
    """None where there are no cards that reach each other. most_single: bytes that go by a single kernel at most."""
    if device.type != "cuda":
        return None
    kept = _REACHES.setdefault(group, {})
    key = device, most_single
    if key not in kept:
        kept[key] = _found_reach(group, device, most_single)
    return kept[key]


def _found_reach(group: Any, device: torch.device, most_single: int) -> Reach | None:
    """Asks first who is where: where ranks are on several hosts, nobody tries to map memory and waits for others."""
    hosts: list[Any] = [None] * dist.get_world_size(group)
    with found_lost("asking which host each rank is on"):
        dist.all_gather_object(hosts, _host(), group=group)
    if None in hosts or len(set(hosts)) > 1 or len(hosts) == 1:
        return None
    try:
        made, fault = Reach(group, device, most_single), None
    except (ImportError, AttributeError, RuntimeError, Error) as error:  # this PyTorch or these cards cannot
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


# Copies between slots: those of the native module, where 0 is the input, 1 the output, and 2 + a rank of the group what
# that rank has for its peers.
SlotCopy = tuple[int, int, Copy]
Stage = tuple[Sequence[SlotCopy], Sequence[SlotCopy], bool, bool]  # what is sent, what stays, meetings around it

_INPUT, _OUTPUT, _WINDOWS = 0, 1, 2


def _slotted(from_slot: int, to_slot: int, copies: Sequence[Copy]) -> list[SlotCopy]:
    return [(from_slot, to_slot, copy) for copy in copies]


def _launches(
    reach: Reach, width: int, windows: Sequence[int], alignments: tuple[int, int], stages: Sequence[Stage]
) -> Any:
    return _native.CardLaunches(reach.cards, width, windows, alignments, stages)


def written(reach: Reach, source: torch.Tensor, out: torch.Tensor, plan: Redistribution, rank: int,
            order: tuple[int, ...]) -> None:  # fmt: skip
    """Into all ranks' `out`, which have one shape."""
    key = plan, rank, order, source.stride(), source.itemsize, aligned(source), out.data_ptr()
    known = reach.lists.get(key)
    if known is None or known[0]() is not out:  # another tensor may have come to lie there
        made = _list_written(reach, source, out, plan, rank, order)
        known = reach.keep(key, (weakref.ref(out), made))
    reach.run(known[1], source, out, reach.captures())


def _list_written(reach: Reach, source: torch.Tensor, out: torch.Tensor, plan: Redistribution, rank: int,
                  order: tuple[int, ...]) -> Any:  # fmt: skip
    """No card writes before all have come: until then they may read the old elements."""
    windows = reach.windows_of(out) if out.numel() else []
    sends: list[SlotCopy] = []
    kept: list[SlotCopy] = []
    ranks = plan.mesh.ranks
    for message in sorted(plan.direct(rank, source.stride()), key=lambda message: (message.rank - rank) % ranks):
        if message.rank == rank:
            kept += _slotted(_INPUT, _OUTPUT, message.copies)
        else:
            sends += _slotted(_INPUT, _WINDOWS + order[message.rank], message.copies)
    alignments = aligned(source), aligned(out)
    return _launches(reach, source.itemsize, windows, alignments, [(sends, kept, True, True)])


def brought(reach: Reach, source: torch.Tensor, room: Shared, plan: Redistribution, rank: int,
            order: tuple[int, ...], stream: torch.cuda.Stream, idle: bool) -> None:  # fmt: skip
    """Into all ranks' rooms, on the one stream that they are filled on. That all has come is said by a meeting. What
    stays is moved by kernels where processors are idle, else behind what others wait for: on one card the copy engine's
    calls are kernels, too."""
    key = plan, rank, order, source.stride(), source.itemsize, aligned(source), room.memory.data_ptr(), idle
    launches = reach.lists.get(key)
    if launches is None:
        ranks = plan.mesh.ranks
        messages = sorted(plan.direct(rank, source.stride()), key=lambda one: (one.rank - rank - 1) % ranks)
        sends = [copy for one in messages for copy in _slotted(_INPUT, _WINDOWS + order[one.rank], one.copies)]
        own = _WINDOWS + order[rank]
        kept = [copy for copy in sends if idle and copy[1] == own]
        stage = [copy for copy in sends if copy not in kept], kept, False, False
        launches = reach.keep(key, _launches(reach, source.itemsize, room.windows, (aligned(source), 1), [stage]))
    launches.run(reach.device.index, stream.cuda_stream, source.data_ptr(), 0, apart=False)


# Into buffers --------------------------------------------------------------------------------------------------------


class Push(NamedTuple):
    """What goes into another rank's buffer."""

    to: int  # rank of the group
    copies: tuple[Copy, ...]


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


def _round_of(plan: Redistribution, width: int) -> int:
    """Elements of a round at most, of so many bytes."""
    sent, received, *_ = plan.largest_load(1)
    return max(_native.LEAST_ROUND // width, -(-max(sent, received) // _native.MOST_ROUNDS))


class _Rounds(NamedTuple):
    launches: Any  # None where nothing travels
    kept: tuple[Copy, ...]  # what is left to do then
    number: int


def pushed(reach: Reach, source: torch.Tensor, target: torch.Tensor, plan: Redistribution, rank: int,
           order: tuple[int, ...], workspace: int) -> None:  # fmt: skip
    """By way of the receivers' buffers. workspace: bytes of messages in flight."""
    captured = reach.captures()
    strides = source.stride(), target.stride()
    alignments = aligned(source), aligned(target)
    key = plan, rank, order, *strides, source.itemsize, *alignments, workspace, captured, reach.turn
    rounds = reach.lists.get(key)
    if rounds is None:
        made = _list_rounds(reach, source, target, plan, rank, order, workspace, captured)
        rounds = reach.keep(key, made)
    if rounds.launches is None:
        run(rounds.kept, bits(source), bits(target))
        return
    reach.run(rounds.launches, source, target, captured)
    reach.turn = (reach.turn + rounds.number) % 2


def _list_rounds(reach: Reach, source: torch.Tensor, target: torch.Tensor, plan: Redistribution, rank: int,
                 order: tuple[int, ...], workspace: int, captured: bool) -> _Rounds:  # fmt: skip
    """A graph that is captured runs at any time, and again and again, with the same halves: all meet before it and
    behind it."""
    width = source.itemsize
    most = min(max(workspace // 2 // width, 1), _round_of(plan, width))
    steps = schedule(plan, rank, order, source.stride(), target.stride(), most)
    if not steps.rounds:
        return _Rounds(None, steps.kept, 0)
    reach.grow(steps.largest * width)
    stages: list[Stage] = []
    came = _slotted(_INPUT, _OUTPUT, steps.kept)
    goes = pushes(plan, rank, order, source.stride(), len(steps.rounds))
    turn = reach.turn
    for one, pushed_now in zip(steps.rounds, goes):
        half = turn * (reach.bytes // width)
        sends = [
            (_INPUT, _WINDOWS + push.to, copy._replace(to_offset=copy.to_offset + half))
            for push in pushed_now
            for copy in push.copies
        ]
        stages.append((sends, came, captured and not stages, True))
        came = [
            (_WINDOWS + reach.rank, _OUTPUT, copy._replace(from_offset=copy.from_offset + half))
            for copy in one.unpacks
        ]
        turn = 1 - turn
    stages.append(([], came, False, captured))
    alignments = aligned(source), aligned(target)
    return _Rounds(_launches(reach, width, reach.windows, alignments, stages), (), len(steps.rounds))

