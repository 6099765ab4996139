#!/usr/bin/env bash
# Measures the CPU of this machine, whole suites with everybody who can take part, and files the results, a document for each
# suite, in a folder of that name below docs/results; the tables of a README go to standard output.
# Usage: tools/measure_cpu.sh NAME [PROGRAM [COMMAND... [-- OPTIONS OF axisloom bench...]]]
#   commands: suites or other commands of axisloom bench, by name; every suite when none is named, which takes more than an
#   hour on two cores
#   OPTIONS: --min-time 0.02 when none is given
# Who takes part where it is found: OpenBLAS, oneDNN, CLBlast (Debian's libopenblas0, libdnnl2, libclblast1), NumPy, PyTorch,
# and OpenCV if the program was built with it.
set -euo pipefail
cd "$(dirname "$0")/.."

name="${1:?usage: $0 NAME [PROGRAM [COMMAND... [-- OPTIONS...]]]}"
program="${2:-build/axisloom}"
shift $(($# < 2 ? $# : 2))
commands=()
while (($#)) && [[ "$1" != -- ]]; do
  commands+=("$1")
  shift
done
(($#)) && shift
((${#commands[@]})) || commands=(copy transpose relayout permute reduce matmul)
(($#)) || set -- --min-time 0.02

# OpenCV may bring OpenBLAS along, which then starts before the program can tell it what axisloom bench tells it.
export OPENBLAS_THREAD_TIMEOUT="${OPENBLAS_THREAD_TIMEOUT:-20}"
if [[ -z "${OPENBLAS_CORETYPE:-}" ]] && grep -qs avx512vl /proc/cpuinfo; then export OPENBLAS_CORETYPE=SkylakeX; fi

folder="docs/results/$name"
mkdir -p "$folder"
for command in "${commands[@]}"; do
  "$program" bench "$command" --device cpu "$@" --format json -o "$folder/$command.json"
  "$program" bench table "$folder/$command.json"
done
