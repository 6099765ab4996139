"""How ranks agree on a product of distributed arrays, and do it by what an engine of theirs sends and multiplies."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ._errors import ShapeError
from ._product_panels import Lead, Panels, Piece, has_axis, parts_of, piece_of, piece_to_cut
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

    def start(self, move: Move, x: Any, out: Any = None, slot: int | None = None) -> Callable[[], Any]:
        """Moves an array, into `out` where there is one. slot: what came there the time before the last is not needed
        any more."""

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


def _started(engine: Engine, move: Move | None, x: Any) -> Callable[[], Any]:
    return (lambda: x) if move is None else engine.start(move, x)


class _Panelled:
    """While a panel is multiplied, the next one comes, and the sums of the one before go."""

    def __init__(self, product: Product, panels: Panels, rank: int, arrays: Sequence[Any], engine: Engine) -> None:
        self.product, self.panels, self.rank, self.engine = product, panels, rank, engine
        self.sums = product.way.sums
        self.place = product.expression.output.axes.index(panels.axis)
        self.parts = parts_of(product, panels.axis)
        self.places = [
            term.axes.index(panels.axis) if has_axis(product, number, panels.axis) else None
            for number, term in enumerate(product.expression.terms)
        ]
        led = None if panels.lead is None else panels.lead.operand
        # What has no pieces comes as a whole, before all else.
        self.arrays = [
            x if number == led or place is not None else _started(engine, move, x)()
            for number, (move, x, place) in enumerate(zip(product.way.moves, arrays, self.places))
        ]
        self.out = engine.empty(product.local_out_shape(rank), product.dtype)
        self.going: list[Callable[[], Any]] = []

    def run(self) -> Any:
        pieces, lead = self.panels.pieces, self.panels.lead
        leads = iter(()) if lead is None else self.led(lead)
        led = [take for take in [next(leads, None)] if take is not None]
        coming = self.begun(0)
        led += leads
        for number in range(len(pieces)):
            ready = [take() for take in coming]
            coming = self.begun(number + 1) if number + 1 < len(pieces) else []
            target = _piece(self.out, self.place, *pieces[number])
            if number == 0 and lead is not None:
                self.multiply_led(lead, led, ready, target)
            else:
                self.multiply(pieces[number], ready, target)
            if len(self.going) > 1:
                self.going.pop(0)()
        for finish in self.going:
            finish()
        return self.out

    def begun(self, number: int) -> list[Callable[[], Any]]:
        """The operands of a panel."""
        first, last = self.panels.pieces[number]
        found = []
        for slot, (move, x, place) in enumerate(zip(self.product.way.moves, self.arrays, self.places)):
            piece = x if place is None else _piece(x, place, first, last)
            if move is None or place is None:
                found.append(_started(self.engine, None, piece))
            else:
                one = piece_of(move, place, last - first, self.parts)
                found.append(self.engine.start(one, piece, slot=slot))
        return found

    def led(self, lead: Lead) -> Iterator[Callable[[], Any]]:
        """Starts the pieces of an operand, each when it is asked for, into one array that takes the operand's place."""
        product, engine = self.product, self.engine
        move, x = product.way.moves[lead.operand], self.arrays[lead.operand]
        assert move is not None
        place, parts = product.expression.terms[lead.operand].axes.index(lead.axis), parts_of(product, lead.axis)
        whole = engine.empty(move.plan.local_out_shape(self.rank), product.dtypes[lead.operand])
        self.arrays[lead.operand] = whole
        alike = move.source.cuts[place] == move.target.cuts[place]
        if not alike:
            x = x.reshape((*x.shape[:place], parts, x.shape[place] // parts, *x.shape[place + 1 :]))
        for first, last in lead.pieces:
            target = _piece(whole, place, first, last)
            if alike:
                yield engine.start(piece_of(move, place, last - first, parts), _piece(x, place, first, last), target)
            else:
                one = piece_to_cut(move, place, last - first, parts)
                yield engine.start(one, _piece(x, place + 1, first, last), target[(slice(None),) * place + (None,)])

    def multiply_led(self, lead: Lead, led: list[Callable[[], Any]], ready: list[Any], target: Any) -> None:
        """The first panel, as the pieces of the operand that leads come."""
        product, engine = self.product, self.engine
        own = product.expression.output.axes.index(lead.axis)
        of_operand = product.expression.terms[lead.operand].axes.index(lead.axis)
        first, last = self.panels.pieces[0]
        made = target
        if self.sums is not None:
            shape = product.made_shape(self.rank)
            made = engine.empty((*shape[: self.place], last - first, *shape[self.place + 1 :]), product.made_dtype)
        for take, piece in zip(led, lead.pieces):
            take()
            ready[lead.operand] = _piece(self.arrays[lead.operand], of_operand, *piece)
            engine.multiply(product.local_pattern, ready, product.made_dtype, _piece(made, own, *piece))
        if self.sums is not None:
            self.send(made, last - first, target)

    def multiply(self, piece: Piece, ready: list[Any], target: Any) -> None:
        product, engine = self.product, self.engine
        if self.sums is None:
            engine.multiply(product.local_pattern, ready, product.made_dtype, target)
        else:
            self.send(engine.multiply(product.local_pattern, ready, product.made_dtype), piece[1] - piece[0], target)

    def send(self, made: Any, length: int, target: Any) -> None:
        """A panel of products to where the result is to be."""
        product, engine = self.product, self.engine
        assert self.sums is not None
        move = piece_of(self.sums, self.place, length, self.parts)
        if product.made_dtype == product.dtype:
            self.going.append(engine.start(move, made, target))
            return
        finish = engine.start(move, made)

        def converted() -> None:
            target[...] = engine.converted(finish(), product.dtype)

        self.going.append(converted)


def _piece(x: Any, place: int, first: int, last: int) -> Any:
    return x[(slice(None),) * place + (slice(first, last),)]
