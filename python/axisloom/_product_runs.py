"""How ranks agree on a product of distributed arrays, and do it by what an engine of theirs sends and multiplies."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from ._errors import ShapeError
from ._product_panels import Panels, Piece, has_axis, parts_of, piece_of
from ._products import Move, Product, Shape, sides_of
from .distributed import Agreed, described, digest_of, mesh_for, whole_shape

# Agreement -----------------------------------------------------------------------------------------------------------


class ProductCall(NamedTuple):
    """What a rank gives. All but the local shapes is the same on all ranks."""

    pattern: str
    mesh: str
    local: tuple[Shape, ...]
    dtype: str  # of the result
    dtypes: tuple[str, ...]  # of the operands
    shapes: tuple[Shape, ...] | None  # of the whole arrays
    workspace: int
    where: str = ""  # of what kind the arrays are, or on which device

    def told(self, error: Exception | None) -> str:
        said: dict[str, Any] = {
            "op": "einsum", "pattern": self.pattern, "mesh": self.mesh, "local": self.local, "dtype": self.dtypes,
            "shape": self.shapes, "lengths": {}, "how": [self.workspace, self.where], "told": self._text(),
        }  # fmt: skip
        if error is not None:
            said["error"] = described(error)
        return json.dumps(said, default=int)

    def _text(self) -> str:
        arrays = [f"{dtype}[{','.join(map(str, shape))}]" for dtype, shape in zip(self.dtypes, self.local)]
        whole = "" if self.shapes is None else f", which are parts of {', '.join(str(list(s)) for s in self.shapes)},"
        more = f" ({self.where}, workspace {self.workspace})"
        return f'einsum "{self.pattern}" of {" and ".join(arrays)}{whole} over the mesh "{self.mesh}"{more}'

    def settled(self, calls: list[dict[str, Any]]) -> Agreed:
        mesh = mesh_for(self.mesh, len(calls))
        shapes = self.shapes
        if shapes is None:
            sides, _ = sides_of(self.pattern)
            if len(sides) == len(self.local):  # else the product says so
                shapes = tuple(
                    whole_shape(f"{side} ->", mesh, [call["local"][number] for call in calls])
                    for number, side in enumerate(sides)
                )
        product = self.product(self.local if shapes is None else shapes)
        for rank, call in enumerate(calls):
            for number, shape in enumerate(call["local"]):
                check_local(product, number, rank, shape)
        same = [self.pattern, self.dtypes, self.workspace, self.where, str(mesh), product.shapes]
        return Agreed(digest_of(same), product)

    def product(self, shapes: tuple[Shape, ...]) -> Product:
        return product_of(self.pattern, self.mesh, shapes, self.dtype, self.dtypes, self.workspace)


def check_local(product: Product, operand: int, rank: int, shape: Sequence[int]) -> None:
    """Raises ShapeError where a rank's part has another shape than it should."""
    wanted = product.local_shape(operand, rank)
    if tuple(shape) != wanted:
        raise ShapeError(
            f'operand {operand + 1} of the einsum "{product.pattern}" has shape {list(shape)} on rank {rank}, and of '
            f'{list(product.shapes[operand])} over the mesh "{product.mesh}" that rank has {list(wanted)}: give that '
            f"part, or tell the whole shapes by shapes="
        )


@functools.lru_cache(maxsize=256)
def product_of(
    pattern: str, mesh: str, shapes: tuple[Shape, ...], dtype: str, dtypes: tuple[str, ...], workspace: int
) -> Product:
    """Kept, as it takes a search to find."""
    return Product(pattern, mesh, shapes, dtype, dtypes, workspace=workspace)


# Running -------------------------------------------------------------------------------------------------------------


class Engine(Protocol):
    """What a rank can do. What is started goes on while it multiplies; calling what start returned waits for it.

    takes_panels: whether parts of arrays are arrays that can be written to.
    """

    takes_panels: bool

    def room(self, move: Move, dtype: str) -> Any:
        """Memory for what a move or a smaller one brings, which others may write into from its start on. None where it
        needs none of its own."""

    def start(self, move: Move, x: Any, out: Any = None) -> Callable[[], Any]:
        """Moves an array, into `out` where there is one: an array, or a room, whose array is returned then."""

    def multiply(self, pattern: str, arrays: Sequence[Any], dtype: str, out: Any = None) -> Any:
        """An einsum of this rank's own, in that dtype, into `out` where there is one."""

    def empty(self, shape: Shape, dtype: str) -> Any: ...

    def converted(self, x: Any, dtype: str) -> Any:
        """x where it has that dtype."""


def run(product: Product, rank: int, arrays: Sequence[Any], engine: Engine) -> Any:
    """This rank's part of the result, of its parts of the operands. All ranks call it together."""
    panels = product.panels if engine.takes_panels else None
    if panels is not None:
        return _Panelled(product, panels, rank, arrays, engine).run()
    way = product.way
    ready = [take() for take in [_started(engine, move, x) for move, x in zip(way.moves, arrays)]]
    made = engine.multiply(product.local_pattern, ready, product.made_dtype)
    del ready
    return engine.converted(_started(engine, way.sums, made)(), product.dtype)


def _started(engine: Engine, move: Move | None, x: Any, out: Any = None) -> Callable[[], Any]:
    return (lambda: x) if move is None else engine.start(move, x, out)


def once(function: Callable[[], Any]) -> Callable[[], Any]:
    """What it returned, however often it is asked."""
    found: list[Any] = []

    def call() -> Any:
        if not found:
            found.append(function())
        return found[0]

    return call


class _Panelled:
    """While a panel is multiplied, the next one comes, and the sums of the one before go."""

    def __init__(self, product: Product, panels: Panels, rank: int, arrays: Sequence[Any], engine: Engine) -> None:
        self.product, self.panels, self.engine = product, panels, engine
        self.sums = product.way.sums
        self.place = product.expression.output.axes.index(panels.axis)
        self.parts = parts_of(product, panels.axis)
        self.operands = [_Operand(product, number, x, engine) for number, x in enumerate(arrays)]
        self.out = engine.empty(product.local_out_shape(rank), product.dtype)
        self.going: list[Callable[[], Any]] = []

    def run(self) -> Any:
        pieces = self.panels.pieces
        coming = [operand.begun(0) for operand in self.operands]
        for number, piece in enumerate(pieces):
            ready = [take() for take in coming]
            coming = [operand.begun(number + 1) for operand in self.operands] if piece != pieces[-1] else []
            self.multiply(piece, ready)
            if len(self.going) > 1:
                self.going.pop(0)()
        for finish in self.going:
            finish()
        return self.out

    def multiply(self, piece: Piece, ready: list[Any]) -> None:
        product, engine = self.product, self.engine
        target = _piece(self.out, self.place, *piece)
        if self.sums is None:
            engine.multiply(product.local_pattern, ready, product.made_dtype, target)
            return
        made = engine.multiply(product.local_pattern, ready, product.made_dtype)
        move = piece_of(self.sums, self.place, piece[1] - piece[0], self.parts)
        if product.made_dtype == product.dtype:
            self.going.append(engine.start(move, made, target))
            return
        finish = engine.start(move, made)

        def converted() -> None:
            target[...] = engine.converted(finish(), product.dtype)

        self.going.append(converted)


class _Operand:
    """In panels, which take two rooms in turns: one is written into while the other is read. What has no panels comes as
    a whole, beside the first of the others."""

    def __init__(self, product: Product, number: int, x: Any, engine: Engine) -> None:
        assert product.panels is not None
        axis, self.pieces = product.panels
        self.engine, self.x, self.move = engine, x, product.way.moves[number]
        self.parts = parts_of(product, axis)
        self.place = product.expression.terms[number].axes.index(axis) if has_axis(product, number, axis) else None
        longest = self.move_of(max(last - first for first, last in self.pieces))
        count = 1 if self.place is None else 2
        self.rooms = [] if longest is None else [engine.room(longest, product.dtypes[number]) for _ in range(count)]
        self.whole: Callable[[], Any] | None = None

    def move_of(self, length: int) -> Move | None:
        if self.move is None or self.place is None:
            return self.move
        return piece_of(self.move, self.place, length, self.parts)

    def begun(self, number: int) -> Callable[[], Any]:
        if self.place is None:
            self.whole = self.whole or once(_started(self.engine, self.move, self.x, *self.rooms))
            return self.whole
        first, last = self.pieces[number]
        room = self.rooms[number % 2] if self.rooms else None
        return _started(self.engine, self.move_of(last - first), _piece(self.x, self.place, first, last), room)


def _piece(x: Any, place: int, first: int, last: int) -> Any:
    return x[(slice(None),) * place + (slice(first, last),)]
