"""Tensors on a card: the current stream, no synchronisation, graphs, gradients and compilation."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import gradcheck
from torch_cases import ALL, MOVES, PRODUCTS, REDUCTIONS, Case

import axisloom as ax

pytestmark = pytest.mark.cuda


def _on_card(case: Case, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    return [tensor.cuda() for tensor in case.tensors(dtype)]


@pytest.mark.parametrize("case", ALL, ids=str)
def test_as_on_the_host(case: Case) -> None:
    got = case.run(*_on_card(case))
    assert got.is_cuda
    torch.testing.assert_close(got.cpu(), case.run(*case.tensors()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", [*MOVES, *REDUCTIONS, *PRODUCTS], ids=str)
def test_gradients(case: Case) -> None:
    tensors = [t.requires_grad_() if t.is_floating_point() else t for t in _on_card(case)]
    assert gradcheck(case.run, tensors)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_small_floats(dtype: torch.dtype) -> None:
    x = torch.randn(64, 96, device="cuda").to(dtype)
    assert torch.equal(ax.rearrange(x, "(a b) c -> c b a", b=8), x.reshape(8, 8, 96).permute(2, 1, 0))
    tolerance = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(ax.sum(x, axis=0).double(), x.double().sum(0), rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(ax.matmul(x, x.t()).double(), x.double() @ x.double().t(), rtol=tolerance, atol=0.1)


def test_the_current_stream_is_used() -> None:
    """A slow kernel before the move, on a stream of the caller's: the move has to wait for it, and the host not."""
    x = torch.zeros(1024, 1024, device="cuda")
    ax.rearrange(x, "a b -> b a")  # compiles, which takes longer than the slow kernel
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        x.fill_(3)
        got = ax.rearrange(x, "a b -> b a")
        assert not stream.query()  # the host did not wait
    stream.synchronize()
    assert bool((got == 3).all())


def test_a_stream_that_is_named() -> None:
    x = torch.zeros(512, 512, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        x.fill_(2)
    for own in (x, x.clone().requires_grad_()):
        out = torch.empty(512, 512, device="cuda")
        with torch.no_grad():
            ax.rearrange(x, "a b -> b a", out=out, stream=stream)
        stream.synchronize()
        assert bool((out == 2).all()), own.requires_grad


def test_a_graph_captures_it() -> None:
    x = torch.randn(128, 256, device="cuda")
    ax.rearrange(x, "a b -> b a")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = ax.sum(ax.rearrange(x, "a b -> b a"), axis=0)
    x.copy_(torch.randn(128, 256))
    graph.replay()
    torch.testing.assert_close(got, x.sum(1))


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiled(mode: str) -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return ax.matmul(ax.rearrange(x, "a (b c) -> (a b) c", c=32), w).relu()

    compiled = torch.compile(function, fullgraph=True, mode=mode)
    for _ in range(3):
        x = torch.randn(8, 64, device="cuda", requires_grad=True)
        w = torch.randn(32, 16, device="cuda", requires_grad=True)
        result = compiled(x, w)
        torch.testing.assert_close(result, function(x, w), rtol=1e-3, atol=1e-3)
        result.sum().backward()
        assert x.grad is not None and w.grad is not None


def test_two_places_are_refused() -> None:
    with pytest.raises(ValueError, match="one place"):
        ax.matmul(torch.zeros(2, 3, device="cuda"), torch.zeros(3, 2))
    with pytest.raises((ValueError, RuntimeError)):
        ax.matmul(torch.zeros(2, 3, device="cuda", requires_grad=True), torch.zeros(3, 2))
