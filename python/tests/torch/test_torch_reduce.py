"""axisloom.torch.reduce over the ranks of a process group: against the whole tensor on one rank."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import ROOT, Ranks, run_by_torchrun
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
        dtypes = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.uint8]
        dtypes.append(torch.complex64)
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


# Gradients, graphs, DTensors ------------------------------------------------------------------------------------------


def has_gradients(rank: int, count: int) -> None:
    whole = torch.randn(10, 6, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    weights = torch.randn(6, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for name in ("sum", "mean"):
        given = whole.clone().requires_grad_()
        (axisloom.reduce(given, "s a b -> a b", name) * weights).sum().backward()
        for order in ("portable", "fast"):
            for right, part in (("a b", "a b"), ("a@x b", "a@x b"), ("b a@x:2", "b a@x:2")):
                x = ours.rearrange(whole, "s a b -> s@x:3 a b", mesh=f"x={count}").requires_grad_()
                out = ours.reduce(x, f"s@x:3 a b -> {right}", name, mesh=f"x={count}", order=order)
                (out * ours.rearrange(weights, f"a b -> {part}", mesh=f"x={count}")).sum().backward()
                # Of a result that all ranks have, the gradients of all copies are added.
                copies = 1 if "@" in right else count
                want = ours.rearrange(given.grad, "s a b -> s@x:3 a b", mesh=f"x={count}")
                assert torch.allclose(x.grad, copies * want), (name, order, right)


def test_gradients(ranks: Ranks) -> None:
    ranks.run(has_gradients, len(ranks.processes))


def compiles(rank: int) -> None:
    whole = torch.randn(12, 30, generator=torch.Generator().manual_seed(1))
    x = whole[6 * rank : 6 * rank + 6]
    for name, order in (("sum", "portable"), ("mean", "portable"), ("mean", "fast"), ("max", "fast")):
        for cut in ("@x", "@x:balanced"):

            def twice(part: torch.Tensor, name: str = name, order: str = order, cut: str = cut) -> torch.Tensor:
                return 2 * ours.reduce(part, f"s{cut} h -> h", name, mesh="x=2", order=order)

            torch._dynamo.reset()  # it compiles one function a few times only
            compiled = torch.compile(twice, fullgraph=True, backend="aot_eager")
            assert same_bits(compiled(x), twice(x))
            part = x.clone().requires_grad_()
            compiled(part).sum().backward()
            other = x.clone().requires_grad_()
            twice(other).sum().backward()
            assert torch.allclose(part.grad, other.grad)


def test_graphs_have_no_breaks(two: Ranks) -> None:
    two.run(compiles)


def reduces_dtensors(rank: int) -> None:
    mesh = dist.init_device_mesh("cpu", (2,), mesh_dim_names=("x",))
    whole = torch.randn(12, 30, generator=torch.Generator().manual_seed(1))
    want = axisloom.reduce(whole, "s h -> h", "sum", order="portable")
    for placement in (Shard(0), Shard(1), Replicate()):
        x = dist.tensor.distribute_tensor(whole, mesh, [placement])
        got = ours.reduce(x, "s h -> h", "sum", order="portable")
        assert isinstance(got, DTensor) and got.placements == (Replicate(),) and same_bits(got.to_local(), want)
        got = ours.reduce(x, "s h -> h@x", "sum", order="portable")
        assert got.placements == (Shard(0),) and got.shape == (30,)
        assert same_bits(got.to_local(), want[15 * rank : 15 * rank + 15])
    x = DTensor.from_local(whole, mesh, [Partial()], run_check=False)
    assert torch.allclose(ours.reduce(x, "s h -> s", "sum").to_local(), 2 * axisloom.reduce(whole, "s h -> s", "sum"))
    x = dist.tensor.distribute_tensor(whole, mesh, [Shard(0)]).requires_grad_()
    ours.reduce(x, "s h -> h", "mean", order="portable").sum().backward()
    assert isinstance(x.grad, DTensor) and torch.allclose(x.grad.full_tensor(), torch.full((12, 30), 1 / 12))
    with pytest.raises(axisloom.EinopsError):
        ours.reduce(x, "s h -> q", "sum")
    with pytest.raises(axisloom.UsageError, match="mesh of its own|its own mesh"):
        ours.reduce(x, "s h -> h", "sum", mesh="x=2")


def test_dtensors(two: Ranks) -> None:
    two.run(reduces_dtensors)


# What is sent, and what is wrong --------------------------------------------------------------------------------------


def sends_little(rank: int) -> list[int]:
    """Elements that this rank sends of 64 rows of 10000, to leave each rank half of their sum."""
    counted = []
    original = dist.all_to_all_single

    def counting(output: torch.Tensor, given: torch.Tensor, *more: Any, **named: Any) -> Any:
        if given.dtype is torch.uint8:
            counted.append(given.numel() // 4)
        return original(output, given, *more, **named)

    x = torch.ones(32, 10000)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dist, "all_to_all_single", counting)
        ours.reduce(x, "s@x h -> h@x", "sum", mesh="x=2", order="portable")
    return counted


def test_a_rank_sends_no_more_than_its_block(two: Ranks) -> None:
    assert two.run(sends_little) == [[5000], [5000]]


def special_numbers(rank: int) -> None:
    inf, nan = math.inf, math.nan
    whole = torch.tensor([[inf, 1, nan, 3e38, -0.0], [1, -inf, 2, 3e38, -0.0], [2, inf, 3, -3e38, -0.0]])
    for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.complex64):
        for name in ("sum", "mean", "prod"):
            want = axisloom.reduce(whole.to(dtype), "s h -> h", name, order="portable")
            x = ours.rearrange(whole.to(dtype), "s h -> s@x h", mesh="x=2")
            got = ours.reduce(x, "s@x h -> h", name, mesh="x=2", order="portable")
            same = torch.view_as_real(got) == torch.view_as_real(want) if dtype.is_complex else got == want
            missing = torch.view_as_real(want).isnan() if dtype.is_complex else want.isnan()
            assert bool((same | missing).all()) and torch.equal(got.isnan(), want.isnan()), (dtype, name, got, want)


def test_infinities_and_what_is_no_number(two: Ranks) -> None:
    two.run(special_numbers)


def refuses(rank: int) -> None:
    x = torch.ones(2, 3)
    for arguments, error, text in (
        (("s@x h -> h", "sum" if rank else "max"), RankError, "to reduce"),
        (("s@x h -> h", "median"), axisloom.UsageError, "median"),
        (("s@x h -> h q", "sum"), axisloom.EinopsError, "q"),
        (("s@y h -> h", "sum"), axisloom.UsageError, "no axis y"),
        (("s h +x -> h", "max"), axisloom.UsageError, "addends"),
        (("s h +x -> h +x", "sum"), axisloom.UsageError, "no addends"),
        (("s@x h -> h", sum), axisloom.UsageError, "has a name"),
    ):
        with pytest.raises(error, match=text):
            ours.reduce(x, *arguments, mesh="x=2")
    with pytest.raises(axisloom.UsageError, match="no order"):
        ours.reduce(x, "s@x h -> h", "sum", mesh="x=2", order="slow")
    with pytest.raises(axisloom.UsageError, match="mesh="):
        ours.reduce(x, "s h -> h", "sum")
    got = ours.reduce(torch.full((2, 3), rank + 1.0), "s h +x -> h", "sum", mesh="x=2", order="portable")
    assert torch.equal(got, torch.full((3,), 6.0))


def test_what_is_refused(two: Ranks) -> None:
    two.run(refuses)


def test_many_small_parts_go_as_elements() -> None:
    """Where blocks would be as many as the elements, these go."""
    ranks = _reduced.Ranks("x=2", 0)
    dealt = _reduced.steps_of("s@x:1 h -> h", "sum", "portable", ranks, (100, 8), (), "float32")
    assert not dealt.runs and dealt.last[1] == "s h -> h"
    whole = _reduced.steps_of("s@x h -> h", "sum", "portable", ranks, (128, 8), (), "float32")
    assert [run.length for run in whole.runs] == [64] and not whole.meetings


def test_the_program_of_the_documents(tmp_path: Path) -> None:
    page = (ROOT / "docs/python-torch-distributed.md").read_text(encoding="utf-8").partition("\n## Reductions\n")[2]
    program = tmp_path / "mean.py"
    program.write_text(page.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    printed = run_by_torchrun(program)  # by two ranks, whose lines may run into each other
    assert printed.count("[2, 64]") == printed.count("[2, 32]") == 2
