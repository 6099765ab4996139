"""einsum and matmul of arrays of which each rank has a part. Run by mpirun with 4 ranks: job_products.py SEED COUNT."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
from mpi4py import MPI

sys.path.append(str(Path(__file__).parent.parent))  # where product_cases.py is

import product_cases

import axisloom
from axisloom import _product_panels
from axisloom.distributed import Product, RankError
from axisloom.mpi import einsum, matmul, rearrange

comm = MPI.COMM_WORLD
rank = comm.rank
MESHES = ("x=4", "x=2 y=2", "y=2 x=2", "x=1 y=4")

seed, count = map(int, sys.argv[1:])
panelled = 0
for number in range(seed * 1000, seed * 1000 + count):
    case = product_cases.draw(number, MESHES)
    operands = [case.local(operand, rank) for operand in range(len(case.shapes))]
    want = case.part(case.result(), rank)
    for path in ("auto", "messages", "window"):
        for least_panel, workspace in ((1 << 20, None), (1, 64)):
            _product_panels.LEAST_PANEL = least_panel
            shapes = case.shapes if number % 2 else None
            got = einsum(case.pattern, *operands, mesh=case.mesh, path=path, workspace=workspace, shapes=shapes)
            shown = comm.allgather(got)
            got = sum(shown[one] for one in case.together(rank))
            np.testing.assert_array_equal(got, want, err_msg=f"{case}, {path}, {workspace}, rank {rank}")
    panelled += Product(case.pattern, case.mesh, case.shapes, "float64", workspace=64).panels is not None
assert panelled
_product_panels.LEAST_PANEL = 1 << 20

# Kinds and dtypes.
whole, other = np.arange(40.0).reshape(8, 5), np.arange(30.0).reshape(5, 6)
rows = whole[2 * rank : 2 * rank + 2]
right = whole @ other
for _ in range(3):  # by plans that are kept
    np.testing.assert_array_equal(matmul(rows, other, "m@x k, k n -> m n"), right)
np.testing.assert_array_equal(einsum(rows, other, "i@x k, k j -> i@x j"), right[2 * rank : 2 * rank + 2])
got = einsum("i@x k, k j -> i j", axisloom.Array(rows), axisloom.Array(other))
assert isinstance(got, axisloom.Array)
np.testing.assert_array_equal(got.numpy(), right)
np.testing.assert_array_equal(einsum("i@x k, k j -> i j", rows.astype(">f8"), other), right)
np.testing.assert_array_equal(einsum("i k, k j -> i j", whole[:, ::-1], other[::-1], mesh="x=4"), right)
for dtype in ("i1", "u1", "i2", "i8", "?", "c8", "f4"):
    a, b = whole.astype("i4").astype(dtype), other.astype("i4").astype(dtype)
    want = axisloom.einsum(a, b, "i k, k j -> i j")
    part = np.s_[min(2 * rank, 5) : min(2 * rank + 2, 5)]
    got = einsum("i k@x, k@x j -> i j", a[:, part], b[part])
    assert got.dtype == want.dtype and np.array_equal(got, want), dtype
for dtype in ("f2", ml_dtypes.bfloat16):  # their sums travel as float32
    a = np.random.default_rng(1).standard_normal((8, 64)).astype(dtype)
    part = np.s_[:, 16 * rank : 16 * rank + 16]
    got = einsum("i k@x, j k@x -> i j", a[part], a[part])
    exact = a.astype("f8") @ a.astype("f8").T
    magnitude = np.abs(a.astype("f8")) @ np.abs(a.astype("f8")).T
    unit = 2.0**-11 if dtype == "f2" else 2.0**-8
    assert got.dtype == dtype
    assert (np.abs(got.astype("f8") - exact) <= unit * np.abs(exact) + 70 * 2.0**-24 * (1 + unit) * magnitude).all()

# What is wrong on one rank is raised on all.


def raises(kind, call, *texts):
    try:
        call()
    except Exception as error:
        told = type(error), str(error)
    else:
        told = None, "no error"
    for got, text in comm.allgather(told):
        assert got is kind and all(each in text for each in texts), (got, text, texts)


def on(wrong, value, other):
    return value if rank == wrong else other


pattern = "i@x k, k j -> i j"
another = "i@x k, k j -> j i"
raises(RankError, lambda: einsum(on(2, another, pattern), rows, other), f'rank 2 makes einsum "{another}"')
raises(RankError, lambda: rearrange(rows, "i@x k -> k i") if rank == 1 else einsum(pattern, rows, other),
       "rank 1 makes rearrange", "rank 0 makes einsum")  # fmt: skip
raises(axisloom.ShapeError, lambda: einsum(pattern, rows, other[: on(3, 4, 5)]), "operand 2", "rank 3", "[4, 6]")
raises(axisloom.UsageError, lambda: einsum(pattern, rows, other, path=on(1, "post", "auto")), "rank 1", "post")
raises(RankError, lambda: einsum(pattern, rows, on(1, object(), other)), "rank 1", "object")
raises(axisloom.UsageError, lambda: einsum("i@x k, k j@y -> i j", rows, other), "2 axes of a mesh")
raises(RankError, lambda: einsum(rows, other), "takes a pattern")
np.testing.assert_array_equal(einsum(pattern, rows, other), right)
if rank == 0:
    print("right:", count)
