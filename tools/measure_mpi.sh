#!/usr/bin/env bash
# Times exchanges on four ranks of OpenMPI against a copy in parts and ScaLAPACK; every result is checked. Needs
# libscalapack-openmpi-dev beside what `tools/install_dependencies.sh mpi` installs, and a built `build`.
# Usage: tools/measure_mpi.sh [SIDE [RUNS [JSON]]]     SIDE: of the matrix of f64, which 4 divides (default: 4096)
#   JSON: a file for the figures
set -euo pipefail
cd "$(dirname "$0")/.."
log=build/measure-mpi.log
{ cmake -G Ninja -S tools/measure_mpi -B build/measure-mpi -DAXISLOOM_BUILD="$PWD/build" -DMPI_CXX_COMPILER=mpicxx.openmpi \
    -DCMAKE_BUILD_TYPE=Release && cmake --build build/measure-mpi; } > "$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
# Four ranks on few processors, also of root, as in containers; a thread each, of BLAS too.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 AXISLOOM_THREADS=1 OPENBLAS_NUM_THREADS=1
exec mpirun.openmpi --oversubscribe -n 4 build/measure-mpi/measure_mpi "$@"
