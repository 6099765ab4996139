"""Options of the functions with NumPy's and einops' names, on tensors."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import axisloom as ax

X = torch.arange(24.0).reshape(2, 3, 4)
A, B, C = torch.randn(3, 4), torch.randn(4, 5), torch.randn(5, 6)


@pytest.mark.parametrize("dtype", (torch.float64, torch.float16, "float64", np.float64, "bfloat16"))
def test_dtype(dtype):
    asked = {"float64": torch.float64, np.float64: torch.float64, "bfloat16": torch.bfloat16}.get(dtype, dtype)
    assert_close(ax.sum(X, axis=1, dtype=dtype), X.sum(1, dtype=asked))
    assert_close(ax.mean(X.int(), dtype=torch.float32), X.mean())


def test_where_initial_and_out():
    assert_close(ax.sum(X, where=X > 3, initial=2.5), X[X > 3].sum() + 2.5)
    assert_close(ax.sum(X, where=np.arange(4) > 1), X[..., 2:].sum())
    assert_close(ax.max(X, initial=torch.tensor(100.0)), torch.tensor(100.0))
    out = torch.zeros(2)
    assert ax.sum(X, axis=(1, 2), out=out) is out
    assert_close(out, X.sum((1, 2)))
    with pytest.raises(TypeError):
        ax.sum(X, axis=(1, 2), out=torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize("ord", (0, 1, 2, 3, np.inf, -np.inf))
def test_norms(ord):
    assert_close(ax.norm(X, ord, axis=1), torch.linalg.vector_norm(X, ord, dim=1))


def test_small_integers():
    x = torch.randint(-100, 100, (3, 3), dtype=torch.int8)
    for ours in (ax.einsum("ij,jk", x, x), ax.matmul(x, x), ax.dot(x, x), ax.tensordot(x, x, 1)):
        assert_close(ours, x @ x)


def test_orders_of_products():
    expected = A @ B @ C
    for pattern in ("(i j, j k), k l -> i l", "i j, (j k, k l) -> i l"):
        assert_close(ax.einsum(A, B, C, pattern), expected)
    assert_close(ax.einsum("ij,jk,kl", A, B, C, memory_limit=4 * 3 * 5), expected)
    with pytest.raises(MemoryError):
        ax.einsum("ij,jk,kl", A, B, C, memory_limit=4 * 3 * 5 - 1)


@pytest.mark.parametrize("pattern", ("ijk->kji", "...ij->ji...", "iij->ji"))
def test_views(pattern):
    x = torch.randn(3, 3, 4)
    view = ax.einsum(pattern, x, copy=False)
    assert_close(view, torch.einsum(pattern, x))
    assert view.data_ptr() == x.data_ptr()
    assert ax.einsum(pattern, x).data_ptr() != x.data_ptr()


def test_lists_and_functions():
    assert_close(ax.rearrange([X, X + 1], "n a b c -> (n a) c b"), torch.cat([X, X + 1]).transpose(1, 2))
    assert_close(ax.reduce(X, "a (b 3) c -> c a", lambda x, axes: x.logsumexp(axes)), X.logsumexp(1).T)
    packed, shapes = ax.pack([X, X[..., 0]], "a *")
    assert_close(packed, torch.cat([X.reshape(2, 12), X[..., 0]], 1))
    assert_close(ax.unpack(packed, shapes, "a *")[0], X)


def test_arrays_of_several_libraries():
    """The first one decides."""
    assert_close(ax.einsum("ij,jk", A, B.numpy()), A @ B)
    assert isinstance(ax.einsum("ij,jk", A.numpy(), B), np.ndarray)
    assert_close(ax.matmul(A, B.numpy()), A @ B)
    assert_close(
        ax.einsum("i,i", torch.ones(3, dtype=torch.float64), [1, 2, 3]), torch.tensor(6.0, dtype=torch.float64)
    )
