"""What ranks hold, by plain indexing, and random patterns over meshes."""

from __future__ import annotations

import itertools
import math
import random
import re

import einops
import numpy as np

CUT = re.compile(r"@(\w+|\([\w ]+\))(?::(\w+))?")


def coordinates(mesh, rank):
    return dict(zip(mesh, np.unravel_index(rank, tuple(mesh.values()))))


def dealt(indices, text, mesh, at):
    """What a rank has of these indices, by cuts such as "@x@(y z):2"."""
    for over, deal in CUT.findall(text):
        names = over.strip("()").split()
        count = math.prod(mesh[name] for name in names)
        place = 0
        for name in names:
            place = place * mesh[name] + at[name]
        if deal == "balanced":
            indices = np.array_split(indices, count)[place]
        elif deal:
            blocks = [indices[i : i + int(deal)] for i in range(0, len(indices), int(deal))]
            indices = np.concatenate([indices[:0], *blocks[place::count]])
        else:
            size = -(-len(indices) // count)
            indices = indices[place * size : (place + 1) * size]
    return indices


def dims(side):
    """For each axis of an array the axes that it is made of, with their cuts, and the cuts of the whole."""
    for group, cuts, name, own in re.findall(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)((?:@(?:\w+|\([\w ]+\))(?::\w+)?)*)|"
                                             r"(\w+)((?:@(?:\w+|\([\w ]+\))(?::\w+)?)*)", side.split("+")[0]):
        axes = re.findall(r"(\w+)((?:@(?:\w+|\([\w ]+\))(?::\w+)?)*)", group)
        yield (axes, cuts) if not name else ([(name, own)], "")


def part(whole, side, lengths, mesh, rank):
    """What a rank has of an array."""
    at = coordinates(mesh, rank)
    taken = []
    for axes, cuts in dims(side):
        indices = np.zeros(1, int)
        for name, own in axes:
            step = dealt(np.arange(lengths[name]), own, mesh, at)
            indices = (indices[:, None] * lengths[name] + step).reshape(-1)
        taken.append(dealt(indices, cuts, mesh, at))
    return whole[np.ix_(*taken)] if taken else whole


def plain(pattern):
    """The pattern without its mesh."""
    return re.sub(r"\+\w+", "", CUT.sub("", pattern))


class Case:
    """A pattern, a mesh, lengths and a whole array, the same on all ranks that draw from the same numbers."""

    def __init__(self, draw: random.Random, ranks: int = 4) -> None:
        self.mesh = draw.choice([{"x": ranks}, {"x": 2, "y": ranks // 2} if ranks % 2 == 0 else {"x": ranks}])
        names = draw.sample("abcd", draw.randint(1, 4))
        self.lengths = {name: draw.choice([1, 2, 3, 4, 5, 7, 8]) for name in names}
        self.new = {"n": draw.randint(1, 3)} if draw.random() < 0.2 else {}
        self.sums = tuple(name for name in self.mesh if draw.random() < 0.2)
        self.kept_sums = tuple(name for name in self.sums if draw.random() < 0.2)
        left = self._side(draw, names, self.sums)
        right = self._side(draw, [*names, *self.new], self.kept_sums)
        self.pattern = f"{left} -> {right}"
        self.dtype = np.dtype(draw.choice(["u1", "i2", "f4", ">f4", "f8", "c8", "c16"]))
        numbers = np.random.default_rng(draw.getrandbits(32))
        shape = tuple(math.prod(self.lengths[name] for name, _ in axes) for axes, _ in dims(left))
        #: One addend for each place along the mesh axes that are summed.
        self.addends = numbers.integers(0, 50, (*(self.mesh[name] for name in self.sums), *shape)).astype(self.dtype)
        self.order = draw.choice(["C", "F", "reversed", "gaps"])

    def _side(self, draw, names, sums):
        names = draw.sample(names, len(names))
        groups, at = [], 0
        while at < len(names):
            size = draw.choice([1, 1, 2, 3])
            groups.append(names[at : at + size])
            at += size
        spare = [name for name in self.mesh if name not in sums]
        draw.shuffle(spare)
        text = []
        for group in groups:
            whole = len(group) > 1 and draw.random() < 0.5
            axes = " ".join(name + ("" if whole else self._cut(draw, spare)) for name in group)
            text.append(f"({axes})" + (self._cut(draw, spare) if whole else "") if len(group) > 1 else axes)
        return " ".join([*text, *(f"+{name}" for name in sums)])

    @staticmethod
    def _cut(draw, spare):
        if not spare or draw.random() < 0.4:
            return ""
        deal = draw.choice(["", "", ":balanced", ":1", ":2", ":3"])
        if len(spare) > 1 and draw.random() < 0.3:
            first, second = spare.pop(), spare.pop()
            return f"@({first} {second}){deal}" if draw.random() < 0.5 else f"@{first}@{second}"
        return f"@{spare.pop()}{deal}"

    def local(self, rank):
        at = coordinates(self.mesh, rank)
        whole = self.addends[tuple(at[name] for name in self.sums)]
        return laid_out(part(whole, self.pattern.split("->")[0], self.lengths, self.mesh, rank), self.order)

    def expected(self, rank):
        """The local result; where it holds addends, the sum of all."""
        whole = self.addends.sum(axis=tuple(range(len(self.sums)))).astype(self.dtype)
        result = einops.repeat(whole, plain(self.pattern), **self.given, **self.new)
        side = self.pattern.split("->")[1]
        return part(result, side, {**self.lengths, **self.new}, self.mesh, rank)

    @property
    def given(self):
        """Lengths that the shape does not tell."""
        return {name: self.lengths[name] for axes, _ in dims(self.pattern.split("->")[0]) for name, _ in axes[1:]}

    def __str__(self) -> str:
        return f"{self.pattern!r} of {self.dtype} over {self.mesh} with {self.lengths} {self.new}, {self.order}"


def laid_out(array, order):
    """The same elements in another order of memory."""
    if order == "reversed":
        return np.ascontiguousarray(array[(slice(None, None, -1),) * array.ndim])[(slice(None, None, -1),) * array.ndim]
    if order == "gaps":
        wide = np.zeros([2 * extent for extent in array.shape], array.dtype)
        wide[tuple(slice(None, None, 2) for _ in array.shape)] = array
        return wide[tuple(slice(None, None, 2) for _ in array.shape)]
    return np.asarray(array, order=order)


def cases(seed, count):
    draw = random.Random(seed)
    return [Case(draw) for _ in itertools.repeat(None, count)]
