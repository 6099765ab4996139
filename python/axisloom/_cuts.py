"""One side of a pattern of distributed arrays: its axes, and the mesh axes that cut them.

The library checks patterns and says what is wrong with them. Here they are taken to be right.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

_TOKEN = re.compile(r"\.\.\.|\w+|[()]|@(?:\w+|\([\w ]*\))(?::\w*)?|\+\w*")


class Cut(NamedTuple):
    """ "@x", "@(x y)", "@x:balanced", "@x:2"."""

    over: tuple[str, ...]  # mesh axes, slowest first
    deal: str = ""  # how long the parts are: "" of torch.chunk, "balanced", or a length of blocks

    def __str__(self) -> str:
        over = self.over[0] if len(self.over) == 1 else f"({' '.join(self.over)})"
        return f"@{over}{':' if self.deal else ''}{self.deal}"


class Axis(NamedTuple):
    """A name, a number or an ellipsis, and what is cut of it."""

    name: str
    cuts: tuple[Cut, ...] = ()

    def __str__(self) -> str:
        return self.name + "".join(map(str, self.cuts))


class Dim(NamedTuple):
    """An axis of the array: what it is made of, slowest first, and the cuts behind the parenthesis."""

    axes: tuple[Axis, ...]
    composed: bool = False
    cuts: tuple[Cut, ...] = ()

    def __str__(self) -> str:
        axes = " ".join(map(str, self.axes))
        return (f"({axes})" if self.composed else axes) + "".join(map(str, self.cuts))

    @property
    def over(self) -> tuple[str, ...]:
        """All mesh axes that cut it or its parts."""
        cuts = [*(cut for axis in self.axes for cut in axis.cuts), *self.cuts]
        return tuple(name for cut in cuts for name in cut.over)


class Side(NamedTuple):
    """The left or the right of a pattern."""

    dims: tuple[Dim, ...]
    addends: tuple[str, ...] = ()  # mesh axes along which ranks hold addends

    def __str__(self) -> str:
        return " ".join([*map(str, self.dims), *(f"+{name}" for name in self.addends)])

    @property
    def has_cuts(self) -> bool:
        return bool(self.addends) or any(dim.over for dim in self.dims)

    def spread(self, rank: int) -> Side | None:
        """With a dim for each axis of an array of that rank in place of an ellipsis; None where it has another rank."""
        at = [place for place, dim in enumerate(self.dims) if dim.axes == (Axis("..."),) and not dim.composed]
        if not at:
            return self if len(self.dims) == rank else None
        more = rank - len(self.dims) + 1
        if more < 0:
            return None
        names = tuple(Dim((Axis(f"...{place}"),)) for place in range(more))
        return Side((*self.dims[: at[0]], *names, *self.dims[at[0] + 1 :]), self.addends)


@functools.lru_cache(maxsize=1024)
def parse_side(text: str) -> Side:
    """
    >>> parse_side("b (h@x w) s@(y z):2 +t").dims[1].axes
    (Axis(name='h', cuts=(Cut(over=('x',), deal=''),)), Axis(name='w', cuts=()))
    >>> str(parse_side("b (h@x  w) s@(y z):2 +t"))
    'b (h@x w) s@(y z):2 +t'
    """
    dims: list[Dim] = []
    addends: list[str] = []
    group: list[Axis] | None = None
    closed = False  # whether a cut that follows is the parenthesis'
    for token in _TOKEN.findall(text):
        if token == "(":
            group = []
        elif token == ")":
            dims.append(Dim(tuple(group or ()), True))
            group, closed = None, True
        elif token[0] == "+":
            addends.append(token[1:])
        elif token[0] != "@":
            closed = False
            if group is None:
                dims.append(Dim((Axis(token),)))
            else:
                group.append(Axis(token))
        elif group:
            group[-1] = group[-1]._replace(cuts=(*group[-1].cuts, _cut(token)))
        elif dims and closed:
            dims[-1] = dims[-1]._replace(cuts=(*dims[-1].cuts, _cut(token)))
        elif dims:
            axis = dims[-1].axes[0]
            dims[-1] = Dim((axis._replace(cuts=(*axis.cuts, _cut(token))),))
    return Side(tuple(dims), tuple(addends))


def _cut(token: str) -> Cut:
    over, _, deal = token[1:].partition(":")
    return Cut(tuple(over.strip("()").split()), deal)


def parse_sides(pattern: str) -> tuple[Side, Side]:
    """Left and right."""
    left, _, right = pattern.partition("->")
    return parse_side(left), parse_side(right)
