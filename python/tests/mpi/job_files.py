"""The command line, many times in one job. Run by mpirun: job_files.py CALLS, a file with a list of arguments a line."""

import json
import sys

from mpi4py import MPI

from axisloom.mpi.__main__ import main

for line in open(sys.argv[1]):
    arguments, code = json.loads(line)
    assert MPI.COMM_WORLD.allgather(main(arguments)) == [code] * MPI.COMM_WORLD.size, arguments
