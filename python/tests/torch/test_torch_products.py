"""axisloom.torch.einsum and matmul over the ranks of a process group: against NumPy's einsum of the whole arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from ranks import Ranks

import axisloom
import axisloom.torch as ours
import product_cases
from axisloom import _products
from axisloom.distributed import LostRankError, Product, RankError

pytestmark = pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="gloo is not there")

MESHES = {1: ("x=1",), 2: ("x=2", "x=1 y=2"), 3: ("x=3",), 4: ("x=4", "x=2 y=2", "x=4", "y=2 x=2")}


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


def tensors_of(case: product_cases.Case, rank: int) -> list[torch.Tensor]:
    return [torch.from_numpy(case.local(operand, rank).copy()) for operand in range(len(case.shapes))]


def gathered(x: torch.Tensor) -> list[torch.Tensor]:
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, x)
    return found


def multiplies(rank: int, count: int, seeds: range, least_panel: int) -> int:
    _products.LEAST_PANEL = least_panel
    panelled = 0
    for seed in seeds:
        case = product_cases.draw(seed, MESHES[count])
        more: dict[str, Any] = {"shapes": case.shapes} if seed % 2 else {}
        workspace = (1 << 20, 64)[seed % 3 == 0]
        got = ours.einsum(case.pattern, *tensors_of(case, rank), mesh=case.mesh, workspace=workspace, **more)
        assert got.dtype is torch.float64 and got.is_contiguous()
        shown = gathered(got)
        got = sum(shown[one] for one in case.together(rank))
        want = torch.tensor(case.part(case.result(), rank))
        assert torch.equal(got, want), f"{case}: {got} and not {want}"
        panelled += Product(case.pattern, case.mesh, case.shapes, "float64", workspace=workspace).panels is not None
    return panelled


@pytest.mark.parametrize("block", range(3))
def test_random_patterns(ranks: Ranks, block: int) -> None:
    seeds = range(3000 + block * 25, 3025 + block * 25)
    panelled = ranks.run(multiplies, len(ranks.processes), seeds, (1, _products.LEAST_PANEL)[block % 2])
    assert len(ranks.processes) == 1 or block % 2 or min(panelled) > 1


# Gradients ------------------------------------------------------------------------------------------------------------


def placed(case: product_cases.Case, number: int, rank: int) -> tuple[torch.Tensor, ...]:
    """For indexing a whole tensor: what a rank has of it."""
    places = case.places(number, rank)
    return tuple(map(torch.as_tensor, np.ix_(*places))) if places else ()


def has_gradients(rank: int, count: int, seeds: range, least_panel: int) -> None:
    _products.LEAST_PANEL = least_panel
    for seed in seeds:
        case = product_cases.draw(seed, MESHES[count])
        operands = range(len(case.shapes))
        leaves = [[torch.from_numpy(x).requires_grad_() for x in case.addends(operand)] for operand in operands]
        result = torch.einsum(letters(case), *(sum(one[1:], one[0]) for one in leaves))
        loss, weights = torch.zeros((), dtype=torch.float64), []
        for one in range(count):  # ranks that have addends of a result have them for one use together
            draw = np.random.default_rng([seed, case.together(one)[0]])
            part = result[placed(case, -1, one)]
            weights.append(torch.from_numpy(draw.integers(-3, 4, part.shape).astype("f8")))
            if one == case.together(one)[0]:
                loss = loss + (part * weights[-1]).sum()
        used = torch.autograd.grad(loss, [x for one in leaves for x in one], allow_unused=True)
        wants = iter([torch.zeros_like(x) if g is None else g for x, g in zip((x for o in leaves for x in o), used)])
        tensors = [x.requires_grad_() for x in tensors_of(case, rank)]
        out = ours.einsum(case.pattern, *tensors, mesh=case.mesh)
        got = torch.autograd.grad(out, tensors, weights[rank], create_graph=bool(seed % 2))
        for operand, given in zip(operands, got):
            whole = [next(wants) for _ in leaves[operand]]
            addend = product_cases.addend_of(case.sides[operand], axisloom.distributed.Mesh(case.mesh), rank)
            want = whole[addend][placed(case, operand, rank)]
            assert torch.equal(given, want), f"{case}, operand {operand}: {given} and not {want}"


def letters(case: product_cases.Case) -> str:
    *operands, output = ["".join(dim.axes[0].name for dim in side.dims) for side in case.sides]
    return f"{','.join(operands)}->{output}"


@pytest.mark.parametrize("block", range(2))
def test_gradients_of_random_patterns(ranks: Ranks, block: int) -> None:
    ranks.run(has_gradients, len(ranks.processes), range(4000 + block * 20, 4020 + block * 20), (1, 1 << 20)[block])


def has_second_gradients(rank: int) -> None:
    draw = torch.Generator().manual_seed(rank)
    a, b = (torch.randn(2, 3, generator=draw, dtype=torch.float64).requires_grad_() for _ in range(2))

    def squared(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ours.einsum("i@x k, j@x k -> i j@x", a, b, mesh="x=2").square().sum()

    first = torch.autograd.grad(squared(a, b), (a, b), create_graph=True)
    second = torch.autograd.grad(sum(one.square().sum() for one in first), (a, b))
    wholes = [torch.cat(gathered(x.detach())).requires_grad_() for x in (a, b)]
    loss = torch.einsum("ik,jk->ij", *wholes).square().sum()
    want = torch.autograd.grad(loss, wholes, create_graph=True)
    again = torch.autograd.grad(sum(one.square().sum() for one in want), wholes)
    rows = slice(2 * rank, 2 * rank + 2)
    for got, whole in (*zip(first, want), *zip(second, again)):
        torch.testing.assert_close(got, whole[rows])


def test_second_gradients(two: Ranks) -> None:
    two.run(has_second_gradients)


def has_complex_gradients(rank: int) -> None:
    whole = torch.randn(4, 6, dtype=torch.complex128, generator=torch.Generator().manual_seed(1))
    real = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2)).requires_grad_()
    rows = whole[2 * rank : 2 * rank + 2].clone().requires_grad_()
    out = ours.einsum("i@x k, k j -> i@x j", rows.conj(), real.to(torch.complex128), mesh="x=2")
    out.abs().sum().backward()
    wholes = whole.clone().requires_grad_(), real.detach().clone().requires_grad_()
    (wholes[0].conj() @ wholes[1].to(torch.complex128)).abs().sum().backward()
    torch.testing.assert_close(rows.grad, wholes[0].grad[2 * rank : 2 * rank + 2])
    torch.testing.assert_close(real.grad, wholes[1].grad)


def test_complex_gradients(two: Ranks) -> None:
    two.run(has_complex_gradients)


# torch.compile --------------------------------------------------------------------------------------------------------


def compiles(rank: int) -> None:
    def layer(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ours.einsum("i@x k, k@x j -> i@x j", a * 2, b, mesh="x=2") + 1

    a, b = ((torch.arange(8.0).reshape(2, 4) + rank + more).requires_grad_() for more in (0, 5))
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        out, want = compiled(a, b), layer(a, b)
        assert torch.equal(out, want)
        got = torch.autograd.grad(out.square().sum(), (a, b))
        assert all(map(torch.equal, got, torch.autograd.grad(want.square().sum(), (a, b))))
    mesh = dist.init_device_mesh("cpu", (2,), mesh_dim_names=("x",))
    over_mesh = torch.compile(
        lambda a, b: ours.matmul(a, b, "m@x k, k n -> m n", mesh=mesh, shapes=[(3, 4), (4, 5)]),
        fullgraph=True, backend="aot_eager",
    )  # fmt: skip
    whole, other = torch.arange(12.0).reshape(3, 4), torch.arange(20.0).reshape(4, 5)
    assert torch.equal(over_mesh(whole[2 * rank : 2 * rank + 2], other), whole @ other)


def test_compiled_without_a_graph_break(two: Ranks) -> None:
    two.run(compiles)


def is_checked_by_torch(rank: int) -> None:
    a, b = torch.arange(6.0).reshape(2, 3).requires_grad_(), torch.arange(12.0).reshape(3, 4).requires_grad_()
    name = dist.group.WORLD.group_name
    call = ([a, b], "i@x k, k j -> i@x j", "x=2", [4, 3, 3, 4], name, [0, 1], 1 << 20, "", False, True)
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(torch.ops.axisloom.product.default, call, test_utils=checks)


def test_the_operator_keeps_pytorchs_rules(two: Ranks) -> None:
    two.run(is_checked_by_torch)
