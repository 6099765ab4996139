"""Sums by MPI's own allreduce or reduce_scatter, where a plan amounts to one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from ..distributed import Copy, Message, Redistribution
from ._memory import run, steps_of
from ._pieces import FROM, TO, elements, is_new
from ._ranks import Ranks
from ._rounds import MOST_BYTES, Buffer, needed_rounds

Array = np.ndarray[Any, Any]

_DATATYPES = {
    "i1": MPI.INT8_T, "i2": MPI.INT16_T, "i4": MPI.INT32_T, "i8": MPI.INT64_T,
    "u1": MPI.UINT8_T, "u2": MPI.UINT16_T, "u4": MPI.UINT32_T, "u8": MPI.UINT64_T,
    "f4": MPI.FLOAT, "f8": MPI.DOUBLE, "c8": MPI.C_FLOAT_COMPLEX, "c16": MPI.C_DOUBLE_COMPLEX,
}  # fmt: skip


def _own(rank: int, kept: Sequence[Copy], side: str) -> Message:
    """What a rank keeps, as a message to itself (TO) or from itself (FROM) that lies in a buffer."""
    copies, at = [], 0
    for copy in kept:
        axes = [axis for axis in range(len(copy.shape)) if side == FROM or not is_new(copy, axis)]
        shape = tuple(copy.shape[axis] for axis in axes)
        steps, step = [0] * len(axes), 1
        for place in reversed(range(len(axes))):
            if not is_new(copy, axes[place]):
                steps[place], step = step, step * shape[place]
        array_steps = tuple((copy.from_strides if side == TO else copy.to_strides)[axis] for axis in axes)
        if side == TO:
            copies.append(Copy(shape, copy.from_offset, array_steps, at, tuple(steps)))
        else:
            copies.append(Copy(shape, at, tuple(steps), copy.to_offset, array_steps))
        at += elements(copy)
    return Message(rank, at, tuple(copies))


class Reduction:
    """The ranks that hold addends of the same elements, and what each of them gets of the sums.

    It `fits` where each of them gets sums of its group's addends alone, and MPI adds the dtype up; on all ranks alike.
    """

    def __init__(self, ranks: Ranks, redistribution: Redistribution, dtype: np.dtype[Any], workspace: int) -> None:
        self._redistribution, self._rank, self._dtype = redistribution, ranks.rank, dtype
        self._datatype = _DATATYPES.get(dtype.str[1:]) if dtype.isnative else None
        mesh, summed = redistribution.mesh, redistribution.summed
        at = mesh.coordinates(ranks.rank)
        self._members = [
            rank for rank in range(ranks.size)
            if all(place == at[name] for name, place in mesh.coordinates(rank).items() if name not in summed)
        ]  # fmt: skip
        sent = self._sent(None)
        received = [*redistribution.unpacks(ranks.rank), *self._received(None)]
        whole = math.prod(redistribution.local_in_shape(ranks.rank))
        # Everybody gets all sums, in the order of the output's axes.
        self.is_whole = len(sent) == len(self._members) and all(message.elements == whole for message in sent)
        fits = self._datatype is not None and {message.rank for message in sent} <= set(self._members)
        if received:
            fits &= [message.rank for message in sorted(received)] == self._members
            fits &= len({message.elements for message in received}) == 1
        told = np.array([not fits, not self.is_whole], np.int64)
        ranks.comm.Allreduce(MPI.IN_PLACE, told, MPI.MAX)
        self.fits, self.is_whole = not told[0], not told[1]
        if self.fits:
            self._comm = ranks.group((str(mesh), summed), self._members)
            self._plan_rounds(ranks, [sent[:1] if self.is_whole else sent, received[:1]], workspace)

    def _plan_rounds(self, ranks: Ranks, lists: list[list[Message]], workspace: int) -> None:
        most = min(workspace, MOST_BYTES) // self._dtype.itemsize
        lengths = [[message.elements for message in messages] for messages in lists]
        needed = np.array([max(needed_rounds(each, most, 1) for each in lengths)], np.int64)
        ranks.comm.Allreduce(MPI.IN_PLACE, needed, MPI.MAX)
        self.rounds = int(needed[0])
        #: Elements in a buffer, of what is sent and of sums.
        self.lengths = [sum(-(-length // self.rounds) for length in each) for each in lengths]

    def _sent(self, steps: tuple[int, ...] | None) -> list[Message]:
        """To members, in their order; the rank itself among them."""
        kept = self._redistribution.kept(self._rank, steps)
        own = [_own(self._rank, kept, TO)] if kept else []
        return sorted([*self._redistribution.packs(self._rank, steps), *own])

    def _received(self, steps: tuple[int, ...] | None) -> list[Message]:
        """The sums."""
        kept = self._redistribution.kept(self._rank, None, steps)
        return [_own(self._rank, kept, FROM)] if kept else []

    def run(self, x: Array, out: Array) -> None:
        """All ranks call it together."""
        messages = self._sent(steps_of(x))
        sent = Buffer(messages[:1] if self.is_whole else messages, self.rounds)
        received = Buffer(self._received(steps_of(out)), self.rounds)
        packed = np.empty(sent.length, self._dtype)
        total = np.empty(received.length, self._dtype)
        for number in range(self.rounds):
            counts = dict.fromkeys(self._members, 0)
            place = 0
            for message in sent.messages:
                for copy in sent.copies(message, number, place, TO):
                    run(copy, x, packed)
                first, last = sent.span(message, number)
                counts[message.rank] = last - first
                place += last - first
            self._reduce(packed[:place], total, list(counts.values()))
            for message in received.messages:
                for copy in received.copies(message, number, 0, FROM):
                    run(copy, total, out)

    def _reduce(self, packed: Array, total: Array, counts: list[int]) -> None:
        if self.is_whole:
            self._comm.Allreduce([packed, self._datatype], [total[: len(packed)], self._datatype])
        else:
            own = counts[self._comm.Get_rank()]
            self._comm.Reduce_scatter([packed, self._datatype], [total[:own], self._datatype], counts)
