"""A rank that fails while it writes its part: job_file_fails.py raise|hidden|kill ARGUMENT... With "hidden" as on
several hosts."""

import errno
import os
import signal
import sys

from mpi4py import MPI

from axisloom.mpi import _files
from axisloom.mpi.__main__ import main
from axisloom.mpi._ranks import ranks_of

ranks_of(MPI.COMM_WORLD).one_host = sys.argv[1] != "hidden"

class Broken:
    """A file's memory on a disk that fails."""

    def flush(self):
        raise OSError(errno.EIO, os.strerror(errno.EIO))


commit = _files.Output.commit


def fail(output):
    if MPI.COMM_WORLD.rank == 1:
        if sys.argv[1] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        output._map = Broken()
    commit(output)


_files.Output.commit = fail
sys.exit(main(sys.argv[2:]))
