"""Products of distributed arrays: what each rank multiplies, and what travels before and afterwards.

Nothing here sends anything. `axisloom.torch` and `axisloom.mpi` go by it, each with the messages of its engine.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ._cuts import Axis, Cut, Dim, Side, parse_side
from ._errors import EinopsError, ShapeError, UnsupportedError, UsageError
from .distributed import Mesh, Redistribution

if TYPE_CHECKING:
    from ._product_panels import Panels

Shape = tuple[int, ...]
Cuts = tuple[Cut, ...]


class Layout(NamedTuple):
    """How an array lies on a mesh: the cuts of each of its axes, and the mesh axes along which ranks hold addends."""

    cuts: tuple[Cuts, ...]
    addends: tuple[str, ...] = ()

    def side(self, names: Sequence[str]) -> Side:
        return Side(tuple(Dim((Axis(name, cuts),)) for name, cuts in zip(names, self.cuts)), self.addends)


class Term(NamedTuple):
    """An operand or the result, as a pattern has it."""

    axes: tuple[str, ...]
    layout: Layout

    def __str__(self) -> str:
        return str(self.layout.side(self.axes))

    def cuts_of(self, axis: str) -> Cuts:
        return self.layout.cuts[self.axes.index(axis)] if axis in self.axes else ()


class Move(NamedTuple):
    """From one layout to another, of an array of that whole shape."""

    source: Layout
    target: Layout
    mesh: str
    shape: Shape

    @property
    def pattern(self) -> str:
        names = [f"p{place}" for place in range(len(self.shape))]
        return f"{self.source.side(names)} -> {self.target.side(names)}"

    @property
    def plan(self) -> Redistribution:
        return _plan_of_move(self)


@functools.lru_cache(maxsize=256)
def _plan_of_move(move: Move) -> Redistribution:
    """Kept by itself: to spell a pattern takes longer than to find its plan."""
    return plan_of(move.pattern, move.mesh, move.shape)


@functools.lru_cache(maxsize=256)
def plan_of(pattern: str, mesh: str, shape: Shape) -> Redistribution:
    return Redistribution(pattern, mesh, shape)


# Patterns ------------------------------------------------------------------------------------------------------------


class Expression(NamedTuple):
    """An einsum's pattern over a mesh. The axes of ellipses have names like the others."""

    terms: tuple[Term, ...]
    output: Term

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.terms))} -> {self.output}"


def sides_of(pattern: str) -> tuple[list[Side], Side]:
    """Operands and result."""
    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise EinopsError(f'the einsum "{pattern}" over ranks needs "->", and then the axes and cuts of the result')
    *operands, output = [_side(text, pattern) for text in (*left.split(","), right)]
    return operands, output


def _side(text: str, pattern: str) -> Side:
    side = parse_side(text)
    if [dim for dim in side.dims if dim.composed]:
        raise UnsupportedError(f'"{text.strip()}" of the einsum "{pattern}" has a composed axis: use rearrange before')
    if re.sub(r"\s", "", str(side)) != re.sub(r"\s", "", text):
        raise EinopsError(
            f'"{text.strip()}" of the einsum "{pattern}" is no list of axes: write names between blanks, cuts as in '
            f'"i@x", and what is a sum over ranks as "+x" at the end'
        )
    return side


def matmul_pattern(cuts: str) -> str:
    """The einsum of a product of matrices with batches: "m@x k, k n -> m@x n" with an ellipsis for them."""
    if not cuts:
        raise UsageError('give the cuts of both matrices and of the result: "m@x k, k n -> m@x n"')
    operands, output = sides_of(cuts)
    names = [[dim.axes[0].name for dim in side.dims] for side in (*operands, output)]
    if [len(one) for one in names] != [2, 2, 2] or not (
        names[0][0] == names[2][0] and names[0][1] == names[1][0] and names[1][1] == names[2][1]
    ):
        raise EinopsError(f'"{cuts}" is no product of matrices: write it as "m k, k n -> m n", with cuts')
    one, other = (f"... {side}" for side in operands)
    return f"{one}, {other} -> ... {output}"


def expression_of(pattern: str, mesh: Mesh, shapes: Sequence[Shape]) -> Expression:
    """Raises what is wrong with it. What is cut over mesh axes of one rank is not cut."""
    operands, output = sides_of(pattern)
    if len(operands) != len(shapes):
        raise EinopsError(f'the einsum "{pattern}" is of {len(operands)} arrays, and {len(shapes)} were given')
    unnamed = [len(shape) - len(side.dims) + 1 if _has_ellipsis(side) else 0 for side, shape in zip(operands, shapes)]
    for side, shape, count in zip(operands, shapes, unnamed):
        if count < 0 or (not _has_ellipsis(side) and len(shape) != len(side.dims)):
            raise ShapeError(f'"{side}" of the einsum "{pattern}" is for another array than one of shape {list(shape)}')
    widest = max(unnamed)
    terms = tuple(_term(side, range(widest - count, widest), pattern) for side, count in zip(operands, unnamed))
    made = Expression(terms, _term(output, range(widest), pattern))
    _check(made, mesh, shapes, pattern)
    return Expression(tuple(_of_several(term, mesh) for term in made.terms), _of_several(made.output, mesh))


def _of_several(term: Term, mesh: Mesh) -> Term:
    """Without mesh axes of one rank, which cut nothing."""

    def kept(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if mesh.axes[name] > 1)

    cuts = tuple(tuple(cut._replace(over=kept(cut.over)) for cut in one if kept(cut.over)) for one in term.layout.cuts)
    return Term(term.axes, Layout(cuts, kept(term.layout.addends)))


def _has_ellipsis(side: Side) -> bool:
    return any(dim.axes[0].name == "..." for dim in side.dims)


def _term(side: Side, unnamed: range, pattern: str) -> Term:
    axes: list[str] = []
    cuts: list[Cuts] = []
    for dim in side.dims:
        (axis,) = dim.axes
        if axis.name != "...":
            axes.append(axis.name)
            cuts.append(axis.cuts)
            continue
        if axis.cuts:
            raise UnsupportedError(f'"{axis}" of the einsum "{pattern}" cuts axes without names: name what is cut')
        axes += [f"ellipsis{place}" for place in unnamed]
        cuts += [()] * len(unnamed)
    return Term(tuple(axes), Layout(tuple(cuts), side.addends))


def _check(expression: Expression, mesh: Mesh, shapes: Sequence[Shape], pattern: str) -> None:
    given = {axis for term in expression.terms for axis in term.axes}
    for axis in expression.output.axes:
        if axis not in given:
            raise EinopsError(f'the axis "{axis}" stands on the right of the einsum "{pattern}" alone: leave it out')
        if expression.output.axes.count(axis) > 1:
            raise EinopsError(f'the axis "{axis}" stands twice on the right of the einsum "{pattern}": name it once')
    extents = extents_of(expression, shapes, pattern)
    whole = tuple(extents[axis] for axis in expression.output.axes)
    for term, shape in zip((*expression.terms, expression.output), (*shapes, whole)):
        _check_cuts(term, mesh, shape)
    summed = set(extents) - set(expression.output.axes) - _doubled(expression)
    for name in expression.output.layout.addends:
        if not summed and not [term for term in expression.terms if name in term.layout.addends]:
            raise EinopsError(
                f'"+{name}" on the right of the einsum "{pattern}" asks for addends, and there is nothing to be added: '
                f"leave it out"
            )


def _doubled(expression: Expression) -> set[str]:
    """Axes that stand twice in an array, of which a diagonal is taken."""
    return {axis for term in expression.terms for axis in term.axes if term.axes.count(axis) > 1}


def _check_cuts(term: Term, mesh: Mesh, shape: Shape) -> None:
    """By the planner, which says what is wrong. An axis that stands twice is two to it."""
    names = [axis if axis not in term.axes[:place] else f"{axis}{place}again" for place, axis in enumerate(term.axes)]
    Redistribution(f"{term.layout.side(names)} -> {' '.join(names)}", mesh, shape)


def extents_of(expression: Expression, shapes: Sequence[Shape], pattern: str = "") -> dict[str, int]:
    """Of all axes. A length of 1 goes with any other."""
    found: dict[str, int] = {}
    for term, shape in zip(expression.terms, shapes):
        for axis, extent in zip(term.axes, shape):
            known = found.get(axis, 1)
            if extent not in (1, known) and known != 1:
                raise ShapeError(
                    f'the axis "{axis}" of the einsum "{pattern or expression}" has length {known} in one array and '
                    f"{extent} in another: give arrays whose lengths agree"
                )
            found[axis] = known if extent == 1 else extent
    return found


# Ways to do it -------------------------------------------------------------------------------------------------------


class Way(NamedTuple):
    """One way to do it. Of what is None, nothing has to travel."""

    layouts: tuple[Layout, ...]  # of operands, when they are multiplied
    made: Layout  # of the product of what a rank has
    moves: tuple[Move | None, ...]
    sums: Move | None  # from the product to the result
    bytes: int  # that the busiest rank sends or receives in all
    work: int  # multiplications of the rank that has most


# What travels is weighed against what is multiplied, so that no rank multiplies what others do only to spare a few
# bytes. While a byte goes from one H200 to another, one of them multiplies 64 pairs of floats, or 800 of 16 bits.
MULTIPLICATIONS = {2: 512}
OTHER_MULTIPLICATIONS = 64

MOST_WAYS = 2000
MOST_RANKS = 64  # of which all are asked for their load; of more, some

_WIDE = {"float16": "float32", "bfloat16": "float32", "bool": "int32"}
_BYTES = re.compile(r"\d+")


def partial_dtype(dtype: str) -> str:
    """The dtype in which ranks' parts of a sum travel: floats of fewer than 32 bits are rounded once, at the end."""
    return "float32" if dtype.startswith("float8") else _WIDE.get(dtype, dtype)


def item_bytes(dtype: str) -> int:
    found = _BYTES.search(dtype)
    return max(int(found[0]) // 8, 1) if found else 1


class Product:
    """An einsum of distributed arrays: how it is done. All ranks make the same one.

    pattern: as einsum's, with cuts: "i@x k, k j@y -> i@x j@y". mesh: a Mesh or its text. shapes: those of the whole
    arrays. dtype: the result's, by NumPy's name. dtypes: the operands', where they differ.

    Each rank multiplies what it has in some layout. Of all layouts that one is taken in which the busiest rank sends
    and receives the fewest bytes, by the plans of what has to travel.

    >>> product = Product("i@x k, k@x j -> i@x j", "x=2", [(64, 8), (8, 4)], "float32")
    >>> print(product)
    einsum "i@x k, k@x j -> i@x j" of [64,8] and [8,4], float32, over the mesh "x=2"
    each rank multiplies "i@x k, k j -> i@x j"; 64 bytes travel:
      operand 2: "k@x j -> k j", 64 bytes
    other ways: "i k@x, k@x j -> i j +x" 1024 bytes, "i k, k j -> i j" 1088 bytes, "i k, k j@x -> i j@x" 1312 bytes
    >>> product.out_shape, product.bytes
    ((64, 4), 64)
    """

    def __init__(
        self,
        pattern: str,
        mesh: str | Mapping[str, int] | Mesh,
        shapes: Sequence[Sequence[int]],
        dtype: str,
        dtypes: Sequence[str] | None = None,
        *,
        workspace: int = 256 << 20,
    ) -> None:
        self.pattern, self.mesh, self.dtype = pattern, Mesh(mesh), dtype
        self.shapes = tuple(tuple(map(int, shape)) for shape in shapes)
        self.dtypes = tuple(dtypes or [dtype] * len(self.shapes))
        if workspace < 1:
            raise UsageError(f"workspace={workspace} is no number of bytes; give 1 or more")
        self.workspace = int(workspace)
        self.expression = expression_of(pattern, self.mesh, self.shapes)
        self.extents = extents_of(self.expression, self.shapes)
        self.out_shape = tuple(self.extents[axis] for axis in self.expression.output.axes)
        self.ways = _Search(self).ways()
        self.way = self.ways[0]
        self.bytes = self.way.bytes
        #: That of what a rank multiplies; wider where it is one part of a sum.
        self.made_dtype = partial_dtype(dtype) if self.adds else dtype

    @functools.cached_property
    def panels(self) -> Panels | None:
        """In which pieces it goes, where it goes in pieces."""
        from ._product_panels import panels_of

        return panels_of(self)

    @property
    def adds(self) -> bool:
        """Whether ranks' products are added up."""
        return bool(set(self.way.made.addends) - set(self.expression.output.layout.addends))

    def local_shape(self, operand: int, rank: int) -> Shape:
        return self._local(self.expression.terms[operand].layout, self.shapes[operand], rank)

    def local_out_shape(self, rank: int) -> Shape:
        return self._local(self.expression.output.layout, self.out_shape, rank)

    def made_shape(self, rank: int) -> Shape:
        """Of what a rank multiplies."""
        return self._local(self.way.made, self.out_shape, rank)

    def _local(self, layout: Layout, shape: Shape, rank: int) -> Shape:
        plain = Layout(layout.cuts)
        return Move(plain, plain, str(self.mesh), shape).plan.local_in_shape(rank)

    @property
    def local_pattern(self) -> str:
        """What a rank multiplies, with names that any einsum takes."""
        names = {axis: f"a{place}" for place, axis in enumerate(self.extents)}
        terms = [*(term.axes for term in self.expression.terms), self.expression.output.axes]
        *operands, output = [" ".join(names[axis] for axis in axes) for axes in terms]
        return f"{', '.join(operands)} -> {output}"

    def told(self, way: Way) -> str:
        terms = [Term(term.axes, layout) for term, layout in zip(self.expression.terms, way.layouts)]
        return str(Expression(tuple(terms), Term(self.expression.output.axes, way.made)))

    def __str__(self) -> str:
        arrays = " and ".join(f"[{','.join(map(str, shape))}]" for shape in self.shapes)
        lines = [f'einsum "{self.pattern}" of {arrays}, {self.dtype}, over the mesh "{self.mesh}"']
        travels = f"{self.bytes} bytes travel:" if self.bytes else "nothing travels"
        lines.append(f'each rank multiplies "{self.told(self.way)}"; {travels}')
        for place, (term, move) in enumerate(zip(self.expression.terms, self.way.moves)):
            if move is not None:
                told, load = _told(move, term.axes), load_of(move, item_bytes(self.dtypes[place]))
                lines.append(f'  operand {place + 1}: "{told}", {load} bytes')
        if self.way.sums is not None:
            told = _told(self.way.sums, self.expression.output.axes)
            load = load_of(self.way.sums, item_bytes(self.made_dtype))
            how = f", in {self.made_dtype}" if self.made_dtype != self.dtype else ""
            lines.append(f'  result: "{told}"{how}, {load} bytes')
        if self.panels is not None:
            lines.append(f'  in {len(self.panels.pieces)} panels along "{self.panels.axis}"')
        if others := [f'"{self.told(way)}" {way.bytes} bytes' for way in self.ways[1:4]]:
            lines.append(f"other ways: {', '.join(others)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<axisloom.distributed.Product: {self.pattern!r} over {self.mesh}>"


def _told(move: Move, axes: Sequence[str]) -> str:
    return f"{move.source.side(axes)} -> {move.target.side(axes)}"


class _Search:
    """For the layouts in which operands are multiplied."""

    def __init__(self, product: Product) -> None:
        self.product, self.mesh = product, str(product.mesh)
        self.terms, self.output = product.expression
        self.counts = product.mesh.axes
        self.loads: dict[tuple[Move, int], int] = {}
        named = {name for term in (*self.terms, self.output) for cuts in term.layout.cuts for cut in cuts
                 for name in cut.over}  # fmt: skip
        named.update(name for term in (*self.terms, self.output) for name in term.layout.addends)
        #: Mesh axes along which something is cut or added. Along others all ranks do the same.
        self.axes = [name for name in self.counts if name in named]
        self.free = [axis for axis in product.extents if axis not in _doubled(product.expression)]
        self.rate = MULTIPLICATIONS.get(item_bytes(product.dtype), OTHER_MULTIPLICATIONS)

    def ways(self) -> tuple[Way, ...]:
        """The best first; alike on all ranks."""
        found: dict[tuple[tuple[Layout, ...], Layout], Way] = {}
        refused: Exception = UnsupportedError(f'the einsum "{self.product.pattern}" cannot be planned')
        for choice in itertools.product(*self._options()):
            try:
                for way in self._ways_of(dict(zip(self.axes, choice))):
                    found.setdefault((way.layouts, way.made), way)
            except UnsupportedError as error:  # its parts are too many
                refused = error
        if not found:
            raise refused
        return tuple(sorted(found.values(), key=lambda way: (way.bytes * self.rate + way.work, way.bytes)))

    def _options(self) -> list[list[str | int | None]]:
        """For each mesh axis: an einsum's axis that it cuts; the number of an operand whose addends it keeps; None."""
        every = [self._options_of(name, self.free) for name in self.axes]
        if math.prod(map(len, every)) > MOST_WAYS:
            every = [self._options_of(name, self._cut_by(name)) for name in self.axes]
        return every

    def _options_of(self, name: str, axes: Sequence[str]) -> list[str | int | None]:
        extents, named = self.product.extents, self._cut_by(name)
        cut = [axis for axis in axes if extents[axis] > 1 or axis in named]
        kept = [number for number, term in enumerate(self.terms) if name in term.layout.addends]
        if name in self.output.layout.addends:
            summed = [axis for axis in axes if axis not in self.output.axes]
            return [*(axis for axis in summed if extents[axis] > 1), *kept] or [*summed, *kept]
        return [*cut, *kept, None]

    def _cut_by(self, name: str) -> list[str]:
        """The axes that a mesh axis cuts in some array; where addends are wanted, those that are summed."""
        if name in self.output.layout.addends:
            return self.free
        cuts = {axis: [cut for term in (*self.terms, self.output) for cut in term.cuts_of(axis)] for axis in self.free}
        return [axis for axis in self.free if any(name in cut.over for cut in cuts[axis])]

    def _ways_of(self, choice: Mapping[str, str | int | None]) -> Iterator[Way]:
        over: dict[str, list[str]] = {}
        for name, axis in choice.items():
            if isinstance(axis, str):
                over.setdefault(axis, []).append(name)
        for cuts in itertools.product(*(self._orders(axis, names) for axis, names in over.items())):
            yield self._way(dict(zip(over, cuts)), choice)

    def _orders(self, axis: str, names: Sequence[str]) -> list[Cuts]:
        """How these mesh axes may cut an axis: as some array has it, or one after the other."""
        found = {tuple(Cut((name,)) for name in names): None}
        for term in (*self.terms, self.output):
            given = [cut._replace(over=tuple(name for name in cut.over if name in names)) for cut in term.cuts_of(axis)]
            kept = [cut for cut in given if cut.over]
            there = {name for cut in kept for name in cut.over}
            if kept:
                found[(*kept, *(Cut((name,)) for name in names if name not in there))] = None
        return list(found)

    def _way(self, cuts: Mapping[str, Cuts], choice: Mapping[str, str | int | None]) -> Way:
        product, extents = self.product, self.product.extents
        layouts, moves, total = [], [], 0
        for number, (term, shape) in enumerate(zip(self.terms, product.shapes)):
            kept = tuple(name for name in self.axes if choice[name] == number)
            target = Layout(
                tuple(cuts.get(axis, ()) if extent == extents[axis] else () for axis, extent in zip(term.axes, shape)),
                kept,
            )
            move = self._move(term.layout, target, shape)
            total += self._load(move, item_bytes(product.dtypes[number]))
            layouts.append(target)
            moves.append(move)
        added = tuple(
            name for name, axis in choice.items()
            if isinstance(axis, int) or (axis is not None and axis not in self.output.axes)
        )  # fmt: skip
        made = Layout(tuple(cuts.get(axis, ()) for axis in self.output.axes), added)
        sums = self._move(made, self.output.layout, product.out_shape)
        wide = set(added) - set(self.output.layout.addends)
        total += self._load(sums, item_bytes(partial_dtype(product.dtype) if wide else product.dtype))
        work = math.prod(self._longest(extents[axis], cuts.get(axis, ())) for axis in extents)
        return Way(tuple(layouts), made, tuple(moves), sums, total, work)

    def _move(self, source: Layout, target: Layout, shape: Shape) -> Move | None:
        if source.cuts == target.cuts and set(source.addends) == set(target.addends):
            return None
        return Move(source, target, self.mesh, shape)

    def _load(self, move: Move | None, width: int) -> int:
        if move is None:
            return 0
        if (move, width) not in self.loads:
            self.loads[move, width] = load_of(move, width)
        return self.loads[move, width]

    def _longest(self, extent: int, cuts: Cuts) -> int:
        for cut in cuts:
            count = math.prod(self.counts[name] for name in cut.over)
            block = int(cut.deal) if cut.deal.isdigit() else 1
            extent = min(-(-extent // (block * count)) * block, extent)
        return extent


def load_of(move: Move, width: int) -> int:
    """Bytes that the busiest rank sends or receives, by the plan's lists. Of sums that several ranks get, an engine
    sends each rank a share, and then all shares to all, if that is less."""
    direct = _planned(move.pattern, move.mesh, move.shape)
    summed = [name for name in move.source.addends if name not in move.target.addends]
    if not summed:
        return direct * width
    mesh = Mesh(move.mesh)
    elements = max(math.prod(plan.local_in_shape(rank)) for plan in [move.plan] for rank in _asked(mesh))
    shared = 0
    for name in summed:
        line = f"x={mesh.axes[name]}"
        shared += _planned("e +x -> e@x", line, (elements,)) + _planned("e@x -> e", line, (elements,))
    rest = Move(Layout(move.source.cuts, move.target.addends), move.target, move.mesh, move.shape)
    if rest.source != rest.target:
        shared += _planned(rest.pattern, move.mesh, move.shape)
    return min(direct, shared) * width


@functools.lru_cache(maxsize=4096)
def _planned(pattern: str, mesh: str, shape: Shape) -> int:
    """Elements of the busiest rank."""
    plan = plan_of(pattern, mesh, shape)
    if plan.mesh.ranks <= MOST_RANKS:
        return max(plan.largest_load(1)[:2])
    lists = (messages for rank in _asked(plan.mesh) for messages in (plan.packs(rank), plan.unpacks(rank)))
    return max(sum(message.elements for message in messages) for messages in lists)


def _asked(mesh: Mesh) -> list[int]:
    """Ranks that are asked: all of few, of many those at the ends and in between."""
    if mesh.ranks <= MOST_RANKS:
        return list(range(mesh.ranks))
    return sorted({0, 1, mesh.ranks // 3, mesh.ranks // 2, mesh.ranks - 1})
