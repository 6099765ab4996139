"""Gradients, each made of calls of the operator itself where it can be, so that they have gradients too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from ._calls import Call, run
from ._layouts import channels_of
from ._patterns import Bound, Composition, Extent, Side, flat, is_one, name_of, pattern_of
from ._work import MOVE, REDUCE, Input, Work, bound_of, count_operands, result_of, work_of

_MOVES = ("rearrange", "repeat", "permute", "copy", "transpose", "relayout")


def needed_for_gradients(
    call: Call, tensors: Sequence[torch.Tensor], result: torch.Tensor
) -> tuple[torch.Tensor | None, ...]:
    """What `gradients` gets as `saved`: the inputs, then the result, each None where it plays no part; or nothing."""
    # The most frequent ones first, which need no look at their patterns: it counts where tensors are small.
    if call.name in _MOVES:
        return ()
    if (call.arguments[0] if call.name == "reduce" else call.name) in ("sum", "mean"):
        return (None, *tensors[1:], None) if len(tensors) > 1 else ()
    work = work_of(call, [tensor.dim() for tensor in tensors])
    if work.kind == REDUCE:
        return *tensors, result
    operands, nothing = count_operands(work), (None,) * len(tensors)
    factors = tensors[:operands] if operands > 1 else nothing[:operands]
    relu = "activation" in call.named_options()
    return *factors, *nothing[operands:], result if relu else None


def gradients(
    call: Call,
    inputs: Sequence[Input],
    saved: Sequence[Any],
    gradient: torch.Tensor,
    wanted: Sequence[bool],
) -> list[torch.Tensor | None]:
    """One for each input; None for those that are not wanted, and for masks."""
    if call.name == "relayout":
        return [_of_relayout(call, inputs[0], gradient)]
    work, bound = bound_of(call, [given.shape for given in inputs])
    if work.kind == MOVE:
        return [_of_move(bound, gradient)]
    if work.kind == REDUCE:
        made = _Reduction(call, work, bound, inputs[0], saved).gradient(gradient)
        return [made.to(inputs[0].dtype), *([None] * (len(inputs) - 1))]
    return _Product(call, work, bound, inputs, saved).gradients(gradient, wanted)


def tangent(
    call: Call,
    inputs: Sequence[Input],
    saved: Sequence[Any],
    tangents: Sequence[torch.Tensor | None],
) -> torch.Tensor:
    """Forward mode: the gradients are linear in the result's, so the gradient of theirs is the tangent."""
    dtype, shape = result_of(call, inputs)
    device = next(given.device for given in tangents if given is not None)
    with torch.enable_grad():
        free = torch.zeros(shape, dtype=dtype, device=device, requires_grad=True)
        made = gradients(call, inputs, saved, free, [given is not None for given in tangents])
    pairs = [(one, given) for one, given in zip(made, tangents) if one is not None and given is not None]
    (result,) = torch.autograd.grad([one for one, _ in pairs], [free], [given for _, given in pairs], create_graph=True)
    return result if torch.is_grad_enabled() else result.clone()  # which backward does not know, but tangents do


def _of_relayout(call: Call, given: Input, gradient: torch.Tensor) -> torch.Tensor:
    before, after = call.arguments
    channels = call.named_lengths().get("channels", channels_of(before, given.shape))
    return run("relayout", (after, before), (gradient,), {"channels": channels})


def _of_move(bound: Bound, gradient: torch.Tensor) -> torch.Tensor:
    """The inverse pattern; what was repeated is summed."""
    pattern, lengths = bound.backward
    if bound.added:
        return run("reduce", ("sum", pattern), (gradient,), lengths)
    return run("rearrange", (pattern,), (gradient,), lengths)


class _Reduction:
    """`x`, `mask` and `result` are None where `needed_for_gradients` left them out."""

    def __init__(
        self,
        call: Call,
        work: Work,
        bound: Bound,
        given: Input,
        saved: Sequence[Any],
    ) -> None:
        self.work = work
        self.bound = bound
        self.given = given
        self.options = call.named_options()
        self.x, self.result = (saved[0], saved[-1]) if saved else (None, None)
        self.mask = saved[1] if "where" in self.options else None

    def gradient(self, gradient: torch.Tensor) -> torch.Tensor:
        name = self.work.reduction
        if name == "norm":
            name = {"1": "norm 1", "inf": "norm inf"}.get(self.options.get("ord", "2"), "norm 2")
        made = getattr(self, f"of_{name.replace(' ', '_')}")(gradient)
        return made if self.mask is None else torch.where(self.mask, made, 0)

    def of_sum(self, gradient: torch.Tensor) -> torch.Tensor:
        return self.spread(gradient)

    def of_mean(self, gradient: torch.Tensor) -> torch.Tensor:
        if self.mask is None:
            return self.spread(gradient / math.prod(self.bound.extents[axis] for axis in self.bound.removed))
        return self.spread(gradient / self.count(self.mask.expand(self.given.shape)))

    def of_min(self, gradient: torch.Tensor) -> torch.Tensor:
        return self.of_chosen(gradient, self.x)

    of_max = of_min

    def of_norm_inf(self, gradient: torch.Tensor) -> torch.Tensor:
        """The magnitudes are the library's: others differ from the largest one in the last bit."""
        (given,) = self.bound.inputs
        pattern, lengths = pattern_of([given], given), self.bound.lengths(given)
        magnitudes = run("reduce", ("norm", pattern), (self.x.detach(),), lengths, {"ord": "inf"})
        return self.of_chosen(gradient, magnitudes) * self.x.sgn()

    def of_norm_1(self, gradient: torch.Tensor) -> torch.Tensor:
        return self.spread(gradient) * self.x.sgn()

    def of_norm_2(self, gradient: torch.Tensor) -> torch.Tensor:
        """x / norm; 0 where all elements are."""
        zero = self.result == 0
        return self.spread(torch.where(zero, 0, gradient / torch.where(zero, 1, self.result))) * self.x

    def of_prod(self, gradient: torch.Tensor) -> torch.Tensor:
        """The product of the other elements, without a division, which zeros would not bear."""
        (given,), kept = self.bound.inputs, self.bound.output
        rows: Side = (*kept, tuple(self.bound.removed))
        lengths = self.bound.lengths(given)
        x = self.x.to(gradient.dtype)
        if self.mask is not None:
            x = torch.where(self.mask, x, 1)
        x = run("rearrange", (pattern_of([given], rows),), (x,), lengths)
        made = gradient.unsqueeze(-1) * (_product_of_others(x) * self.initial(1)).conj()
        return run("rearrange", (pattern_of([rows], given),), (made,), lengths)

    def of_chosen(self, gradient: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Shared equally by all that are the extreme, the initial value among them; NaN where that is."""
        chosen = values == self.spread(self.result)
        if self.mask is not None:
            chosen = chosen & self.mask
        count = self.count(chosen)
        if "initial" in self.options:
            count = count + (self.result == self.initial(0))
        return self.spread(gradient / count) * chosen

    def initial(self, otherwise: float) -> torch.Tensor:
        text = self.options.get("initial")
        number = otherwise if text is None else complex(text) if self.result.is_complex() else float(text)
        return torch.full((), number, dtype=self.result.dtype, device=self.result.device)

    def count(self, true: torch.Tensor) -> torch.Tensor:
        pattern, lengths = self.bound.forward
        return run("reduce", ("sum", pattern), (true,), lengths)

    def spread(self, kept: torch.Tensor) -> torch.Tensor:
        """From the result's axes to those of the input. What is repeated along whole axes takes no memory."""
        (given,), removed = self.bound.inputs, self.bound.removed
        if any(len(composition) > 1 for composition in given):
            pattern, lengths = self.bound.backward
            return run("repeat", (pattern,), (kept,), lengths)
        once = tuple(() if composition and composition[0] in removed else composition for composition in given)
        pattern = pattern_of([self.bound.output], once)
        return run("rearrange", (pattern,), (kept,), self.bound.lengths(once)).expand(self.given.shape)


def _product_of_others(x: torch.Tensor) -> torch.Tensor:
    """Of each element of the last axis: the product of those before it times that of those after it."""
    one = torch.ones_like(x[..., :1])
    before = torch.cumprod(torch.cat([one, x[..., :-1]], -1), -1)
    after = torch.cumprod(torch.cat([one, x.flip(-1)[..., :-1]], -1), -1)
    return before * after.flip(-1)


class _Product:
    """Of an einsum: the gradient of a factor is an einsum of the result's gradient and the other factors."""

    def __init__(
        self,
        call: Call,
        work: Work,
        bound: Bound,
        inputs: Sequence[Input],
        saved: Sequence[Any],
    ) -> None:
        self.bound = bound
        self.inputs = inputs
        self.options = call.named_options()
        self.operands = count_operands(work)
        self.factors, self.result = saved[: self.operands], saved[-1]

    def gradients(self, gradient: torch.Tensor, wanted: Sequence[bool]) -> list[torch.Tensor | None]:
        if self.result is not None:  # relu
            gradient = torch.where(self.result > 0, gradient, 0)
        made = [self.of_factor(i, gradient) if wanted[i] else None for i in range(self.operands)]
        for given, asked in zip(self.inputs[self.operands :], wanted[self.operands :]):
            made.append(gradient.sum_to_size(given.shape) * float(self.options["beta"]) if asked else None)
        return made

    def of_factor(self, i: int, gradient: torch.Tensor) -> torch.Tensor:
        sides, tensors = [self.bound.output], [gradient]
        for j, factor in enumerate(self.factors):
            if j != i:
                sides.append(self.own_axes(j))
                tensors.append(factor.conj() if factor.is_complex() else factor)
        extents = list(self.bound.extents)
        target = self.split_diagonals(self.own_axes(i), sides, tensors, extents)
        there = {*flat(sides)}
        for axis in dict.fromkeys(flat([target])):
            if axis not in there:  # it was summed over: each of its elements gets the same
                sides.append(((axis,),))
                tensors.append(gradient.new_ones(extents[axis]))
        lengths = {name_of(axis): extents[axis] for axis in sorted({*flat(sides)})}
        options = {"alpha": self.options["alpha"]} if "alpha" in self.options else {}
        made = run("einsum", (pattern_of(sides, target),), tensors, lengths, options)
        if made.is_complex() and not self.inputs[i].dtype.is_complex:
            made = made.real
        return made.to(self.inputs[i].dtype)

    def own_axes(self, i: int) -> Side:
        """Without axes that are repeated because the factor has length 1 there."""
        return tuple(
            () if is_one(extent) else composition
            for composition, extent in zip(self.bound.inputs[i], self.inputs[i].shape)
        )

    def split_diagonals(
        self, side: Side, sides: list[Side], tensors: list[torch.Tensor], extents: list[Extent]
    ) -> Side:
        """An axis that stands again gets a number of its own, and the einsum a unit matrix of the two."""
        seen: set[int] = set()
        split: list[Composition] = []
        for composition in side:
            axes = []
            for axis in composition:
                if axis in seen:
                    extents.append(extents[axis])
                    sides.append(((axis,), (len(extents) - 1,)))
                    tensors.append(torch.eye(extents[axis], dtype=tensors[0].dtype, device=tensors[0].device))
                    axis = len(extents) - 1
                seen.add(axis)
                axes.append(axis)
            split.append(tuple(axes))
        return tuple(split)
