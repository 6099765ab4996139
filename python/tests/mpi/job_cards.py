"""Arrays on a card, by an emulated driver on which every kernel makes zeros. Run by mpirun with 4 ranks."""

import numpy as np
from mpi4py import MPI

import axisloom
from axisloom.mpi import einsum, plan, rearrange

rank = MPI.COMM_WORLD.rank
whole = np.arange(1.0, 33.0, dtype="f4").reshape(8, 4)
x = axisloom.Array(whole[2 * rank : 2 * rank + 2], "cuda:0")
right = whole[:, rank : rank + 1]

got = rearrange(x, "s@x h -> s h@x")
assert got.device == "cuda:0" and np.array_equal(got.numpy(), right), got.numpy()
run = plan(x, "s@x h -> s h@x")
out = axisloom.Array(np.ones((8, 1), "f4"), "cuda:0")
assert run(x, out=out) is out and not out.numpy().any()  # a kernel copied the result into it
assert run.report()["card_aware"] is False


class Other:
    """An array of another library on the card."""

    shape, dtype = x.shape, x.dtype

    def __dlpack__(self, **asked):
        return x.__dlpack__(**asked)

    def __dlpack_device__(self):
        return x.__dlpack_device__()

    @staticmethod
    def __array_namespace__():
        return axisloom

    def __len__(self):
        return len(x)


got = rearrange(Other(), "s@x h -> s h@x")
assert isinstance(got, axisloom.Array) and got.device == "cuda:0" and np.array_equal(got.numpy(), right)

# Products are the card's work, which the emulated one refuses.
ones = axisloom.Array(np.ones((4, 3), "f4"), "cuda:0")
for one in (x, Other()):
    try:
        einsum("i@x k, k j -> i@x j", one, ones)
    except axisloom.DeviceError as error:
        assert "f32[2,4], f32[4,3]" in str(error) and "on cuda:0" in str(error), error
    else:
        raise AssertionError("the product was done elsewhere")

if rank == 0:
    print("right")
