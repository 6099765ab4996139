"""Calls of every kind, with shapes for them: what the tests of values, gradients, shapes and batches go through."""

from __future__ import annotations

from typing import NamedTuple

import torch

from axisloom import _native


class Case(NamedTuple):
    name: str
    arguments: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    lengths: dict[str, int] = {}
    options: dict[str, str] = {}

    def __str__(self) -> str:
        words = [self.name, *self.arguments, *(f"{k}={v}" for k, v in (*self.lengths.items(), *self.options.items()))]
        return " ".join(words) + " of " + " ".join(map(str, self.shapes))

    def run(self, *tensors: torch.Tensor) -> torch.Tensor:
        return _native.call(self.name, self.arguments, tensors, self.lengths, self.options)

    def tensors(self, dtype: torch.dtype = torch.float64, seed: int = 1) -> list[torch.Tensor]:
        """Random ones; a mask of bools where the call takes one."""
        random = torch.Generator().manual_seed(seed)
        made = [torch.randn(shape, dtype=dtype, generator=random) for shape in self.shapes]
        if "where" in self.options:
            made[1] = torch.rand(self.shapes[1], generator=random) < 0.6
        return made


MOVES = [
    Case("rearrange", ("h w -> w h",), ((3, 4),)),
    Case("rearrange", ("b (h h2) w -> h b (w h2)",), ((2, 6, 3),), {"h2": 2}),
    Case("rearrange", ("b ... c -> b c ...",), ((2, 3, 4, 5),)),
    Case("rearrange", ("b ... -> (b ...)",), ((2, 3, 2),)),
    Case("rearrange", ("a 1 b -> b () a",), ((2, 1, 3),)),
    Case("rearrange", ("a b -> b a",), ((0, 3),)),
    Case("rearrange", ("-> 1",), ((),)),
    Case("repeat", ("h w -> h c w",), ((2, 3),), {"c": 4}),
    Case("repeat", ("h w -> (h 2) (c w)",), ((2, 3),), {"c": 2}),
    Case("repeat", ("... -> ... k",), ((2, 2),), {"k": 3}),
    Case("copy", (), ((2, 3, 2),)),
    Case("transpose", (), ((2, 3, 4),)),
    Case("permute", ("2,0,-2",), ((2, 3, 4),)),
    Case("relayout", ("NCHW", "NHWC"), ((2, 5, 3, 2),)),
    Case("relayout", ("NCHW", "CHWN"), ((2, 5, 3, 2),)),
    Case("relayout", ("NCHW", "NC/4HW4"), ((2, 6, 2, 3),)),
    Case("relayout", ("NC/4HW4", "NHWC"), ((1, 2, 3, 2, 4),), {"channels": 7}),
    Case("relayout", ("NC/4HW4", "CHWN"), ((1, 2, 3, 2, 4),)),
    Case("relayout", ("NC/4HW4", "NC/8HW8"), ((1, 3, 2, 1, 4),), {"channels": 9}),
    Case("relayout", ("NC/8HW8", "NC/4HW4"), ((1, 2, 2, 1, 8),), {"channels": 11}),
]

REDUCTIONS = [
    *(
        Case("reduce", (name, pattern), (shape,), lengths)
        for name in ("sum", "mean", "min", "max", "prod", "norm")
        for pattern, shape, lengths in (
            ("a b c -> c a", (2, 3, 4), {}),
            ("a (b 2) -> (b a)", (2, 4), {}),
            ("a ... -> ...", (3, 2, 2), {}),
            ("a b -> a () 1", (2, 3), {}),
            ("a b ->", (2, 3), {}),
        )
    ),
    *(
        Case(name, (), (shape,), {}, options)
        for name in ("sum", "mean", "min", "max", "prod", "norm")
        for shape, options in (
            ((2, 3, 4), {}),
            ((2, 3, 4), {"axes": "0,-1"}),
            ((2, 3, 4), {"axes": "-2", "keepdims": ""}),
            ((2, 3), {"axes": "none"}),
            ((2, 3), {"axes": "1", "order": "portable"} if name != "prod" else {"axes": "1"}),
        )
    ),
    Case("norm", (), ((2, 3, 4),), {}, {"axes": "1", "ord": "1"}),
    Case("norm", (), ((2, 3, 4),), {}, {"axes": "0,2", "ord": "inf"}),
    Case("reduce", ("norm", "a b -> b"), ((3, 4),), {}, {"ord": "inf"}),
    Case("sum", (), ((2, 3, 4),), {}, {"axes": "1", "initial": "2.5"}),
    Case("prod", (), ((2, 3),), {}, {"axes": "1", "initial": "-1.5"}),
    Case("max", (), ((4, 5),), {}, {"axes": "1", "initial": "0.75"}),
    Case("sum", (), ((0, 3),), {}, {"axes": "0"}),
    Case("prod", (), ((3, 0),), {}, {"axes": "1"}),
    Case("sum", (), ((2, 3, 4), (2, 3, 4)), {}, {"axes": "1", "where": ""}),
    Case("mean", (), ((2, 5, 4), (5, 1)), {}, {"axes": "1", "where": ""}),
    Case("prod", (), ((3, 4), (4,)), {}, {"axes": "1", "where": ""}),
    Case("reduce", ("min", "a b c -> b"), ((3, 2, 4), (3, 1, 4)), {}, {"where": "", "initial": "0.5"}),
]

PRODUCTS = [
    Case("einsum", ("i k, k j -> i j",), ((2, 3), (3, 4))),
    Case("einsum", ("ik,kj->ij",), ((2, 3), (3, 4))),
    Case("einsum", ("ik,jk",), ((2, 3), (4, 3))),
    Case("einsum", ("b h i d, b h j d -> b h i j",), ((2, 2, 3, 2), (2, 2, 4, 2)), {}, {"alpha": "0.125"}),
    Case("einsum", ("...ij,...jk->...ik",), ((2, 1, 2, 3), (4, 3, 2))),
    Case("einsum", ("a b, b c, c -> a",), ((2, 3), (3, 4), (4,))),
    Case("einsum", ("acd,b->a",), ((2, 3, 2), (3,))),
    Case("einsum", ("a b -> b",), ((2, 3),)),
    Case("einsum", ("ii->i",), ((3, 3),)),
    Case("einsum", ("iij,i->j",), ((3, 3, 2), (3,))),
    Case("einsum", ("iii->",), ((3, 3, 3),)),
    Case("einsum", ("a b, a b -> a b",), ((2, 1), (2, 3))),
    Case("einsum", ("(a b) c, a -> (c b)",), ((4, 3), (2,))),
    Case("einsum", ("row, row ->",), ((3,), (3,))),
    Case("einsum", ("i, j ->",), ((3,), (2,))),
    Case("einsum", (", a -> a",), ((), (3,))),
    Case("einsum", ("a k, k b -> a b",), ((2, 3), (3, 4), (4,)), {}, {"beta": "-2", "alpha": "3"}),
    Case("einsum", ("a k, k b -> a b",), ((2, 3), (3, 4), (2, 1)), {}, {"beta": "1", "activation": "relu"}),
    Case("matmul", (), ((2, 3), (3, 4))),
    Case("matmul", (), ((3, 2, 3), (3, 4))),
    Case("matmul", (), ((3,), (2, 3, 4))),
    Case("matmul", (), ((2, 3), (3,))),
    Case("matmul", (), ((3,), (3,))),
    Case("matmul", (), ((3, 2), (4, 3)), {}, {"transpose-a": "", "transpose-b": ""}),
    Case("dot", (), ((3,), (3,)), {}, {"alpha": "2"}),
]

WITHOUT_GRADIENT = [
    Case(name, (), ((2, 3, 4),), {}, {"axes": "1"}) for name in ("argmin", "argmax", "any", "all", "count_nonzero")
]

ALL = [*MOVES, *REDUCTIONS, *PRODUCTS, *WITHOUT_GRADIENT]
