#!/usr/bin/env bash
# Runs a program on Oclgrind and fails when it finds anything: an access out of bounds, a race, an uninitialised value,
# a wrong use of the OpenCL API. Oclgrind's own exit status says nothing, so its log must be there and empty.
# Usage: tests/oclgrind.sh PROGRAM [ARGUMENT...]
# AXISLOOM_PLANTED: the program with the planted faults (default: axisloom_planted beside PROGRAM).
set -euo pipefail

program="${1:?usage: tests/oclgrind.sh PROGRAM [ARGUMENT...]}"
planted="${AXISLOOM_PLANTED:-$(dirname "$program")/axisloom_planted}"

# Oclgrind's own launcher preloads a library and crashes programs that open libOpenCL themselves, so it is given to the
# loader as the only driver.
library="$(find /usr/lib /usr/local/lib -name liboclgrind-rt-icd.so -print -quit 2> /dev/null)"
[[ -n "$library" ]] || { echo "liboclgrind-rt-icd.so not found: install the package oclgrind" >&2; exit 1; }

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
export OCL_ICD_VENDORS="$library" AXISLOOM_DEVICE=opencl:Oclgrind AXISLOOM_CACHE_DIR=off
# Room for the groups and the local memory of every profile of tuning/devices.
export OCLGRIND_MAX_WGSIZE=1024 OCLGRIND_LOCAL_MEM_SIZE=262144
export OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=1 OCLGRIND_CHECK_API=1 OCLGRIND_LOG="$folder/log"

# watched COMMAND...: runs it; standard output and log are left in the folder.
watched() {
  rm -f "$OCLGRIND_LOG"
  "$@" > "$folder/out" || { echo "failed with status $?: $*" >&2; cat "$folder/out" >&2; return 1; }
  [[ -e "$OCLGRIND_LOG" ]] || { echo "Oclgrind never ran: $*" >&2; return 1; }
}

# must_catch KERNEL TEXT: the log of the planted fault must name it.
must_catch() {
  watched "$planted" "$1"
  grep -qx Oclgrind "$folder/out" || { echo "the planted faults ran on: $(cat "$folder/out")" >&2; exit 1; }
  grep -q "$2" "$OCLGRIND_LOG" || { echo "Oclgrind missed the planted fault '$1'" >&2; exit 1; }
}

must_catch overrun 'Invalid write of size 4'
must_catch global_race 'data race at global memory'
must_catch local_race 'data race at local memory'
must_catch uninitialised 'Uninitialized value'
watched "$planted" clean
[[ ! -s "$OCLGRIND_LOG" ]] || { echo "Oclgrind objects to a kernel without a fault:" >&2; cat "$OCLGRIND_LOG" >&2; exit 1; }

watched "$@"
cat "$folder/out"
if [[ -s "$OCLGRIND_LOG" ]]; then
  echo "Oclgrind found:" >&2
  head -n 60 "$OCLGRIND_LOG" >&2
  exit 1
fi
