"""Random reductions against those of the whole array: in the portable order bit for bit. Run by mpirun, any ranks."""

import random
import sys

import ml_dtypes
import numpy as np
from mpi4py import MPI
from mpi_cases import Case, part, plain

import axisloom
from axisloom.distributed import RankError
from axisloom.mpi import rearrange, reduce

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
seed, count = int(sys.argv[1]), int(sys.argv[2])


def check(got, want, exact, what):
    assert got.dtype == want.dtype and got.shape == want.shape, (what, got.dtype, want.dtype, got.shape, want.shape)
    if exact:
        assert got.tobytes() == want.tobytes(), (what, got, want)
    else:
        np.testing.assert_allclose(got, want, 1e-3, 1e-3, err_msg=str(what))


dice = random.Random(seed)
for _ in range(count):
    case = Case(dice, size)
    if case.sums or case.new:
        continue
    left, right = case.pattern.split("->")
    name = dice.choice(["sum", "mean", "prod", "max", "any", "count_nonzero", "norm"])
    order = dice.choice(["portable", "portable", "fast"])
    dtype = dice.choice(["f4", "f8", "f2", "i4", "u1", "c8", ml_dtypes.bfloat16])
    if dtype == "c8" and name == "max":
        name = "mean"
    # The first side, and of the second what does not drop an axis.
    dropped = [axis for axis in case.lengths if dice.random() < 0.5]
    kept = [axis for axis in case.lengths if axis not in dropped]
    spare = [axis for axis in case.mesh if dice.random() < 0.5]
    right = " ".join(axis + (f"@{spare.pop()}" if spare and dice.random() < 0.5 else "") for axis in kept)
    numbers = np.random.default_rng(dice.getrandbits(32))
    shape = axisloom.rearrange(np.zeros([*case.lengths.values()]), f"{' '.join(case.lengths)} -> {plain(left)}").shape
    whole = (numbers.standard_normal(shape) * 4 + (1j if dtype == "c8" else 0)).astype(dtype)
    x = part(whole, left, case.lengths, case.mesh, rank)
    pattern = f"{left} -> {right}"
    want = np.asarray(axisloom.reduce(whole, plain(pattern), name, order=order, **case.given))
    want = part(want, right, case.lengths, case.mesh, rank)
    got = reduce(x, pattern, name, mesh=case.mesh, order=order, **case.given)
    exact = (order == "portable" or whole.dtype.kind in "iu") and not (order == "fast" and name == "norm")
    loose = whole.dtype in ("f2", ml_dtypes.bfloat16) and name not in ("max", "any", "count_nonzero")
    if exact or not loose:
        check(got, want, exact, f"{name} {order} of {whole.dtype} {pattern!r} of {case.lengths} over {case.mesh}")

# The same bits for every number of ranks, and every cut.
numbers = np.random.default_rng(7).standard_normal((1000, 33)).astype("f4") * np.float32(1e3) ** np.arange(33)
whole = axisloom.reduce(numbers, "s h -> h", "sum", order="portable")
for cut in ("@x", "@x:balanced", "@x:7", "@x:64"):
    x = rearrange(numbers, f"s h -> s{cut} h", mesh={"x": size})
    assert reduce(x, f"s{cut} h -> h", "sum", order="portable").tobytes() == whole.tobytes(), cut

# Addends, and other kinds of arrays.
mine = np.full((4, 3), rank + 0.5)
assert (reduce(mine, "s h +x -> h", "sum") == 4 * sum(range(size)) + 2 * size).all()
assert (reduce(mine, "s h +x -> s h", "sum", order="portable") == sum(range(size)) + size / 2).all()
got = reduce(axisloom.Array(mine), "s@x h -> h", "mean", order="portable")
assert isinstance(got, axisloom.Array) and np.allclose(got.numpy(), (size - 1) / 2 + 0.5)
assert reduce([[1, 2], [3, 4]], "s@x h ->", "sum") == 10 * size

# What does not go together is told on all ranks.
if size > 1:
    for given, error, text in (
        (("s@x h -> h", "sum" if rank else "mean"), RankError, "to reduce"),
        (("s@x h -> h q", "sum"), axisloom.EinopsError, "q"),
        (("s@x h -> h", "median"), axisloom.UsageError, "median"),
        (("s h +x -> h", "mean"), axisloom.UsageError, "addends"),
        (("s@x h -> h", print), (axisloom.UsageError, RankError), "has a name"),
    ):
        try:
            reduce(mine, *given)
            raise AssertionError(given)
        except error as raised:
            assert text in str(raised), raised

if rank == 0:
    print("right")
