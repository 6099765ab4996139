"""Products of arrays that are distributed over the ranks of a communicator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np
from mpi4py import MPI

from .. import _einsum
from .._arrays import adopt, dtype_of, numpy_dtype
from .._errors import UsageError
from .._product_runs import ProductCall, once, run
from .._products import Move, Product, matmul_pattern
from ..distributed import Mesh
from ._memory import on_host
from ._plans import WORKSPACE, MeshText, Plan, _Call, _whole, only_axis
from ._ranks import Ranks, ranks_of
from ._transports import Window

_PRODUCTS_KEPT = 4  # whose plans, and their buffers, are kept, for each communicator
_PATHS = ("auto", "messages", "window")

Shapes = Sequence[Sequence[SupportsIndex]] | None


def einsum(
    *operands: Any,
    mesh: MeshText | None = None,
    comm: MPI.Intracomm = MPI.COMM_WORLD,
    shapes: Shapes = None,
    path: str = "auto",
    workspace: SupportsIndex | None = None,
) -> Any:
    """Einsum of arrays of which each rank of a communicator has a part. All its ranks call this together.

    - operands: the pattern, first or last, and this rank's local arrays: of NumPy, CuPy, PyTorch or an axisloom.Array.
      The result is of the first one's kind. The pattern is einsum's with names between blanks, and cuts as rearrange's:
      of operands as they are, of the result as it is to be. "+x" at the end of a side: the ranks along x hold addends.
    - mesh, comm, path, workspace: as plan's.
    - shapes: those of the whole arrays. Without it, local arrays tell them.

    Of all ways to do it that one is taken which sends the fewest bytes. print(axisloom.distributed.Product(pattern,
    mesh, shapes, "float64")) says which, and why.

    >>> import numpy as np
    >>> einsum("i@x k, k@x j -> i@x j", np.ones((2, 3)), np.ones((3, 4)), mesh="x=1")
    array([[3., 3., 3., 3.],
           [3., 3., 3., 3.]])

    What is wrong on one rank is raised on all.
    """
    given = _Given(operands, mesh, comm, shapes, path, workspace)
    ranks = ranks_of(comm)
    asked = given.asked()
    product: Product = ranks.asked(asked, error=given.error)
    key = asked._replace(local=(), shapes=product.shapes)  # alike on all ranks
    engine = ranks.products.pop(key, None)
    if engine is None:
        engine = _Engine(ranks, product, given.path, _are_numpys(given.arrays))
        if len(ranks.products) >= _PRODUCTS_KEPT:
            ranks.products.pop(next(iter(ranks.products)))
    ranks.products[key] = engine
    try:
        return run(product, ranks.rank, given.arrays, engine)
    finally:
        engine.end()


def matmul(
    a: Any,
    b: Any,
    cuts: str,
    *,
    mesh: MeshText | None = None,
    comm: MPI.Intracomm = MPI.COMM_WORLD,
    shapes: Shapes = None,
    path: str = "auto",
    workspace: SupportsIndex | None = None,
) -> Any:
    """Product of matrices of which each rank has a part: matmul(a, b, "m@x k, k n -> m@x n").

    cuts: the two matrices and the result, as in einsum's pattern. Arrays may have more axes in front, which are batches
    as numpy.matmul's and are not cut. The rest is as einsum's.

    >>> import numpy as np
    >>> matmul(np.ones((5, 2, 3)), np.ones((3, 4)), "m@x k, k n -> m@x n", mesh="x=1").shape
    (5, 2, 4)
    """
    pattern = matmul_pattern(cuts)
    return einsum(pattern, a, b, mesh=mesh, comm=comm, shapes=shapes, path=path, workspace=workspace)


class _Given:
    """What a rank gives. What is wrong with it is kept, for all ranks to raise it."""

    def __init__(
        self, operands: tuple[Any, ...], mesh: Any, comm: MPI.Intracomm, shapes: Any, path: str, workspace: Any
    ) -> None:
        self.error: Exception | None = None
        self.pattern, self.mesh, self.path, self.workspace = "", "", path, WORKSPACE
        self.arrays: list[Any] = []
        self.shapes: tuple[tuple[int, ...], ...] | None = None
        self.dtype, self.kinds = "", ""
        self.dtypes: tuple[str, ...] = ()
        try:
            self._read(operands, mesh, comm, shapes, workspace)
        except Exception as error:
            self.error = error

    def _read(self, operands: tuple[Any, ...], mesh: Any, comm: MPI.Intracomm, shapes: Any, workspace: Any) -> None:
        first = bool(operands) and isinstance(operands[0], str)
        pattern = operands[0] if first else operands[-1] if operands else None
        if not isinstance(pattern, str):
            raise TypeError('einsum over ranks takes a pattern, first or last: einsum("i@x k, k j -> i@x j", a, b)')
        self.pattern = pattern
        if self.path not in _PATHS:
            raise UsageError(f"path={self.path!r} is not known; give one of {', '.join(_PATHS)}")
        self.mesh = str(Mesh(mesh)) if mesh is not None else only_axis(self.pattern, comm.Get_size())
        if workspace is not None:
            self.workspace = _whole("workspace=", workspace)
        if shapes is not None:
            self.shapes = tuple(tuple(_whole("shapes=", extent) for extent in shape) for shape in shapes)
        self.arrays = [_usable(x) for x in (operands[1:] if first else operands[:-1])]
        if not self.arrays:
            raise TypeError("einsum over ranks takes an array or more beside the pattern")
        self.dtypes = tuple(_name_of(x) for x in self.arrays)
        self.dtype = _result_dtype(self.arrays)
        self.kinds = "in the host's memory" if _are_numpys(self.arrays) else "of other kinds than NumPy's"

    def asked(self) -> ProductCall:
        local = tuple(tuple(x.shape) for x in self.arrays)
        where = self.kinds + ("" if self.path == "auto" else f", path {self.path}")
        return ProductCall(self.pattern, self.mesh, local, self.dtype, self.dtypes, self.shapes, self.workspace, where)


def _usable(x: Any) -> Any:
    """Of the host's arrays those in the order of bytes that the processor has."""
    x = adopt(x)
    if not isinstance(x, np.ndarray):
        on_host(x)  # raises what is wrong with it
        return x
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def _are_numpys(arrays: Sequence[Any]) -> bool:
    return all(isinstance(x, np.ndarray) for x in arrays)


def _name_of(x: Any) -> str:
    return str(x.dtype) if isinstance(x, np.ndarray) else dtype_of(x)


def _result_dtype(arrays: Sequence[Any]) -> str:
    """That of einsum of one rank, which arrays without elements tell."""
    like = [np.empty(0, x.dtype if isinstance(x, np.ndarray) else numpy_dtype(dtype_of(x))) for x in arrays]
    return str(_einsum.einsum(*like, f"{', '.join('a' * len(like))} -> a").dtype)


class _Engine:
    """The plans of what travels in a product, made when they are first needed, by all ranks together."""

    def __init__(self, ranks: Ranks, product: Product, path: str, takes_panels: bool) -> None:
        self.takes_panels = takes_panels
        self._ranks, self._product, self._path = ranks, product, path
        self._plans: dict[tuple[Move, str], Plan] = {}
        self._used: dict[Plan, Callable[[], Any]] = {}  # in this call: they began when all ranks had met

    def end(self) -> None:
        self._used.clear()  # and with them arrays

    def room(self, move: Move, dtype: str) -> None:
        """Plans have buffers of their own."""

    def start(self, move: Move, x: Any, out: Any = None) -> Callable[[], Any]:
        given = {"mesh": move.mesh, "comm": self._ranks.comm, "shape": move.shape, "out": out}
        call = _Call(x, move.pattern, given, {})
        plan = self._plan(move, call)
        if plan in self._used:
            self._used[plan]()  # its buffers are free then
            if plan._kind is Window:
                self._ranks.comm.Barrier()  # when all have read them
        call.prepare_or_raise(plan)
        self._used[plan] = take = once(plan._begin(call))
        return take

    def _plan(self, move: Move, call: _Call) -> Plan:
        key = move, str(call.dtype)
        if key not in self._plans:
            workspace = self._product.workspace
            self._plans[key] = Plan(self._ranks, move.plan, call.dtype, self._path, workspace)
        return self._plans[key]

    def multiply(self, pattern: str, arrays: Sequence[Any], dtype: str, out: Any = None) -> Any:
        wanted = None if dtype == _result_dtype(arrays) else dtype
        return _einsum.einsum(*arrays, pattern, dtype=wanted, out=out)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        return np.empty(shape, dtype)

    def converted(self, x: Any, dtype: str) -> Any:
        return x if _name_of(x) == dtype else x.astype(dtype)
