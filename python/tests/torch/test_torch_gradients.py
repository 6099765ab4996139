"""Gradients, and gradients of gradients, against finite differences and PyTorch's own."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch_cases import MOVES, PRODUCTS, REDUCTIONS, WITHOUT_GRADIENT, Case

from axisloom import _native


def _recording(case: Case, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    return [t.requires_grad_() if t.dtype == dtype else t for t in case.tensors(dtype)]


@pytest.mark.parametrize("case", [*MOVES, *REDUCTIONS, *PRODUCTS], ids=str)
def test_gradients_and_theirs(case: Case) -> None:
    tensors = _recording(case)
    assert gradcheck(case.run, tensors)
    assert gradgradcheck(case.run, tensors)


@pytest.mark.parametrize("case", [*MOVES, *REDUCTIONS, *PRODUCTS], ids=str)
def test_tangents_of_plain_tensors(case: Case) -> None:
    assert gradcheck(case.run, _recording(case), check_forward_ad=True, check_backward_ad=False)


@pytest.mark.parametrize("case", [*MOVES, *REDUCTIONS, *PRODUCTS], ids=str)
def test_forward_mode(case: Case) -> None:
    """torch.func's tangents, of gradients too."""
    x, *others = case.tensors()

    def function(x: torch.Tensor) -> torch.Tensor:
        return case.run(x, *others).square().sum()

    torch.testing.assert_close(torch.func.jacfwd(function)(x), torch.func.jacrev(function)(x))
    torch.testing.assert_close(torch.func.hessian(function)(x), torch.func.jacrev(torch.func.jacrev(function))(x))


@pytest.mark.parametrize("case", [*MOVES, *REDUCTIONS, *PRODUCTS], ids=str)
def test_batches_of_gradients_and_tangents(case: Case) -> None:
    """is_grads_batched= and vectorize= have a vmap of their own."""
    tensors = _recording(case)
    assert gradcheck(
        case.run, tensors, check_batched_grad=True, check_forward_ad=True, check_batched_forward_grad=True
    )
    assert gradgradcheck(case.run, tensors, check_batched_grad=True)


@pytest.mark.parametrize("batch", [1, 3])
def test_batches_of_one_and_of_several(batch: int) -> None:
    x = torch.randn(2, 1, requires_grad=True)
    y = torch.randn(1, 3, requires_grad=True)
    weights = torch.randn(batch, 2, 3)
    results = [
        torch.autograd.grad(product, (x, y), weights, is_grads_batched=True)
        for product in (_native.call("matmul", (), (x, y)), x @ y)
    ]
    torch.testing.assert_close(*results)


_COMPLEX = ("rearrange", "repeat", "sum", "mean", "prod", "einsum", "matmul", "dot")


@pytest.mark.parametrize(
    "case",
    [
        *(case for case in [*MOVES, *REDUCTIONS, *PRODUCTS] if case.name in _COMPLEX),
        *(case for case in REDUCTIONS if "norm" in (case.name, *case.arguments)),
    ],
    ids=str,
)
def test_gradients_of_complex_numbers(case: Case) -> None:
    if "activation" in case.options:
        pytest.skip("relu orders numbers")
    tensors = _recording(case, torch.complex128)
    assert gradcheck(case.run, tensors)
    assert gradgradcheck(case.run, tensors)


@pytest.mark.parametrize("case", WITHOUT_GRADIENT, ids=str)
def test_no_gradient_of_what_has_none(case: Case) -> None:
    result = case.run(*_recording(case))
    assert not result.requires_grad and result.grad_fn is None


def _gradient(function, *tensors: torch.Tensor) -> list[torch.Tensor]:
    tensors = [tensor.detach().requires_grad_() for tensor in tensors]
    result = function(*tensors)
    weights = torch.arange(1, result.numel() + 1, dtype=result.dtype).reshape(result.shape)
    return list(torch.autograd.grad(result, tensors, weights))


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_ties_share_the_gradient_of_an_extreme(name: str) -> None:
    x = torch.tensor([[1.0, 3.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0], [2.0, float("nan"), 1.0, 2.0]])
    got = _gradient(lambda t: _native.call(name[1:], (), (t,), None, {"axes": "1"}), x)
    torch.testing.assert_close(got, _gradient(lambda t: getattr(t, name)(1), x), equal_nan=True)


def test_the_initial_value_takes_its_share_of_an_extreme() -> None:
    x = torch.tensor([[1.0, 2.0, 2.0], [0.0, 1.0, 1.0], [5.0, 3.0, 0.0]])
    (got,) = _gradient(lambda t: _native.call("max", (), (t,), None, {"axes": "1", "initial": "2"}), x)
    expected = torch.tensor([[0, 1 / 3, 1 / 3], [0, 0, 0], [3, 0, 0]])
    torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_with_zeros(zeros: int) -> None:
    x = torch.tensor([[2.0, 3.0, 4.0, 5.0]] * 2, dtype=torch.float64)
    x[0, :zeros] = 0
    torch.testing.assert_close(
        _gradient(lambda t: _native.call("prod", (), (t,), None, {"axes": "1"}), x), _gradient(lambda t: t.prod(1), x)
    )
    run = Case("prod", (), ((2, 4),), {}, {"axes": "1"}).run
    assert gradgradcheck(run, x.requires_grad_())


@pytest.mark.parametrize("ord", ["1", "2", "inf"])
def test_norms_of_zeros(ord: str) -> None:
    x = torch.tensor([[0.0, 0.0], [3.0, -4.0]], dtype=torch.float64)
    got = _gradient(lambda t: _native.call("norm", (), (t,), None, {"axes": "1", "ord": ord}), x)
    torch.testing.assert_close(got, _gradient(lambda t: torch.linalg.vector_norm(t, float(ord), 1), x))


def test_a_gradient_has_its_tensors_dtype() -> None:
    half = torch.randn(3, 4, dtype=torch.bfloat16, requires_grad=True)
    double = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    whole = torch.arange(4)
    wide = _native.call("sum", (), (half,), None, {"axes": "0", "compute-dtype": "f64"})
    assert wide.dtype == torch.float64
    product = _native.call("einsum", ("a b, b c, b -> a c",), (half, double, whole))
    (wide.sum() + product.sum()).backward()
    assert half.grad.dtype == torch.bfloat16 and double.grad.dtype == torch.float64
    torch.testing.assert_close(
        half.grad.double(), (1 + double.sum(1) * whole).expand(3, 4).detach(), rtol=0.02, atol=0.02
    )


def test_a_real_factor_of_a_complex_product_gets_a_real_gradient() -> None:
    run = Case("einsum", ("i k, k j -> i j",), ()).run
    real = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    other = torch.randn(3, 4, dtype=torch.complex128, requires_grad=True)
    assert gradcheck(run, (real, other))
    assert gradgradcheck(run, (real, other))


def test_only_what_is_asked_for_is_computed() -> None:
    a, b = torch.randn(2, 3), torch.randn(3, 4, requires_grad=True)
    _native.call("einsum", ("i k, k j -> i j",), (a, b)).sum().backward()
    assert a.grad is None
    torch.testing.assert_close(b.grad, a.sum(0)[:, None].expand(3, 4))


def test_a_parameter_learns() -> None:
    weight = torch.nn.Parameter(torch.zeros(3, 2))
    x = torch.eye(3)
    step = torch.optim.SGD([weight], lr=0.5)
    for _ in range(60):
        step.zero_grad()
        (_native.call("matmul", (), (x, weight)) - torch.ones(3, 2)).pow(2).sum().backward()
        step.step()
    torch.testing.assert_close(weight.detach(), torch.ones(3, 2))
