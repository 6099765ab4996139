"""Products of distributed arrays: how they are planned, and what ranks get that are threads of this process."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import parts
import product_cases
import pytest

import axisloom
from axisloom import _product_panels, _product_runs
from axisloom.distributed import Mesh, Product, Redistribution

MESHES = ("x=1", "x=2", "x=3", "x=4", "x=2 y=2", "x=3 y=2", "x=1 y=3", "x=2 y=1 z=2")


class Room(NamedTuple):
    memory: np.ndarray


class Threads:
    """An engine whose ranks tell each other all they have. What goes where is told by plain indices."""

    takes_panels = True

    def __init__(self, mesh: str, rank: int, board: dict[Any, Any], barrier: threading.Barrier) -> None:
        self.mesh, self.rank, self.board, self.barrier = Mesh(mesh), rank, board, barrier
        self.started, self.moved, self.rooms = 0, 0, 0

    def room(self, move: Any, dtype: str) -> Room | None:
        """Of the first operand that travels, so that those with rooms are multiplied with others."""
        self.rooms += 1
        return Room(np.full(math.prod(move.plan.local_out_shape(self.rank)), np.nan, dtype)) if self.rooms < 3 else None

    def start(self, move: Any, x: np.ndarray, out: Any = None) -> Any:
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
        if isinstance(out, Room):
            out = out.memory[: found.size].reshape(found.shape)
            out[...] = found  # at once: others' parts may come as soon
            return lambda: out
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
    monkeypatch.setattr(_product_panels, "LEAST_PANEL", 1)
    panelled = 0
    for seed in range(1000 + block * 50, 1050 + block * 50):
        case = product_cases.draw(seed, MESHES)
        product = Product(case.pattern, case.mesh, case.shapes, "float64", workspace=(1 << 20, 64)[seed % 2])
        panelled += product.panels is not None
        check(case, product)
    assert panelled > 2


@pytest.mark.parametrize("block", range(4))
def test_every_way_is_right(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the best alone."""
    monkeypatch.setattr(_product_panels, "LEAST_PANEL", 1)
    for seed in range(2000 + block * 15, 2015 + block * 15):
        case = product_cases.draw(seed, ("x=2", "x=3", "x=2 y=2"))
        product = Product(case.pattern, case.mesh, case.shapes, "float64")
        for way in product.ways[:: max(1, len(product.ways) // 6)]:
            product.way = way
            product.__dict__.pop("panels", None)
            check(case, product)


class Noted(Threads):
    """Says in which order things are done."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.said: list[str] = []

    def start(self, move: Any, x: np.ndarray, out: Any = None) -> Any:
        number, take = self.started, super().start(move, x, out)
        self.said.append(f"start {number}")

        def finish() -> np.ndarray:
            self.said.append(f"take {number}")
            return take()

        return finish

    def multiply(self, *given: Any) -> Any:
        self.said.append("multiply")
        return super().multiply(*given)


@pytest.mark.parametrize(("pattern", "order"), (
    ("i@x k, k@x j -> i@x j",
     ["start 0", "take 0", "start 1", "multiply", "take 1", "start 2", "multiply", "take 2", "multiply"]),
    ("i k@x, k@x j -> i@x j",
     ["multiply", "start 0", "multiply", "start 1", "take 0", "multiply", "start 2", "take 1", "take 2"]),
))  # fmt: skip
def test_a_panel_travels_while_another_is_multiplied(
    pattern: str, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_product_panels, "LEAST_PANEL", 1)
    monkeypatch.setattr(_product_panels, "MOST_PANELS", 3)
    shapes = [(8, 4), (4, 6)] if order[0] == "start 0" else [(2, 64), (64, 6)]
    product = Product(pattern, "x=2", shapes, "float64")
    board: dict[Any, Any] = {}
    barrier = threading.Barrier(2, timeout=20)
    engines = [Noted("x=2", rank, board, barrier) for rank in range(2)]
    arrays = [[np.ones(product.local_shape(operand, rank)) for operand in range(2)] for rank in range(2)]
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda rank: _product_runs.run(product, rank, arrays[rank], engines[rank]), range(2)))
    assert engines[0].said == engines[1].said == order


# Plans ----------------------------------------------------------------------------------------------------------------

CHOSEN = (
    # The smaller operand is gathered; what is cut alike is multiplied where it is.
    ("i@x k, k@x j -> i@x j", "x=4", [(4096, 64), (64, 64)], "i@x k, k j -> i@x j"),
    ("i@x k, k j -> i@x j", "x=4", [(64, 64), (64, 4096)], "i@x k, k j -> i@x j"),
    ("i k@x, k@x j -> i@x j", "x=4", [(64, 4096), (4096, 64)], "i k@x, k@x j -> i j +x"),
    ("i@x k@y, k@x j@y -> i@x j@y", "x=2 y=2", [(512, 512), (512, 512)], "i@x k, k j@y -> i@x j@y"),
    ("i@x k@y, k@y j -> i@x j@y", "x=2 y=4", [(512, 8192), (8192, 64)], "i@x k@y, k@y j -> i@x j +y"),
    ("b h@x q d, b h@x k d -> b h@x q k", "x=4", [(2, 8, 64, 32)] * 2, "b h@x q d, b h@x k d -> b h@x q k"),
    ("i k +x, k j -> i j +x", "x=4", [(64, 64), (64, 64)], "i k +x, k j -> i j +x"),
    # Nobody multiplies what others do, though all have everything.
    ("i@x k, k@x j -> i j", "x=4", [(512, 512), (512, 512)], "i@x k, k j -> i@x j"),
    # A mesh axis that the pattern does not name cuts nothing.
    ("i k, k j -> i j", "x=4", [(512, 512), (512, 512)], "i k, k j -> i j"),
)


@pytest.mark.parametrize(("pattern", "mesh", "shapes", "how"), CHOSEN)
def test_what_is_chosen(pattern: str, mesh: str, shapes: Any, how: str) -> None:
    product = Product(pattern, mesh, shapes, "float32")
    assert product.told(product.way) == how
    assert f'each rank multiplies "{how}"' in str(product)


def test_bytes_are_those_of_the_plans() -> None:
    product = Product("i@x k, k@x j -> j@x i", "x=4", [(64, 32), (32, 16)], "float64")
    moves = [move for move in (*product.way.moves, product.way.sums) if move is not None]
    assert len(moves) == 2
    assert product.bytes == sum(max(Redistribution(m.pattern, m.mesh, m.shape).largest_load(8)[:2]) for m in moves)


def test_sums_for_all_ranks_are_counted_as_engines_do_them() -> None:
    """Each rank sums a share, and all get all shares: twice (n - 1) / n of the sum, and not n - 1 of it."""
    product = Product("k@x i, k@x j -> i j", "x=8", [(1 << 16, 64), (1 << 16, 64)], "float32")
    assert product.told(product.way) == "k@x i, k@x j -> i j +x"
    assert product.bytes == 2 * 7 * (64 * 64 // 8) * 4


def test_parts_of_sums_of_short_floats_are_wide() -> None:
    pattern, shapes = "i k@x, k@x j -> i@x j", [(64, 4096), (4096, 64)]
    for dtype, made in (("bfloat16", "float32"), ("float16", "float32"), ("float32", "float32"), ("bool", "int32")):
        product = Product(pattern, "x=2", shapes, dtype)
        assert product.adds and product.made_dtype == made
        assert product.bytes == 64 * 32 * 4
    kept = Product("i k@x, k@x j -> i j +x", "x=2", shapes, "bfloat16")
    assert not kept.adds and kept.made_dtype == "bfloat16"


def test_panels_keep_to_the_workspace() -> None:
    product = Product("i@x k, k@x j -> i@x j", "x=2", [(1024, 512), (512, 4096)], "float32", workspace=1 << 20)
    panels = product.panels
    assert panels is not None and panels.axis == "j"
    assert panels.pieces[0][0] == 0 and panels.pieces[-1][1] == 4096
    assert all(last == first for (_, last), (first, _) in zip(panels.pieces, panels.pieces[1:]))
    assert max(last - first for first, last in panels.pieces) * 512 * 4 * 2 <= 1 << 20
    assert "in 17 panels" in str(product)
    assert Product("i@x k, k@x j -> i@x j", "x=2", [(1024, 512), (512, 4096)], "float32").panels is None


def test_the_first_panel_is_short_where_operands_come() -> None:
    def lengths(pattern: str, dtype: str) -> list[int]:
        panels = Product(pattern, "x=4", [(16384, 16384)] * 2, dtype).panels
        assert panels is not None
        return [last - first for first, last in panels.pieces]

    assert lengths("i@x k, k@x j -> i@x j", "bfloat16") == [1024, 3072, 4096, 4096, 4096]
    assert lengths("i k@x, k@x j -> i@x j", "float32") == [2048] * 8  # its sums go


def test_a_thousand_ranks_are_planned() -> None:
    for pattern, mesh in (("i@x k, k@x j -> i@x j", "x=1024"), ("i@x k@y, k@x j@y -> i@x j@y", "x=32 y=32")):
        product = Product(pattern, mesh, [(16384, 16384)] * 2, "bfloat16")
        assert "k j" in product.told(product.way)
        assert product.bytes < 3 * 16384 * 16384


WRONG = (
    ("i@x k, k j", axisloom.EinopsError, 'needs "->"'),
    ("i@x (k l), k j -> i j", axisloom.UnsupportedError, "composed axis"),
    ("i@x k, k j -> i m", axisloom.EinopsError, '"m" stands on the right'),
    ("i@x k, k j -> i i", axisloom.EinopsError, '"i" stands twice'),
    ("i@x k, k j -> i@x j@x", axisloom.Error, "x"),
    ("i@z k, k j -> i j", axisloom.EinopsError, "no axis .z."),
    ("i@x, k j -> i j", axisloom.ShapeError, "another array than one of shape"),
    ("i@x k +x, k j -> i j", axisloom.Error, "x"),
    ("i +x k, k j -> i j", axisloom.EinopsError, "at the end"),
    ("i & k, k j -> i j", axisloom.EinopsError, "is no list of axes"),
    ("i k, k j -> i k j +x", axisloom.EinopsError, "there is nothing to be added"),
    ("...@x k, k j -> ... j", axisloom.UnsupportedError, "name what is cut"),
    ("i@x k -> i", axisloom.EinopsError, "is of 1 arrays, and 2 were given"),
    ("i k@x, i k -> i k", axisloom.ShapeError, 'axis "i" .* has length 4 in one array and 6 in another'),
)


@pytest.mark.parametrize(("pattern", "error", "text"), WRONG)
def test_what_is_wrong_is_said(pattern: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Product(pattern, "x=2", [(4, 6), (6, 8)], "float32")
    with pytest.raises(axisloom.UsageError, match="no number of bytes"):
        Product("i@x k, k j -> i j", "x=2", [(4, 6), (6, 8)], "float32", workspace=0)
