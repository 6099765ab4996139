"""Patterns bound to shapes that may be symbolic, and turned around, for shapes under torch.compile and for gradients.

The library checks patterns and says what is wrong with them. Here they are taken to be right, but for lengths that do
not fit: those of symbolic shapes the library never sees.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch

Extent = Any  # int or torch.SymInt
Composition = tuple[int, ...]  # the elementary axes of an array's axis, slowest first; none: an axis of length 1
Side = tuple[Composition, ...]  # by axis of the array

_TOKEN = re.compile(r"\.\.\.|\w+|[()]")
_LETTER = re.compile(r"\.\.\.|[A-Za-z]")  # in NumPy's spelling of an einsum


class Group(NamedTuple):
    """One axis as written: "c", "(h h2)", "...", "(...)"."""

    tokens: tuple[str, ...]
    composed: bool


@dataclasses.dataclass(frozen=True)
class Bound:
    """A pattern whose elementary axes are numbered and have their extents."""

    extents: tuple[Extent, ...]
    inputs: tuple[Side, ...]
    output: Side

    def shape(self, side: Side) -> list[Extent]:
        return [math.prod(self.extents[axis] for axis in composition) for composition in side]

    def lengths(self, *sides: Side) -> dict[str, Extent]:
        """Those of all axes that stand on these sides, by the names that `written` gives them."""
        return {name_of(axis): self.extents[axis] for axis in sorted({*flat(sides)})}

    @functools.cached_property
    def removed(self) -> list[int]:
        kept = set(flat([self.output]))
        return [axis for axis in dict.fromkeys(flat(self.inputs)) if axis not in kept]

    @functools.cached_property
    def added(self) -> list[int]:
        given = set(flat(self.inputs))
        return [axis for axis in flat([self.output]) if axis not in given]

    @functools.cached_property
    def forward(self) -> tuple[str, dict[str, Extent]]:
        """The pattern as it is, of one array, with all of its lengths."""
        return pattern_of(self.inputs, self.output), self.lengths(self.inputs[0], self.output)

    @functools.cached_property
    def backward(self) -> tuple[str, dict[str, Extent]]:
        """From the output to the input."""
        return pattern_of([self.output], self.inputs[0]), self.lengths(self.inputs[0], self.output)


def flat(sides: Iterable[Side]) -> Iterator[int]:
    return (axis for side in sides for composition in side for axis in composition)


def name_of(axis: int) -> str:
    return f"a{axis}"


def written(side: Side) -> str:
    """As a pattern spells it: "a0 (a1 a2) 1"."""
    return " ".join(
        name_of(composition[0]) if len(composition) == 1 else f"({' '.join(map(name_of, composition))})"
        for composition in side
    )


def pattern_of(inputs: Sequence[Side], output: Side) -> str:
    """A digit stands in every name, so that einsum reads none as NumPy's letters."""
    return f"{', '.join(map(written, inputs))} -> {written(output)}"


def bind(
    pattern: str, shapes: Sequence[Sequence[Extent]], lengths: Mapping[str, Extent], broadcast: bool = False
) -> Bound:
    """`broadcast`: that of einsum, where an axis of length 1 goes with any length of its name."""
    inputs, output = parse(pattern, tuple(len(shape) for shape in shapes))
    return _Binder(inputs, output, shapes, lengths, broadcast).bind()


def parse_side(side: str) -> list[Group]:
    """The axes of one array in einops' spelling."""
    return _groups(_TOKEN.findall(side))


@functools.lru_cache(maxsize=1024)
def parse(pattern: str, ranks: Sequence[int]) -> tuple[list[list[Group]], list[Group]]:
    """The groups of each input and of the output. `ranks` tells how an einsum's pattern is spelled."""
    left, arrow, right = pattern.partition("->")
    parts = left.split(",")
    token = _LETTER if _is_compact(parts, arrow, right, ranks) else _TOKEN
    inputs = [_groups(token.findall(part)) for part in parts]
    return inputs, _groups(token.findall(right)) if arrow else _implicit_output(inputs)


def _is_compact(parts: list[str], arrow: str, right: str, ranks: Sequence[int]) -> bool:
    """Whether every letter is an axis: as core/pattern.hpp has it of parse_einsum, in words."""
    if not arrow:
        return True
    sides = [part.strip() for part in (*parts, right)]
    if not all(re.fullmatch(r"[A-Za-z.]*", side) for side in sides):
        return False
    wide = [(side, rank) for side, rank in zip(sides, ranks) if len(side) > 1 and side.strip(".")]
    names = [side for side, rank in wide if rank == 1 and "." not in side]
    return len(names) < len(wide) or not names


def _groups(tokens: Iterable[str]) -> list[Group]:
    groups: list[Group] = []
    inside: list[str] | None = None
    for token in tokens:
        if token == "(":
            inside = []
        elif token == ")":
            groups.append(Group(tuple(inside or ()), composed=True))
            inside = None
        elif inside is not None:
            inside.append(token)
        else:
            groups.append(Group((token,), composed=False))
    return groups


def _implicit_output(inputs: list[list[Group]]) -> list[Group]:
    """NumPy's: the ellipsis, then every letter that stands once, capitals first."""
    tokens = [group.tokens[0] for groups in inputs for group in groups]
    once = sorted(token for token in tokens if token != "..." and tokens.count(token) == 1)
    return _groups((["..."] if "..." in tokens else []) + once)


class _Binder:
    def __init__(
        self,
        inputs: list[list[Group]],
        output: list[Group],
        shapes: Sequence[Sequence[Extent]],
        lengths: Mapping[str, Extent],
        broadcast: bool,
    ) -> None:
        self.written = (inputs, output)
        self.shapes = shapes
        self.lengths = lengths
        self.broadcast = broadcast
        self.numbers: dict[str, int] = {}
        self.extents: list[Extent | None] = []
        self.fixed: set[int] = set()

    def bind(self) -> Bound:
        groups, output = self.written
        unnamed = [self.count_unnamed(side, shape) for side, shape in zip(groups, self.shapes, strict=True)]
        widest = max(unnamed)
        inputs = tuple(self.expand(side, count, widest) for side, count in zip(groups, unnamed))
        bound_output = self.expand(output, widest, widest)
        for name, length in self.lengths.items():
            if name not in self.numbers:
                raise ValueError(f"the pattern has no axis '{name}', but a length is given for it")
            self.extents[self.numbers[name]] = length
            self.fixed.add(self.numbers[name])
        self.infer(inputs)
        if None in self.extents:
            raise ValueError("a new axis has no length: give it")
        return Bound(tuple(self.extents), inputs, bound_output)

    def count_unnamed(self, groups: list[Group], shape: Sequence[Extent]) -> int:
        """Axes that the ellipsis stands for."""
        has_ellipsis = any("..." in group.tokens for group in groups)
        count = len(shape) - len(groups) + has_ellipsis
        if count < 0 or (count > 0 and not has_ellipsis):
            raise ValueError(f"the pattern has {len(groups)} axes, but the tensor has {len(shape)}")
        return count

    def expand(self, groups: list[Group], unnamed: int, widest: int) -> Side:
        ellipsis = [axis for number in range(widest - unnamed, widest) for axis in self.axis(f"..{number}")]
        side: list[Composition] = []
        for group in groups:
            if group.composed:
                axes = [ellipsis if token == "..." else self.axis(token) for token in group.tokens]
                side.append(tuple(axis for part in axes for axis in part))
            elif group.tokens[0] == "...":
                side.extend((axis,) for axis in ellipsis)
            else:
                side.append(tuple(self.axis(group.tokens[0])))
        return tuple(side)

    def axis(self, token: str) -> list[int]:
        if token == "1":
            return []
        number = len(self.extents)
        if token.isdigit():
            self.fixed.add(number)
        else:
            number = self.numbers.setdefault(token, number)
        if number == len(self.extents):
            self.extents.append(int(token) if token.isdigit() else None)
        return [number]

    def infer(self, inputs: tuple[Side, ...]) -> None:
        """A composed axis of one array may become known only through another array."""
        open_axes = [
            (composition, extent)
            for side, shape in zip(inputs, self.shapes)
            for composition, extent in zip(side, shape, strict=True)
        ]
        while open_axes:
            later = [place for place in open_axes if not self.settle(*place)]
            if len(later) == len(open_axes):
                raise ValueError("a composed axis has more than one unknown length: give all of its lengths but one")
            open_axes = later

    def settle(self, composition: Composition, extent: Extent) -> bool:
        unknown = [axis for axis in composition if self.extents[axis] is None]
        if len(unknown) > 1:
            return False
        if not unknown and self.broadcast and len(composition) == 1 and composition[0] not in self.fixed:
            self.settle_broadcast(composition[0], extent)
            return True
        product = math.prod(length for axis in composition if (length := self.extents[axis]) is not None)
        if unknown:
            _check(product > 0, lambda: f"a length of {extent} cannot be divided into parts of {product}")
            _check(extent % product == 0, lambda: f"a length of {extent} cannot be divided into parts of {product}")
            self.extents[unknown[0]] = extent // product
        else:
            _check(extent == product, lambda: f"the tensor has length {extent} where the pattern says {product}")
        return True

    def settle_broadcast(self, axis: int, extent: Extent) -> None:
        known = self.extents[axis]
        if is_one(known):
            self.extents[axis] = extent
        elif not is_one(extent):
            _check(extent == known, lambda: f"an axis has length {extent} in one tensor, and {known} in another")


def is_one(extent: Extent) -> bool:
    """A length that is not known while compiling counts as longer."""
    return extent == 1 if isinstance(extent, int) else torch.fx.experimental.symbolic_shapes.guard_or_false(extent == 1)


def _check(condition: Any, message: Any) -> None:
    torch._check_value(condition, message)
