"""Where panels of a product come: memory of each card into which all cards write by the copy engine.

A product on tensor cores holds all processors of a card from beginning to end. A kernel that moves a panel waits until it
has ended, and delays a part of the next product, for which all of it waits. The engine needs no processors, and what it
writes lies as it is multiplied: nothing is unpacked.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from axisloom.distributed import Redistribution

from ._symmetric import Reach, Shared, brought


class Rooms:
    """Those of one call.

    Cards meet before the first panel, and then once for each: when it has come to all of them, and the product of the
    panel before it has ended, whose room the panel behind it takes.
    """

    def __init__(self, reach: Reach, side: torch.cuda.Stream, rank: int, order: tuple[int, ...]) -> None:
        self.reach, self.side, self.rank, self.order = reach, side, rank, order
        self.count = 0
        self.met: torch.cuda.Event | None = None
        self.under_way = False
        self.idle = True  # nothing is multiplied yet

    def room(self, plan: Redistribution, width: int, most: int) -> Shared | None:
        """Another one. None where it would have more than `most` bytes: rooms are kept for the calls to come."""
        size = width * max(math.prod(plan.local_out_shape(rank)) for rank in range(plan.mesh.ranks))
        if size > most:
            return None
        self.count += 1
        return self.reach.room(self.count - 1, max(size, 1))

    def start(self, plan: Redistribution, x: torch.Tensor, room: Shared) -> Callable[[], torch.Tensor]:
        if self.met is None:
            self.meet()  # all have multiplied what the last call brought
        brought(self.reach, x, room, plan, self.rank, self.order, self.side, self.idle)
        self.under_way = True
        kept = [x]  # until it was read

        def finish() -> torch.Tensor:
            if self.under_way:
                self.meet()
            self.idle = False
            assert self.met is not None
            torch.cuda.current_stream(self.reach.device).wait_event(self.met)
            kept.clear()
            shape = plan.local_out_shape(self.rank)
            return room.memory[: math.prod(shape) * x.itemsize].view(x.dtype).view(shape)

        return finish

    def meet(self) -> None:
        self.side.wait_stream(torch.cuda.current_stream(self.reach.device))
        self.reach.meet(self.side)
        self.met = self.side.record_event()
        self.under_way = False

    def close(self) -> None:
        """The next call's panels wait for this one's products, on whatever stream that is. What a graph captures is in
        order with it."""
        if self.met is not None and not self.reach.captures():
            self.side.wait_stream(torch.cuda.current_stream(self.reach.device))
