"""axisloom.torch.reduce over the ranks of a process group: against the whole tensor on one rank."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

import axisloom
import axisloom.torch as ours
from axisloom import _reduced
from axisloom.distributed import RankError

pytestmark = pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="gloo is not there")

MESHES = {1: ("x=1",), 2: ("x=2", "x=1 y=2"), 3: ("x=3",), 4: ("x=4", "x=2 y=2")}
NAMES = ("sum", "mean", "prod", "min", "max", "any", "all", "count_nonzero", "norm", "argmin", "argmax")


@pytest.fixture(scope="module", params=(1, 2, 3, 4), ids="{} ranks".format)
def ranks(request: pytest.FixtureRequest) -> Iterator[Ranks]:
    made = Ranks(request.param)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def two() -> Iterator[Ranks]:
    made = Ranks(2)
    yield made
    made.stop()


def bits(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous().reshape(-1).view(torch.uint8)


def same_bits(got: torch.Tensor, want: torch.Tensor) -> bool:
    return got.dtype is want.dtype and got.shape == want.shape and torch.equal(bits(got), bits(want))


class Case:
    """A pattern whose sides are cut at random, a mesh and a whole tensor; alike on all ranks."""

    def __init__(self, seed: int, mesh: str) -> None:
        self.dice, self.mesh = random.Random(seed), mesh
        names = self.dice.sample("abcd", self.dice.randint(1, 4))
        self.lengths = {name: self.dice.choice([1, 2, 3, 5, 8, 16, 31, 64]) for name in names}
        while math.prod(self.lengths.values()) > 20000:
            self.lengths[max(self.lengths, key=self.lengths.__getitem__)] = 2
        kept = [name for name in names if self.dice.random() < 0.5]
        self.dice.shuffle(kept)
        self.plain_left, self.left = self._side(names)
        self.plain_right, self.right = self._side(kept)
        grouped = {name: self.lengths[name] for name in names} if "(" in self.plain_left else {}
        self.given = grouped

    def _side(self, names: list[str]) -> tuple[str, str]:
        """Without and with cuts."""
        spare = [word.partition("=")[0] for word in self.mesh.split()]
        plain, cut, at = [], [], 0
        while at < len(names):
            group = names[at : at + self.dice.choice([1, 1, 1, 2])]
            at += len(group)
            whole = len(group) > 1 and self.dice.random() < 0.5
            axes = " ".join(name + ("" if whole else self._cut(spare)) for name in group)
            plain.append(f"({' '.join(group)})" if len(group) > 1 else group[0])
            cut.append(f"({axes})" + (self._cut(spare) if whole else "") if len(group) > 1 else axes)
        return " ".join(plain), " ".join(cut)

    def _cut(self, spare: list[str]) -> str:
        if not spare or self.dice.random() < 0.3:
            return ""
        return f"@{spare.pop()}{self.dice.choice(['', '', ':balanced', ':1', ':2', ':3'])}"

    def shape(self) -> list[int]:
        return list(axisloom.rearrange(torch.zeros(list(self.lengths.values())),
                                       f"{' '.join(self.lengths)} -> {self.plain_left}").shape)

    def whole(self, dtype: torch.dtype) -> torch.Tensor:
        made = torch.Generator().manual_seed(self.dice.randrange(1 << 30))
        if dtype.is_floating_point or dtype.is_complex:
            numbers = torch.randn(self.shape(), generator=made, dtype=torch.complex64 if dtype.is_complex else None)
            return (numbers * 10 ** torch.randint(-3, 3, numbers.shape, generator=made)).to(dtype)
        return torch.randint(-3, 4, self.shape(), generator=made).to(dtype)

    def __str__(self) -> str:
        return f'"{self.left} -> {self.right}" over "{self.mesh}" with {self.lengths}'


def reduces(rank: int, count: int, seeds: range) -> list[str]:
    wrong = []
    for seed in seeds:
        dice = random.Random(seed)
        case = Case(seed, dice.choice(MESHES[count]))
        name, order = dice.choice(NAMES), dice.choice(("portable", "portable", "fast"))
        if dice.random() < 0.5:
            name, order = dice.choice(("sum", "mean", "prod")), "portable"
        dtypes = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.uint8, torch.complex64]
        dtype = dice.choice(dtypes[:-1] if name in ("min", "max", "argmin", "argmax") else dtypes)
        whole = case.whole(dtype)
        plain = f"{case.plain_left} -> {case.plain_right}"
        want = axisloom.reduce(whole, plain, name, order=order, **case.given)
        want = ours.rearrange(want, f"{case.plain_right} -> {case.right}", mesh=case.mesh, **_of(case, case.right))
        x = ours.rearrange(whole, f"{case.plain_left} -> {case.left}", mesh=case.mesh, **case.given)
        options: dict[str, Any] = {"shape": whole.shape} if dice.random() < 0.5 else {}
        pattern = f"{case.left} -> {case.right}"
        got = ours.reduce(x, pattern, name, mesh=case.mesh, order=order, **options, **case.given)
        inexact = dtype.is_floating_point or dtype.is_complex
        exact = (order == "portable" or not inexact) and name not in ("min", "max")  # of zeros of both signs either
        if order == "fast" and name == "norm":
            exact = False
        near = got.dtype is want.dtype and got.shape == want.shape and torch.allclose(
            got.to(torch.complex128), want.to(torch.complex128), 0.05, 0.5, equal_nan=True)
        if name in ("min", "max"):
            near = near and torch.equal(got, want)
        if not (same_bits(got, want) if exact else near):
            wrong.append(f"seed {seed}, {name} {order} of {dtype} {case}: {got} and not {want}")
    return wrong


def _of(case: Case, side: str) -> dict[str, int]:
    """The lengths that an array with the side's axes does not tell."""
    names = re.sub(r"@[\w:]+|[()]", " ", side).split()
    return {name: case.lengths[name] for name in names} if "(" in side else {}


@pytest.mark.parametrize("block", range(4))
def test_random_patterns(ranks: Ranks, block: int) -> None:
    found = ranks.run(reduces, len(ranks.processes), range(block * 100, block * 100 + 100))
    assert not any(found), "\n".join(found[0] or found[-1])
