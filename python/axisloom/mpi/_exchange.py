"""One exchange of messages: packed, sent and unpacked in rounds, or added up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..distributed import Copy, Message, Redistribution
from ._memory import bits_of, run, sides, steps_of
from ._pieces import FROM, elements
from ._rounds import Buffer
from ._transports import Transport

Array = np.ndarray[Any, Any]
Received = Iterable[tuple[Message, Array, int]]


def started(
    transport: Transport, redistribution: Redistribution, rank: int, rounds: int, x: Array, out: Array
) -> Callable[[], None]:
    """From this rank's local array x to its local result, as soon as what is returned was called. All ranks call both
    together."""
    bits, steps = bits_of(x.dtype), steps_of(x)
    sent = Buffer(redistribution.packs(rank, steps), rounds)

    def send(number: int) -> None:
        for copy in sent.packed(number):
            run(copy, x.view(bits), transport.sending(number))
        transport.start(number)

    result = (_Sum if redistribution.addends > 1 else _Moved)(redistribution, rank, rounds, x, out)
    send(0)
    result.begin()  # while messages travel

    def finish() -> None:
        for number in range(rounds):
            if number + 1 < rounds:
                send(number + 1)
            transport.finish(number)
            result.take(number, transport.received(number))

    return finish


class _Moved:
    """A local result to which each element comes once."""

    def __init__(self, redistribution: Redistribution, rank: int, rounds: int, x: Array, out: Array) -> None:
        bits = bits_of(x.dtype)
        self._x, self._out = x.view(bits), out.view(bits)
        self._kept = redistribution.kept(rank, steps_of(x), steps_of(out))
        self._buffer = Buffer(redistribution.unpacks(rank, steps_of(out)), rounds)

    def begin(self) -> None:
        for copy in self._kept:
            run(copy, self._x, self._out)

    def take(self, number: int, received: Received) -> None:
        for message, (_, buffer, place) in zip(self._buffer.messages, received):
            for copy in self._buffer.copies(message, number, place, FROM):
                run(copy, buffer, self._out)


class _Sum:
    """A local result whose elements are sums. Addends are added in the order of the ranks along the mesh axes over
    which they are summed, so that each run gives the same bits. The messages of these ranks have the same elements in
    the same order, so that all addends of an element come in one round."""

    def __init__(self, redistribution: Redistribution, rank: int, rounds: int, x: Array, out: Array) -> None:
        self._rank, self._x, self._out = rank, x, out
        own = _own(rank, redistribution.kept(rank, steps_of(x), steps_of(out)))
        messages = [*own, *redistribution.unpacks(rank, steps_of(out))]
        place = {message.rank: _place(redistribution, message.rank) for message in messages}
        self._first = {rank for rank, at in place.items() if not any(at)}
        self._buffer = Buffer(sorted(messages, key=lambda message: place[message.rank]), rounds)

    def begin(self) -> None:
        """What is kept waits for its turn."""

    def take(self, number: int, received: Received) -> None:
        lies: dict[int, tuple[Array, int | None]] = {self._rank: (self._x, None)}
        lies |= {message.rank: (buffer.view(self._x.dtype), place) for message, buffer, place in received}
        for message in self._buffer.messages:
            source, place = lies[message.rank]
            for copy in self._buffer.copies(message, number, place, FROM):
                self._add(*sides(copy, source, self._out), message.rank in self._first)

    @staticmethod
    def _add(addend: Array, total: Array, is_first: bool) -> None:
        if is_first:
            np.copyto(total, addend)
        else:
            np.add(total, addend, out=total)


def _own(rank: int, kept: Iterable[Copy]) -> list[Message]:
    """What a rank keeps, as a message to itself."""
    copies = tuple(kept)
    return [Message(rank, sum(map(elements, copies)), copies)] if copies else []


def _place(redistribution: Redistribution, rank: int) -> tuple[int, ...]:
    at = redistribution.mesh.coordinates(rank)
    return tuple(at[name] for name in redistribution.summed)


def can_add(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy adds numbers of this dtype, and keeps it."""
    if dtype.kind not in "iufcV":
        return False
    try:
        return bool(np.add.resolve_dtypes((dtype, dtype, None))[2] == dtype.newbyteorder("="))
    except TypeError:
        return False
