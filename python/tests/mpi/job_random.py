"""Random patterns on all paths against the whole array. Run by mpirun: job_random.py SEED COUNT."""

import sys

import numpy as np
from mpi4py import MPI
from mpi_cases import cases

from axisloom import UnsupportedError
from axisloom.mpi import plan, rearrange

comm = MPI.COMM_WORLD


def check(case, got, how):
    if case.kept_sums:  # the ranks along these axes hold addends of the result
        got = sum(addends_of(case, got)).astype(case.dtype)
    expected = case.expected(comm.rank)
    assert got.dtype == case.dtype and got.shape == expected.shape, (how, str(case), got.shape, expected.shape)
    np.testing.assert_array_equal(got, expected, err_msg=f"rank {comm.rank}, {how}: {case}")


def addends_of(case, local):
    from mpi_cases import coordinates

    mine = coordinates(case.mesh, comm.rank)
    for rank, other in enumerate(comm.allgather(local)):
        at = coordinates(case.mesh, rank)
        if all(at[name] == mine[name] for name in case.mesh if name not in case.kept_sums):
            yield other


seed, count = map(int, sys.argv[1:])
rounds, reductions = set(), 0
for case in cases(seed, count):
    x, lengths = case.local(comm.rank), {**case.given, **case.new}
    check(case, rearrange(x, case.pattern, case.mesh, **lengths), "rearrange")
    for path in ("messages", "window"):
        for workspace in (1 << 20, 24):
            with plan(x, case.pattern, case.mesh, path=path, workspace=workspace, **lengths) as run:
                check(case, run(x), f"{path}, workspace {workspace}")
                rounds.add(run.report()["rounds"])
    if set(case.sums) - set(case.kept_sums):
        for workspace in (1 << 20, 24):
            try:
                run = plan(x, case.pattern, case.mesh, path="reduction", workspace=workspace, **lengths)
            except UnsupportedError:
                continue
            check(case, run(x), f"reduction, workspace {workspace}")
            reductions += 1
    with plan(x, case.pattern, case.mesh, **lengths) as run:
        out = run.empty()
        out[...] = 0
        for _ in range(2):
            assert run(x, out=out) is out
            check(case, out, "direct")
assert max(comm.allgather(max(rounds))) > 3
if comm.rank == 0:
    print("right:", count, "reductions:", reductions)
