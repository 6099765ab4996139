"""Random einsums of distributed arrays, what each rank has of them, and what NumPy makes of the whole arrays."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import parts

from axisloom._cuts import Axis, Dim, Side
from axisloom.distributed import Mesh


class Case(NamedTuple):
    """`extents` are those of each operand's axes, and of the result's."""

    sides: tuple[Side, ...]
    mesh: str
    extents: tuple[dict[str, int], ...]
    seed: int

    def __str__(self) -> str:
        return f'{self.seed}: "{self.pattern}" of {list(self.shapes)} over "{self.mesh}"'

    @property
    def pattern(self) -> str:
        *operands, output = map(str, self.sides)
        return f"{', '.join(operands)} -> {output}"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        pairs = zip(self.sides[:-1], self.extents)
        return tuple(tuple(extents[dim.axes[0].name] for dim in side.dims) for side, extents in pairs)

    @property
    def ranks(self) -> int:
        return Mesh(self.mesh).ranks

    def addends(self, operand: int) -> list[np.ndarray]:
        """The whole operand, as many times as there are addends of it. Whole numbers: sums of them are exact."""
        mesh, shape = Mesh(self.mesh), self.shapes[operand]
        count = int(np.prod([mesh.axes[name] for name in self.sides[operand].addends]))
        draw = np.random.default_rng([self.seed, operand])
        return [draw.integers(-3, 4, shape).astype("f8") for _ in range(count)]

    def local(self, operand: int, rank: int, wholes: Sequence[np.ndarray] | None = None) -> np.ndarray:
        """What a rank has; of other whole arrays, if they are given."""
        wholes = self.addends(operand) if wholes is None else wholes
        whole = wholes[addend_of(self.sides[operand], Mesh(self.mesh), rank)]
        return whole[np.ix_(*self.places(operand, rank))] if whole.ndim else whole

    def places(self, number: int, rank: int) -> list[np.ndarray]:
        return parts.part(self.sides[number], self.extents[number], Mesh(self.mesh), rank)

    def result(self, wholes: Sequence[np.ndarray] | None = None) -> np.ndarray:
        if wholes is None:
            wholes = [sum(self.addends(number)) for number in range(len(self.sides) - 1)]
        *operands, output = ["".join(dim.axes[0].name for dim in side.dims) for side in self.sides]  # letters
        return np.einsum(f"{','.join(operands)}->{output}", *wholes)

    def part(self, result: np.ndarray, rank: int) -> np.ndarray:
        """A rank's part of the result."""
        return result[np.ix_(*self.places(-1, rank))] if result.ndim else result

    def together(self, rank: int) -> list[int]:
        """The ranks whose results are the addends of this rank's; the rank alone where there are none."""
        mesh = Mesh(self.mesh)
        own = mesh.coordinates(rank)
        kept = [name for name in mesh.axes if name not in self.sides[-1].addends]
        return [one for one in range(mesh.ranks) if all(mesh.coordinates(one)[name] == own[name] for name in kept)]


def addend_of(side: Side, mesh: Mesh, rank: int) -> int:
    at = mesh.coordinates(rank)
    return functools.reduce(lambda found, name: found * mesh.axes[name] + at[name], side.addends, 0)


def draw(seed: int, meshes: Sequence[str]) -> Case:
    dice = random.Random(seed)
    mesh = Mesh(dice.choice(meshes))
    names = list("abcde"[: dice.randint(1, 5)])
    whole = {name: dice.choice((1, 2, 3, 4, 5, 6, 7, 8)) for name in names}
    if dice.random() < 0.05:
        whole[dice.choice(names)] = 0
    operands = [dice.sample(names, dice.randint(0, len(names))) for _ in range(dice.choice((1, 2, 2, 2, 2, 3)))]
    operands[0] = operands[0] or [names[0]]
    if dice.random() < 0.1:
        operands[0] = [*operands[0], operands[0][0]]  # a diagonal
    given = list(dict.fromkeys(itertools.chain(*operands)))
    output = dice.sample(given, dice.randint(0, len(given)))
    extents = [{name: whole[name] for name in axes} for axes in operands]
    for own in extents[1:]:  # axes that are broadcast
        for name in own:
            if dice.random() < 0.07:
                own[name] = 1
    longest = {name: _longest([own[name] for own in extents if name in own]) for name in given}
    sides = [_cut(axes, mesh, dice) for axes in (*operands, output)]
    free = [[name for name in mesh.axes if not any(name in dim.over for dim in side.dims)] for side in sides]
    sides = [
        side._replace(addends=tuple(name for name in spare if dice.random() < 0.15))
        for side, spare in zip(sides[:-1], free)
    ] + sides[-1:]
    summed = [name for name in given if name not in output and not any(axes.count(name) > 1 for axes in operands)]
    staying = [
        name for name in free[-1]
        if (summed or any(name in side.addends for side in sides[:-1])) and dice.random() < 0.2
    ]  # fmt: skip
    sides[-1] = sides[-1]._replace(addends=tuple(staying))
    return Case(tuple(sides), str(mesh), (*extents, {name: longest[name] for name in output}), seed)


def _longest(extents: Sequence[int]) -> int:
    return next((extent for extent in extents if extent != 1), 1)


def _cut(axes: Sequence[str], mesh: Mesh, dice: random.Random) -> Side:
    dims = [Dim((Axis(name),)) for name in axes]
    return Side(parts._with_cuts(dims, mesh, dice, plain=False) if dims else ())
