"""Memory that the ranks of one host share.

It has no name: Linux frees it with the last process that has it, however that ends, and each rank lets go of it by
itself. A window of MPI has to be freed by all ranks together, which Python cannot arrange where arrays die when they
like; and it lies in /dev/shm, which is small in containers and keeps what killed processes leave.
"""

from __future__ import annotations

import ctypes
import mmap
import os

from .._errors import UnsupportedError
from ._ranks import Ranks


class Segment:
    """Memory of each rank that all of them can read and write."""

    def __init__(self, ranks: Ranks, length: int) -> None:
        """Of `length` bytes on this rank. All ranks make it together."""
        own = ranks.together(lambda: _created(max(length, 1)))
        try:
            told = ranks.comm.allgather((os.getpid(), own, identity(own), max(length, 1)))
            self._maps = ranks.together(lambda: [_mapped(*place) for place in told])
        finally:
            os.close(own)
        #: Where each rank's begins, and its length.
        self.addresses = [ctypes.addressof(ctypes.c_char.from_buffer(memory)) for memory in self._maps]
        self.lengths = [place[3] for place in told]


def _created(length: int) -> int:
    descriptor = os.memfd_create("axisloom", os.MFD_CLOEXEC)
    try:
        os.ftruncate(descriptor, length)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def identity(descriptor: int) -> tuple[int, int]:
    """What tells a file from others."""
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def opened_from(process: int, descriptor: int, there: tuple[int, int]) -> int:
    """A descriptor of the file that another process has opened, and which has this identity there."""
    try:
        opened = os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise UnsupportedError(f"process {process} cannot share memory: {error.strerror}") from error
    if identity(opened) != there:
        os.close(opened)
        raise UnsupportedError(f"process {process} is another one here: the ranks lie in different containers")
    return opened


def _mapped(process: int, descriptor: int, there: tuple[int, int], length: int) -> mmap.mmap:
    """Another rank's memory, through its descriptor."""
    opened = opened_from(process, descriptor, there)
    try:
        return mmap.mmap(opened, length)
    finally:
        os.close(opened)
