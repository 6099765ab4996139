"""The registered operator: PyTorch's own checks, shapes without data, vmap and torch.func, and what gets to it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch_cases import ALL, MOVES, PRODUCTS, REDUCTIONS, Case

import axisloom.torch
from axisloom import _native


def _operator() -> torch._ops.OpOverload:
    axisloom.torch.dispatch  # noqa: B018 (the operator is registered when the module is first asked for something)
    return torch.ops.axisloom.run.default


def _arguments(case: Case, tensors: list[torch.Tensor]) -> tuple:
    options = [f"{name}={value}" for name, value in case.options.items()]
    return tensors, case.name, list(case.arguments), list(case.lengths), list(case.lengths.values()), options


@pytest.mark.parametrize("case", ALL, ids=str)
def test_opcheck(case: Case) -> None:
    tensors = [tensor.requires_grad_() if tensor.is_floating_point() else tensor for tensor in case.tensors()]
    torch.library.opcheck(_operator(), _arguments(case, tensors))


@pytest.mark.parametrize("case", ALL, ids=str)
def test_shape_and_dtype_without_data(case: Case) -> None:
    tensors = case.tensors()
    expected = case.run(*tensors)
    got = case.run(*[tensor.to("meta") for tensor in tensors])
    assert got.device.type == "meta"
    assert (got.shape, got.dtype, got.stride()) == (expected.shape, expected.dtype, expected.stride())


@pytest.mark.parametrize("case", ALL, ids=str)
def test_symbolic_shapes(case: Case) -> None:
    """Extents of 2 and more are symbols; the result's follow from them."""
    tensors = case.tensors()
    expected = case.run(*tensors)
    shapes = ShapeEnv()
    with FakeTensorMode(shape_env=shapes) as mode:
        fakes = [
            mode.from_tensor(tensor, symbolic_context=StatelessSymbolicContext([DimDynamic.DYNAMIC] * tensor.dim()))
            for tensor in tensors
        ]
        got = _operator()(*_arguments(case, fakes))
    assert got.dtype == expected.dtype
    assert [int(extent) for extent in got.shape] == list(expected.shape)
    whole = case.shapes[0]
    if (
        whole
        and case.name in ("rearrange", "copy", "transpose", "permute")
        and all(n > 1 for n in whole)
        and not case.lengths
    ):
        assert all(isinstance(extent, torch.SymInt) for extent in got.shape)


@pytest.mark.parametrize("case", ALL, ids=str)
@pytest.mark.parametrize("dims", ["first", "last", "none but one"])
def test_vmap(case: Case, dims: str) -> None:
    tensors, batch = case.tensors(), 3
    where = []
    for i, tensor in enumerate(tensors):
        last = i == len(tensors) - 1
        dim = {"first": 0, "last": tensor.dim(), "none but one": 0 if last else None}[dims]
        where.append(dim)
        if dim is not None:
            others = [case.tensors(seed=seed)[i] for seed in range(batch)]
            tensors[i] = torch.stack(others, dim)
    got = torch.vmap(case.run, tuple(where))(*tensors)
    for b in range(batch):
        own = [t if dim is None else t.select(dim, b) for t, dim in zip(tensors, where)]
        torch.testing.assert_close(got[b], case.run(*own), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", [*MOVES, *REDUCTIONS, *PRODUCTS], ids=str)
def test_gradients_of_a_batch(case: Case) -> None:
    """torch.func: the gradient per sample is that of each sample."""
    tensors = case.tensors()
    batches = torch.stack([case.tensors(seed=seed)[0] for seed in range(3)])

    def loss(x: torch.Tensor) -> torch.Tensor:
        return case.run(x, *tensors[1:]).square().sum()

    got = torch.vmap(torch.func.grad(loss))(batches)
    for b in range(3):
        x = batches[b].clone().requires_grad_()
        (expected,) = torch.autograd.grad(loss(x), x)
        torch.testing.assert_close(got[b], expected, rtol=1e-10, atol=1e-10)


def test_vmap_within_vmap() -> None:
    x = torch.randn(2, 3, 4, 5)
    got = torch.vmap(torch.vmap(lambda t: _native.rearrange(t, "a b -> b a")))(x)
    torch.testing.assert_close(got, x.transpose(2, 3))


class _Tagged(torch.Tensor):
    """A subclass that PyTorch's default rules keep."""


def test_subclasses_stay_what_they_are() -> None:
    x = torch.randn(2, 3).as_subclass(_Tagged)
    got = _native.rearrange(x, "a b -> b a")
    assert type(got) is _Tagged
    torch.testing.assert_close(got.as_subclass(torch.Tensor), x.as_subclass(torch.Tensor).t())


class _Counting(torch.utils._python_dispatch.TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_modes_see_the_operator() -> None:
    with _Counting() as mode:
        got = _native.rearrange(torch.arange(6).reshape(2, 3), "a b -> b a")
    assert "axisloom.run.default" in mode.seen
    assert got.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_modes_that_are_disabled_do_no_harm() -> None:
    x = torch.arange(6).reshape(2, 3)
    with torch.device("cpu"):
        assert _native.rearrange(x, "a b -> b a").tolist() == [[0, 3], [1, 4], [2, 5]]
        with torch._C.DisableTorchFunction():
            assert _native.rearrange(x, "a b -> b a").tolist() == [[0, 3], [1, 4], [2, 5]]


def test_lazy_conjugates_and_negatives() -> None:
    x = torch.randn(2, 3, dtype=torch.complex64)
    torch.testing.assert_close(_native.rearrange(x.conj(), "a b -> b a"), x.conj().resolve_conj().t())
    negative = x.conj().imag
    assert negative.is_neg()
    torch.testing.assert_close(_native.rearrange(negative, "a b -> b a"), negative.clone().t())


def test_an_output_of_the_callers() -> None:
    x = torch.randn(2, 3, requires_grad=True)
    out = torch.empty(3, 2)
    assert _native.rearrange(x, "a b -> b a", out=out) is out
    torch.testing.assert_close(out.detach(), x.detach().t())
    out.sum().backward()
    torch.testing.assert_close(x.grad, torch.ones(2, 3))
    with pytest.raises(ValueError, match=r"shape \[2, 3\]"):
        _native.rearrange(x, "a b -> b a", out=torch.empty(2, 3))
    with pytest.raises(TypeError, match="float64"):
        _native.rearrange(x, "a b -> b a", out=torch.empty(3, 2, dtype=torch.float64))


class _Foreign:
    """An array that has DLPack alone."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__


@pytest.mark.parametrize(
    "write",
    [
        lambda y: axisloom.sum(torch.ones(2, 5), axis=1, out=y),
        lambda y: axisloom.rearrange(y + 1, "a -> a", out=y),
        lambda y: axisloom.rearrange(y, "a -> a", out=y),
        lambda y: axisloom.sum(numpy.ones((2, 5), "float32"), axis=1, out=y),
        lambda y: axisloom.rearrange(_Foreign(torch.ones(2)), "a -> a", out=y),
        lambda y: torch.add(y, 1, out=y),
    ],
    ids=["reduction", "move", "in place", "of NumPy's array", "of an array by DLPack", "PyTorch's"],
)
def test_backward_refuses_what_an_output_wrote_over(write: Callable[[torch.Tensor], torch.Tensor]) -> None:
    whole, w = torch.ones(4), torch.ones(2, requires_grad=True)
    view = whole[:2]
    product = (w * view).sum()
    write(whole[:2])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_an_output_of_inference_mode() -> None:
    with torch.inference_mode():
        out = torch.zeros(2)
        assert axisloom.sum(torch.ones(2, 5), axis=1, out=out).tolist() == [5, 5]


@pytest.mark.parametrize("leaf", [True, False], ids=["leaf", "no leaf"])
def test_an_output_that_requires_grad_is_refused_where_gradients_are_recorded(leaf: bool) -> None:
    """As by PyTorch: what was recorded of it before would no longer hold."""
    x = torch.ones(2, 5)
    variable = torch.zeros(2, requires_grad=True)
    out = variable if leaf else variable * 1
    for total in (torch.sum, axisloom.sum):
        with pytest.raises(RuntimeError, match="requires grad"):
            total(x, 1, out=out)
        with torch.no_grad():
            total(x, 1, out=out.zero_())
        assert out.tolist() == [5, 5]


_ROWS = [torch.ones(2, 3), torch.ones(1, 3)]
_WITHOUT_STRIDES = {
    "sparse": (lambda: torch.eye(3).to_sparse(), "to_dense"),
    "sparse rows": (lambda: torch.eye(3).to_sparse_csr(), "to_dense"),
    "quantised": (lambda: torch.quantize_per_tensor(torch.ones(3, 3), 0.1, 0, torch.qint8), "dequantize"),
    "nested": (lambda: torch.nested.nested_tensor(_ROWS), "unbind"),
    "jagged": (lambda: torch.nested.nested_tensor(_ROWS, layout=torch.jagged), "unbind"),
}


@pytest.mark.filterwarnings("ignore")  # PyTorch's, of prototypes
@pytest.mark.parametrize("sort", _WITHOUT_STRIDES)
def test_tensors_without_strides_are_refused_with_a_remedy(sort: str) -> None:
    make, remedy = _WITHOUT_STRIDES[sort]
    tensor = make()
    with pytest.raises(axisloom.UnsupportedError, match=remedy):
        axisloom.rearrange(tensor, "a b -> b a")
    with pytest.raises(axisloom.UnsupportedError, match=remedy):
        axisloom.matmul(torch.ones(3, 3, requires_grad=True), tensor)
    with pytest.raises(axisloom.UnsupportedError, match=remedy):
        axisloom.sum(torch.ones(3, 3), out=tensor)
    if tensor.is_floating_point():
        with pytest.raises(axisloom.UnsupportedError, match=remedy):
            axisloom.rearrange(tensor.requires_grad_(), "a b -> b a")


def test_names_of_the_module() -> None:
    assert "layers" in dir(axisloom.torch)


def test_arrays_that_are_no_tensors_are_refused() -> None:
    x = torch.randn(2, 3, requires_grad=True)
    with pytest.raises(TypeError, match="torch.as_tensor"):
        _native.call("einsum", ("i k, k j -> i j",), (x, numpy.ones((3, 2), "float32")))


def test_another_device_is_refused_where_gradients_are_recorded() -> None:
    with pytest.raises(axisloom.UsageError, match="Tensor.to"):
        _native.call("copy", (), (torch.randn(2, requires_grad=True),), device="cuda:0")


def test_errors_are_those_of_the_library() -> None:
    plain = torch.randn(2, 3)
    for pattern in ("a b -> a", "a b c -> a b c", "(a b) c -> a b c"):
        with pytest.raises(Exception) as expected:
            _native.rearrange(plain, pattern)
        with pytest.raises(type(expected.value)) as got:
            _native.rearrange(plain.clone().requires_grad_(), pattern)
        assert str(got.value) == str(expected.value)


def test_threads() -> None:
    """Forward and backward in several threads at once."""
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for case in (*MOVES, *REDUCTIONS[:20], *PRODUCTS):
                tensors = [t.requires_grad_() if t.is_floating_point() else t for t in case.tensors(seed=seed)]
                case.run(*tensors).sum().backward()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_version_without_the_exchange_of_tensors_is_refused() -> None:
    from axisloom.torch import _op

    _op._require_exchange(torch.Tensor)
    with pytest.raises(axisloom.UnsupportedError, match=r"2\.10 or newer"):
        _op._require_exchange(object)
