"""Processes that are the ranks of a group, for tests: they start once, and do one piece of work after another."""

from __future__ import annotations

import datetime
import multiprocessing
import pickle
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent.parent))  # where parts.py is; processes that are started get it too

TIMEOUT = 20  # seconds: of the group
PATIENCE = 120  # seconds that a piece of work may take


DEAD = "dead"


class Ranks:
    """`count` processes with a group of gloo, started as the context of multiprocessing does."""

    def __init__(self, count: int, context: Any = None) -> None:
        context = context or multiprocessing.get_context("spawn")
        self.folder = tempfile.TemporaryDirectory()
        store = f"file://{self.folder.name}/store"
        self.pipes, self.processes = [], []
        for rank in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, rank, count, store), daemon=True)
            process.start()
            theirs.close()
            self.pipes.append(ours)
            self.processes.append(process)

    def run(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What work(rank, *arguments) returns on each rank. Raises what it raises."""
        found = self.outcomes(work, *arguments)
        for rank, outcome in enumerate(found):
            if outcome is DEAD:
                raise AssertionError(f"rank {rank} has ended, with status {self.processes[rank].exitcode}")
            if isinstance(outcome, BaseException):
                raise AssertionError(f"rank {rank}: {outcome}") from outcome
        return found

    def outcomes(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What each rank returns or raises; DEAD where it has ended."""
        for pipe in self.pipes:
            pipe.send((work, arguments))
        return [self._outcome(pipe, process) for pipe, process in zip(self.pipes, self.processes)]

    def _outcome(self, pipe: Any, process: Any) -> Any:
        end = time.monotonic() + PATIENCE
        while not pipe.poll(0.1):
            if not process.is_alive() and not pipe.poll():
                return DEAD
            if time.monotonic() > end:
                self.stop()
                raise AssertionError(f"a rank has not answered within {PATIENCE} s")
        try:
            return pipe.recv()
        except EOFError:
            return DEAD

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.join()
        self.folder.cleanup()


def _serve(pipe: Any, rank: int, count: int, store: str) -> None:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    timeout = datetime.timedelta(seconds=TIMEOUT)
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=count, timeout=timeout)
    while True:
        try:
            work, arguments = pipe.recv()
        except EOFError:  # the test has ended
            return
        try:
            pipe.send(work(rank, *arguments))
        except BaseException as error:  # noqa: BLE001  # pytest's own are no Exception
            pipe.send(_sendable(error))


def _sendable(error: BaseException) -> BaseException:
    """With its traceback; as text where it cannot be sent."""
    text = traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001
        return AssertionError(text)
    error.add_note(text)
    return error


ROOT = Path(__file__).parents[3]


def run_by_torchrun(program: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    # Processes of gloo end with an abort now and then, after all is done, whatever they have imported.
    assert done.returncode == 0 or "terminate called without an active exception" in done.stderr, done.stderr
    assert "nanobind" not in done.stderr
    return done.stdout
