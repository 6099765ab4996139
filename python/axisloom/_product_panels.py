"""Panels: pieces of what travels for a product of distributed arrays, that come or go while others are multiplied."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from ._products import Move, Product, item_bytes, load_of

# Bytes that travel. A panel costs two H200 30 us of cards that meet and products that begin, and the host some 150. So
# four take 0.75 ms for a product of bfloat16 of 8192 a side, where 96 MiB travel, without panels, and 2.2 ms in five of
# them. Of 16384 a side it takes them 3.72 ms in five, and 3.82 in nine.
LEAST_PANEL = 64 << 20
MOST_PANELS = 4

# Panels are as many elements long as a tile of the product's kernels, where they can be: rows of odd lengths are not for
# tensor cores' copies. Six panels of 2730 and 2731 took four H200 24 ms, where one took 13 without any.
TILE = 256

Piece = tuple[int, int]  # of an axis of a local array: first, and one past the last


class Panels(NamedTuple):
    """Along a kept axis: one travels while the one before is multiplied."""

    axis: str
    pieces: tuple[Piece, ...]


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
    if count < 2:
        return None
    pieces = _pieces_of(extent, count, -(-extent // max(needed, 1)))
    comes = any(move is not None and has_axis(product, number, best) for number, move in enumerate(product.way.moves))
    return Panels(best, _with_short_first(pieces) if comes else pieces)


def _pieces_of(extent: int, count: int, longest: int) -> tuple[Piece, ...]:
    """`count` pieces of nearly one length, of whole tiles, or of parts of them where pieces would be too long."""
    tile = TILE
    while True:
        tiles = extent // tile
        bounds = [tiles * place // count * tile for place in range(count)] + [extent]
        pieces = tuple(zip(bounds, bounds[1:]))
        if tile == 1 or (tiles >= count and max(last - first for first, last in pieces) <= longest):
            return pieces
        tile //= 2


def _with_short_first(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Nothing hides how the first panel comes: a quarter of it goes by itself, of whole tiles or of a power of two. While
    an H200 multiplies that, some three times as much comes."""
    first, last = pieces[0]
    quarter = (last - first) // 4
    if quarter == 0:
        return pieces
    quarter -= quarter % min(TILE, 1 << quarter.bit_length() - 1)
    return ((first, first + quarter), (first + quarter, last), *pieces[1:])


def _place(product: Product, axis: str) -> int:
    return product.expression.output.axes.index(axis)


def parts_of(product: Product, axis: str) -> int:
    """Into how many parts a kept axis is cut, where ranks multiply."""
    cuts = product.way.made.cuts[_place(product, axis)]
    return math.prod(product.mesh.axes[name] for cut in cuts for name in cut.over)


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
    cuts = product.way.made.cuts[_place(product, axis)]
    if product.extents[axis] % parts_of(product, axis) or any(cut.deal for cut in cuts):
        return 0
    if any(term.axes.count(axis) > 1 for term in product.expression.terms):
        return 0
    total = 0
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


def piece_of(move: Move, place: int, length: int, parts: int) -> Move:
    """The move of a piece of this length along an axis, which both sides cut alike."""
    return move._replace(shape=(*move.shape[:place], length * parts, *move.shape[place + 1 :]))
