#!/usr/bin/env python3
"""Kills a rank in the middle of its exchanges, many times: the job ends each time, no rank goes on, and no shared memory
stays behind.

Usage: tests/mpi/killed.py COUNT PROGRAM LAUNCHER...     Such as 6 build/mpi-mpich/runs_on mpirun.mpich -n 4
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

SECONDS = 60  # in which a job begins, and in which it ends
WAYS = ["windows", "messages", "direct"]


def ranks_of(mark):
    """The processes of a job, which have its mark among their arguments, but not the launcher's."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words and b"runs_on" in words[0]:
            found.append(int(process.name))
    return found


def segments_of(ranks):
    """Files that ranks share as memory; other jobs on this machine have theirs."""
    segments = set()
    for rank in ranks:
        for line in pathlib.Path(f"/proc/{rank}/maps").read_text().splitlines():
            words = line.split(maxsplit=5)
            if len(words) == 6 and words[1].endswith("s") and words[5].startswith("/") and not words[5].endswith("(deleted)"):
                segments.add(pathlib.Path(words[5]))
    return segments


def wait_until(condition, what):
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"FAILED: {what} within {SECONDS} s")
        time.sleep(0.05)


def kill_one(program, launcher, number):
    mark, way = f"killed-{os.getpid()}-{number}", WAYS[number % len(WAYS)]
    with subprocess.Popen([*launcher, program, way, mark], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as job:
        try:
            if job.stdout.readline() != "running\n":
                raise SystemExit(f"FAILED: the job ({way}) did not begin")
            ranks = ranks_of(mark)
            if len(ranks) != 4:
                raise SystemExit(f"FAILED: {len(ranks)} ranks run")
            segments = segments_of(ranks)
            time.sleep(random.uniform(0, 0.05))
            os.kill(random.choice(ranks), signal.SIGKILL)
            wait_until(lambda: job.poll() is not None, f"the job ({way}) did not end")
            if job.returncode == 0:
                raise SystemExit("FAILED: the job ended as if all were well")
            wait_until(lambda: not ranks_of(mark), "ranks go on that did not end")
            wait_until(lambda: not any(segment.exists() for segment in segments), f"{segments} did not go")
            return segments
        finally:
            for rank in ranks_of(mark):
                os.kill(rank, signal.SIGKILL)
            job.kill()


def main():
    count, program, launcher = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    seen = set()
    for number in range(count):
        seen |= kill_one(program, launcher, number)
    print(f"{len(seen)} files of shared memory went")
    print(f"{count} passed, 0 failed")


if __name__ == "__main__":
    main()
