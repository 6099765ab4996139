"""Threads that stand for cards: their symmetric memory, their streams, and what _native.CardLaunches does."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy
import pytest
import torch

from axisloom.torch import _symmetric

sys.path.append(str(Path(__file__).parent.parent))  # where product_cases.py is


class Memory:
    """What torch's symmetric memory does, in the memory of one process: ranks are threads."""

    def __init__(self, ranks: int) -> None:
        self.ready, self.meeting = (threading.Barrier(ranks, timeout=20) for _ in range(2))
        self.tensors: list[Any] = [None] * ranks
        self.own = threading.local()  # rank

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        symmetric = SimpleNamespace(rendezvous=lambda tensor, group: self.handle(tensor, self.own.rank))
        monkeypatch.setattr(_symmetric, "_symmetric", lambda: symmetric)
        monkeypatch.setattr(_symmetric, "_native", SimpleNamespace(CardLaunches=Launches))

    def handle(self, tensor: torch.Tensor, rank: int) -> Handle:
        self.tensors[rank] = tensor
        self.ready.wait()
        found = Handle(list(self.tensors))
        self.ready.wait()
        return found


class Handle(NamedTuple):
    tensors: list[torch.Tensor]

    def get_buffer(self, rank: int, sizes: tuple[int, ...], dtype: torch.dtype, offset: int) -> torch.Tensor:
        flat = self.tensors[rank].view(-1).view(dtype)
        return flat[offset : offset + torch.Size(sizes).numel()].view(sizes)


class Card(_symmetric.Reach):
    def __init__(self, rank: int, memory: Memory) -> None:
        self.rank, self.ranks, self.memory = rank, len(memory.tensors), memory
        self.bytes, self.turn = 0, 0
        self.lists: dict[Any, Any] = {}
        self.rooms: list[_symmetric.Shared] = []
        self.group, self.device, self.cards = "cards", torch.device("cpu", 0), memory.meeting
        self.meeting = Launches(memory.meeting, 1, (), (1, 1), [([], [], True, False)])

    def grow(self, size: int) -> None:
        if size > self.bytes:
            self.bytes = -(-size // 16) * 16
            self.lists.clear()
            self.buffer, self.windows = self._shared(2 * self.bytes)

    def _shared(self, size: int) -> _symmetric.Shared:
        made = torch.zeros(size, dtype=torch.uint8)
        return _symmetric.Shared(made, self.windows_of(made))

    def captures(self) -> bool:
        return False

    def run(self, launches: Any, source: torch.Tensor, target: torch.Tensor, captured: bool) -> None:
        assert not captured
        launches.do(source.data_ptr(), target.data_ptr())


class Launches:
    """What _native.CardLaunches does, in host memory."""

    def __init__(self, barrier: Any, width: int, fixed: Sequence[int], aligned: Sequence[int], stages: Any) -> None:
        self.barrier, self.width, self.fixed, self.stages = barrier, width, list(fixed), stages
        assert all(alignment & (alignment - 1) == 0 for alignment in aligned)

    def run(self, device: int, stream: Stream, source: int, target: int, apart: bool) -> None:
        stream.give(lambda: self.do(source, target))

    def do(self, source: int, target: int) -> None:
        slots = [source, target, *self.fixed]
        for sends, kept, before, after in self.stages:
            if before:
                self.barrier.wait()
            for from_slot, to_slot, copy in (*sends, *kept):
                shape, from_offset, from_strides, to_offset, to_strides = copy
                read = self.elements(slots[from_slot], shape, from_offset, from_strides)
                self.elements(slots[to_slot], shape, to_offset, to_strides)[...] = read
            if after:
                self.barrier.wait()

    def elements(self, begin: int, shape: Sequence[int], offset: int, strides: Sequence[int]) -> Any:
        width = self.width
        reach = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))
        memory = (ctypes.c_char * (reach * width)).from_address(begin + offset * width)
        return numpy.ndarray(shape, f"u{width}", memory, strides=[stride * width for stride in strides])


class Stream:
    """Does what it is given in that order, each a moment later. `moment`: seconds."""

    def __init__(self, moment: float) -> None:
        self.thread, self.moment = ThreadPoolExecutor(1), moment
        self.given: list[Future[Any]] = []

    @property
    def cuda_stream(self) -> Stream:
        return self

    def give(self, work: Callable[[], Any]) -> None:
        def later() -> None:
            time.sleep(self.moment)
            work()

        self.given.append(self.thread.submit(later))

    def record_event(self) -> threading.Event:
        event = threading.Event()
        self.given.append(self.thread.submit(event.set))
        return event

    def wait_event(self, event: threading.Event) -> None:
        self.given.append(self.thread.submit(event.wait, 20))

    def wait_stream(self, other: Stream) -> None:
        self.wait_event(other.record_event())

    def finish(self) -> None:
        """Raises what went wrong."""
        while self.given:
            self.given.pop(0).result()
