"""The portable order over ranks: blocks that ranks bring together by themselves, against the whole in NumPy."""

from __future__ import annotations

import random

import numpy as np
import pytest

import axisloom
from axisloom._pairs import Block, blocks_of, meetings, merged, runs_of


def in_pairs(x):
    """Along the first axis: neighbours are added until one is left."""
    while len(x) > 1:
        sums = x[: len(x) - 1 : 2] + x[1::2]
        x = np.concatenate([sums, x[len(x) - len(x) % 2 :]])
    return x[0]


def cut(dice, count):
    """Ranges of numbers for each of some ranks: equal, unequal or dealt in turns, and some ranks without any."""
    ranks = dice.choice([1, 2, 3, 4, 5, 7, 8, 16, 64])
    kind = dice.choice(["chunk", "balanced", "dealt", "any"])
    if kind == "chunk":
        size = -(-count // ranks)
        return [[(min(r * size, count), min((r + 1) * size, count))] for r in range(ranks)]
    if kind == "balanced":
        ends = np.cumsum([0, *(len(part) for part in np.array_split(np.arange(count), ranks))]).tolist()
        return [[one] for one in zip(ends, ends[1:])]
    if kind == "dealt":
        block = dice.choice([1, 2, 3, 4, 7, 8, 100])
        starts = range(0, count, block)
        return [[(s, min(s + block, count)) for s in starts[r::ranks]] for r in range(ranks)]
    ends = [0, *sorted(dice.randint(0, count) for _ in range(ranks - 1)), count]
    return [[one] for one in zip(ends, ends[1:])]


@pytest.mark.parametrize("seed", range(400))
def test_blocks_of_ranks_come_to_what_the_whole_comes_to(seed):
    dice = random.Random(seed)
    count = dice.choice([1, 2, 3, dice.randint(1, 40), dice.randint(1, 3000)])
    numbers = np.random.default_rng(seed).standard_normal(count).astype("f4")
    blocks, values = [], []
    for ranges in cut(dice, count):
        ranges = merged(ranges)
        own = np.concatenate([numbers[:0], *(numbers[slice(*one)] for one in ranges)])
        mine = blocks_of(ranges, count)
        for run in runs_of(mine, count):
            for place in range(run.blocks):
                first = run.first + place * run.length
                values.append(in_pairs(own[first : first + run.length]))
        blocks += mine
    assert len(blocks) == len(values)
    for first, second in meetings(blocks):
        values[first] = values[first] + values[second]
    total = values[blocks.index(min(blocks))]
    assert total == in_pairs(numbers)
    assert total == axisloom.reduce(numbers, "n ->", "sum", order="portable")


def test_blocks_are_few():
    for count, ranks in ((4096, 4), (1 << 20, 8), (65536, 64)):
        part = count // ranks
        assert all(len(blocks_of([(r * part, (r + 1) * part)], count)) == 1 for r in range(ranks))
    assert len(blocks_of([(1, 8191)], 8192)) == 24
    assert blocks_of([], 5) == [] and meetings([Block(0, 3)]) == []


def test_the_order_is_that_of_the_description():
    for shape, pattern in (((700, 37), "a b -> b"), ((37, 700), "a b -> a"), ((23, 5, 9), "a b c -> b")):
        x = np.random.default_rng(3).standard_normal(shape).astype("f4")
        kept = pattern.split("->")[1].split()
        flat = axisloom.rearrange(x, pattern.split("->")[0] + "-> (" + " ".join(
            name for name in pattern.split("->")[0].split() if name not in kept) + f") {' '.join(kept)}")
        got = axisloom.reduce(x, pattern, "sum", order="portable")
        assert np.array_equal(got, in_pairs(flat))
        assert np.array_equal(axisloom.reduce(x.astype("f2"), pattern, "sum", order="portable"),
                              in_pairs(flat.astype("f2").astype("f4")).astype("f2"))
