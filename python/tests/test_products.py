"""Products of distributed arrays: how they are planned, and what ranks get that are threads of this process."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import parts
import product_cases
import pytest

import axisloom
from axisloom import _product_runs, _products
from axisloom.distributed import Mesh, Product

MESHES = ("x=1", "x=2", "x=3", "x=4", "x=2 y=2", "x=3 y=2", "x=1 y=3", "x=2 y=1 z=2")


class Threads:
    """An engine whose ranks tell each other all they have. What goes where is told by plain indices."""

    takes_panels = True

    def __init__(self, mesh: str, rank: int, board: dict[Any, Any], barrier: threading.Barrier) -> None:
        self.mesh, self.rank, self.board, self.barrier = Mesh(mesh), rank, board, barrier
        self.started, self.moved = 0, 0

    def start(self, move: Any, x: np.ndarray, out: np.ndarray | None = None) -> Any:
        self.started += 1
        number, names = self.started, [f"p{place}" for place in range(len(move.shape))]
        self.board[number, self.rank] = x
        self.barrier.wait()
        source, target = move.source.side(names), move.target.side(names)
        extents = dict(zip(names, move.shape))
        assert x.shape == tuple(map(len, parts.part(source, extents, self.mesh, self.rank)))
        result = self._whole(number, source, target, extents, move.shape)
        found = result[np.ix_(*parts.part(target, extents, self.mesh, self.rank))] if move.shape else result
        self.moved += found.nbytes
        if out is None:
            return lambda: found

        def finish() -> np.ndarray:
            out[...] = found
            return out

        return finish

    def _whole(self, number: int, source: Any, target: Any, extents: Any, shape: Sequence[int]) -> np.ndarray:
        """The sum of the addends that this rank gets."""
        own = self.mesh.coordinates(self.rank)
        found: dict[tuple[int, ...], np.ndarray] = {}
        for rank in range(self.mesh.ranks):
            at = self.mesh.coordinates(rank)
            if any(at[name] != own[name] for name in target.addends):
                continue
            x = self.board[number, rank]
            whole = found.setdefault(tuple(at[name] for name in source.addends), np.full(shape, np.nan))
            if shape:
                whole[np.ix_(*parts.part(source, extents, self.mesh, rank))] = x
            else:
                whole[...] = x
        return sum(found.values()).astype(self.board[number, self.rank].dtype)

    def multiply(self, pattern: str, arrays: Sequence[np.ndarray], dtype: str, out: np.ndarray | None = None) -> Any:
        return axisloom.einsum(*arrays, pattern, dtype=dtype, out=out)

    def empty(self, shape: Sequence[int], dtype: str) -> np.ndarray:
        return np.empty(shape, dtype)

    def converted(self, x: np.ndarray, dtype: str) -> np.ndarray:
        return x.astype(dtype)


def results(product: Product, locals_: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Those of all ranks."""
    board: dict[Any, Any] = {}
    barrier = threading.Barrier(product.mesh.ranks, timeout=20)

    def run(rank: int) -> np.ndarray:
        engine = Threads(str(product.mesh), rank, board, barrier)
        try:
            return _product_runs.run(product, rank, locals_[rank], engine)
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(product.mesh.ranks) as threads:
        return list(threads.map(run, range(product.mesh.ranks)))


def check(case: product_cases.Case, product: Product) -> None:
    operands = range(len(case.shapes))
    locals_ = [[case.local(operand, rank) for operand in operands] for rank in range(case.ranks)]
    for rank, given in enumerate(locals_):
        assert [product.local_shape(operand, rank) for operand in operands] == [x.shape for x in given]
    found, want = results(product, locals_), case.result()
    for rank in range(case.ranks):
        got = sum(found[one] for one in case.together(rank))
        right = case.part(want, rank)
        assert got.shape == right.shape and np.array_equal(got, right), f"{case}, rank {rank}:\n{product}"
        assert product.local_out_shape(rank) == right.shape


@pytest.mark.parametrize("block", range(8))
def test_random_patterns(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        case = product_cases.draw(seed, MESHES)
        check(case, Product(case.pattern, case.mesh, case.shapes, "float64"))


@pytest.mark.parametrize("block", range(4))
def test_random_patterns_in_panels(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_products, "LEAST_PANEL", 1)
    panelled = 0
    for seed in range(1000 + block * 50, 1050 + block * 50):
        case = product_cases.draw(seed, MESHES)
        product = Product(case.pattern, case.mesh, case.shapes, "float64", workspace=(1 << 20, 64)[seed % 2])
        panelled += product.panels is not None
        check(case, product)
    assert panelled > 2


@pytest.mark.parametrize("block", range(4))
def test_every_way_is_right(block: int) -> None:
    """Not the best alone."""
    for seed in range(2000 + block * 15, 2015 + block * 15):
        case = product_cases.draw(seed, ("x=2", "x=3", "x=2 y=2"))
        product = Product(case.pattern, case.mesh, case.shapes, "float64")
        for way in product.ways[:: max(1, len(product.ways) // 6)]:
            product.way = way
            product.panels = _products._panels(product)
            check(case, product)
