"""axisloom.torch.rearrange over the ranks of a process group: against the whole array and einops."""

from __future__ import annotations

import datetime
import gc
import json
import os
import random
import time
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from cards import Card, Memory
from ranks import DEAD, ROOT, TIMEOUT, Ranks, run_by_torchrun

import axisloom
import axisloom.torch as ours
import parts
from axisloom.distributed import LostRankError, RankError
from axisloom.torch import _messages, _redistribute, _symmetric

pytestmark = pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="gloo is not there")

MESHES = {2: ("x=2", "x=1 y=2"), 4: ("x=4", "x=2 y=2", "x=4", "y=2 x=2")}


@pytest.fixture(scope="module", params=(2, 4), ids="{} ranks".format)
def ranks(request: pytest.FixtureRequest) -> Iterator[Ranks]:
    made = Ranks(request.param)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def two() -> Iterator[Ranks]:
    made = Ranks(2)
    yield made
    made.stop()


def whole_of(case: parts.Case, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    numbers = torch.randint(-50, 50, case.shape, generator=torch.Generator().manual_seed(seed))
    return numbers.to(dtype)


def part_of(case: parts.Case, whole: torch.Tensor, side: Any, rank: int) -> torch.Tensor:
    return whole[tuple(map(torch.as_tensor, case.part(side, rank)))]


# Values ---------------------------------------------------------------------------------------------------------------


def rearranges(rank: int, count: int, seeds: range) -> None:
    for seed in seeds:
        case = parts.draw(seed, MESHES[count])
        dice = random.Random(seed)
        dtypes = (torch.float32, torch.int64, torch.uint8, torch.int16, torch.bfloat16, torch.complex64)
        dtype = dice.choice(dtypes)
        left, right = case.sides
        wholes = [whole_of(case, dtype, addend) for addend in range(count)]
        x = part_of(case, wholes[case.addend(rank)], left, rank)
        if x.dim() and dice.random() < 0.5:
            x = x.movedim(0, -1).contiguous().movedim(-1, 0)
        options: dict[str, Any] = {"shape": case.shape} if dice.random() < 0.5 else {}
        if dice.random() < 0.5:
            options["workspace"] = dice.choice((1, 64, 500))
        got = ours.rearrange(x, case.pattern, mesh=case.mesh, **options, **case.lengths)
        want = part_of(case, case.rearranged(sum(wholes[other] for other in case.addends_of(rank))), right, rank)
        assert got.dtype is dtype and got.is_contiguous()
        assert torch.equal(got, want), f"seed {seed}, {case}: {got} and not {want}"


@pytest.mark.parametrize("block", range(5))
def test_random_patterns(ranks: Ranks, block: int) -> None:
    ranks.run(rearranges, len(ranks.processes), range(block * 60, block * 60 + 60))


def moves_every_dtype(rank: int) -> None:
    for dtype in (torch.bool, torch.uint8, torch.float16, torch.float8_e4m3fn, torch.uint16, torch.complex128):
        whole = torch.arange(12).reshape(4, 3).to(torch.uint8).to(dtype)
        got = ours.rearrange(whole[2 * rank : 2 * rank + 2], "s@x h -> h s@x", mesh="x=2")
        assert got.dtype is dtype
        want = whole[2 * rank : 2 * rank + 2].t()
        assert torch.equal(got.contiguous().view(torch.uint8), want.contiguous().view(torch.uint8))
        got = ours.rearrange(whole[2 * rank : 2 * rank + 2], "s@x h -> h s", mesh="x=2")
        assert torch.equal(got.contiguous().view(torch.uint8), whole.t().contiguous().view(torch.uint8))
    conjugate = torch.view_as_complex(torch.arange(8.0).reshape(2, 2, 2)).conj()
    assert torch.equal(ours.rearrange(conjugate, "a@x b -> b a@x", mesh="x=2"), conjugate.t())
    assert ours.rearrange(torch.tensor(3), "->", mesh="x=2") == 3


def test_every_dtype(two: Ranks) -> None:
    two.run(moves_every_dtype)


def refuses_sums(rank: int) -> None:
    for dtype in (torch.bool, torch.float8_e4m3fn):
        with pytest.raises(axisloom.UnsupportedError, match="convert the addends"):
            ours.rearrange(torch.zeros(4, 2).to(dtype), "a b +x -> a@x b", mesh="x=2")


def test_sums_of_what_cannot_be_added(two: Ranks) -> None:
    two.run(refuses_sums)


def counts_collectives(rank: int) -> list[str]:
    """Of what is summed; that all make the same call is asked by all_to_all_single."""
    called: list[str] = []
    whole = torch.arange(24.0).reshape(4, 6)
    names = ("all_reduce", "reduce_scatter_tensor", "all_to_all_single")
    with pytest.MonkeyPatch.context() as patched:
        for name in names:
            patched.setattr(dist, name, noted(called, name))
        out = ours.rearrange(whole * (rank + 1), "a b +x -> b@x a", mesh="x=2")
        assert torch.equal(out, 3 * whole.t()[3 * rank : 3 * rank + 3])
        out = ours.rearrange(whole * (rank + 1), "a b +x -> b a", mesh="x=2")
        assert torch.equal(out, 3 * whole.t())
    return called


def noted(called: list[str], name: str) -> Any:
    original = getattr(dist, name)

    def function(*given: Any, **more: Any) -> Any:
        called.append(name)
        return original(*given, **more)

    return function


def test_sums_are_the_engines(two: Ranks) -> None:
    asked = "all_to_all_single"
    assert two.run(counts_collectives) == [[asked, "reduce_scatter_tensor", asked, "all_reduce"]] * 2


def within_a_group(rank: int, count: int) -> None:
    """Groups of two, side by side, whose ranks are not those of WORLD."""
    pairs = [dist.new_group([first, first + 1]) for first in range(0, count, 2)]
    group, own = pairs[rank // 2], rank % 2
    whole = torch.arange(12).reshape(4, 3) + 100 * (rank // 2)
    got = ours.rearrange(whole[2 * own : 2 * own + 2], "s@x h -> (s h)", mesh="x=2", group=group)
    assert torch.equal(got, whole.flatten())
    summed = ours.rearrange(whole * (own + 1), "s h +x -> h s", mesh="x=2", group=group)
    assert torch.equal(summed, 3 * whole.t())
    if count == 4:  # a mesh whose ranks are in another order
        mesh = dist.DeviceMesh("cpu", [[0, 2], [1, 3]], mesh_dim_names=("x", "y"))
        at = mesh.get_coordinate()
        mine = whole[2 * at[0] : 2 * at[0] + 2] * 0 + torch.arange(12).reshape(4, 3)[2 * at[0] : 2 * at[0] + 2]
        got = ours.rearrange(mine, "s@x h -> s@y h", mesh=mesh)
        assert torch.equal(got, torch.arange(12).reshape(4, 3)[2 * at[1] : 2 * at[1] + 2])
        got = ours.rearrange(mine * (at[1] + 1), "s@x h +y -> s h@x", mesh=mesh)
        first = 2 * at[0]
        assert torch.equal(got, 3 * torch.arange(12).reshape(4, 3)[:, first : first + 2])


def test_groups_and_meshes_of_other_ranks(ranks: Ranks) -> None:
    ranks.run(within_a_group, len(ranks.processes))


def test_messages_stay_within_the_workspace() -> None:
    """In as many rounds on every rank, each of which has its share of every message, and all elements once."""
    plan = _redistribute.plan_of("(a b)@x c -> c@x:2 (b a)", "x=3", (37 * 4, 11), (("a", 4),))
    counts = set()
    sent = torch.zeros(3, 3, dtype=torch.int64)
    received = torch.zeros(3, 3, dtype=torch.int64)
    for rank in range(3):
        outs = plan.local_out_shape(rank)
        rows = outs[1]
        ins = plan.local_in_shape(rank)
        steps = _messages.schedule(plan, rank, (0, 1, 2), (ins[1], 1), (rows, 1), 50)
        counts.add(len(steps.rounds))
        for one in steps.rounds:
            assert sum(one.sent) <= 50 + 3 and sum(one.received) <= 50 + 3  # what is left over of each message
            assert sum(map(elements, one.packs)) == sum(one.sent)
            assert sum(map(elements, one.unpacks)) == sum(one.received)
            sent[rank] += torch.tensor(one.sent)
            received[rank] += torch.tensor(one.received)
    assert len(counts) == 1 and counts.pop() > 4
    assert torch.equal(sent, received.t())


def elements(copy: Any) -> int:
    return torch.Size(copy.shape).numel()


def test_copies_of_equal_parts_are_one() -> None:
    """A pattern's messages are packed and unpacked by as few copies as the own part, which is left out, allows."""
    plan = _redistribute.plan_of("b s@x h d -> b s h@x d", "x=8", (2, 64, 16, 4), ())
    for rank, copies in ((0, 1), (3, 2), (7, 1)):
        ins, outs = ((512, 64, 4, 1), (512, 8, 4, 1))
        (one,) = _messages.schedule(plan, rank, tuple(range(8)), ins, outs, 1 << 20).rounds
        assert (len(one.packs), len(one.unpacks)) == (copies, copies)


def takes_out(rank: int, count: int) -> None:
    whole = torch.arange(count * 3 * count * 2).reshape(count * 3, count * 2)
    x = whole[3 * rank : 3 * rank + 3]
    out = torch.full((count * 3 * 2, 2), -1)[::2]  # every other row
    for pattern in ("s@x h -> s h@x", "s@x h +y -> s h@x"):
        got = ours.rearrange(x, pattern, mesh=f"x={count} y=1", out=out)
        assert got is out and torch.equal(out, whole[:, 2 * rank : 2 * rank + 2])
    addend = whole.t().contiguous() * (rank + 1)
    out = torch.empty(2, 3 * count, dtype=torch.int64)
    ours.rearrange(addend, "h s +x -> h@x s", mesh=f"x={count}", out=out)
    assert torch.equal(out, whole.t()[2 * rank : 2 * rank + 2] * sum(range(1, count + 1)))
    short = torch.empty(3 * count - rank, 2, dtype=torch.int64)
    with pytest.raises(axisloom.ShapeError, match=rf"out= of rank 1 has shape \[{3 * count - 1}, 2\]"):
        ours.rearrange(x, "s@x h -> s h@x", mesh=f"x={count}", out=short)
    with pytest.raises(axisloom.DtypeError, match="rank 0: out= has the dtype torch.float32"):
        wide = torch.empty(3 * count, 2, dtype=torch.int64 if rank else torch.float32)
        ours.rearrange(x, "s@x h -> s h@x", mesh=f"x={count}", out=wide)
    with pytest.raises(axisloom.UsageError, match="out= has no gradient"):
        made = torch.zeros(3, 2 * count, requires_grad=True)
        ours.rearrange(made, "s@x h -> s h@x", mesh=f"x={count}", out=torch.empty(3 * count, 2))


def test_out(ranks: Ranks) -> None:
    ranks.run(takes_out, len(ranks.processes))


# The direct path, with threads for cards ------------------------------------------------------------------------------


def direct(case: parts.Case, whole: torch.Tensor, most: int, monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    """All ranks' outputs by way of buffers, twice; then straight into the outputs, where these have one shape."""
    memory, order = Memory(case.ranks), tuple(reversed(range(case.ranks)))
    memory.patch(monkeypatch)
    cards = [Card(rank, memory) for rank in range(case.ranks)]
    plan = _redistribute.plan_of(case.pattern, case.mesh, case.shape, tuple(case.lengths.items()))
    outputs: list[Any] = [None] * case.ranks

    def run(rank: int) -> None:
        card = cards[order[rank]]
        memory.own.rank = order[rank]
        source = part_of(case, whole, case.sides[0], rank)
        for _ in range(3):
            target = torch.full(plan.local_out_shape(rank), -1)
            _symmetric.pushed(card, source, target, plan, rank, order, 2 * most * source.itemsize)
        outputs[rank] = target
        if _redistribute._is_even(plan):
            out = torch.full(plan.local_out_shape(rank), -1)
            for _ in range(2):
                _symmetric.written(card, source, out.fill_(-1), plan, rank, order)
                assert torch.equal(out, target)
                memory.meeting.wait()

    with ThreadPoolExecutor(case.ranks) as threads:
        list(threads.map(run, range(case.ranks)))
    return outputs


@pytest.mark.parametrize("seed", range(60))
def test_the_direct_path_with_threads_for_cards(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = parts.draw(seed, ("x=2", "x=3", "x=2 y=2"), sums=False)
    whole = whole_of(case, torch.int64)
    outputs = direct(case, whole, (7, 1 << 20)[seed % 2], monkeypatch)
    for rank, output in enumerate(outputs):
        assert torch.equal(output, part_of(case, case.rearranged(whole), case.sides[1], rank)), str(case)


def has_a_card_that_cannot(rank: int) -> None:
    class Reach(_symmetric.Reach):
        def __init__(self, group: Any, device: torch.device, most_single: int) -> None:
            if rank == 1:
                raise axisloom.Error("a card that is not to be had")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_symmetric, "Reach", Reach)
        assert _symmetric._found_reach(dist.group.WORLD, torch.device("cpu"), 0) is None


def test_all_take_the_staged_path_where_one_card_cannot(two: Ranks) -> None:
    two.run(has_a_card_that_cannot)


def asks_for_another_path(rank: int) -> None:
    x = torch.zeros(2, 4)
    with pytest.raises(axisloom.UnsupportedError, match="do not reach each other's memory"):
        ours.rearrange(x, "s@x h -> s h@x", mesh="x=2", path="direct")
    with pytest.raises(axisloom.UsageError, match='give "staged" or "direct"'):
        ours.rearrange(x, "s@x h -> s h@x", mesh="x=2", path="fast")
    with pytest.raises(RankError, match=r"workspace 1000\).*workspace 2000\)"):
        ours.rearrange(x, "s@x h -> s h@x", mesh="x=2", workspace=1000 * (rank + 1))
    assert ours.rearrange(x, "s@x h -> s h@x", mesh="x=2", path="staged").shape == (4, 2)


def test_paths(two: Ranks) -> None:
    two.run(asks_for_another_path)


# Gradients ------------------------------------------------------------------------------------------------------------


def has_gradients(rank: int, count: int, seeds: range) -> None:
    for seed in seeds:
        case = parts.draw(seed, MESHES[count])
        left, right = case.sides
        wholes = [whole_of(case, torch.float64, addend).requires_grad_() for addend in range(count)]
        outs = [
            part_of(case, case.rearranged(sum(wholes[other] for other in case.addends_of(one))), right, one)
            for one in range(count)
        ]
        weights = [whole_of(case, torch.float64, 7 + one).flatten()[: out.numel()] for one, out in enumerate(outs)]
        weights = [torch.cat([w, w.new_ones(out.numel() - len(w))]).reshape(out.shape) for w, out in zip(weights, outs)]
        loss = sum((out * weight).sum() for out, weight in zip(outs, weights))
        used = torch.autograd.grad(loss, wholes, allow_unused=True)
        x = part_of(case, wholes[case.addend(rank)].detach(), left, rank).requires_grad_()
        out = ours.rearrange(x, case.pattern, mesh=case.mesh, **case.lengths)
        (got,) = torch.autograd.grad(out, x, weights[rank], create_graph=True)
        want = part_of(case, used[case.addend(rank)], left, rank)  # copies of the input are one array
        assert torch.equal(got, want), f"seed {seed}, {case}: {got} and not {want}"


@pytest.mark.parametrize("block", range(2))
def test_gradients_of_random_patterns(ranks: Ranks, block: int) -> None:
    ranks.run(has_gradients, len(ranks.processes), range(1000 + block * 40, 1040 + block * 40))


def has_second_gradients(rank: int) -> None:
    x = (torch.arange(6.0).reshape(2, 3) + rank).requires_grad_()
    out = ours.rearrange(x, "s@x h -> h s", mesh="x=2")
    (first,) = torch.autograd.grad(out.pow(3).sum(), x, create_graph=True)
    assert torch.equal(first, 2 * 3 * x.detach().square())  # both ranks have every element
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.equal(second, 2 * 6 * x.detach())


def test_second_gradients(two: Ranks) -> None:
    two.run(has_second_gradients)


# torch.compile --------------------------------------------------------------------------------------------------------


def compiles(rank: int) -> None:
    def layer(x: torch.Tensor) -> torch.Tensor:
        return ours.rearrange(x * 2, "b s@x (h d) -> b s h@x d", mesh="x=2", h=4) + 1

    x = (torch.arange(2 * 3 * 8.0).reshape(2, 3, 8) + 100 * rank).requires_grad_()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        out, want = compiled(x), layer(x)
        assert torch.equal(out, want)
        out.square().sum().backward()
        got, x.grad = x.grad, None
        want.square().sum().backward()
        assert torch.equal(got, x.grad)
        x.grad = None
    mesh = dist.init_device_mesh("cpu", (2,), mesh_dim_names=("x",))
    over_mesh = torch.compile(
        lambda x: ours.rearrange(x, "a b@x -> b@x a", mesh=mesh, shape=(2, 7)), fullgraph=True, backend="aot_eager"
    )
    own = torch.arange(14).reshape(2, 7)[:, 4 * rank : 4 * rank + 4]
    assert torch.equal(over_mesh(own), own.t())


def test_compiled_without_a_graph_break(two: Ranks) -> None:
    two.run(compiles)


def is_checked_by_torch(rank: int) -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    call = (x, "a@x b -> b@x a", "x=2", [4, 3], [], [], dist.group.WORLD.group_name, [0, 1], 1 << 20, "", False, True)
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(torch.ops.axisloom.redistribute.default, call, test_utils=checks)


def test_the_operator_keeps_pytorchs_rules(two: Ranks) -> None:
    two.run(is_checked_by_torch)


def starts_again(rank: int, folder: str) -> None:
    """What is kept of a group is not used for another one, and keeps none alive: it could not end then."""
    for place in range(3):
        uses_a_group(torch.arange(6.0).reshape(2, 3))
        before = weakref.ref(dist.group.WORLD)
        dist.destroy_process_group()
        gc.collect()
        assert before() is None, [type(one) for one in gc.get_referrers(before())]
        dist.init_process_group("gloo", init_method=f"file://{folder}/store{place}", rank=rank, world_size=2)


def uses_a_group(x: torch.Tensor) -> None:
    mesh = dist.init_device_mesh("cpu", (2,), mesh_dim_names=("x",))
    assert ours.rearrange(x, "s@x h -> h s", mesh=mesh).shape == (3, 4)
    assert torch.equal(ours.rearrange(x, "s h +x -> s h", mesh="y=1 x=2"), 2 * x)


def test_groups_that_are_made_anew(tmp_path: Path) -> None:
    ranks = Ranks(2)
    try:
        ranks.run(starts_again, str(tmp_path))
    finally:
        ranks.stop()


def test_the_program_of_the_documents(tmp_path: Path) -> None:
    page = (ROOT / "docs/python-torch-distributed.md").read_text(encoding="utf-8")
    program = tmp_path / "exchange.py"
    program.write_text(page.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    assert run_by_torchrun(program).count("[2, 2048, 4, 64]") == 2


def test_the_script_for_cards_without_one(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    said = run_by_torchrun(ROOT / "tools/try_distributed_on_cards.py", "--cpu", "--json", str(figures))
    assert "12 patterns: all right" in said and json.loads(figures.read_text())["wrong"] == []


# Faults ---------------------------------------------------------------------------------------------------------------


def makes_another_call(rank: int, warm: bool) -> None:
    x = torch.zeros(2, 4)
    if warm:
        ours.rearrange(x, "s@x h -> s h@x", mesh="x=2")
    with pytest.raises(RankError) as raised:
        ours.rearrange(x, ("s@x h -> s h@x", "s@x h -> h@x s")[rank], mesh="x=2", shape=(4, 4))
    assert "s@x h -> s h@x" in str(raised.value) and "s@x h -> h@x s" in str(raised.value)
    assert "rank 0" in str(raised.value) and "rank 1" in str(raised.value)
    with pytest.raises(axisloom.ShapeError, match=r"rank 1 has shape \[3, 4\].*wants \[2, 4\]"):
        ours.rearrange(torch.zeros(2 + rank, 4), "s@x h -> s h@x", mesh="x=2", shape=(4, 4))
    with pytest.raises(RankError, match=r"float32\[2,4\].*float64\[2,4\]"):
        ours.rearrange(x.to((torch.float32, torch.float64)[rank]), "s@x h -> s h@x", mesh="x=2")
    out = ours.rearrange(x, "s@x h -> s h@x", mesh="x=2")  # the ranks are still in step
    assert out.shape == (4, 2)


@pytest.mark.parametrize("warm", (False, True), ids=("new", "known"))
def test_calls_that_differ_raise_on_all_ranks(two: Ranks, warm: bool) -> None:
    two.run(makes_another_call, warm)


def calls_wrongly(rank: int) -> None:
    x = torch.zeros(2, 4)
    with pytest.raises(axisloom.UsageError, match="3 ranks, and there are 2"):
        ours.rearrange(x, "s@x h -> s h@x", mesh="x=3")
    with pytest.raises(axisloom.UsageError, match="give mesh="):
        ours.rearrange(x, "s@x h -> s h@x")
    with pytest.raises(axisloom.UsageError, match="groups of its own"):
        ours.rearrange(x, "s@m h -> s h", mesh=dist.init_device_mesh("cpu", (2,)), group=dist.group.WORLD)
    with pytest.raises(axisloom.EinopsError, match="h g"):
        ours.rearrange(x, "s@x h g -> s h@x", mesh="x=2", shape=(4, 4))


def deals_too_many_blocks(rank: int) -> None:
    pattern, shape = "s@x:1000003 -> s@x:999983", (10**12,)
    own = axisloom.distributed.Redistribution(pattern, "x=2", shape).local_in_shape(rank)
    with pytest.raises(axisloom.UnsupportedError, match="cuts make more than 65536 parts"):
        ours.rearrange(torch.zeros(1).expand(own), pattern, mesh="x=2", shape=shape)


def test_plans_of_too_many_parts(two: Ranks) -> None:
    two.run(deals_too_many_blocks)


def test_what_is_wrong_with_a_call(two: Ranks) -> None:
    two.run(calls_wrongly)


def test_without_a_process_group() -> None:
    with pytest.raises(axisloom.UsageError, match="init_process_group"):
        ours.rearrange(torch.zeros(2, 4), "s@x h -> s h@x", mesh="x=1")


def is_late(rank: int) -> None:
    group = dist.new_group(timeout=datetime.timedelta(seconds=3))
    x = torch.zeros(2, 4)
    ours.rearrange(x, "s@x h -> s h@x", mesh="x=2", group=group)
    if rank == 1:
        return
    begun = time.monotonic()
    with pytest.raises(LostRankError, match="did not come in the group's timeout"):
        ours.rearrange(x, "s@x h -> s h@x", mesh="x=2", group=group)
    assert time.monotonic() - begun < 15


def test_a_rank_that_does_not_come_is_waited_for_no_longer_than_the_timeout(two: Ranks) -> None:
    two.run(is_late)


def loses_a_rank(rank: int, during: str) -> None:
    x = torch.zeros(64, 64)
    ours.rearrange(x, "s@x h -> s h@x", mesh="x=4")
    if rank == 2 and during == "before":
        os._exit(1)
    if rank == 2:
        _messages.run = lambda *given: os._exit(1)
        _redistribute.run = _messages.run
    ours.rearrange(x, "s@x h -> s h@x", mesh="x=4")


@pytest.mark.parametrize("during", ("before", "packing"))
def test_a_rank_that_dies_ends_the_others(during: str) -> None:
    ranks = Ranks(4)
    try:
        begun = time.monotonic()
        outcomes = ranks.outcomes(loses_a_rank, during)
        assert outcomes[2] is DEAD
        for rank in (0, 1, 3):
            assert isinstance(outcomes[rank], LostRankError), outcomes[rank]
        assert time.monotonic() - begun < 2 * TIMEOUT + 20
    finally:
        ranks.stop()
