"""Arrays that are distributed over the ranks of an MPI job: rearranged, reduced and multiplied by mpi4py.

Each rank gives its local array, and gets its local result. A pattern says how the whole lies on the ranks.

>>> import numpy as np
>>> from axisloom.mpi import rearrange
>>> rearrange(np.arange(6.0).reshape(2, 3), "s@x h -> s h@x", mesh="x=1").shape
(2, 3)

`mpirun -n 4 python -m axisloom.mpi rearrange "h w -> w h" in.npy -o out.npy` does it with files.
"""

from __future__ import annotations

from ._plans import Plan, plan, rearrange
from ._products import einsum, matmul
from ._reduce import reduce

__all__ = ["Plan", "einsum", "matmul", "plan", "rearrange", "reduce"]
