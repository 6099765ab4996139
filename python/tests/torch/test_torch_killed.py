"""Ranks of process groups that are killed in the middle: the others say so, nothing hangs, and nothing stays behind."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import DEAD, TIMEOUT, Ranks

import axisloom.torch as ours
from axisloom.distributed import LostRankError, Redistribution

pytestmark = pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="gloo is not there")

KILLS = int(os.environ.get("AXISLOOM_KILLS", "5"))
COUNT = 3
PATTERNS = ("s@x h -> s h@x", "s@x h -> s h", "s h +x -> s@x h", "s h +x -> s h", "(s h)@x -> (h s)@x")
SHAPES = {False: (24, 1200), True: (28800,)}  # of axes that stand alone, and of one that is composed


def part(pattern: str, rank: int) -> torch.Tensor:
    shape = SHAPES[pattern.startswith("(")]
    return torch.ones(Redistribution(pattern, f"x={COUNT}", shape, s=24).local_in_shape(rank))


def goes_once(rank: int, pattern: str) -> None:
    ours.rearrange(part(pattern, rank), pattern, mesh=f"x={COUNT}", s=24)


def goes_on(rank: int, pattern: str, workspace: int) -> str:
    """Until a rank is lost. Then this one leaves, as a job does that ends: others may be waiting for it."""
    x = part(pattern, rank)
    try:
        while True:
            ours.rearrange(x, pattern, mesh=f"x={COUNT}", s=24, workspace=workspace)
    except LostRankError as error:
        dist.destroy_process_group()
        return str(error)


@pytest.fixture(scope="module")
def context() -> Any:
    """Processes that are forked from one that has imported all of it: each starts in no time."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["axisloom.torch.distributed", "ranks", __name__])
    return made


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_rank_is_found_by_all(context: Any, number: int) -> None:
    dice = random.Random(number)
    pattern, victim = PATTERNS[number % len(PATTERNS)], dice.randrange(COUNT)
    ranks = Ranks(COUNT, context)
    folder, processes = Path(ranks.folder.name), [process.pid for process in ranks.processes]
    try:
        ranks.run(goes_once, pattern)
        kill = threading.Timer(dice.uniform(0, 0.2), os.kill, (processes[victim], signal.SIGKILL))
        kill.start()
        begun = time.monotonic()
        outcomes = ranks.outcomes(goes_on, pattern, dice.choice((1 << 10, 1 << 28)))
        assert time.monotonic() - begun < 2 * TIMEOUT
    finally:
        ranks.stop()
    assert outcomes.pop(victim) is DEAD
    assert all("a rank is gone" in str(outcome) for outcome in outcomes), outcomes
    assert not folder.exists()
    end = time.monotonic() + 10
    while any(Path(f"/proc/{process}").exists() for process in processes):
        assert time.monotonic() < end
        time.sleep(0.01)
