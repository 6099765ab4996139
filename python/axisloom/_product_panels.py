"""Panels: pieces of what travels for a product of distributed arrays, that come or go while others are multiplied."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from ._products import Layout, Move, Product, item_bytes, load_of

LEAST_PANEL = 16 << 20  # bytes that travel: NCCL needs some for its speed
MOST_PANELS = 8
MOST_LEADS = 2

Piece = tuple[int, int]  # of an axis of a local array: first, and one past the last


class Lead(NamedTuple):
    """An operand without panels comes in pieces along another kept axis, beside the first panel."""

    operand: int
    axis: str
    pieces: tuple[Piece, ...]


class Panels(NamedTuple):
    """Along a kept axis: one travels while the one before is multiplied."""

    axis: str
    pieces: tuple[Piece, ...]
    lead: Lead | None


def panels_of(product: Product) -> Panels | None:
    """Along the kept axis that most of what travels has; None where one piece is best, or none can be cut off."""
    best, most = None, 0
    for axis in product.expression.output.axes:
        weight = _weight(product, axis)
        if weight >= most:
            best, most = axis, weight
    if best is None or not most:
        return None
    extent = product.extents[best] // parts_of(product, best)
    needed = -(-2 * _held(product, best) // product.workspace)
    count = min(max(min(most // LEAST_PANEL, MOST_PANELS), needed), extent)
    return Panels(best, _pieces(extent, count), _lead(product, best)) if count > 1 else None


def _pieces(extent: int, count: int) -> tuple[Piece, ...]:
    bounds = [extent * place // count for place in range(count + 1)]
    return tuple(zip(bounds, bounds[1:]))


def _place(product: Product, axis: str) -> int:
    return product.expression.output.axes.index(axis)


def parts_of(product: Product, axis: str) -> int:
    """Into how many parts a kept axis is cut, where ranks multiply."""
    cuts = product.way.made.cuts[_place(product, axis)]
    return math.prod(product.mesh.axes[name] for cut in cuts for name in cut.over)


def _is_even(product: Product, axis: str) -> bool:
    """Whether parts are equal, and each in one piece, and the axis stands once in each operand."""
    terms = product.expression.terms
    cuts = product.way.made.cuts[_place(product, axis)]
    even = product.extents[axis] % parts_of(product, axis) == 0 and not any(cut.deal for cut in cuts)
    return even and all(term.axes.count(axis) < 2 for term in terms)


def has_axis(product: Product, operand: int, axis: str) -> bool:
    """Whether an operand has this axis, in its whole length."""
    term, shape = product.expression.terms[operand], product.shapes[operand]
    return axis in term.axes and shape[term.axes.index(axis)] == product.extents[axis]


def _stages(product: Product, axis: str) -> Iterator[tuple[Move, int, int]]:
    """What travels and has this axis: the move, the axis's place, and bytes of an element."""
    for number, move in enumerate(product.way.moves):
        if move is not None and has_axis(product, number, axis):
            yield move, product.expression.terms[number].axes.index(axis), item_bytes(product.dtypes[number])
    if product.way.sums is not None:
        yield product.way.sums, _place(product, axis), item_bytes(product.made_dtype)


def _weight(product: Product, axis: str) -> int:
    """Bytes that travel in panels along this axis. 0 where a piece of it on one side is not one on the other."""
    if not _is_even(product, axis):
        return 0
    total, cuts = 0, product.way.made.cuts[_place(product, axis)]
    for move, place, width in _stages(product, axis):
        if not move.source.cuts[place] == move.target.cuts[place] == cuts:
            return 0
        total += load_of(move, width)
    return total


def _held(product: Product, axis: str) -> int:
    """Bytes of all panels, as they lie on a rank."""
    total = 0
    for move, _, width in _stages(product, axis):
        sides = (move.plan.local_in_shape(0), move.plan.local_out_shape(0))
        total += max(map(math.prod, sides)) * width
    return total


def _lead(product: Product, axis: str) -> Lead | None:
    """The operand that would otherwise come as a whole before all else, where it is large."""
    found = None
    most = 2 * LEAST_PANEL - 1
    for number, (term, move) in enumerate(zip(product.expression.terms, product.way.moves)):
        if move is None or has_axis(product, number, axis):
            continue
        load = load_of(move, item_bytes(product.dtypes[number]))
        own = next((name for name in product.expression.output.axes if _leads(product, number, name)), None)
        if load > most and own is not None:
            extent = product.extents[own] // parts_of(product, own)
            count = min(load // LEAST_PANEL, MOST_LEADS, extent)
            found, most = Lead(number, own, _pieces(extent, count)) if count > 1 else None, load
    return found


def _leads(product: Product, operand: int, axis: str) -> bool:
    """Whether pieces along this axis can come by themselves: no other operand has it, and it is cut as before, or was
    not cut before."""
    terms = product.expression.terms
    if [number for number, term in enumerate(terms) if axis in term.axes] != [operand]:
        return False
    move, place = product.way.moves[operand], terms[operand].axes.index(axis)
    assert move is not None
    return _is_even(product, axis) and move.source.cuts[place] in ((), move.target.cuts[place])


def piece_of(move: Move, place: int, length: int, parts: int) -> Move:
    """The move of a piece of this length along an axis, which both sides cut alike."""
    return move._replace(shape=(*move.shape[:place], length * parts, *move.shape[place + 1 :]))


def piece_to_cut(move: Move, place: int, length: int, parts: int) -> Move:
    """The same where only the target is cut: the axis is two, of which the parts are the first."""

    def split(layout: Layout) -> Layout:
        return layout._replace(cuts=(*layout.cuts[: place + 1], (), *layout.cuts[place + 1 :]))

    shape = (*move.shape[:place], parts, length, *move.shape[place + 1 :])
    return move._replace(source=split(move.source), target=split(move.target), shape=shape)
