"""A rank that fails while it writes its part: job_file_fails.py raise|kill ARGUMENT..."""

import os
import signal
import sys

from mpi4py import MPI

from axisloom.mpi import _files
from axisloom.mpi.__main__ import main

commit = _files.Output.commit


def fail(output):
    if MPI.COMM_WORLD.rank == 1:
        if sys.argv[1] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        output._map.close = None
        output._map = None  # which has no flush()
    commit(output)


_files.Output.commit = fail
sys.exit(main(sys.argv[2:]))
