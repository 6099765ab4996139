"""Layers against those of einops."""

from __future__ import annotations

import copy
import doctest
import pickle
import warnings

import einops
import einops.layers.torch as theirs
import pytest
import torch

import axisloom
from axisloom.torch import layers as ours

X = torch.randn(2, 12, 6, generator=torch.Generator().manual_seed(1))

CONSTRUCTED = [
    ("Rearrange", ("b (h w) c -> b c h w",), {"h": 4}, (2, 12, 6)),
    ("Rearrange", ("b ... -> b (...)",), {}, (2, 12, 6)),
    ("Reduce", ("b (h 2) c -> b c h", "max"), {}, (2, 12, 6)),
    ("Reduce", ("b h (c c1) -> b c", "mean"), {"c1": 3}, (2, 12, 6)),
    ("EinMix", ("t b cin -> t b cout", "cin cout"), {"cin": 6, "cout": 5}, (2, 12, 6)),
    ("EinMix", ("t b cin -> t b cout", "cin cout", "cout"), {"cin": 6, "cout": 5}, (2, 12, 6)),
    ("EinMix", ("h w c -> hout w c", "h hout", "hout"), {"h": 2, "hout": 3}, (2, 12, 6)),
    ("EinMix", ("t b c -> t b c", "c"), {"c": 6}, (2, 12, 6)),
    ("EinMix", ("t b (g cin) -> t b (g cout)", "g cin cout", "g cout"), {"g": 3, "cin": 2, "cout": 4}, (2, 12, 6)),
    ("EinMix", ("t (b b2) c -> (t d) b", "b2 c d", "d"), {"b2": 3, "c": 6, "d": 2}, (2, 12, 6)),
    ("EinMix", ("... c -> ... d", "c d", "d"), {"c": 6, "d": 3}, (2, 12, 6)),
    ("EinMix", ("a ... c -> a (... d)", "c d"), {"c": 6, "d": 3}, (2, 12, 6)),
    ("EinMix", ("a b c -> b () a", "b c"), {"b": 12, "c": 6}, (2, 12, 6)),
    ("EinMix", ("a 1 c -> a 1 d", "c d", "d"), {"c": 6, "d": 3}, (2, 1, 6)),
]
IDS = [f"{name} {arguments} {lengths}" for name, arguments, lengths, _ in CONSTRUCTED]


def _both(name: str, arguments: tuple, lengths: dict) -> tuple[torch.nn.Module, torch.nn.Module]:
    made = []
    for layers in (theirs, ours):
        torch.manual_seed(7)
        made.append(getattr(layers, name)(*arguments, **lengths))
    return made[0], made[1]


@pytest.mark.parametrize("name, arguments, lengths, shape", CONSTRUCTED, ids=IDS)
def test_values_gradients_and_texts(name: str, arguments: tuple, lengths: dict, shape: tuple) -> None:
    their, our = _both(name, arguments, lengths)
    assert repr(our) == repr(their)
    x = torch.randn(shape)
    results = []
    for layer in (their, our):
        own = x.clone().requires_grad_()
        result = layer(own)
        result.sin().sum().backward()
        results.append([result, own.grad, *(parameter.grad for parameter in layer.parameters())])
    torch.testing.assert_close(results[1], results[0])


@pytest.mark.parametrize("name, arguments, lengths, shape", CONSTRUCTED, ids=IDS)
def test_the_same_state(name: str, arguments: tuple, lengths: dict, shape: tuple) -> None:
    """The same seed makes the same weights, and each loads the other's."""
    their, our = _both(name, arguments, lengths)
    torch.testing.assert_close(dict(our.state_dict()), dict(their.state_dict()), rtol=0, atol=0)
    their.load_state_dict(our.state_dict())
    our.load_state_dict(their.state_dict())


@pytest.mark.parametrize("name, arguments, lengths, shape", CONSTRUCTED, ids=IDS)
def test_copies(name: str, arguments: tuple, lengths: dict, shape: tuple) -> None:
    _, our = _both(name, arguments, lengths)
    x = torch.randn(shape)
    for other in (pickle.loads(pickle.dumps(our)), copy.deepcopy(our)):
        assert repr(other) == repr(our)
        torch.testing.assert_close(other(x), our(x))


def test_in_a_model() -> None:
    def model(layers) -> torch.nn.Module:
        torch.manual_seed(3)
        return torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3),
            layers.Reduce("b c (h 2) (w 2) -> b c h w", "max"),
            layers.Rearrange("b c h w -> b (c h w)"),
            torch.nn.Linear(8 * 7 * 7, 4),
        )

    images = torch.randn(2, 3, 16, 16)
    torch.testing.assert_close(model(ours)(images), model(theirs)(images))


def test_autocast() -> None:
    """EinMix computes in what autocast asks for, with weights that stay what they are."""
    their, our = _both("EinMix", ("... c -> ... d", "c d", "d"), {"c": 6, "d": 3})
    results = []
    for layer in (their, our):
        with torch.autocast("cpu", torch.bfloat16):
            result = layer(X)
        result.float().sin().sum().backward()
        results.append([result, layer.weight.grad, layer.bias.grad])
    assert results[1][0].dtype == torch.bfloat16 and results[1][1].dtype == torch.float32
    torch.testing.assert_close(results[1], results[0], rtol=0.02, atol=0.05)  # sums of 24 such numbers


@pytest.mark.parametrize(
    "arguments, lengths",
    [
        (("a b -> a c", "b d"), {"b": 2, "d": 3}),
        (("a b -> a c", "b ... c"), {"b": 2, "c": 3}),
        (("a ... -> a c", "a c"), {"a": 2, "c": 3}),
        (("a (...) -> a ... c", "a c"), {"a": 2, "c": 3}),
        (("a 3 -> a c", "a c"), {"a": 2, "c": 3}),
        (("a b -> a c", "(b c)"), {"b": 2, "c": 3}),
        (("a b -> a c", "b c"), {"b": 2}),
        (("a b -> a c", "b c"), {"b": 2, "c": 3, "z": 4}),
        (("a b -> a c", "b c d"), {"b": 2, "c": 3, "d": 4}),
        (("a b -> a c", "b c", "d"), {"b": 2, "c": 3, "d": 1}),
        (("a b -> a c", "b c", "a"), {"b": 2, "c": 3}),
        (("a ... -> c ... a", "a c", "c"), {"a": 2, "c": 3}),
    ],
    ids=str,
)
def test_what_einops_refuses_is_refused(arguments: tuple, lengths: dict) -> None:
    with pytest.raises(einops.EinopsError):
        theirs.EinMix(*arguments, **lengths)
    with pytest.raises(axisloom.EinopsError):
        ours.EinMix(*arguments, **lengths)


@pytest.mark.parametrize(
    "name, arguments, lengths",
    [
        ("Rearrange", ("a b -> a",), {}),
        ("Rearrange", ("a -> b a",), {}),
        ("Rearrange", ("a b -> b a",), {"z": 3}),
        ("Rearrange", ("(a b) -> b a",), {}),
        ("Rearrange", ("(a b -> b a",), {}),
        ("Rearrange", ("... a -> a",), {}),
        ("Rearrange", ("a -> a ...",), {}),
        ("Rearrange", ("a a -> a",), {}),
        ("Reduce", ("a b -> a", "foo"), {}),
        ("Reduce", ("a b -> a", 3), {}),
        ("Reduce", ("a -> a b", "sum"), {}),
        ("Reduce", ("(a b) -> b", torch.logsumexp), {}),
        ("Reduce", ("a b -> b", "max"), {"z": 3}),
    ],
    ids=str,
)
def test_what_fits_no_tensor_is_refused_at_once(name: str, arguments: tuple, lengths: dict) -> None:
    with pytest.raises(einops.EinopsError):
        getattr(theirs, name)(*arguments, **lengths)
    with pytest.raises(axisloom.EinopsError) as error:
        getattr(ours, name)(*arguments, **lengths)
    assert str(error.value).startswith(f"{name}('{arguments[0]}'") and "f32" not in str(error.value)


def test_a_length_that_is_no_number_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="axis a has to be an int, not float"):
        ours.Rearrange("a b -> b a", a=2.5)


@pytest.mark.parametrize(
    "pattern, lengths, shape",
    [
        ("... (a b) c 1 -> (...) a b c", {"b": 2}, (5, 4, 3, 1)),
        ("(a b) (c d) -> (b c) a d", {"a": 2, "d": 4}, (6, 8)),
        ("a b -> b a", {"a": 0}, (0, 3)),
        ("() -> ", {}, (1,)),
        ("... -> ...", {}, (2, 3)),
        ("a (out b) -> b out a", {"out": 2}, (3, 4)),
    ],
)
def test_what_fits_some_tensor_is_taken(pattern: str, lengths: dict, shape: tuple) -> None:
    x = torch.randn(shape)
    torch.testing.assert_close(ours.Rearrange(pattern, **lengths)(x), axisloom.rearrange(x, pattern, **lengths))


def test_symbolic_trace() -> None:
    """The graph holds the operator, and does the same, in autocast too."""
    model = torch.nn.Sequential(
        ours.Rearrange("b (out w) c -> b c out w", out=4),
        ours.Reduce("b c h w -> b h c", "mean"),
        ours.EinMix("b h c -> b (h d)", "c d", "h d", c=6, d=3, h=4),
    )
    traced = torch.fx.symbolic_trace(model)
    assert str(traced.graph).count("axisloom.run") == 4  # EinMix composes its result
    torch.testing.assert_close(traced(X), model(X))
    with torch.autocast("cpu", torch.bfloat16):
        assert traced(X).dtype == torch.bfloat16


def test_symbolic_trace_of_functions() -> None:
    other = torch.randn(6, 2)

    def function(x: torch.Tensor) -> torch.Tensor:
        product = axisloom.matmul(other, axisloom.rearrange(x, "a b -> b a"))
        return axisloom.reduce(axisloom.repeat(product, "a b -> a b out", out=3), "a b c -> a", "max").sum()

    x = torch.randn(4, 2)
    torch.testing.assert_close(torch.fx.symbolic_trace(function)(x), function(x))


def test_a_weight_without_axes_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="multiplies by a number"):
        ours.EinMix("a b -> a b", "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.EinMix("a b -> a b", "b", b=3)


def test_a_wrong_shape_is_named() -> None:
    with pytest.raises(axisloom.EinopsError, match="divided"):
        ours.Rearrange("b (h w) c -> b c h w", h=5)(X)


def test_examples() -> None:
    failures, tried = doctest.testmod(ours)
    assert tried >= 3 and not failures
