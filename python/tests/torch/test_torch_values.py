"""Values, dtypes and strides on PyTorch's tensors, against einops and PyTorch."""

from __future__ import annotations

import einops
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import axisloom as ax

MOVED = [
    *(torch.uint8, torch.int8, torch.bool, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.uint64),
    *(torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def _numbers(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    whole = torch.arange(torch.Size(shape).numel()).reshape(shape)
    return whole % 2 == 1 if dtype == torch.bool else (whole % 251).to(dtype)


@st.composite
def _grouped(draw: st.DrawFn, names: list[str]) -> str:
    """Names in an order and in parentheses of chance."""
    left = draw(st.permutations(names))
    words = []
    while left:
        count = draw(st.integers(1, min(3, len(left))))
        words.append(left[0] if count == 1 else f"({' '.join(left[:count])})")
        left = left[count:]
    if draw(st.booleans()):
        words.insert(draw(st.integers(0, len(words))), draw(st.sampled_from(["1", "()"])))
    return " ".join(words)


def _shape_of(side: str, lengths: dict[str, int]) -> list[int]:
    flat = einops.rearrange(torch.empty(list(lengths.values())), f"{' '.join(lengths)} -> {side}")
    return list(flat.shape)


@st.composite
def _patterns(draw: st.DrawFn) -> tuple[str, str, dict[str, int], torch.Tensor]:
    names = [f"n{i}" for i in range(draw(st.integers(1, 5)))]
    lengths = {name: draw(st.integers(1, 4)) for name in names}
    left, right = draw(_grouped(names)), draw(_grouped(names))
    shape = _shape_of(left, lengths)
    # Axes in an order of chance in memory, some of them only in part, some backwards no PyTorch has.
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.integers(1, 2)) for _ in shape]
    memory = _numbers(tuple(shape[axis] * steps[axis] for axis in order), draw(st.sampled_from(MOVED)))
    tensor = memory.permute([order.index(axis) for axis in range(len(shape))])
    return left, right, lengths, tensor[tuple(slice(None, None, step) for step in steps)]


@settings(max_examples=300, deadline=None)
@given(_patterns())
def test_rearrange_as_einops(case: tuple[str, str, dict[str, int], torch.Tensor]) -> None:
    left, right, lengths, tensor = case
    got = ax.rearrange(tensor, f"{left} -> {right}", **lengths)
    expected = einops.rearrange(tensor, f"{left} -> {right}", **lengths)
    assert got.dtype == expected.dtype and torch.equal(got, expected)
    assert got.is_contiguous()
    assert got.data_ptr() != tensor.data_ptr() or not tensor.numel()


@pytest.mark.parametrize("dtype", MOVED, ids=str)
def test_repeat_as_einops(dtype: torch.dtype) -> None:
    tensor = _numbers((3, 4), dtype)
    for pattern in ("h w -> h w c", "h w -> (h c) w", "h w -> c w h", "... -> c ..."):
        got = ax.repeat(tensor, pattern, c=5)
        assert got.dtype == dtype and torch.equal(got, einops.repeat(tensor, pattern, c=5)) and got.is_contiguous()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("reduction", ["sum", "mean", "min", "max", "prod"])
def test_reduce_as_einops(reduction: str, dtype: torch.dtype) -> None:
    random = torch.Generator().manual_seed(3)
    tensor = torch.rand(4, 6, 8, generator=random)
    if reduction == "prod":
        tensor = 1 + (tensor - 0.5) / 8
    tensor = tensor.to(dtype)
    for pattern in ("a b c -> b", "a (b 2) c -> c a b", "a b c -> a () c", "a ... ->", "... c -> ..."):
        got, expected = ax.reduce(tensor, pattern, reduction), einops.reduce(tensor.double(), pattern, reduction)
        assert got.dtype == dtype
        roundings = tensor.numel() // max(1, got.numel()) if reduction == "prod" else 2
        torch.testing.assert_close(got.double(), expected, rtol=roundings * torch.finfo(dtype).eps, atol=0)


def test_lists_are_stacked_as_einops_does() -> None:
    tensors = [torch.randn(2, 3, requires_grad=True) for _ in range(4)]
    got = ax.rearrange(tensors, "k a b -> b (k a)")
    assert torch.equal(got, einops.rearrange(tensors, "k a b -> b (k a)"))
    got.sum().backward()
    assert all(torch.equal(tensor.grad, torch.ones(2, 3)) for tensor in tensors)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64], ids=str)
def test_einsum_as_pytorch(dtype: torch.dtype) -> None:
    random = torch.Generator().manual_seed(1)
    a, b = torch.randn(3, 4, 5, generator=random).to(dtype), torch.randn(3, 5, 6, generator=random).to(dtype)
    wide = torch.complex128 if dtype.is_complex else torch.float64
    for pattern in ("bij,bjk->bik", "bij,bjk->ki", "bij,cjk->bc"):
        got = ax.einsum(pattern, a, b)
        assert got.dtype == dtype and got.is_contiguous()
        expected = torch.einsum(pattern, a.to(wide), b.to(wide)).to(dtype)
        torch.testing.assert_close(got, expected, rtol=2 * torch.finfo(dtype).eps, atol=4 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_sums_of_whole_numbers(dtype: torch.dtype) -> None:
    tensor = _numbers((4, 5), dtype)
    got = ax.sum(tensor, axis=0)
    assert torch.equal(got.to(torch.int64), tensor.to(torch.int64).sum(0))
    assert got.dtype == (torch.uint64 if dtype == torch.uint8 else torch.int64)


def test_reductions_by_name() -> None:
    x = torch.randn(4, 5, 6)
    torch.testing.assert_close(ax.sum(x, axis=(0, -1)), x.sum((0, -1)))
    torch.testing.assert_close(ax.mean(x, axis=1, keepdims=True), x.mean(1, keepdim=True))
    torch.testing.assert_close(ax.norm(x, axis=-1), x.norm(dim=-1))
    for name, expected in (("max", x.amax(1)), ("min", x.amin(1)), ("argmax", x.argmax(1)), ("argmin", x.argmin(1))):
        assert torch.equal(getattr(ax, name)(x, axis=1), expected)
    assert torch.equal(ax.any(x > 1, axis=0), (x > 1).any(0))
    assert torch.equal(ax.all(x > -1, axis=0), (x > -1).all(0))
    assert torch.equal(ax.count_nonzero(x > 0, axis=2), (x > 0).sum(2))


def test_products_by_name() -> None:
    a, b = torch.randn(2, 3, 4), torch.randn(4, 5)
    torch.testing.assert_close(ax.matmul(a, b), a @ b)
    torch.testing.assert_close(ax.tensordot(a, b, 1), torch.tensordot(a, b, 1))
    torch.testing.assert_close(ax.dot(b[0], b[1]), b[0] @ b[1])


def test_empty_tensors() -> None:
    assert ax.rearrange(torch.empty(0, 3), "a b -> b a").shape == (3, 0)
    assert torch.equal(ax.sum(torch.empty(0, 3), axis=0), torch.zeros(3))


def test_a_parameter_gives_a_tensor() -> None:
    parameter = torch.nn.Parameter(torch.randn(2, 3))
    with torch.no_grad():
        assert type(ax.rearrange(parameter, "a b -> b a")) is torch.Tensor
    assert type(ax.rearrange(parameter, "a b -> b a")) is torch.Tensor


def test_inference_mode() -> None:
    with torch.inference_mode():
        x = torch.randn(2, 3)
        assert torch.equal(ax.rearrange(x, "a b -> b a"), x.t())
    assert torch.equal(ax.rearrange(x, "a b -> b a"), x.t())
