"""The gradient of an operand of a distributed einsum, which is another one: of the result's and the other operands."""

from __future__ import annotations

import functools
from typing import NamedTuple

from axisloom._products import Cuts, Layout, Move, Shape, Term, expression_of, extents_of
from axisloom.distributed import Mesh


class Gradient(NamedTuple):
    """The einsum, and what is to be done with what it leaves: some axes of the operand, each once."""

    pattern: str
    shapes: tuple[Shape, ...]  # of the result's gradient and the other operands, whole
    left_out: tuple[int, ...]  # places of the operand's axes that it lacks, in their order
    diagonals: tuple[tuple[int, int], ...]  # places of an axis that stands again
    whole: dict[int, int]  # extents of axes that are left uncut as they stand again
    parted: Move | None  # cuts them as the operand's are


@functools.lru_cache(maxsize=256)
def gradient_of(pattern: str, mesh: str, shapes: tuple[Shape, ...], number: int, copies_add: bool) -> Gradient:
    """As of a rearrange: with copies_add, gradients of copies of the result are addends; an addend's is that of the
    sum, on all ranks."""
    axes_of_mesh = Mesh(mesh)
    expression = expression_of(pattern, axes_of_mesh, shapes)
    names = {axis: f"a{place}" for place, axis in enumerate(extents_of(expression, shapes))}
    output, own, shape = expression.output, expression.terms[number], shapes[number]
    extents = extents_of(expression, shapes)
    cut = {name for cuts in output.layout.cuts for one in cuts for name in one.over}
    copied = [name for name, count in axes_of_mesh.axes.items()
              if count > 1 and name not in cut and name not in output.layout.addends]  # fmt: skip
    given = Term(output.axes, Layout(output.layout.cuts, tuple(copied) if copies_add else ()))
    others = [term for place, term in enumerate(expression.terms) if place != number]
    whole = tuple(extents[axis] for axis in output.axes)
    rest = [whole, *(one for place, one in enumerate(shapes) if place != number)]
    there = extents_of(expression._replace(terms=(given, *others)), rest)

    first = {axis: own.axes.index(axis) for axis in own.axes}
    again = [place for place, axis in enumerate(own.axes) if first[axis] != place]
    doubled = {own.axes[place] for place in again}
    kept = [place for axis, place in first.items() if there.get(axis) == shape[place]]
    uncut: list[Cuts] = [() if axis in doubled else cuts for axis, cuts in zip(own.axes, own.layout.cuts)]
    target = Term(tuple(own.axes[place] for place in kept), Layout(tuple(uncut[place] for place in kept)))
    parted = None
    if any(own.layout.cuts[place] for place in range(len(shape)) if own.axes[place] in doubled):
        parted = Move(Layout(tuple(uncut)), Layout(own.layout.cuts), mesh, shape)
    return Gradient(
        f"{', '.join(_told(term, names) for term in (given, *others))} -> {_told(target, names)}",
        tuple(rest),
        tuple(place for place in range(len(shape)) if place not in kept),
        tuple((first[own.axes[place]], place) for place in again),
        {place: shape[place] for place in range(len(shape)) if own.axes[place] in doubled},
        parted,
    )


def _told(term: Term, names: dict[str, str]) -> str:
    return str(Term(tuple(names[axis] for axis in term.axes), term.layout))

