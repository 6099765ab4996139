"""torch.compile: whole graphs, with every public function, with symbolic shapes, and whichever import comes first."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
import torch._dynamo.testing

import axisloom as ax
from axisloom.torch import layers

X, W, V = torch.randn(4, 6), torch.randn(6, 5), torch.randn(6)
IMAGE, MASK, WHOLE = torch.randn(2, 6, 4, 4), torch.rand(4, 6) > 0.5, torch.arange(24).reshape(4, 6)

FUNCTIONS: dict[str, tuple[Callable, tuple[torch.Tensor, ...]]] = {
    "rearrange": (lambda x: ax.rearrange(x, "a (b c) -> c b a", c=2), (X,)),
    "rearrange a list": (lambda x: ax.rearrange([x, x + 1], "k a b -> a b k"), (X,)),
    "rearrange into": (lambda x: ax.rearrange(x, "a b -> b a", out=torch.empty(6, 4)), (X,)),
    "repeat": (lambda x: ax.repeat(x, "a b -> a b c", c=2), (X,)),
    "repeat along an axis called out": (lambda x: ax.repeat(x, "a b -> a (out b)", out=2), (X,)),
    "rearrange an axis called device": (lambda x: ax.rearrange(x, "a (device b) -> b a device", device=2), (X,)),
    "rearrange an axis called stream": (lambda x: ax.rearrange(x, "a (stream b) -> b a stream", stream=2), (X,)),
    "reduce an axis called out by a function": (lambda x: ax.reduce(x, "(a out) b -> a b", torch.amax, out=2), (X,)),
    "rearrange by keywords": (lambda x: ax.rearrange(tensor=x, pattern="a (out b) -> b (a out)", out=len(x) - 2), (X,)),
    "reduce by keywords": (lambda x: ax.reduce(x, pattern="a (out 2) -> out", reduction="sum", out=3), (X,)),
    "reduce": (lambda x: ax.reduce(x, "a (b 2) -> a b", "max"), (X,)),
    "reduce by a function": (lambda x: ax.reduce(x, "a b -> a", torch.logsumexp), (X,)),
    "transpose": (lambda x: ax.transpose(x), (X,)),
    "permute": (lambda x: ax.permute(x, (1, 0)), (X,)),
    "copy": (lambda x: ax.copy(x.t()), (X,)),
    "relayout": (lambda x: ax.relayout(x, "NCHW", "NC/4HW4"), (IMAGE,)),
    "relayout back": (lambda x: ax.relayout(ax.relayout(x, "NCHW", "NC/4HW4"), "NC/4HW4", "NCHW", 6), (IMAGE,)),
    "sum": (lambda x: ax.sum(x), (X,)),
    "sum over axes": (lambda x: ax.sum(x, axis=(0, -1), keepdims=True), (X,)),
    "sum in another dtype": (lambda x: ax.sum(x, axis=0, dtype=torch.float64), (X,)),
    "sum of bools": (lambda x: ax.sum(x, axis=1, dtype="float32"), (MASK,)),
    "sum where": (lambda x, m: ax.sum(x, axis=0, where=m, initial=2.0), (X, MASK)),
    "sum into": (lambda x: ax.sum(x, axis=1, out=torch.empty(4)), (X,)),
    "mean": (lambda x: ax.mean(x, axis=-1), (X,)),
    "prod": (lambda x: ax.prod(x, 1), (X,)),
    "min": (lambda x: ax.min(x, 1), (X,)),
    "max": (lambda x: ax.max(x, 1, initial=0.5), (X,)),
    "argmin": (lambda x: ax.argmin(x, 1), (X,)),
    "argmax": (lambda x: ax.argmax(x), (X,)),
    "any": (lambda x: ax.any(x, 1), (MASK,)),
    "all": (lambda x: ax.all(x, 1), (MASK,)),
    "count_nonzero": (lambda x: ax.count_nonzero(x, 0), (WHOLE,)),
    "norm": (lambda x: ax.norm(x, axis=1), (X,)),
    "norm of a matrix": (lambda x: ax.norm(x, ord=1, axis=(0, 1)), (X,)),
    "matmul": (lambda x, w: ax.matmul(x, w), (X, W)),
    "dot": (lambda v: ax.dot(v, v), (V,)),
    "tensordot": (lambda x, w: ax.tensordot(x, w, axes=([1], [0])), (X, W)),
    "einsum as einops": (lambda x, w: ax.einsum(x, w, "a b, b c -> c a"), (X, W)),
    "einsum as NumPy": (lambda x, w: ax.einsum("ab,bc,dc->ad", x, w, w), (X, W)),
    "pack": (lambda x: ax.pack([x, x.reshape(4, 3, 2)], "a *")[0], (X,)),
    "unpack": (lambda x: ax.unpack(x, [(2,), (2, 2)], "a *")[1], (X,)),
    "parse_shape": (lambda x: x * ax.parse_shape(x, "a b")["b"], (X,)),
    "Rearrange": (layers.Rearrange("a (b c) -> b a c", c=3), (X,)),
    "Rearrange an axis called out": (layers.Rearrange("a (out c) -> out a c", out=3), (X,)),
    "Reduce": (layers.Reduce("a (b c) -> b a", "mean", c=3), (X,)),
    "Rearrange made there": (lambda x: layers.Rearrange("a b -> b a")(x), (X,)),
    "EinMix": (layers.EinMix("a (b c) -> a (b d)", "b c d", "b d", b=2, c=3, d=4), (X,)),
}


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()


def _check(function: Callable, tensors: tuple[torch.Tensor, ...], compiled: Callable) -> None:
    """Values and gradients."""
    results = []
    for run in (function, compiled):
        own = [t.detach().clone().requires_grad_(t.is_floating_point()) for t in tensors]
        result = run(*own)
        results.append([result])
        if result.requires_grad:
            results[-1] += torch.autograd.grad(result.sin().sum(), [t for t in own if t.requires_grad])
    torch.testing.assert_close(results[1], results[0])
    assert results[1][0].stride() == results[0][0].stride()


_silent = pytest.mark.filterwarnings("error::UserWarning")
if not hasattr(torch._dynamo.utils, "allow_lru_cache_wrapper_trace_without_warning"):  # before 2.15
    _silent = pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")


@_silent
@pytest.mark.parametrize("name", FUNCTIONS)
def test_whole_graphs(name: str) -> None:
    function, tensors = FUNCTIONS[name]
    backend = torch._dynamo.testing.CompileCounter()
    expected = function(*tensors)
    torch.testing.assert_close(torch.compile(function, fullgraph=True, backend=backend)(*tensors), expected)
    assert backend.frame_count == 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whole_graphs_with_gradients(name: str) -> None:
    function, tensors = FUNCTIONS[name]
    _check(function, tensors, torch.compile(function, fullgraph=True, backend="aot_eager"))


_COMPILED = ("rearrange", "reduce", "relayout", "sum over axes", "max", "argmax", "einsum as einops", "EinMix")


@pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a C++ compiler")
@pytest.mark.parametrize("name", _COMPILED)
def test_inductor(name: str) -> None:
    function, tensors = FUNCTIONS[name]
    _check(function, tensors, torch.compile(function, fullgraph=True))


_DYNAMIC: dict[str, Callable] = {
    "moves": lambda x: ax.rearrange(ax.repeat(x, "a b -> a b 2"), "a b (c d) -> (a c) (d b)", c=2),
    "reductions": lambda x: ax.reduce(x, "a (b 2) -> b", "mean") + ax.max(x, axis=0)[: x.shape[1] // 2],
    "norm": lambda x: ax.norm(x, axis=0) * ax.prod(x.sigmoid(), axis=0),
    "products": lambda x: ax.einsum("ab,cb->ac", x, x) + ax.matmul(x, x.t()) + ax.einsum(x, x, "a b, c b -> a c"),
    "lengths called out": lambda x: ax.reduce(x.flatten(), "(out b) -> b", "sum", out=x.shape[0]),
    "lengths from shapes": lambda x: ax.rearrange(x.flatten(), "(a b) -> b a", a=x.shape[0]),
}


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", _DYNAMIC)
def test_one_graph_for_all_shapes(name: str, backend: str) -> None:
    function = _DYNAMIC[name]
    counter = torch._dynamo.testing.CompileCounterWithBackend(backend)
    compiled = torch.compile(function, fullgraph=True, dynamic=True, backend=counter)
    for shape in ((3, 4), (5, 8), (7, 10)):
        _check(function, (torch.randn(shape),), compiled)
    assert counter.frame_count == 1


# What torch.fx cannot trace: a length of a tensor, and an argument that is a function.
UNTRACED = {"rearrange by keywords", "reduce by a function", "Rearrange made there"}
UNTRACED |= {"reduce an axis called out by a function"}


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - UNTRACED))
def test_symbolic_trace(name: str) -> None:
    function, inputs = FUNCTIONS[name]
    traced = torch.fx.symbolic_trace(function)
    assert any(node.op == "call_function" for node in traced.graph.nodes) or isinstance(function, torch.nn.Module)
    torch.testing.assert_close(traced(*inputs), function(*inputs))
    wider = [given.double() if given.is_floating_point() else given for given in inputs]
    if not isinstance(function, torch.nn.Module) and "into" not in name:  # dtypes are looked at when the graph runs
        torch.testing.assert_close(traced(*wider), function(*wider))


def test_what_is_not_traced_is_said() -> None:
    with pytest.raises(NotImplementedError, match="torch.fx records no reduction by a function"):
        torch.fx.symbolic_trace(lambda x: ax.reduce(x, "a b -> a", torch.amax))


def test_a_traced_call_is_seen_in_the_graph() -> None:
    graph = torch.fx.symbolic_trace(lambda x: ax.einsum("ij,kj->ik", x, x, dtype=torch.float64)).graph
    (call,) = [node for node in graph.nodes if node.op == "call_function"]
    assert call.target is ax.einsum and call.kwargs == {"dtype": torch.float64}


def test_a_shape_that_does_not_divide_is_an_error() -> None:
    compiled = torch.compile(
        lambda x: ax.rearrange(x, "(a b) -> a b", b=2), fullgraph=True, dynamic=True, backend="eager"
    )
    assert compiled(torch.zeros(6)).shape == (3, 2)
    with pytest.raises(Exception, match="divided"):
        compiled(torch.zeros(7))


def test_the_librarys_message_is_that_of_a_wrong_pattern() -> None:
    compiled = torch.compile(lambda x: ax.rearrange(x, "a b -> a"), fullgraph=True, backend="eager")
    with pytest.raises(Exception, match="does not appear on the right"):
        compiled(torch.zeros(2, 3))


def test_other_devices_end_the_graph() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return ax.rearrange(x + 1, "a b -> b a", device="host") * 2

    torch.testing.assert_close(torch.compile(function, backend="eager")(X), (X + 1).t() * 2)
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(function, backend="eager", fullgraph=True)(X)


def test_compiled_functions_of_torch_func() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.vmap(torch.func.grad(lambda t: ax.sum(ax.rearrange(t, "(a b) -> b a", a=2) ** 3)))(x)

    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(X), 3 * X**2)


def test_export() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return ax.reduce(ax.rearrange(x, "b (h w) -> b w h", h=2), "b w h -> b w", "sum")

    program = torch.export.export(Model(), (X,), dynamic_shapes={"x": {0: torch.export.Dim.DYNAMIC}}, strict=True)
    other = torch.randn(9, 6)
    torch.testing.assert_close(program.module()(other), Model()(other))


_PROGRAM = """
import {first}
import {second}
import torch, axisloom
compiled = torch.compile(lambda x: axisloom.rearrange(x, "a b -> b a"), fullgraph=True, backend="eager")
x = torch.arange(6).reshape(2, 3)
assert torch.equal(compiled(x), x.t())
"""


@pytest.mark.parametrize("first, second", [("torch", "axisloom"), ("axisloom", "torch"), ("torch._dynamo", "axisloom")])
def test_imports_in_any_order(first: str, second: str) -> None:
    program = _PROGRAM.format(first=first, second=second)
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", program], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_importing_does_not_import_more() -> None:
    program = (
        "import sys, axisloom; assert 'torch' not in sys.modules, 'torch'\n"
        "import torch; assert 'torch._dynamo' not in sys.modules, 'Dynamo'\n"
        "axisloom.rearrange(torch.zeros(2, 3), 'a b -> b a')\n"
        "assert 'axisloom.torch._op' not in sys.modules and 'torch._dynamo' not in sys.modules, 'the operator'\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
