"""Arrays of other kinds, dtypes and sizes, reports, and memory. Run by mpirun with 4 ranks."""

import gc
import os

import ml_dtypes
import numpy as np
from mpi4py import MPI

import axisloom
from axisloom.mpi import _plans, _shared, plan, rearrange
from axisloom.mpi._ranks import ranks_of

comm = MPI.COMM_WORLD
rank = comm.rank
turn = "s@x h -> s h@x"
whole = np.arange(32.0).reshape(8, 4)
x = whole[2 * rank : 2 * rank + 2]
right = whole[:, rank : rank + 1]

# The result is of the array's kind.
array = rearrange(axisloom.Array(x), turn)
assert isinstance(array, axisloom.Array) and np.array_equal(array.numpy(), right)
out = axisloom.Array(np.zeros((8, 1)))
assert rearrange(axisloom.Array(x), turn, out=out) is out and np.array_equal(out.numpy(), right)
assert np.array_equal(rearrange(x.tolist(), turn), right)
for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, "f2", "M8[s]", "V4", "S8", "c16", "?"):
    given = x.astype("i4").astype(dtype) if dtype != "V4" else x.astype("i4").view("V4")
    got = rearrange(given, turn)
    column = np.concatenate(comm.allgather(given))[:, [rank]]
    assert got.dtype == given.dtype and got.tobytes() == column.tobytes(), dtype

try:
    import torch
except ImportError:  # it is there in long runs
    pass
else:
    tensor, out = torch.from_numpy(x.copy()), torch.empty(8, 1, dtype=torch.float64)
    got = rearrange(tensor, turn)
    assert isinstance(got, torch.Tensor) and np.array_equal(got, right)
    assert rearrange(tensor, turn, out=out) is out and np.array_equal(out, right)

# Sums go by the order of ranks: in another order these floats have other bits.
addends = np.random.default_rng(5).standard_normal((4, 8, 6)) * 10.0 ** np.arange(4)[:, None, None]
total = ((addends[0] + addends[1]) + addends[2]) + addends[3]
for path in ("messages", "window"):
    for workspace in (1 << 20, 40):
        got = rearrange(addends[rank], "s h +x -> s@x h", path=path, workspace=workspace)
        assert got.tobytes() == total[2 * rank : 2 * rank + 2].tobytes(), (path, workspace)
for dtype in (ml_dtypes.bfloat16, "f2", "c8", "i1"):
    got = rearrange(np.full((4, 2), rank + 1).astype(dtype), "s h +x -> s h")
    assert got.dtype == dtype and (got == np.array(10).astype(dtype)).all()
assert np.signbit(rearrange(np.full((4, 8), -0.0), "s h +x -> s@x h", workspace=16)).all()

# By MPI's own reductions.
for pattern, lengths, whole_sum in (
    ("s h +x -> s h", {}, total), ("s h +x -> h s@x", {}, total[2 * rank : 2 * rank + 2].T),
    ("s h +x -> h (s n)@x", {"n": 2}, np.repeat(total, 2, 0)[4 * rank : 4 * rank + 4].T),
):  # fmt: skip
    for workspace in (1 << 20, 40):
        run = plan(addends[rank], pattern, path="reduction", workspace=workspace, **lengths)
        assert run.report()["path"] == "reduction" and run.report()["buffer_bytes"][0] <= workspace, run.report()
        np.testing.assert_allclose(run(addends[rank]), whole_sum, rtol=1e-5)
assert run.report()["rounds"] == 12, run.report()
part = comm.Dup()
ranks_of(part).one_host = False  # as on several hosts
run = plan(addends[rank], "s h +x -> s@x h", comm=part)
assert run.report()["path"] == "reduction" and "several hosts" in run.report()["why"]
assert plan(addends[rank].astype("f2"), "s h +x -> s@x h", comm=part).report()["path"] == "messages"
assert plan(x, turn, comm=part).report()["path"] == "messages"
assert not plan(x, turn, comm=part).report()["direct"]
part.Free()
assert plan(addends[rank], "s h +x -> s h").report()["path"] == "window"
_plans._MOST_ADDENDS = 3
assert plan(addends[rank], "s h +x -> s h").report()["path"] == "reduction"
assert plan(addends[rank], "s h +x -> s@x h").report()["path"] == "window"

# Reports.
run = plan(x, turn, path="messages", workspace=16)
report = run.report()
assert report["path"] == "messages" and report["bytes_sent"] == report["bytes_received"] == 3 * 2 * 8, report
assert report["rounds"] == 2 and report["buffer_bytes"] == (2 * 3 * 8, 2 * 3 * 8), report
report = plan(x, turn).report()
assert report["path"] == "window" and "one host" in report["why"] and report["direct"], report
# Ranks on the same processors share them.
beside = sum(bool(other & os.sched_getaffinity(0)) for other in comm.allgather(os.sched_getaffinity(0)))
assert report["threads"] == axisloom.get_num_threads() == max(1, len(os.sched_getaffinity(0)) // beside)
axisloom.set_num_threads(len(os.sched_getaffinity(0)))  # who chooses a number keeps it
part = comm.Dup()
assert plan(x, turn, comm=part).report()["threads"] == len(os.sched_getaffinity(0))
part.Free()

# Where memory cannot be shared, messages go by MPI.
created = _shared._created
if rank == 1:
    _shared._created = lambda length: _shared.opened_from(os.getpid(), 999, (0, 0))
for use in (lambda run: run(x), lambda run: run.empty()):
    run = plan(x, turn)
    use(run)
    report = run.report()
    assert report["path"] == "messages" and report["why"].startswith("rank 1: process"), report
    out = run.empty()
    assert np.array_equal(run(x, out=out), right)
try:
    plan(x, turn, path="window")(x)
    raise AssertionError
except axisloom.UnsupportedError as error:
    assert "cannot share memory: No such file" in str(error)
_shared._created = created


# Shared memory goes with plans and arrays, on each rank by itself.
def shared():
    return sum("memfd:axisloom" in line for line in open("/proc/self/maps"))


gc.disable()
del run, report
assert rearrange(x, "s@x h -> h@x s").shape == (1, 8)
before = shared()
run = plan(x, turn)
run(x)
assert shared() == before + 4
out = run.empty()
assert np.array_equal(run(x, out=out), right) and shared() == before + 8
run.close()
assert shared() == before + 4 and np.array_equal(out, right)
del out
assert shared() == before
with plan(x, turn) as run:
    run(x)
assert shared() == before
run = plan(x, turn)
run(x)
if rank == 1:
    del run
    assert shared() == before
for length in range(2, 12):  # of many plans the last ones are kept
    rearrange(np.zeros((2, length)), turn)
assert shared() <= before + 4 + 4 * 4

if rank == 0:
    print("right")
