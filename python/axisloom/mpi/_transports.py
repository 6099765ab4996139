"""How the messages of a round travel: by MPI, or through memory that the ranks of a host share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from ..distributed import Message
from ._memory import array_at
from ._ranks import Ranks
from ._rounds import Buffer
from ._shared import Segment

Array = np.ndarray[Any, Any]


class Transport(Protocol):
    """A round is packed into sending(round), started, finished, and unpacked from received(round)."""

    def sending(self, number: int) -> Array: ...

    def start(self, number: int) -> None: ...

    def finish(self, number: int) -> None: ...

    def received(self, number: int) -> Iterator[tuple[Message, Array, int]]:
        """The messages from other ranks, each with the buffer that it lies in, and its place there."""


class Messages:
    """By MPI's alltoallv. A round is packed while the one before travels, so that two buffers take turns."""

    parts = 2

    def __init__(self, ranks: Ranks, sent: Buffer, received: Buffer, bits: np.dtype[Any]) -> None:
        self._ranks, self._sent, self._received = ranks, sent, received
        parts = min(self.parts, sent.rounds)
        self._out, self._in = ranks.together(
            lambda: [[np.empty(buffer.length, bits) for _ in range(parts)] for buffer in (sent, received)]
        )
        self._requests: dict[int, MPI.Request] = {}

    def sending(self, number: int) -> Array:
        return self._out[number % len(self._out)]

    def start(self, number: int) -> None:
        into = self._in[number % len(self._in)]
        self._requests[number] = self._ranks.comm.Ialltoallv(
            self._told(self.sending(number), self._sent, number), self._told(into, self._received, number)
        )

    def finish(self, number: int) -> None:
        self._requests.pop(number).Wait()

    def received(self, number: int) -> Iterator[tuple[Message, Array, int]]:
        buffer = self._in[number % len(self._in)]
        for message, place in zip(self._received.messages, self._received.places):
            yield message, buffer, place

    def _told(self, array: Array, buffer: Buffer, number: int) -> list[Any]:
        """In bytes, for MPI has no name for some dtypes."""
        counts, places = (
            np.array(elements, np.int64) * array.itemsize for elements in buffer.counts(number, self._ranks.size)
        )
        return [array, (counts, places), MPI.BYTE]


class Window:
    """Through shared memory: each rank packs into its own, and the others unpack from there.

    A rank passes the barrier of round n when all have packed it, and so have unpacked round n - 2. With three buffers
    that take turns nobody packs round n + 1 over what another still unpacks.
    """

    parts = 3

    def __init__(self, ranks: Ranks, sent: Buffer, received: Buffer, bits: np.dtype[Any]) -> None:
        self._ranks, self._received = ranks, received
        self._parts = min(self.parts, sent.rounds)
        length = max(sent.length, 1)
        segment = Segment(ranks, self._parts * length * bits.itemsize)
        self._buffers = [
            [array_at(segment, address + part * whole // self._parts, bits, (whole // self._parts // bits.itemsize,))
             for part in range(self._parts)]
            for address, whole in zip(segment.addresses, segment.lengths)
        ]  # fmt: skip
        _, places = sent.counts(0, ranks.size)
        self._places = ranks.comm.alltoall(places)

    def sending(self, number: int) -> Array:
        return self._buffers[self._ranks.rank][number % self._parts]

    def start(self, number: int) -> None:
        pass  # others read it after the barrier

    def finish(self, number: int) -> None:
        self._ranks.comm.Barrier()

    def received(self, number: int) -> Iterator[tuple[Message, Array, int]]:
        for message in self._received.messages:
            yield message, self._buffers[message.rank][number % self._parts], self._places[message.rank]
