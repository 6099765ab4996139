"""reduce() of arrays that are distributed over the ranks of a communicator."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
from mpi4py import MPI

from .. import _kinds, _native
from .._arrays import dtype_of, numpy_dtype
from .._errors import UsageError
from .._reduced import Move, Ranks, reduced, same_side, steps_of
from ._plans import MeshText, Shape, _Call, rearrange
from ._ranks import ranks_of

Array = np.ndarray[Any, Any]


def reduce(
    x: Any,
    pattern: str,
    reduction: str,
    mesh: MeshText | SupportsIndex | None = None,
    comm: MPI.Intracomm | SupportsIndex = MPI.COMM_WORLD,
    shape: Shape = None,
    *,
    order: str | SupportsIndex = "fast",
    workspace: SupportsIndex | None = None,
    **lengths: SupportsIndex,
) -> Any:
    """Reduce an array of which each rank of a communicator has a part. All its ranks call this together.

    - reduction: sum, mean, prod, min, max, any, all, count_nonzero, norm, argmin or argmax.
    - order: "portable" gives sums, means, products and norms of floats the same bits for any number of ranks and any
      cuts: those of axisloom.reduce with order="portable" of the whole array.
    - x, pattern, mesh, comm, shape, workspace, lengths: as rearrange's.

    >>> import numpy as np
    >>> reduce(np.arange(6.0).reshape(2, 3), "s@x h -> h", "sum", mesh="x=1")
    array([3., 5., 7.])
    """
    given = {"mesh": mesh, "comm": comm, "shape": shape, "order": order, "workspace": workspace}
    call = _Call(x, pattern, given, lengths)
    if is_named := not isinstance(order, str):  # the length of an axis that is called so
        call.lengths.setdefault("order", order.__index__())
    asked = "fast" if is_named else order
    known = tuple(call.lengths.items())
    if call.error is None:
        try:
            _name_axes(call, pattern, reduction, asked)
        except Exception as error:
            call.error = error
    plan = call.agree(ranks_of(call.comm))
    steps = steps_of(
        pattern, reduction, asked, Ranks(str(plan.mesh), call.comm.Get_rank()), plan.in_shape, known,
        dtype_of(call.local),
    )  # fmt: skip

    def move(part: Any, one: Move) -> Array:
        return rearrange(
            np.asarray(part), one.pattern, plan.mesh, call.comm, one.shape, workspace=call.workspace,
            **dict(one.lengths),
        )  # fmt: skip

    with np.errstate(all="ignore"):
        return _as_given(np.asarray(reduced(call.local, steps, move, _ARRAYS)), x)


def _name_axes(call: _Call, pattern: str, reduction: Any, order: str) -> None:
    """Has the ranks agree on what lies where, by the left side alone, and on what is done."""
    if not isinstance(reduction, str):
        raise UsageError(f"a reduction over ranks has a name, such as sum; this one is a {type(reduction).__name__}")
    call.what = f'to reduce "{pattern}" with {reduction}, order {order}'
    side, lengths = same_side(pattern, call.local.ndim, tuple(call.lengths.items()))
    call.pattern, call.lengths = f"{side} -> {side}", dict(lengths)


def _as_given(result: Array, x: Any) -> Any:
    """Of the kind of x."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
        return result
    array = _kinds.adapted(x)
    moved = _native.Array(result).to(array.device)
    return moved if x is array else _kinds._restored(moved, x)


class _Arrays:
    """See axisloom._reduced.Arrays."""

    def converted(self, x: Array, dtype: str) -> Array:
        return x.astype(numpy_dtype(dtype), copy=False)

    def zeros(self, like: Array, shape: tuple[int, ...], dtype: str) -> Array:
        return np.zeros(shape, numpy_dtype(dtype))

    def joined(self, arrays: list[Array]) -> Array:
        return np.concatenate(arrays)

    def divided(self, x: Array, count: int) -> Array:
        return x / count

    def complex_of(self, real: Array, imaginary: Array) -> Array:
        made = np.empty(real.shape, np.complex128)
        made.real, made.imag = real, imaginary
        return made


_ARRAYS = _Arrays()
