"""What is known of a communicator: whether its ranks share a host, how many threads each takes, what they agreed on."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from mpi4py import MPI

from .. import _native
from .._errors import CLASSES, Error
from ..distributed import Agreement, Asked, RankError

T = TypeVar("T")


class Ranks:
    """One for each communicator, kept until that is freed."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self.comm = comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        node = comm.Split_type(MPI.COMM_TYPE_SHARED)
        neighbours = node.allgather(os.sched_getaffinity(0))
        node.Free()
        self.one_host = all(comm.allgather(len(neighbours) == self.size))
        _take_share(neighbours)
        self.card_aware = _is_card_aware()
        #: Whether the last agreement was on a call that was new to some rank; the same on all ranks.
        self.was_new = False
        self._agreement = Agreement(self._gather, self._gather_texts)
        self.plans: dict[Any, Any] = {}  # by what all ranks know, in the order of their use
        self.by_call: dict[Any, Any] = {}  # by what this rank gave
        self.products: dict[Any, Any] = {}  # of einsum: the plans of each, in the order of their use
        self.made = 0  # plans
        self._groups: dict[Any, MPI.Intracomm] = {}

    def agree(self, *call: Any, **more: Any) -> Any:
        """As Agreement.plan."""
        self.was_new = False
        return self._agreement.plan(*call, **more)

    def asked(self, call: Asked, *, error: Exception | None) -> Any:
        """As Agreement.asked."""
        return self._agreement.asked(call, error=error)

    def together(self, work: Callable[[], T]) -> T:
        """Does it on all ranks; where one fails, all raise its error."""
        result, told, cause = None, None, None
        try:
            result = work()
        except Exception as error:
            cause, told = error, (code_of(error), str(error))
        failed = np.array([told is not None], np.int32)
        self.comm.Allreduce(MPI.IN_PLACE, failed, MPI.MAX)
        if failed[0]:
            errors = self.comm.allgather(told)
            rank = next(rank for rank, error in enumerate(errors) if error is not None)
            code, text = errors[rank]
            where = "" if all(error == errors[rank] for error in errors) else f"rank {rank}: "
            raise CLASSES.get(code, RankError)(where + text) from cause
        return result  # type: ignore[return-value]

    def group(self, key: Any, members: list[int]) -> MPI.Intracomm:
        """A communicator of some ranks, kept with this one. All ranks call it together with the same key, each with the
        members of its own group."""
        if key not in self._groups:
            self._groups[key] = cast(MPI.Intracomm, self.comm.Split(members[0], self.rank))
        return self._groups[key]

    def _gather(self, number: int) -> list[int]:
        numbers = np.empty(self.size, np.int64)
        self.comm.Allgather(np.array([number], np.int64), numbers)
        return numbers.tolist()

    def _gather_texts(self, text: str) -> list[str]:
        self.was_new = True
        return self.comm.allgather(text)


def code_of(error: Exception) -> str:
    """The library's name of an error; empty where it has none."""
    return next((code for code, kind in CLASSES.items() if isinstance(error, kind)), "")


def ranks_of(comm: MPI.Intracomm) -> Ranks:
    """What is known of a communicator. All its ranks call it together."""
    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"comm= is of type {type(comm).__name__}; give one of mpi4py, such as MPI.COMM_WORLD")
    if comm == MPI.COMM_NULL:
        raise Error("comm= is MPI.COMM_NULL: only ranks of a communicator can call it")
    global _key
    if _key is None:
        _key = MPI.Comm.Create_keyval(delete_fn=_forget)
        atexit.register(_known.clear)  # communicators such as COMM_WORLD end after Python does
    number = comm.Get_attr(_key)
    if number not in _known:
        known = Ranks(comm)
        number = next(_numbers)
        _known[number] = known
        comm.Set_attr(_key, number)
    return _known[number]


def _forget(_comm: MPI.Comm, _key: int, number: Any) -> None:
    _known.pop(number, None)


_key: int | None = None
_known: dict[int | None, Ranks] = {}
_numbers = itertools.count()


_granted: int | None = None  # threads, by the last share that was taken


def _take_share(neighbours: list[set[int]]) -> None:
    """Ranks that may use the same processors share them. Who chose a number of threads keeps it."""
    global _granted
    mine = os.sched_getaffinity(0)
    chosen = "AXISLOOM_THREADS" in os.environ or "OMP_NUM_THREADS" in os.environ
    threads = _native.get_num_threads()
    if chosen or threads != (len(mine) if _granted is None else _granted):
        return
    beside = sum(1 for other in neighbours if other & mine)
    _granted = min(threads, max(1, len(mine) // beside))
    _native.set_num_threads(_granted)


def _is_card_aware() -> bool:
    """Whether this MPI says that it takes memory of cards."""
    try:
        return bool(ctypes.CDLL(MPI.__file__).MPIX_Query_cuda_support())
    except (OSError, AttributeError):
        return False
