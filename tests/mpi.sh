#!/usr/bin/env bash
# Builds axisloom_mpi against OpenMPI and against MPICH, and runs exchanges and the program on four ranks of each.
# Usage: tests/mpi.sh BUILD_FOLDER [KILLS [PROGRAM_KILLS]]     How often a rank is killed in the middle, for each of the two
set -euo pipefail
build="$(realpath "$1")"
kills="${2:-3}"
program_kills="${3:-5}"
cd "$(dirname "$0")/.."

# Four ranks on few processors, also of root, as in containers; a thread each.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 AXISLOOM_THREADS=1
launchers=("mpirun.openmpi --oversubscribe -n 4" "mpirun.mpich -n 4")

for launcher in "${launchers[@]}"; do
  mpi="${launcher%% *}" && mpi="${mpi#mpirun.}"
  log="$build/mpi-$mpi.log"
  { cmake -G Ninja -S tests/mpi -B "$build/mpi-$mpi" -DAXISLOOM_BUILD="$build" -DMPI_CXX_COMPILER="mpicxx.$mpi" \
      -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 && cmake --build "$build/mpi-$mpi"; } > "$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
done
for launcher in "${launchers[@]}"; do
  mpi="${launcher%% *}" && mpi="${mpi#mpirun.}"
  echo "-- $mpi"
  # shellcheck disable=SC2086 # the launcher is words
  timeout 300 $launcher "$build/mpi-$mpi/mpi_tests" --gtest_brief=1 --gtest_color=no
  for example in example ranks; do
    # shellcheck disable=SC2086
    timeout 60 $launcher "$build/mpi-$mpi/$example" > /dev/null
  done
  # shellcheck disable=SC2086
  tests/mpi/killed.py "$kills" "$build/mpi-$mpi/runs_on" $launcher
  # shellcheck disable=SC2086
  "${AXISLOOM_PYTHON:-python3}" tests/mpi/files_test.py "$program_kills" "$build/axisloom" "$build/mpi-$mpi/libaxisloom_mpi.so" $launcher
done
