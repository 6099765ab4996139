"""Reducing tensors that are distributed over the ranks of a process group, and DTensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from axisloom._errors import UsageError
from axisloom._reduced import Lengths, Move, Ranks, Steps, reduced, same_side, steps_of

from ._groups import Route, agreement_of, constant, rank_of
from ._redistribute import Redistribute, dtype_name


class Reduce(NamedTuple):
    """A call, without its tensor. agreed: whether the ranks know that all make it."""

    pattern: str
    reduction: str
    order: str
    route: Route
    lengths: Lengths
    workspace: int
    path: str
    agreed: bool = False
    copies_add: bool = True

    def __call__(self, x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
        """shape: of the whole tensor."""
        route = self.route  # not taken apart at once: Dynamo of PyTorch 2.11 cannot
        steps = _steps(
            self.pattern, self.reduction, self.order, route.mesh, route.group, route.order, shape, self.lengths,
            str(x.dtype).removeprefix("torch."),
        )  # fmt: skip

        def move(part: torch.Tensor, one: Move) -> torch.Tensor:
            return Redistribute(
                one.pattern, route.mesh, one.shape, one.lengths, route.group, route.order, self.workspace, self.path,
                self.agreed, self.copies_add and one.is_last,
            )(part)  # fmt: skip

        return reduced(x, steps, move, _ARRAYS)

    def agree(self, x: torch.Tensor, shape: Sequence[Any] | None) -> tuple[int, ...]:
        """All ranks tell their shapes, and check each other's. Returns that of the whole."""
        side, lengths = _same_side(self.pattern, x.dim(), self.lengths)
        how = f'to reduce "{self.pattern}" with {self.reduction}, order {self.order}, workspace {self.workspace}'
        plan = agreement_of(self.route, x.device).plan(
            f"{side} -> {side}", self.route.mesh, x.shape, dtype_name(x), shape, dict(lengths),
            how=f"{how}, path {self.path}" if self.path else how, each_call=x.device.type == "cpu",
        )  # fmt: skip
        return plan.in_shape


@constant
def _steps(
    pattern: str,
    reduction: str,
    order: str,
    mesh: str,
    group: str,
    ranks_of_group: tuple[int, ...],
    shape: tuple[int, ...],
    lengths: Lengths,
    dtype: str,
) -> Steps:
    ranks = Ranks(mesh, rank_of(Route(mesh, group, ranks_of_group)))
    return steps_of(pattern, reduction, order, ranks, tuple(map(int, shape)), lengths, dtype)


_same_side = constant(same_side)


def check_reduction(reduction: Any) -> None:
    if not isinstance(reduction, str):
        raise UsageError(f"a reduction over ranks has a name, such as sum; this one is a {type(reduction).__name__}")


class _Arrays:
    """See axisloom._reduced.Arrays."""

    def converted(self, x: torch.Tensor, dtype: str) -> torch.Tensor:
        return x.to(getattr(torch, dtype))

    def zeros(self, like: torch.Tensor, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        return like.new_zeros(shape, dtype=getattr(torch, dtype))

    def joined(self, arrays: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat(arrays)

    def divided(self, x: torch.Tensor, count: int) -> torch.Tensor:
        return x / x.new_full((), count)  # by a number of the host, cards multiply by its reciprocal

    def complex_of(self, real: torch.Tensor, imaginary: torch.Tensor) -> torch.Tensor:
        return torch.complex(real, imaginary)


_ARRAYS = _Arrays()
