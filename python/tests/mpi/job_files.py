"""The command line, many times in one job. Run by mpirun: job_files.py one|several CALLS, a file with a list of
arguments and an exit code a line. With "several" as on several hosts, where the output has a hidden name."""

import json
import sys

from mpi4py import MPI

from axisloom.mpi.__main__ import main
from axisloom.mpi._ranks import ranks_of

ranks_of(MPI.COMM_WORLD).one_host = sys.argv[1] == "one"
for line in open(sys.argv[2]):
    arguments, code = json.loads(line)
    assert MPI.COMM_WORLD.allgather(main(arguments)) == [code] * MPI.COMM_WORLD.size, arguments
