"""axisloom.torch.einsum and matmul over the ranks of a process group: against NumPy's einsum of the whole arrays."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from ranks import DEAD, ROOT, Ranks, run_by_torchrun

import axisloom
import axisloom.torch as ours
import product_cases
from axisloom import _product_panels
from axisloom.distributed import LostRankError, Product, RankError
from axisloom.torch import _product

pytestmark = pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="gloo is not there")

if dist.is_available():
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.placement_types import _StridedShard

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
    _product_panels.LEAST_PANEL = least_panel
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
    panelled = ranks.run(multiplies, len(ranks.processes), seeds, (1, _product_panels.LEAST_PANEL)[block % 2])
    assert len(ranks.processes) == 1 or block % 2 or min(panelled) > 1


# Gradients ------------------------------------------------------------------------------------------------------------


def placed(case: product_cases.Case, number: int, rank: int) -> tuple[torch.Tensor, ...]:
    """For indexing a whole tensor: what a rank has of it."""
    places = case.places(number, rank)
    return tuple(map(torch.as_tensor, np.ix_(*places))) if places else ()


def has_gradients(rank: int, count: int, seeds: range, least_panel: int) -> None:
    _product_panels.LEAST_PANEL = least_panel
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
    ours.einsum("i@x k, k j -> i@x j", a, b, mesh="x=2")  # the operator comes with it
    call = ([a, b], "i@x k, k j -> i@x j", "x=2", [4, 3, 3, 4], name, [0, 1], 1 << 20, "", False, True)
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(torch.ops.axisloom.product.default, call, test_utils=checks)


def test_the_operator_keeps_pytorchs_rules(two: Ranks) -> None:
    two.run(is_checked_by_torch)


# Dtypes ---------------------------------------------------------------------------------------------------------------


def rounds_once(rank: int, count: int) -> None:
    """Ranks' parts of sums of 16-bit floats travel as float32. With u and v as the units of float32 and of the result,
    K products and n ranks: an error is at most v of the sum, and (K + n) u of the sum of magnitudes."""
    inner = 96 * count
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        draw = torch.Generator().manual_seed(5)
        a, b = (torch.randn(*shape, generator=draw).to(dtype) for shape in ((24, inner), (inner, 8 * count)))
        whole, magnitude = a.double() @ b.double(), a.double().abs() @ b.double().abs()
        unit = torch.finfo(torch.float32).eps / 2
        bound = (inner + count) * unit * magnitude
        bound = bound + torch.finfo(dtype).eps / 2 * (whole.abs() + bound)
        mine = slice(96 * rank, 96 * rank + 96)
        pattern = "i k@x, k@x j -> i j"
        for text, part in ((pattern, whole), (f"{pattern}@x", whole[:, 8 * rank : 8 * rank + 8])):
            product = Product(text, f"x={count}", [a.shape, b.shape], str(dtype)[6:])
            assert product.adds
            assert product.made_dtype == "float32"
            got = ours.einsum(text, a[:, mine], b[mine], mesh=f"x={count}")
            assert got.dtype is dtype
            limit = bound if part is whole else bound[:, 8 * rank : 8 * rank + 8]
            assert ((got.double() - part).abs() <= limit).all()


def test_sums_of_short_floats_are_rounded_once(ranks: Ranks) -> None:
    if len(ranks.processes) > 1:
        ranks.run(rounds_once, len(ranks.processes))


def keeps_dtypes(rank: int) -> None:
    """Those of einsum of one rank, and the same numbers."""
    draw = torch.Generator().manual_seed(3)
    integers = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
    for dtype in (*integers, torch.bool, torch.complex64, torch.float64):
        a, b = (torch.randint(0, 9, (6, 6), generator=draw).to(dtype) for _ in range(2))
        want = axisloom.einsum(a, b, "i k, k j -> i j")
        rows = slice(3 * rank, 3 * rank + 3)
        for pattern, x, y, part in (
            ("i@x k, k@x j -> i@x j", a[rows], b[rows], want[rows]),
            ("i k@x, k@x j -> i j", a[:, rows], b[rows], want),
            ("i k@x, k@x j -> i j@x", a[:, rows], b[rows], want[:, rows]),
        ):
            got = ours.einsum(pattern, x, y, mesh="x=2")
            assert got.dtype is want.dtype and torch.equal(got, part), (dtype, pattern, got, part)
    a, b = torch.ones(4, 2, dtype=torch.float16), torch.ones(4, 3)
    got = ours.einsum("k@x i, k@x j -> i j", a, b.half(), mesh="x=2")
    assert torch.equal(got, torch.full((2, 3), 8.0).half())


def test_dtypes(two: Ranks) -> None:
    two.run(keeps_dtypes)


# DTensors -------------------------------------------------------------------------------------------------------------


def multiplies_dtensors(rank: int, mesh_text: str, batches: tuple[int, ...]) -> int:
    axes = axisloom.distributed.Mesh(mesh_text).axes
    mesh = dist.init_device_mesh("cpu", tuple(axes.values()), mesh_dim_names=tuple(axes))
    draw = torch.Generator().manual_seed(1)
    a = torch.randint(-4, 5, (*batches, 7, 6), generator=draw).double()
    b = torch.randint(-4, 5, (6, 5), generator=draw).double()
    count = 0
    for one in itertools.product((Replicate(), Partial(), Shard(-1), Shard(-2), Shard(0)), repeat=mesh.ndim):
        for other in itertools.product((Replicate(), Shard(0), Shard(1)), repeat=mesh.ndim):
            x, y = (laid(whole, mesh, own).requires_grad_() for whole, own in ((a, one), (b, other)))
            factor = addends(one, mesh)
            out = ours.matmul(x, y)
            assert out.shape == (*batches, 7, 5) and torch.equal(out.full_tensor(), a @ b * factor), (one, other)
            again = ours.einsum(x, y, "... i k, k j -> ... i j")
            assert again.placements == (Replicate(),) * mesh.ndim and torch.equal(again.to_local(), a @ b * factor)
            wanted = [Shard(out.ndim - 1), *[Replicate()] * (mesh.ndim - 1)]
            placed = ours.matmul(x, y, placements=wanted)
            assert list(placed.placements) == wanted and torch.equal(placed.full_tensor(), a @ b * factor)
            loss = (placed.full_tensor() * 2).sum()
            of_x, of_y = torch.autograd.grad(loss, (x, y))
            ones = torch.full((*batches, 7, 5), 2.0, dtype=torch.float64)
            assert torch.equal(of_x.full_tensor(), ones @ b.T)
            assert torch.equal(of_y.full_tensor(), torch.einsum("...ik,...ij->kj", a * factor, ones))
            count += 1
    return count


def laid(whole: torch.Tensor, mesh: Any, placements: Any) -> Any:
    """A DTensor of this tensor, or of a multiple: along a mesh axis of addends these are 1, 2, ... times as much."""
    made = distribute_tensor(whole, mesh, [Replicate() if one.is_partial() else one for one in placements])
    local = made.to_local()
    for at, placement in zip(mesh.get_coordinate(), placements):
        local = local * (at + 1) if placement.is_partial() else local
    return DTensor.from_local(
        local.detach(), mesh, placements, run_check=False, shape=whole.shape, stride=whole.contiguous().stride()
    )


def addends(placements: Any, mesh: Any) -> int:
    return math.prod(sum(range(1, size + 1)) for size, one in zip(mesh.shape, placements) if one.is_partial())


@pytest.mark.parametrize("batches", ((), (3,)), ids=str)
def test_dtensors(ranks: Ranks, batches: tuple[int, ...]) -> None:
    for mesh in {2: ("x=2",), 4: ("x=2 y=2",)}.get(len(ranks.processes), ()):
        assert min(ranks.run(multiplies_dtensors, mesh, batches)) >= (15 if mesh == "x=2" else 200)


def names_its_cuts(rank: int) -> None:
    mesh = dist.init_device_mesh("cpu", (2,), mesh_dim_names=("x",))
    a, b = torch.arange(12.0).reshape(4, 3), torch.arange(15.0).reshape(3, 5)
    x, y = distribute_tensor(a, mesh, [Shard(0)]), distribute_tensor(b, mesh, [Shard(1)])
    out = ours.einsum("i@x k, k j@x -> i j@x", x, y)
    assert out.placements == (Shard(1),) and torch.equal(out.full_tensor(), a @ b)
    kept = ours.einsum("i k, k j -> i j +x", distribute_tensor(a, mesh, [Shard(1)]), y)
    assert kept.placements == (Partial(),) and torch.equal(kept.full_tensor(), a @ b)
    compiled = torch.compile(lambda x, y: ours.matmul(x, y), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x, y).full_tensor(), a @ b)
    with pytest.raises(axisloom.EinopsError, match="other cuts than the placements"):
        ours.einsum("i k@x, k j -> i j", x, y)
    with pytest.raises(axisloom.UsageError, match="have their own mesh"):
        ours.einsum("i k, k j -> i j", x, y, mesh=mesh)
    with pytest.raises(axisloom.UsageError, match="give DTensors on one mesh alone"):
        ours.einsum("i k, k j -> i j", x, b)
    with pytest.raises(axisloom.UsageError, match="leave cuts out"):
        ours.matmul(x, y, "m k, k n -> m n")
    with pytest.raises(axisloom.UsageError, match="give 1 placements"):
        ours.matmul(x, y, placements=[])
    within = distribute_tensor(torch.zeros(8, 3), mesh, [_StridedShard(0, split_factor=2)])
    with pytest.raises(axisloom.UnsupportedError, match="call axisloom.torch.redistribute first"):
        ours.matmul(within, y)


def test_cuts_of_dtensors(two: Ranks) -> None:
    two.run(names_its_cuts)


# Faults ---------------------------------------------------------------------------------------------------------------


def calls_wrongly(rank: int) -> None:
    a, b = torch.zeros(2, 3), torch.zeros(3, 4)
    with pytest.raises(RankError) as raised:
        ours.einsum(("i@x k, k j -> i@x j", "i@x k, k j -> i j@x")[rank], a, b, mesh="x=2")
    assert 'rank 0 makes einsum "i@x k, k j -> i@x j" of float32[2,3] and float32[3,4]' in str(raised.value)
    assert 'rank 1 makes einsum "i@x k, k j -> i j@x"' in str(raised.value)
    with pytest.raises(RankError, match=r"rank 0 makes einsum .* rank 1 makes rearrange"):
        ours.rearrange(a, "i@x k -> k i", mesh="x=2") if rank else ours.einsum("i@x k -> k i", a, mesh="x=2")
    with pytest.raises(RankError, match="workspace 1000.*workspace 2000"):
        ours.einsum("i@x k, k j -> i j", a, b, mesh="x=2", workspace=1000 * (rank + 1))
    with pytest.raises(axisloom.ShapeError, match=r"operand 2 .* has shape \[4, 4\] on rank 1.*has \[3, 4\]"):
        ours.einsum("i@x k, k j -> i j", a, torch.zeros(3 + rank, 4), mesh="x=2", shapes=[(4, 3), (3, 4)])
    with pytest.raises(axisloom.ShapeError, match='axis "k" .* has length 3 in one array and 5 in another'):
        ours.einsum("i@x k, k j -> i j", a, torch.zeros(5, 4), mesh="x=2")
    with pytest.raises(axisloom.UsageError, match="3 ranks, and there are 2"):
        ours.einsum("i@x k, k j -> i j", a, b, mesh="x=3")
    with pytest.raises(axisloom.UsageError, match="give mesh="):
        ours.einsum("i@x k, k j -> i j", a, b)
    with pytest.raises(axisloom.UsageError, match="'?y'?"):
        ours.einsum("i@x k, k j@y -> i j", a, b, mesh="x=2")
    with pytest.raises(axisloom.EinopsError, match="is of 2 arrays, and 1 were given"):
        ours.einsum("i@x k, k j -> i j", a, mesh="x=2")
    with pytest.raises(axisloom.ShapeError, match="give one for each"):
        ours.einsum("i@x k, k j -> i j", a, b, mesh="x=2", shapes=[(4, 3)])
    with pytest.raises(TypeError, match="takes a pattern, first or last"):
        ours.einsum(a, b, mesh="x=2")
    with pytest.raises(axisloom.UsageError, match="give the cuts"):
        ours.matmul(a, b, mesh="x=2")
    with pytest.raises(axisloom.EinopsError, match="is no product of matrices"):
        ours.matmul(a, b, "m@x k, n k -> m n", mesh="x=2")
    assert ours.matmul(a, b, "m@x k, k n -> m n", mesh="x=2").shape == (4, 4)  # the ranks are still in step


def test_what_is_wrong_with_a_call(two: Ranks) -> None:
    two.run(calls_wrongly)


def loses_a_rank(rank: int, during: str) -> None:
    a, b = torch.zeros(64, 128), torch.zeros(64, 64)
    _product_panels.LEAST_PANEL = 1
    ours.einsum("i@x k, k@x j -> i@x j", a, b, mesh="x=2")
    if rank == 1 and during == "before":
        os._exit(1)
    if rank == 1:
        _product.moved = lambda *given: os._exit(1)
    ours.einsum("i@x k, k@x j -> i@x j", a, b, mesh="x=2")


@pytest.mark.parametrize("during", ("before", "a panel"))
def test_a_rank_that_dies_ends_the_others(during: str) -> None:
    made = Ranks(2)
    try:
        outcomes = made.outcomes(loses_a_rank, during)
        assert outcomes[1] is DEAD and isinstance(outcomes[0], LostRankError), repr(outcomes)
    finally:
        made.stop()


def within_a_group(rank: int) -> None:
    pairs = [dist.new_group([first, first + 1]) for first in (0, 2)]
    whole = torch.arange(12.0).reshape(4, 3) + 100 * (rank // 2)
    own = rank % 2
    got = ours.einsum(
        "i@x k, j@x k -> i j@x", whole[2 * own : 2 * own + 2], whole[2 * own : 2 * own + 2], mesh="x=2",
        group=pairs[rank // 2],
    )  # fmt: skip
    assert torch.equal(got, (whole @ whole.T)[:, 2 * own : 2 * own + 2])
    mesh = dist.DeviceMesh("cpu", [[0, 2], [1, 3]], mesh_dim_names=("x", "y"))
    at, a = mesh.get_coordinate(), torch.arange(12.0).reshape(4, 3)
    rows, columns = a[2 * at[0] : 2 * at[0] + 2], a.T[:, 2 * at[1] : 2 * at[1] + 2]
    got = ours.einsum("i@x k, k j@y -> j@x i", rows, columns, mesh=mesh)
    assert torch.equal(got, (a @ a.T).T[2 * at[0] : 2 * at[0] + 2])


def test_groups_and_meshes_of_other_ranks(ranks: Ranks) -> None:
    if len(ranks.processes) == 4:
        ranks.run(within_a_group)


# Programs -------------------------------------------------------------------------------------------------------------


def test_the_program_of_the_documents(tmp_path: Path) -> None:
    page = (ROOT / "docs/python-torch-distributed.md").read_text(encoding="utf-8").partition("\n## Products\n")[2]
    program = tmp_path / "multiply.py"
    program.write_text(page.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    printed = run_by_torchrun(program)  # by two ranks, whose lines may run into each other
    assert printed.count("[64, 512]") == printed.count("[128, 256]") == 2


def test_the_script_for_cards_without_one() -> None:
    assert "8 patterns: all right" in run_by_torchrun(ROOT / "tools/try_products_on_cards.py", "--cpu")
