"""Transforms of torch.func within one another, and under backward, against the same by PyTorch's own operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

import axisloom as ax

Function = Callable[[torch.Tensor], torch.Tensor]


class Pair(NamedTuple):
    """Two functions of a tensor of 2 x 3 that do the same."""

    ours: Function
    theirs: Function


WEIGHTS = torch.tensor([[0.5, -1.5], [2.0, 0.25], [-0.75, 1.25]], dtype=torch.float64)
MASK = torch.tensor([[True, False, True], [True, True, False]])

PAIRS = {
    "rearrange": Pair(lambda x: ax.rearrange(x, "a b -> b 1 a"), lambda x: x.permute(1, 0).unsqueeze(1)),
    "repeat": Pair(lambda x: ax.repeat(x, "a b -> b (a 2)"), lambda x: x.T.repeat_interleave(2, 1)),
    "transpose": Pair(ax.transpose, lambda x: x.T),
    "permute": Pair(lambda x: ax.permute(x, (1, 0)), lambda x: x.T),
    "reduce": Pair(lambda x: ax.reduce(x, "a b -> b", "mean"), lambda x: x.mean(0)),
    "sum": Pair(lambda x: ax.sum(x, axis=1), lambda x: x.sum(1)),
    "sum of all": Pair(ax.sum, torch.sum),
    "sum of some": Pair(lambda x: ax.sum(x, axis=1, where=MASK), lambda x: torch.where(MASK, x, 0).sum(1)),
    "mean": Pair(lambda x: ax.mean(x, axis=0), lambda x: x.mean(0)),
    "max": Pair(lambda x: ax.max(x, axis=1), lambda x: x.amax(1)),
    "min": Pair(lambda x: ax.min(x, axis=0), lambda x: x.amin(0)),
    "prod": Pair(lambda x: ax.prod(x, axis=1), lambda x: x.prod(1)),
    "norm": Pair(lambda x: ax.norm(x, axis=1), lambda x: x.square().sum(1).sqrt()),
    "norm of 1": Pair(lambda x: ax.norm(x, 1, axis=1), lambda x: x.abs().sum(1)),
    "norm of infinity": Pair(lambda x: ax.norm(x, float("inf"), axis=1), lambda x: x.abs().amax(1)),
    "einsum": Pair(lambda x: ax.einsum(x, WEIGHTS, x, "a b, b c, d b -> d c a"), lambda x: _three(x)),
    "matmul": Pair(lambda x: ax.matmul(x, WEIGHTS), lambda x: x @ WEIGHTS),
    "matmul with itself": Pair(lambda x: ax.matmul(x, ax.transpose(x)), lambda x: x @ x.T),
    "dot": Pair(lambda x: ax.dot(x[0], x[1]), lambda x: x[0] @ x[1]),
}


def _three(x: torch.Tensor) -> torch.Tensor:
    return torch.einsum("ab,bc,db->dca", x, WEIGHTS, x)


def _x(seed: int = 1) -> torch.Tensor:
    return torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def _loss(function: Function) -> Function:
    """A number, of which no derivative up to the third is 0 everywhere."""
    return lambda x: (function(x * x.cos()) ** 3).sum()


def _grad_of_grad(loss: Function) -> Function:
    return grad(lambda x: grad(loss)(x).sin().sum())


def _jvp_of_jvp(loss: Function, x: torch.Tensor) -> torch.Tensor:
    first, second = _x(2), _x(3)
    return torch.stack(jvp(lambda y: jvp(loss, (y,), (first,))[1].sin(), (x,), (second,)))


def _grad_with_an_outer_one(loss: Function, x: torch.Tensor) -> torch.Tensor:
    """What the inner level takes for a constant is the outer level's variable."""
    return grad(lambda w: grad(lambda v: loss(v * w))(x).square().sum())(_x(2))


NESTED = {
    "hessian": lambda loss, x: hessian(loss)(x),
    "grad of grad": lambda loss, x: _grad_of_grad(loss)(x),
    "jacrev of jacrev": lambda loss, x: jacrev(jacrev(loss))(x),
    "jacfwd of jacfwd": lambda loss, x: jacfwd(jacfwd(loss))(x),
    "jacrev of jacfwd": lambda loss, x: jacrev(jacfwd(loss))(x),
    "jvp of jvp": _jvp_of_jvp,
    "vmap of grad of grad": lambda loss, x: vmap(_grad_of_grad(loss))(torch.stack([x, _x(4)])),
    "grad of vmap of grad": lambda loss, x: grad(lambda y: vmap(grad(loss))(torch.stack([y, y * 2])).sin().sum())(x),
    "grad with an outer one": _grad_with_an_outer_one,
    "grad of grad of grad": lambda loss, x: grad(lambda y: _grad_of_grad(loss)(y).sum())(x),
}


@pytest.mark.parametrize("nested", NESTED)
@pytest.mark.parametrize("name", PAIRS)
def test_nested_transforms(name: str, nested: str) -> None:
    got, expected = (NESTED[nested](_loss(function), _x()) for function in PAIRS[name])
    assert expected.count_nonzero()
    torch.testing.assert_close(got, expected)


THEN_BACKWARD = {
    "grad": lambda loss, x, w: grad(lambda v: loss(v * w))(x),
    "vmap of grad": lambda loss, x, w: vmap(grad(lambda v: loss(v * w)))(torch.stack([x, x.sin()])),
    "hessian": lambda loss, x, w: hessian(lambda v: loss(v * w))(x),
    "vjp": lambda loss, x, w: vjp(lambda v: loss(v * w), x)[1](torch.ones((), dtype=x.dtype))[0],
    "the result of vjp": lambda loss, x, w: vjp(lambda v: loss(v * w), x)[0],
    "jvp": lambda loss, x, w: jvp(lambda v: loss(v * w), (x,), (_x(3),))[1],
    "the result of jvp": lambda loss, x, w: jvp(lambda v: loss(v * w), (x,), (_x(3),))[0],
    "jacfwd": lambda loss, x, w: jacfwd(lambda v: loss(v * w))(x),
    "vmap": lambda loss, x, w: vmap(lambda v: loss(v * w))(torch.stack([x, x.sin()])),
}


@pytest.mark.parametrize("transform", THEN_BACKWARD)
@pytest.mark.parametrize("name", PAIRS)
def test_transforms_then_backward(name: str, transform: str) -> None:
    """The variable that is transformed, and one that only backward knows, get their gradients."""
    results = []
    for function in PAIRS[name]:
        x, w = _x().requires_grad_(), _x(2).requires_grad_()
        THEN_BACKWARD[transform](_loss(function), x, w).sin().sum().backward()
        results.append((x.grad, w.grad))
    assert all(gradient.count_nonzero() for gradient in results[1])
    torch.testing.assert_close(results[0], results[1])


@pytest.mark.parametrize("name", PAIRS)
def test_tangents_around_transforms(name: str) -> None:
    got = []
    for function in PAIRS[name]:
        with forward_ad.dual_level():
            x = forward_ad.make_dual(_x(), _x(2))
            got.append(forward_ad.unpack_dual(grad(_loss(function))(x)).tangent)
    assert got[1].count_nonzero()
    torch.testing.assert_close(*got)


@pytest.mark.parametrize("name", PAIRS)
def test_linearize(name: str) -> None:
    results = []
    for function in PAIRS[name]:
        value, tangents_of = linearize(_loss(function), _x())
        results.append((value, tangents_of(_x(2))))
    torch.testing.assert_close(*results)


_WITHIN = {
    "grad": grad,
    "jacfwd": jacfwd,
    "grad of grad": lambda f: grad(lambda x: grad(f)(x).sum()),
    "grad of jvp": lambda f: grad(lambda x: (jvp(f, (x,), (x.sin(),))[1] * x).sum()),
    "jvp of jvp": lambda f: lambda x: _jvp_of_jvp(f, x),
    "jvp of grad": lambda f: lambda x: jvp(grad(f), (x,), (_x(2),))[1],
}


@pytest.mark.parametrize("transform", _WITHIN.values(), ids=_WITHIN)
def test_no_grad_within_transforms(transform: Callable[[Function], Function]) -> None:
    """What PyTorch does not record there is not recorded here, at no level."""

    def product(total: Function) -> Function:
        def function(x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                constant = total(x)
            return constant * (x**3).sum()

        return function

    got, expected = (transform(product(total))(_x()) for total in (ax.sum, torch.sum))
    torch.testing.assert_close(got, expected)


def test_no_grad_around_transforms() -> None:
    x, w = _x(), _x(2).requires_grad_()
    with torch.no_grad():
        got, expected = (grad(lambda v: (f(v * w, "a b -> b a") ** 3).sum())(x) for f in (ax.rearrange, _transposed))
    assert not got.requires_grad
    torch.testing.assert_close(got, expected)


def _transposed(x: torch.Tensor, pattern: str) -> torch.Tensor:
    return x.T
