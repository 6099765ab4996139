"""What is wrong on one rank is raised on all. Run by mpirun with 4 ranks."""

import numpy as np
from mpi4py import MPI

import axisloom
from axisloom.distributed import RankError
from axisloom.mpi import plan, rearrange

comm = MPI.COMM_WORLD
rank = comm.rank
x = np.arange(8.0).reshape(2, 4) + 8 * rank
turn = "s@x h -> s h@x"


def raises(kind, call, *texts):
    try:
        call()
    except Exception as error:
        told = type(error), str(error)
    else:
        told = None, "no error"
    for got, text in comm.allgather(told):
        assert got is kind and all(each in text for each in texts), (got, text, texts)


def works():
    np.testing.assert_array_equal(rearrange(x, turn), (np.arange(8)[:, None] * 4 + [rank]).astype("f8"))


def on(wrong, value, other):
    return value if rank == wrong else other


# Calls that differ name both.
both = "rank 0 makes", "rank 2 makes"
raises(RankError, lambda: rearrange(x, on(2, "s@x h -> h@x s", turn)), *both, "-> h@x s", "-> s h@x")
raises(RankError, lambda: rearrange(x, turn, on(2, "x=2", "x=4")), *both, '"x=2"', '"x=4"')
raises(RankError, lambda: rearrange(x, turn, shape=on(2, (9, 4), (8, 4))), *both, "[9, 4]", "[8, 4]")
raises(RankError, lambda: rearrange(x.astype(on(2, "f4", "f8")), turn), *both, "float32", "float64")
raises(RankError, lambda: rearrange(x, "s@x (h w) -> s w h@x", h=on(2, 4, 2)), *both, "h=4", "h=2")
raises(RankError, lambda: rearrange(x, turn, out=on(2, np.empty((8, 1)), None)), *both, "into out=")
raises(RankError, lambda: rearrange(x, turn, workspace=on(2, 9, 8)), *both, "workspace 9", "workspace 8")
raises(RankError, lambda: rearrange(x[:, : on(2, None, 4)] if rank != 2 else x[0], turn), *both, "[4]", "[2,4]")
works()

# What does not fit names the rank, and what was wanted.
raises(axisloom.ShapeError, lambda: rearrange(x[: on(1, 1, 2)], turn, shape=(8, 4)), "rank 1", "[1, 4]", "[2, 4]", turn)
raises(axisloom.ShapeError, lambda: rearrange(x[:, : on(1, 3, 4)], turn), "rank 1", "[2, 3]", "[2, 4]", '"x=4"')
raises(axisloom.UsageError, lambda: rearrange(x, turn, "x=3"), "3 ranks", "there are 4")
raises(axisloom.UsageError, lambda: rearrange(x, "s@x h@y -> s@y h@x"), "2 axes of a mesh")
raises(axisloom.EinopsError, lambda: rearrange(x, "s@x h -> s@x"), "'h'")
raises(axisloom.UsageError, lambda: rearrange(x, turn, path=on(3, "post", "window")), "rank 3", "post")
raises(RankError, lambda: rearrange(on(1, object(), x), turn), "rank 1", "object")
raises(RankError, lambda: rearrange(x, on(1, 7, turn)), "rank 1", "a pattern is a str")
raises(RankError, lambda: rearrange(x, "s@x (h w) -> s w h@x", h=on(2, 1.5, 2)), "rank 2", "h= takes whole numbers")
raises(axisloom.DtypeError, lambda: rearrange(x > 1, "s h +x -> s@x h"), "bool")
raises(axisloom.DtypeError, lambda: rearrange(x.astype("V3"), turn), "1, 2, 4, 8 or 16 bytes")
raises(axisloom.DtypeError, lambda: rearrange(on(0, x.astype(object), x), turn), "rank 0", "objects")
works()

# The output.
right, space = np.empty((8, 1)), np.empty(16)
raises(axisloom.ShapeError, lambda: rearrange(x, turn, out=on(3, np.empty((8, 2)), right)), "rank 3", "[8, 2]")
raises(axisloom.DtypeError, lambda: rearrange(x, turn, out=on(3, np.empty((8, 1), "f4"), right)), "rank 3", "float32")
raises(axisloom.UsageError, lambda: rearrange(x, turn, out=on(3, np.broadcast_to(0.0, (8, 1)), right)), "rank 3")
own = on(3, space[:8].reshape(2, 4), x.copy())
raises(axisloom.OverlapError, lambda: rearrange(own, turn, out=on(3, space[4:12].reshape(8, 1), right)), "rank 3")
assert rearrange(x, turn, out=right) is right
works()

# Plans.
run, other = plan(x, turn), plan(x, turn)
raises(axisloom.ShapeError, lambda: run(x[: on(1, 1, 2)]), "rank 1", "[1, 4]", "[2, 4]")
raises(axisloom.DtypeError, lambda: run(x.astype(on(1, "f4", "f8"))), "rank 1", "float32")
raises(axisloom.ShapeError, lambda: run(x, out=on(3, np.empty(8), right)), "rank 3", "[8]")
raises(RankError, lambda: on(2, run, other)(x), *both, "plan")
first, second = run.empty(), run.empty()
raises(RankError, lambda: run(x, out=on(2, first, second)), *both, "array 1 of empty()", "array 2 of empty()")
raises(RankError, lambda: run(x, out=on(2, first, np.empty((8, 1)))), *both, "array 1 of empty()", "out=")
assert run(x, out=first) is first
if rank == 1:
    run.close()
raises(axisloom.UsageError, lambda: run(x), "rank 1", "closed")
raises(axisloom.UsageError, lambda: plan(x, turn, workspace=0), "workspace=0")
raises(axisloom.UsageError, lambda: plan(x, turn, path="reduction"), "is for sums")
raises(axisloom.UnsupportedError, lambda: plan(x.astype("f2"), "s h +x -> s@x h", path="reduction"), "float16")
raises(TypeError, lambda: rearrange(x, turn, comm="all"), "COMM_WORLD")
works()

# Parts of a communicator work by themselves, one after the other.
half = comm.Split(rank // 2)
part = rearrange(x, turn, "x=2", half)
np.testing.assert_array_equal(part, np.concatenate(half.allgather(x))[:, half.rank * 2 : half.rank * 2 + 2])
half.Free()

if rank == 0:
    print("right")
