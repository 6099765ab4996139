"""Programs that mpirun starts are no modules with examples."""

collect_ignore_glob = ["job_*.py"]
