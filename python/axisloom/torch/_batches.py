"""torch.vmap: the same operation with one more axis in its pattern."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import torch

from ._calls import Call, run
from ._layouts import batch_axis
from ._patterns import Bound, Composition, Extent, Side, is_one, pattern_of
from ._work import EINSUM, MOVE, OF_SHAPES, bound_of, count_operands


def batched(
    call: Call, size: Extent, in_dims: Sequence[int | None], tensors: Sequence[torch.Tensor]
) -> tuple[torch.Tensor, int]:
    """The result, and which of its axes is that of the batch."""
    if call.name == "relayout":
        return _relayout(call, size, in_dims[0], tensors[0])
    work, bound = bound_of(call, [_shape(tensor, dim) for tensor, dim in zip(tensors, in_dims)])
    tensors = [tensor if dim is None else tensor.movedim(dim, 0) for tensor, dim in zip(tensors, in_dims)]
    has = [dim is not None for dim in in_dims]
    operands = count_operands(work)
    if not any(has[:operands]):  # only a mask or what a product adds has a batch
        tensors[0], has[0] = tensors[0].expand(size, *tensors[0].shape), True
    batch: Composition = (len(bound.extents),)
    bound = dataclasses.replace(bound, extents=(*bound.extents, size))
    sides = list(bound.inputs)
    if work.kind == EINSUM:
        sides = [_without_repeats(bound, side, tensor.shape[own:]) for side, tensor, own in zip(sides, tensors, has)]
    sides = [(batch, *side) if own else side for side, own in zip(sides, has)]
    output = (batch, *bound.output)
    rank = len(output) if work.kind == EINSUM else tensors[0].dim()
    tensors[operands:] = [_padded(tensor, rank) if own else tensor for tensor, own in zip(tensors, has)][operands:]
    pattern, lengths = pattern_of(sides, output), bound.lengths(*sides, output)
    options = {name: value for name, value in call.named_options().items() if name not in OF_SHAPES}
    if work.kind == MOVE:
        name, arguments, options = "repeat" if bound.added else "rearrange", (pattern,), {}
    elif work.kind == EINSUM:
        name, arguments = "einsum", (pattern,)
    else:
        name, arguments = "reduce", (work.reduction, pattern)
    return run(name, arguments, tensors, lengths, options), 0


def _shape(tensor: torch.Tensor, dim: int | None) -> list[Extent]:
    shape = list(tensor.shape)
    if dim is not None:
        del shape[dim]
    return shape


def _without_repeats(bound: Bound, side: Side, shape: Sequence[Extent]) -> Side:
    """Without axes that an einsum repeats because the factor has length 1 there."""
    full = bound.shape(side)
    return tuple(
        () if is_one(extent) and not is_one(most) else composition
        for composition, extent, most in zip(side, shape, full)
    )


def _padded(tensor: torch.Tensor, rank: int) -> torch.Tensor:
    """With axes of length 1 behind the batch, so that it is broadcast to a tensor of that many axes."""
    shape = tensor.shape
    return tensor.reshape(shape[0], *[1] * (rank - len(shape)), *shape[1:])


def _relayout(call: Call, size: Extent, dim: int, tensor: torch.Tensor) -> tuple[torch.Tensor, int]:
    """The batch is one more factor of the layouts' own."""
    before, after = map(batch_axis, call.arguments)
    tensor = tensor.movedim(dim, before)
    own = tensor.shape[before + 1]
    made = run(call.name, call.arguments, (tensor.flatten(before, before + 1),), call.named_lengths())
    return made.unflatten(after, (size, own)), after
