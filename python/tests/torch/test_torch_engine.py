"""Which copies a card's copy engine takes, as rows of bytes."""

import random

import numpy as np
import pytest
from axisloom.distributed import Copy, Redistribution
from axisloom.torch import _engine


def done(copy, source, target, width):
    """What an engine would do, in bytes."""
    read, written = source.view(np.uint8), target.view(np.uint8)
    for rows in _engine.as_rows(copy, width):
        for row in range(rows.count):
            begin, end = rows.from_offset + row * rows.from_pitch, rows.to_offset + row * rows.to_pitch
            written[end : end + rows.width] = read[begin : begin + rows.width]


def wanted(copy, source, target):
    bytes_each = source.itemsize
    view = np.lib.stride_tricks.as_strided
    strides = [[step * bytes_each for step in steps] for steps in (copy.from_strides, copy.to_strides)]
    view(target[copy.to_offset :], copy.shape, strides[1])[...] = view(source[copy.from_offset :], copy.shape, strides[0])


@pytest.fixture
def any_size(monkeypatch):
    monkeypatch.setattr(_engine, "LEAST_ROW", 1)
    monkeypatch.setattr(_engine, "LEAST_BYTES", 1)
    _engine.as_rows.cache_clear()
    yield
    _engine.as_rows.cache_clear()


@pytest.mark.usefixtures("any_size")
def test_rows_are_the_elements_of_the_copy():
    random.seed(1)
    taken = 0
    for _ in range(300):
        ranks = random.choice([2, 3, 4])
        shape = [random.randint(1, 9) for _ in range(3)]
        names = ["a", "b", "c"]
        cut_in, cut_out = random.choice(names), random.choice(names)
        right = names if random.random() < 0.7 else random.sample(names, 3)
        side = lambda order, cut: " ".join(f"{name}@x" if name == cut else name for name in order)
        plan = Redistribution(f"{side(names, cut_in)} -> {side(right, cut_out)}", f"x={ranks}", shape)
        for rank in range(ranks):
            for message in plan.direct(rank):
                source = np.random.default_rng(rank).integers(0, 1 << 30, 1000).astype(np.int32)
                for copy in message.copies:
                    if not _engine.as_rows(copy, 4):
                        continue
                    taken += 1
                    got, want = np.zeros(1000, np.int32), np.zeros(1000, np.int32)
                    done(copy, source, got, 4)
                    wanted(copy, source, want)
                    assert np.array_equal(got, want), copy
    assert taken > 100


def test_the_engine_takes_long_rows_alone():
    heads = Copy((2, 1024, 2048), 0, (1024 * 4096, 4096, 1), 0, (2048 * 2048, 2048, 1))
    assert [(rows.width, rows.count) for rows in _engine.as_rows(heads, 4)] == [(8192, 1024)] * 2
    transposed = Copy((2048, 1024), 0, (1, 2048), 0, (1024, 1))
    narrow = Copy((1 << 20, 4), 0, (8, 1), 0, (4, 1))
    few = Copy((16, 128), 0, (256, 1), 0, (128, 1))
    many = Copy((64, 64, 1024), 0, (1 << 20, 2048, 1), 0, (1 << 17, 1024, 1))
    repeated = Copy((1024, 2048), 0, (0, 1), 0, (2048, 1))
    assert not any(_engine.as_rows(copy, 4) for copy in (transposed, narrow, few, many, repeated))


def test_what_lies_together_is_one_row():
    whole = Copy((4, 1024, 1024), 7, (1 << 20, 1024, 1), 3, (1 << 20, 1024, 1))
    (rows,) = _engine.as_rows(whole, 2)
    assert (rows.width, rows.count, rows.from_offset, rows.to_offset) == (8 << 20, 1, 14, 6)
