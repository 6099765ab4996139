"""Panels of products that come into rooms: ranks are threads with streams of their own, which lag behind their hosts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from cards import Card, Memory, Stream

import product_cases
from axisloom import _product_panels, _product_runs
from axisloom._products import Move, Product
from axisloom.torch._rooms import Rooms

OWN = threading.local()  # main: the stream of the rank whose thread it is


class Engine:
    """As axisloom.torch's on cards that reach each other. A product reads its operands when the stream comes to it."""

    takes_panels = True

    def __init__(self, rank: int, order: tuple[int, ...], card: Card, side: Stream) -> None:
        self.rooms: Any = Rooms(card, side, rank, order)  # type: ignore[arg-type]

    def room(self, move: Move, dtype: str) -> Any:
        return self.rooms.room(move.plan, 8, 1 << 30)

    def start(self, move: Move, x: torch.Tensor, out: Any = None) -> Callable[[], torch.Tensor]:
        return self.rooms.start(move.plan, x, out)

    def multiply(self, pattern: str, arrays: Any, dtype: str, out: Any = None) -> torch.Tensor:
        *operands, output = pattern.replace(",", " , ").replace("->", " , ").split(" , ")
        names = {name: chr(97 + place) for place, name in enumerate(dict.fromkeys(" ".join([*operands, output]).split()))}
        spelled = ["".join(names[name] for name in side.split()) for side in (*operands, output)]
        text = f"{','.join(spelled[:-1])}->{spelled[-1]}"
        OWN.main.give(lambda: out.copy_(torch.einsum(text, *arrays)))
        return out

    def empty(self, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        return torch.full(shape, torch.nan, dtype=torch.float64)

    def converted(self, x: torch.Tensor, dtype: str) -> torch.Tensor:
        return x


def results(
    product: Product, locals_: list[list[torch.Tensor]], copies_lag: bool, monkeypatch: pytest.MonkeyPatch
) -> list[torch.Tensor]:
    """All ranks' results of a call behind which another one follows, of zeros. On the first rank products lag, or copies do."""
    ranks = product.mesh.ranks
    memory, order = Memory(ranks), tuple(reversed(range(ranks)))
    memory.patch(monkeypatch)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: OWN.main)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: OWN.main.finish())
    cards = [Card(rank, memory) for rank in range(ranks)]

    def run(rank: int) -> torch.Tensor:
        card = memory.own.rank = order[rank]
        lags = 0.003 if rank == 0 else 0.0
        OWN.main, side = Stream(0.0 if copies_lag else lags), Stream(lags if copies_lag else 0.0)
        found = []
        for arrays in (locals_[rank], [torch.zeros_like(x) for x in locals_[rank]]):
            engine = Engine(rank, order, cards[card], side)
            found.append(_product_runs.run(product, rank, arrays, engine))
            engine.rooms.close()
        OWN.main.finish()
        side.finish()
        return found[0]

    with ThreadPoolExecutor(ranks) as threads:
        return list(threads.map(run, range(ranks)))


def is_of_rooms(product: Product) -> bool:
    """Whether operands travel in panels, and nothing is summed on its way."""
    moves = [move for move in product.way.moves if move is not None]
    return bool(moves) and product.way.sums is None and product.panels is not None and not any(
        move.plan.summed for move in moves
    )  # fmt: skip


@pytest.mark.parametrize("block", range(4))
def test_panels_come_into_rooms(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_product_panels, "LEAST_PANEL", 1)
    tried = 0
    for seed in range(6000 + block * 400, 6400 + block * 400):
        case = product_cases.draw(seed, ("x=2", "x=3", "x=2 y=2"))
        product = Product(case.pattern, case.mesh, case.shapes, "float64", workspace=(1 << 20, 64)[seed % 3 == 0])
        if not is_of_rooms(product):
            continue
        operands = range(len(case.shapes))
        locals_ = [[torch.from_numpy(case.local(o, rank).copy()) for o in operands] for rank in range(case.ranks)]
        found, want = results(product, locals_, bool(block % 2), monkeypatch), case.result()
        for rank in range(case.ranks):
            got = sum(found[one] for one in case.together(rank))
            assert torch.equal(got, torch.from_numpy(case.part(want, rank))), f"{case}, rank {rank}: {product}"
        tried += 1
    assert tried > 5
