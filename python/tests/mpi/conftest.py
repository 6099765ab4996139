"""Programs that mpirun starts are no modules with examples. The tests' process is the only rank of its own job."""

import os

collect_ignore_glob = ["job_*.py"]

# OpenMPI 5.0 leaves in /dev/shm what such a process would share with others.
os.environ["OMPI_MCA_btl"] = "self"
