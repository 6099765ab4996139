"""DTensors: axisloom.torch.redistribute against DTensor.redistribute, and rearrange against the whole tensor."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks

import axisloom
import axisloom.torch as ours
import parts
from axisloom.torch import _placements

pytestmark = pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="gloo is not there")

if dist.is_available():
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.placement_types import _StridedShard


@pytest.fixture(scope="module")
def four() -> Iterator[Ranks]:
    made = Ranks(4)
    yield made
    made.stop()


def mesh_of(text: str) -> Any:
    axes = axisloom.distributed.Mesh(text).axes
    return dist.init_device_mesh("cpu", tuple(axes.values()), mesh_dim_names=tuple(axes))


def numbers(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)


def laid(whole: torch.Tensor, mesh: Any, placements: Any) -> Any:
    """A DTensor of this tensor, or of a multiple: along a mesh axis of addends these are 1, 2, ... times as much."""
    copied = [Replicate() if placement.is_partial() else placement for placement in placements]
    made = distribute_tensor(whole, mesh, copied)
    if list(copied) == list(placements):
        return made
    factors = [at + 1 for at, placement in zip(mesh.get_coordinate(), placements) if placement.is_partial()]
    local = made.to_local() * math.prod(factors)
    return DTensor.from_local(
        local, mesh, placements, run_check=False, shape=whole.shape, stride=whole.contiguous().stride()
    )


# Placements -----------------------------------------------------------------------------------------------------------


def redistributes(rank: int, mesh_text: str, shape: tuple[int, ...]) -> int:
    mesh, count = mesh_of(mesh_text), 0
    kinds = [Replicate(), Partial(), *map(Shard, range(len(shape)))]
    for before in itertools.product(kinds, repeat=mesh.ndim):
        x = laid(numbers(shape), mesh, before)
        for after in itertools.product(kinds, repeat=mesh.ndim):
            if [b for a, b in zip(before, after) if b.is_partial() and isinstance(a, Replicate)]:
                continue  # which PyTorch refuses
            got, want = ours.redistribute(x, after), x.redistribute(placements=after)
            assert got.placements == want.placements and got.shape == want.shape and got.stride() == want.stride()
            assert torch.equal(got.to_local(), want.to_local()), (before, after, got, want)
            count += 1
    return count


@pytest.mark.parametrize("shape", ((7, 5), (4, 8), (1, 3), (6,)), ids=str)
@pytest.mark.parametrize("mesh", ("x=4", "x=2 y=2"))
def test_all_placements_to_all(four: Ranks, mesh: str, shape: tuple[int, ...]) -> None:
    assert min(four.run(redistributes, mesh, shape)) > (5 if mesh == "x=4" else 50)


def redistributes_strided(rank: int) -> None:
    mesh = mesh_of("x=2 y=2")
    plain = [(Replicate(), Replicate()), (Shard(1), Shard(0)), (Shard(0), Shard(0)), (Replicate(), Shard(0))]
    strided = [
        (_StridedShard(0, split_factor=2), Shard(0)),  # over y first
        (_StridedShard(0, split_factor=3), Replicate()),  # within rows
        (Replicate(), _StridedShard(0, split_factor=3)),
        (_StridedShard(0, split_factor=6), _StridedShard(0, split_factor=3)),
        (Shard(0), _StridedShard(0, split_factor=3)),
        (_StridedShard(1, split_factor=2), Shard(0)),
    ]
    for extent in (12, 24):
        whole = numbers((extent, 4))
        layouts = [*plain, *strided]
        for before, after in itertools.product(layouts, layouts):
            x, want = (distribute_tensor(whole, mesh, placements) for placements in (before, after))
            got = ours.redistribute(x, after)
            assert got.placements == after
            assert torch.equal(got.to_local(), want.to_local()), (before, after, extent)


def test_strided_shards(four: Ranks) -> None:
    four.run(redistributes_strided)


def redistributes_uneven_strided(rank: int) -> None:
    """Parts that are not equal: over y first; and within rows of lengths that the ranks do not divide."""
    mesh = mesh_of("x=2 y=2")
    for extent, factor, other in (*((extent, 2, Shard(0)) for extent in range(1, 14)), (9, 3, Replicate())):
        whole = numbers((extent, 3))
        placements = (_StridedShard(0, split_factor=factor), other)
        x = distribute_tensor(whole, mesh, placements, src_data_rank=None)
        assert torch.equal(ours.redistribute(x, (Replicate(), Replicate())).to_local(), whole), (extent, factor)
        back = ours.redistribute(distribute_tensor(whole, mesh, (Shard(1), Replicate())), placements)
        assert torch.equal(back.to_local(), x.to_local()), (extent, factor)


def test_strided_shards_that_are_not_equal(four: Ranks) -> None:
    four.run(redistributes_uneven_strided)


def refuses_placements(rank: int) -> None:
    mesh = mesh_of("x=2 y=2")
    x = distribute_tensor(numbers((7, 5)), mesh, [Shard(0), Replicate()])
    with pytest.raises(axisloom.UnsupportedError, match="cannot become"):
        ours.redistribute(x, [Shard(0), Partial()])
    with pytest.raises(axisloom.UsageError, match="give 2 placements"):
        ours.redistribute(x, [Shard(0)])
    with pytest.raises(axisloom.UsageError, match="axes does not have"):
        ours.redistribute(x, [Shard(2), Shard(0)])
    largest = DTensor.from_local(numbers((2, 2)), mesh, [Partial("max"), Replicate()])
    with pytest.raises(axisloom.UnsupportedError, match="no sum over ranks"):
        ours.redistribute(largest, [Replicate(), Replicate()])
    strided = [_StridedShard(0, split_factor=3), Replicate()]
    within = distribute_tensor(numbers((7, 5)), mesh, strided, src_data_rank=None)
    with pytest.raises(axisloom.UnsupportedError, match="parts that a pattern cannot say"):
        ours.redistribute(within, [Replicate(), Replicate()])
    assert ours.redistribute(x, [Shard(-2), Replicate()]) is x


def test_placements_that_are_refused(four: Ranks) -> None:
    four.run(refuses_placements)


# Patterns -------------------------------------------------------------------------------------------------------------


def rearranges(rank: int, seeds: range) -> int:
    """The placements of the right side are those of the result; the left side may leave its own to the tensor."""
    strided = 0
    for seed in seeds:
        case = parts.draw(seed, ("x=4", "x=2 y=2", "y=2 x=2"), plain_cuts=True)
        mesh, (left, right) = mesh_of(case.mesh), case.sides
        placements = _placements.placements_of(left, case.extents, axisloom.distributed.Mesh(case.mesh).axes)
        whole = numbers(case.shape)
        x = laid(whole, mesh, placements)
        text = case.pattern
        if seed % 2:  # without what the placements say
            plain = axisloom._cuts.Side(tuple(map(parts._uncut, left.dims)))
            text = f"{plain} -> {right}"
        try:
            got = ours.rearrange(x, text, **case.lengths)
        except axisloom.UnsupportedError as error:
            assert "call axisloom.torch.redistribute first" in str(error)
            continue
        want = case.rearranged(whole * math.prod(mesh.shape[axis] * (mesh.shape[axis] + 1) // 2 for axis in partial(x)))
        assert got.shape == want.shape and got.stride() == want.contiguous().stride()
        # full_tensor() does not read two strided shards of one axis, distribute_tensor() writes them.
        got = ours.redistribute(got, [Replicate() if place.is_partial() else place for place in got.placements])
        local = distribute_tensor(want, mesh, got.placements).to_local()
        assert torch.equal(got.to_local(), local), f"seed {seed}, {text}, {placements} to {got.placements}"
        strided += any(isinstance(placement, _StridedShard) for placement in got.placements)
    return strided


def partial(x: Any) -> list[int]:
    return [axis for axis, placement in enumerate(x.placements) if placement.is_partial()]


@pytest.mark.parametrize("block", range(3))
def test_random_patterns(four: Ranks, block: int) -> None:
    assert min(four.run(rearranges, range(block * 40, block * 40 + 40))) > 3


def says_uneven(rank: int) -> None:
    mesh = mesh_of("x=2 y=2")
    x = distribute_tensor(numbers((7, 5)), mesh, [Shard(0), Shard(1)])
    for pattern in ("a b -> b@x@y a", "a b -> b@y@x a", "a b -> (a b)@y a1", "a b -> (b a@x)", "a b -> (a b)@x@y"):
        lengths = {"a1": 2} if "a1" in pattern else {}
        got = ours.rearrange(x, pattern, **lengths)
        case = parts.Case(pattern, "x=2 y=2", {"a": 7, "b": 5, **lengths})
        want = case.rearranged(numbers((7, 5)))
        assert torch.equal(got.full_tensor(), want), pattern
        local = want[tuple(map(torch.as_tensor, case.part(case.sides[1], rank)))]
        assert torch.equal(got.to_local(), local), pattern
    for pattern in ("a b -> a@x:balanced b", "a b -> (a@x b)", "a b -> a@(x y) b", "a b -> a@x:1 b"):
        with pytest.raises(axisloom.UnsupportedError, match="parts that are not equal"):
            ours.rearrange(x, pattern)
    y = distribute_tensor(numbers((8, 5)), mesh, [Shard(0), Replicate()])
    assert ours.rearrange(y, "a b -> a@x:2 b").placements == (_StridedShard(0, split_factor=2), Replicate())


def test_parts_that_are_not_equal(four: Ranks) -> None:
    four.run(says_uneven)


def checks_the_left_side(rank: int) -> None:
    x = distribute_tensor(numbers((8, 4)), mesh_of("x=2 y=2"), [Shard(0), Replicate()])
    with pytest.raises(axisloom.EinopsError, match="says .*Shard.*1.*and the tensor has .*Shard.*0"):
        ours.rearrange(x, "a b@x -> b a")
    with pytest.raises(axisloom.UsageError, match="its own mesh and shape"):
        ours.rearrange(x, "a b -> b a", mesh="x=4")
    with pytest.raises(axisloom.EinopsError, match="the axis 'a' does not appear on the right"):
        ours.rearrange(x, "a b -> b c")


def test_the_left_side_is_checked(four: Ranks) -> None:
    four.run(checks_the_left_side)


# Gradients and torch.compile ------------------------------------------------------------------------------------------


def has_gradients(rank: int) -> None:
    mesh = mesh_of("x=2 y=2")
    kinds = [Replicate(), Partial(), Shard(0), Shard(1)]
    whole = numbers((4, 6))
    for before, after in itertools.product(itertools.product(kinds, repeat=2), repeat=2):
        if [b for a, b in zip(before, after) if b.is_partial() and not a.is_partial()]:
            continue
        found = []
        for redistribute in (ours.redistribute, lambda x, placements: x.redistribute(placements=placements)):
            x = laid(whole, mesh, before).detach().requires_grad_()
            out = redistribute(x, after)
            assert out.requires_grad
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (out.redistribute(placements=[Replicate()] * 2) * whole_of(whole, mesh)).sum().backward()
            found.append(x.grad)
        assert torch.equal(found[0].full_tensor(), found[1].full_tensor()), (before, after)
    x = laid(whole, mesh, [Shard(0), Shard(1)]).requires_grad_()
    ours.rearrange(x, "a (b c) -> (c a@x) b r@y", b=2, r=2).pow(2).sum().backward()
    assert x.grad.placements == x.placements and torch.equal(x.grad.full_tensor(), 2 * 2 * whole)


def whole_of(like: torch.Tensor, mesh: Any) -> Any:
    return distribute_tensor(like.flip(0) + 1, mesh, [Replicate()] * mesh.ndim)


def test_gradients(four: Ranks) -> None:
    four.run(has_gradients)


def compiles(rank: int) -> None:
    mesh = mesh_of("x=2 y=2")
    x = distribute_tensor(numbers((4, 8)), mesh, [Shard(0), Shard(1)]).requires_grad_()
    for function in (
        lambda x: ours.rearrange(x * 2, "a (b c) -> b c@x a", b=2) + 1,
        lambda x: ours.redistribute(x * 2, [Replicate(), Shard(0)]) + 1,
    ):
        compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
        for _ in range(2):
            got, want = compiled(x), function(x)
            assert got.placements == want.placements and torch.equal(got.to_local(), want.to_local())
            (one,) = torch.autograd.grad(got.pow(2).sum(), x)
            (other,) = torch.autograd.grad(want.pow(2).sum(), x)
            assert torch.equal(one.full_tensor(), other.full_tensor())


def test_compiled_without_a_graph_break(four: Ranks) -> None:
    four.run(compiles)
