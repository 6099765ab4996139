"""Layers for torch.nn, as einops.layers.torch has them: the same constructors, texts and state_dict."""

from __future__ import annotations

import math
import warnings
from typing import Any

import torch

from axisloom import _native
from axisloom._errors import EinopsError, ShapeError

from ._patterns import Group, parse_side

__all__ = ["EinMix", "Rearrange", "Reduce"]


class Rearrange(torch.nn.Module):
    """axisloom.rearrange as a layer.

    >>> Rearrange("b (h w) c -> b c h w", h=4)(torch.zeros(2, 12, 5)).shape
    torch.Size([2, 5, 4, 3])
    """

    def __init__(self, pattern: str, **axes_lengths: int) -> None:
        super().__init__()
        self.pattern = pattern
        self.axes_lengths = axes_lengths
        _check_call(self, "rearrange", pattern)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_shown(repr(self.pattern), self.axes_lengths)})"

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return _native.rearrange(input, self.pattern, **self.axes_lengths)


class Reduce(torch.nn.Module):
    """axisloom.reduce as a layer.

    >>> Reduce("b c (h 2) (w 2) -> b c h w", "max")(torch.zeros(2, 3, 8, 6)).shape
    torch.Size([2, 3, 4, 3])
    """

    def __init__(self, pattern: str, reduction: Any, **axes_lengths: int) -> None:
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.axes_lengths = axes_lengths
        if not (isinstance(reduction, str) or callable(reduction)):
            kind = type(reduction).__name__
            raise EinopsError(f"{self!r}: the reduction is of type {kind}: give a name or a function")
        _check_call(self, "reduce", reduction if isinstance(reduction, str) else "sum", pattern)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_shown(f'{self.pattern!r}, {self.reduction!r}', self.axes_lengths)})"

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return _native.reduce(input, self.pattern, self.reduction, **self.axes_lengths)


class EinMix(torch.nn.Module):
    """An einsum of the input and a weight that the layer keeps, plus a bias.

    `pattern` has the axes of the input and of the result, `weight_shape` and `bias_shape` the names of theirs, whose
    lengths have to be given. Axes of the input that are missing on the right are summed over.

    >>> EinMix("b t (head cin) -> b t (head cout)", "head cin cout", "head cout", head=2, cin=3, cout=4)(
    ...     torch.zeros(5, 7, 6)
    ... ).shape
    torch.Size([5, 7, 8])
    """

    def __init__(self, pattern: str, weight_shape: str, bias_shape: str | None = None, **axes_lengths: int) -> None:
        super().__init__()
        self.pattern = pattern
        self.weight_shape = weight_shape
        self.bias_shape = bias_shape
        self.axes_lengths = axes_lengths
        left_text, arrow, right_text = pattern.partition("->")
        if not arrow:
            raise EinopsError(f"{self!r}: write the axes of the input, '->', and those of the result")
        left, right, weight = parse_side(left_text), parse_side(right_text), parse_side(weight_shape)
        _check_axes(self, left, right, weight)
        flat_right = [axis for group in right for axis in group.tokens if axis != "1"]
        self._product = f"{left_text}, {weight_shape} -> {' '.join(flat_right)}"
        composed = any(len(group.tokens) != 1 or group.tokens == ("1",) or group.composed for group in right)
        self._composition = f"{' '.join(flat_right)} -> {right_text}" if composed else None
        self._right_lengths = {axis: length for axis, length in axes_lengths.items() if axis in flat_right}
        fan_in = math.prod(axes_lengths[axis] for axis in _names(weight) if axis not in flat_right)
        self.weight = _parameter([axes_lengths[axis] for axis in _names(weight)], math.sqrt(3 / fan_in))
        if bias_shape is None:
            self.bias = None
        else:
            self.bias = _parameter(_bias_lengths(self, bias_shape, flat_right), math.sqrt(1 / fan_in))

    def __repr__(self) -> str:
        shapes = [repr(self.pattern), f"'{self.weight_shape}'"]
        if self.bias_shape is not None:
            shapes.append(f"'{self.bias_shape}'")
        return f"{type(self).__name__}({_shown(', '.join(shapes), self.axes_lengths)})"

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        factors = (_as_autocast_asks(input), _as_autocast_asks(self.weight))
        result = _native.call("einsum", (self._product,), factors, self.axes_lengths)
        if self.bias is not None:
            result = result + self.bias.to(result.dtype)
        if self._composition is not None:
            result = _native.rearrange(result, self._composition, **self._right_lengths)
        return result


def _check_call(layer: Rearrange | Reduce, name: str, *arguments: str) -> None:
    """Raises what the library says of every tensor, when the layer is made. What an ellipsis stands for is left out."""
    if torch.compiler.is_compiling():  # Dynamo cannot trace this, and its call of the layer says the same
        return
    groups = [group for group in parse_side(layer.pattern.partition("->")[0]) if group.tokens != ("...",)]
    shape = [math.prod(_length(layer, axis) for axis in group.tokens) for group in groups]
    try:
        _native.result(name, arguments, [("f32", shape)], layer.axes_lengths)
    except ShapeError:
        pass  # other shapes may do
    except ValueError as error:
        its_shape = f"(f32[{','.join(map(str, shape))}])"
        text = str(error).replace(f"\n{its_shape}", "").replace(f" {its_shape}", "")
        raise EinopsError(f"{layer!r}: {text}") from None


def _length(layer: Rearrange | Reduce, axis: str) -> int:
    """Where none is known, the least."""
    length = int(axis) if axis.isdigit() else layer.axes_lengths.get(axis, 1)
    if not hasattr(length, "__index__"):
        raise TypeError(f"{layer!r}: the length of axis {axis} has to be an int, not {type(length).__name__}")
    return length


@torch.fx.wrap
def _as_autocast_asks(factor: torch.Tensor) -> torch.Tensor:
    """When it is called: symbolic_trace records the question, not an answer."""
    kind = factor.device.type
    return factor.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else factor


def _shown(arguments: str, lengths: dict[str, int]) -> str:
    return ", ".join([arguments, *(f"{axis}={length}" for axis, length in lengths.items())])


def _parameter(shape: list[int], bound: float) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.zeros(shape).uniform_(-bound, bound))


def _names(groups: list[Group]) -> list[str]:
    return [axis for group in groups for axis in group.tokens if axis not in ("...", "1")]


def _require(layer: EinMix, missing: set[str], text: str) -> None:
    if missing:
        raise EinopsError(f"{layer!r}: {text}: {', '.join(sorted(missing))}")


def _check_axes(layer: EinMix, left: list[Group], right: list[Group], weight: list[Group]) -> None:
    on_left, on_right, of_weight = set(_names(left)), set(_names(right)), set(_names(weight))
    given = set(layer.axes_lengths)
    _require(layer, on_right - on_left - of_weight, "axes on the right that neither the input nor the weight has")
    _check_ellipses(layer, left, right, weight)
    _require(layer, {axis for axis in on_left | on_right | of_weight if axis.isdigit()}, "name the axes of lengths")
    if any(group.composed for group in weight):
        raise EinopsError(f"{layer!r}: the weight has an axis in parentheses: name its parts as axes of their own")
    _require(layer, of_weight - given, "give the lengths of the weight's axes")
    _require(layer, given - on_left - of_weight, "lengths of axes that are not there")
    _require(layer, of_weight - on_left - on_right, "axes that only the weight has")
    if not of_weight:
        warnings.warn(f"{layer!r}: the weight has no axes: this multiplies by a number", stacklevel=4)


def _check_ellipses(layer: EinMix, left: list[Group], right: list[Group], weight: list[Group]) -> None:
    on_left, on_right, of_weight = (
        [group for group in groups if "..." in group.tokens] for groups in (left, right, weight)
    )
    if of_weight:
        raise EinopsError(f"{layer!r}: the weight has an ellipsis: name all of its axes")
    if bool(on_left) != bool(on_right):
        raise EinopsError(f"{layer!r}: an ellipsis has to stand on both sides")
    if any(group.composed for group in on_left):
        raise EinopsError(f"{layer!r}: an ellipsis on the left cannot be in parentheses")


def _bias_lengths(layer: EinMix, shape: str, flat_right: list[str]) -> list[int]:
    """The bias is broadcast to the result before its axes are composed."""
    axes = set(_names(parse_side(shape)))
    _require(layer, axes - set(flat_right), "axes of the bias that the result does not have")
    _require(layer, axes - set(layer.axes_lengths), "give the lengths of the bias' axes")
    before = flat_right[: flat_right.index("...")] if "..." in flat_right else []
    _require(layer, axes & set(before), "axes of the bias have to stand behind the ellipsis")
    return [layer.axes_lengths[axis] if axis in axes else 1 for axis in flat_right if axis != "..."]
