"""Messages between the ranks of a process group, in rounds where they are long: who packs and unpacks what when."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

from axisloom import _native
from axisloom.distributed import Copy, Message, Redistribution

Window = tuple[int, int]  # elements of a buffer: first, and one past the last


class Round(NamedTuple):
    """What goes around at once: copies into a buffer, its parts by rank of the group, and the same of what comes."""

    packs: tuple[Copy, ...]
    sent: tuple[int, ...]
    unpacks: tuple[Copy, ...]
    received: tuple[int, ...]


class Schedule(NamedTuple):
    """All that a rank does in a redistribution without sums."""

    kept: tuple[Copy, ...]
    rounds: tuple[Round, ...]
    largest: int  # elements of the largest buffer that a round needs on any rank


@functools.lru_cache(maxsize=256)
def schedule(
    plan: Redistribution,
    rank: int,
    order: tuple[int, ...],
    in_strides: tuple[int, ...],
    out_strides: tuple[int, ...],
    most_elements: int,
) -> Schedule:
    """order: by rank of the mesh, the rank of the group. most_elements: of a buffer, of which two are in flight."""
    kept = plan.kept(rank, in_strides, out_strides)
    sent, received, *messages = plan.largest_load(1)
    if not any(messages):  # on all ranks
        return Schedule(kept, (), 0)
    longest = max(sent, received)
    # All ranks count the same rounds. One buffer does where one round is enough.
    count = 1 if longest <= 2 * most_elements else -(-longest // max(most_elements, 1))
    packs, unpacks = plan.packs(rank, in_strides), plan.unpacks(rank, out_strides)
    rounds = []
    for place in range(count):
        packed, sizes = _part(packs, order, place, count, packing=True)
        unpacked, lengths = _part(unpacks, order, place, count, packing=False)
        rounds.append(Round(packed, sizes, unpacked, lengths))
    return Schedule(kept, tuple(rounds), -(-longest // count) + plan.mesh.ranks)


def _part(
    messages: Sequence[Message], order: tuple[int, ...], place: int, count: int, packing: bool
) -> tuple[tuple[Copy, ...], tuple[int, ...]]:
    """The same share of each message, one after the other in the order of the group's ranks, and how long each is."""
    sizes = [0] * len(order)
    begins = {}
    begin = 0
    for message in messages:
        begins[order[message.rank]] = begin, message
        sizes[order[message.rank]] = share(message, place, count)
        begin += message.elements
    copies: list[Copy] = []
    at = 0
    for other in sorted(begins):
        begin, message = begins[other]
        copies.extend(within_share(message, begin, place, count, at, packing))
        at += sizes[other]
    return tuple(_joined(copies)), tuple(sizes)


def share(message: Message, place: int, count: int) -> int:
    return message.elements * (place + 1) // count - message.elements * place // count


def within_share(message: Message, begin: int, place: int, count: int, at: int, packing: bool) -> Iterator[Copy]:
    """The copies of a message that begins at `begin` of its buffer, as far as they are of one of `count` shares, which
    begins at `at` of another buffer."""
    first, last = (begin + message.elements * end // count for end in (place, place + 1))
    for copy in message.copies:
        for part in _within(copy, (first, last), packing):
            yield _moved(part, at - first, packing)


def _joined(copies: list[Copy]) -> Iterator[Copy]:
    """Copies alike that lie at equal distances on both sides, as those of equal parts do, as one with one more axis."""
    waiting: list[Copy] = []
    for copy in copies:
        if waiting and not _continues(waiting, copy):
            yield _one(waiting)
            waiting = []
        waiting.append(copy)
    if waiting:
        yield _one(waiting)


def _continues(row: list[Copy], copy: Copy) -> bool:
    like, last = row[0], row[-1]
    if copy.shape != like.shape or copy.from_strides != like.from_strides or copy.to_strides != like.to_strides:
        return False
    steps = _steps(last, copy)
    return min(steps) >= 0 and len(copy.shape) < _MOST_AXES and (len(row) == 1 or steps == _steps(row[0], row[1]))


_MOST_AXES = 16  # of an array


def _steps(one: Copy, other: Copy) -> tuple[int, int]:
    return other.from_offset - one.from_offset, other.to_offset - one.to_offset


def _one(row: list[Copy]) -> Copy:
    first = row[0]
    if len(row) == 1:
        return first
    from_step, to_step = _steps(row[0], row[1])
    return Copy(
        (len(row), *first.shape),
        first.from_offset,
        (from_step, *first.from_strides),
        first.to_offset,
        (to_step, *first.to_strides),
    )


def _moved(copy: Copy, by: int, packing: bool) -> Copy:
    """With its side in the buffer elsewhere."""
    return copy._replace(to_offset=copy.to_offset + by) if packing else copy._replace(from_offset=copy.from_offset + by)


def _within(copy: Copy, window: Window, packing: bool) -> Iterator[Copy]:
    """Those of its elements whose place in the buffer is in the window: the whole, or a head, full rows and a tail."""
    offset, strides = (copy.to_offset, copy.to_strides) if packing else (copy.from_offset, copy.from_strides)
    last = offset + sum((extent - 1) * stride for extent, stride in zip(copy.shape, strides)) + 1
    if window[0] <= offset and last <= window[1]:
        yield copy
        return
    if last <= window[0] or window[1] <= offset:
        return
    axis = max(range(len(strides)), key=lambda axis: (copy.shape[axis] > 1) * strides[axis])
    extent, stride = copy.shape[axis], strides[axis]
    span = last - offset - (extent - 1) * stride  # of a row
    # Rows that lie in the window as a whole, and those that reach into it.
    first = min(max(-(-(window[0] - offset) // stride), 0), extent)
    end = max(min((window[1] - offset - span) // stride + 1, extent), first)
    for row in range(max(first - 1, 0), first):
        yield from _within(_rows(copy, axis, row, row + 1), window, packing)
    if first < end:
        yield _rows(copy, axis, first, end)
    for row in range(end, min(end + 1, extent)):
        yield from _within(_rows(copy, axis, row, row + 1), window, packing)


def _rows(copy: Copy, axis: int, first: int, end: int) -> Copy:
    shape = (*copy.shape[:axis], end - first, *copy.shape[axis + 1 :])
    return Copy(
        shape,
        copy.from_offset + first * copy.from_strides[axis],
        copy.from_strides,
        copy.to_offset + first * copy.to_strides[axis],
        copy.to_strides,
    )


def run(copies: Sequence[Copy], source: torch.Tensor, target: torch.Tensor) -> None:
    """Offsets count from the first element of both."""
    if source.is_cuda:
        index = source.device.index
        launches = _launches(tuple(copies), source.itemsize, (aligned(source), aligned(target)), index)
        stream = torch._C._cuda_getCurrentRawStream(index)
        launches.run(index, stream, source.data_ptr(), target.data_ptr(), apart=False)
        return
    at, to = source.storage_offset(), target.storage_offset()
    for shape, from_offset, from_strides, to_offset, to_strides in copies:
        read = source.as_strided(shape, from_strides, at + from_offset)
        written = target.as_strided(shape, to_strides, to + to_offset)
        _native.call("copy", (), (read,), None, None, written)


@functools.lru_cache(maxsize=256)
def _launches(copies: tuple[Copy, ...], width: int, alignments: tuple[int, int], index: int) -> Any:
    """Of copies on one card, so that all of them are one call, and a few small ones one kernel."""
    stage = [], [(0, 1, copy) for copy in copies], False, False
    return _native.CardLaunches(_alone(index), width, (), alignments, [stage])


@functools.lru_cache(maxsize=None)
def _alone(index: int) -> Any:
    return _native.CardGroup(index, 0, (0,), 0.0, _native.SINGLE_LAUNCH)


def aligned(tensor: torch.Tensor) -> int:
    """Bytes, as far as kernels ask."""
    address = tensor.data_ptr()
    return min(address & -address, 256) or 256


_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """As whole numbers of the same width, which every dtype can be moved as."""
    dtype: Any = _BITS.get(tensor.dtype.itemsize)
    return tensor if dtype is None else tensor.view(dtype)
