"""Messages between the ranks of a process group, cut into rounds where they are long: who packs and unpacks what when."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
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


@functools.lru_cache(maxsize=256)
def schedule(
    plan: Redistribution,
    rank: int,
    order: tuple[int, ...],
    in_strides: tuple[int, ...],
    out_strides: tuple[int, ...],
    most_elements: int,
) -> Schedule:
    """order: by rank of the mesh, the rank of the group. most_elements: of a buffer; there are two in flight each way."""
    kept = plan.kept(rank, in_strides, out_strides)
    sent, received, *messages = plan.largest_load(1)
    if not any(messages):  # on all ranks
        return Schedule(kept, ())
    longest = max(sent, received)
    # All ranks count the same rounds. One buffer does where one round is enough.
    count = 1 if longest <= 2 * most_elements else -(-longest // max(most_elements, 1))
    packs, unpacks = plan.packs(rank, in_strides), plan.unpacks(rank, out_strides)
    rounds = []
    for place in range(count):
        packed, sizes = _part(packs, order, place, count, packing=True)
        unpacked, lengths = _part(unpacks, order, place, count, packing=False)
        rounds.append(Round(packed, sizes, unpacked, lengths))
    return Schedule(kept, tuple(rounds))


def _part(
    messages: Sequence[Message], order: tuple[int, ...], place: int, count: int, packing: bool
) -> tuple[tuple[Copy, ...], tuple[int, ...]]:
    """The same share of each message, one after the other in the order of the group's ranks, and how long each is."""
    sizes, windows = [0] * len(order), {}
    begin = 0
    for message in messages:
        first, last = (begin + message.elements * at // count for at in (place, place + 1))
        sizes[order[message.rank]] = last - first
        windows[order[message.rank]] = (message, (first, last))
        begin += message.elements
    copies: list[Copy] = []
    at = 0
    for other in sorted(windows):
        message, window = windows[other]
        for copy in message.copies:
            copies.extend(_moved(part, at - window[0], packing) for part in _within(copy, window, packing))
        at += sizes[other]
    return tuple(copies), tuple(sizes)


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


def run(copies: Iterable[Copy], source: torch.Tensor, target: torch.Tensor) -> None:
    """Offsets count from the first element of both."""
    at, to = source.storage_offset(), target.storage_offset()
    for shape, from_offset, from_strides, to_offset, to_strides in copies:
        read = source.as_strided(shape, from_strides, at + from_offset)
        written = target.as_strided(shape, to_strides, to + to_offset)
        _native.call("copy", (), (read,), None, None, written)


_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """As whole numbers of the same width, which every dtype can be moved as."""
    dtype: Any = _BITS.get(tensor.dtype.itemsize)
    return tensor if dtype is None else tensor.view(dtype)
