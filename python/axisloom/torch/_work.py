"""What an operation does, as one of the four kinds that shapes, gradients and batches are made for."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import torch

from axisloom import _native

from ._calls import Call
from ._patterns import Bound, Extent, bind

MOVE, REDUCE, EINSUM, RELAYOUT = "move", "reduce", "einsum", "relayout"

# Options that say which axes are meant: a pattern that is bound to shapes says it itself.
OF_SHAPES = ("axes", "keepdims", "transpose-a", "transpose-b", "no-broadcast")

_PREFIXES = {"i": "int", "u": "uint", "f": "float", "bf": "bfloat", "c": "complex"}
_DTYPES: dict[str, torch.dtype] = {"bool": torch.bool} | {
    f"{short}{bits}": getattr(torch, f"{long}{bits}")
    for short, long in _PREFIXES.items()
    for bits in (8, 16, 32, 64, 128)
    if hasattr(torch, f"{long}{bits}")
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class Input(NamedTuple):
    """What is to be known of a tensor."""

    shape: Sequence[Extent]
    dtype: torch.dtype


class Work(NamedTuple):
    """`pattern` is empty for a relayout, `reduction` for all but reductions."""

    kind: str
    pattern: str = ""
    reduction: str = ""


def work_of(call: Call, ranks: Sequence[int]) -> Work:
    options = call.named_options()
    match call.name:
        case "relayout":
            return Work(RELAYOUT)
        case "rearrange" | "repeat":
            return Work(MOVE, call.arguments[0])
        case "copy":
            return Work(MOVE, "... -> ...")
        case "transpose":
            return Work(MOVE, "... a b -> ... b a")
        case "permute":
            return Work(MOVE, _permuted(call.arguments[0], ranks[0]))
        case "reduce":
            return Work(REDUCE, call.arguments[1], call.arguments[0])
        case "einsum":
            return Work(EINSUM, call.arguments[0])
        case "matmul":
            return Work(EINSUM, _matrices("transpose-a" in options, "transpose-b" in options, ranks))
        case "dot":
            return Work(EINSUM, "k, k ->")
    return Work(REDUCE, _reduced(options.get("axes"), "keepdims" in options, ranks[0]), call.name)


def _axes(rank: int) -> list[str]:
    return [f"a{axis}" for axis in range(rank)]


def _permuted(axes: str, rank: int) -> str:
    names = _axes(rank)
    return f"{' '.join(names)} -> {' '.join(names[int(axis)] for axis in axes.split(',') if axis.strip())}"


def _reduced(axes: str | None, keepdims: bool, rank: int) -> str:
    if axes is None:
        reduced = set(range(rank))
    else:
        reduced = {int(axis) % rank for axis in axes.split(",") if axis.strip() not in ("", "none")}
    kept = (
        "1" if axis in reduced else name for axis, name in enumerate(_axes(rank)) if keepdims or axis not in reduced
    )
    return f"{' '.join(_axes(rank))} -> {' '.join(kept)}"


def _matrices(transpose_a: bool, transpose_b: bool, ranks: Sequence[int]) -> str:
    left = "k" if ranks[0] == 1 else "... k m" if transpose_a else "... m k"
    right = "k" if ranks[1] == 1 else "... n k" if transpose_b else "... k n"
    batch = "" if max(ranks[:2]) == 1 else "... "
    return f"{left}, {right} -> {batch}{'m ' if ranks[0] > 1 else ''}{'n' if ranks[1] > 1 else ''}"


def count_operands(work: Work) -> int:
    """Tensors that stand in the pattern: not the mask of a reduction, nor what a product adds."""
    return work.pattern.count(",") + 1


def bound_of(call: Call, shapes: Sequence[Sequence[Extent]]) -> tuple[Work, Bound]:
    """The work with its pattern bound; kept for shapes that are numbers."""
    shapes = tuple(map(tuple, shapes))
    if all(type(extent) is int for shape in (*shapes, call.lengths) for extent in shape):
        return _kept_bound(call, shapes)
    return _bound(call, shapes)


def _bound(call: Call, shapes: tuple[tuple[Extent, ...], ...]) -> tuple[Work, Bound]:
    work = work_of(call, [len(shape) for shape in shapes])
    operands = shapes[: count_operands(work)]
    broadcast = work.kind == EINSUM and "no-broadcast" not in call.named_options()
    return work, bind(work.pattern, operands, call.named_lengths(), broadcast)


_kept_bound = functools.lru_cache(maxsize=1024)(_bound)


def result_of(call: Call, inputs: Sequence[Input | torch.Tensor]) -> tuple[torch.dtype, list[Extent]]:
    """Dtype and shape of the result."""
    shapes = [tuple(given.shape) for given in inputs]
    numbers = all(type(extent) is int for shape in (*shapes, call.lengths) for extent in shape)
    if not numbers and call.name != "relayout":
        work, bound = bound_of(call, shapes)
        return _dtype_of(call, work, [given.dtype for given in inputs]), bound.shape(bound.output)
    arrays = [(_NAMES[given.dtype], [int(extent) for extent in shape]) for given, shape in zip(inputs, shapes)]
    lengths = {name: int(length) for name, length in call.named_lengths().items()}
    dtype, shape = _native.result(call.name, call.arguments, arrays, lengths, call.named_options())
    return _DTYPES[dtype], list(shape)


def _dtype_of(call: Call, work: Work, dtypes: Sequence[torch.dtype]) -> torch.dtype:
    """That of the same operation on one element: shapes do not change it."""
    if work.kind == MOVE:
        return dtypes[0]
    options = {name: value for name, value in call.named_options().items() if name not in OF_SHAPES}
    if work.kind == REDUCE:
        name, arguments, shapes = "reduce", (work.reduction, "a ->"), [[1]] * len(dtypes)
    else:
        operands = count_operands(work)
        name, arguments = "einsum", (", ".join("a" * operands) + " ->",)
        shapes = [[1]] * operands + [[]] * (len(dtypes) - operands)
    arrays = [(_NAMES[dtype], shape) for dtype, shape in zip(dtypes, shapes)]
    return _DTYPES[_native.result(name, arguments, arrays, None, options)[0]]
