"""Goes on until rank 2 is killed in the middle, which the number given says when."""

import os
import signal
import sys
import threading

import numpy as np

from axisloom.mpi import plan
from mpi4py import MPI

rank = MPI.COMM_WORLD.rank
x = np.ones((256, 1024), "f4")
run = plan(x, "s@x h -> s h@x", path=sys.argv[2], workspace=1 << 16)
out = run.empty()
run(x)
print("begun", flush=True)
if rank == 2:
    threading.Timer(float(sys.argv[1]), lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
while True:
    run(x)
    run(x, out=out)
    run.empty()
