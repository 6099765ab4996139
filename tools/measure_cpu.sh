#!/usr/bin/env bash
# Measures the CPU of this machine and files the result: rearrange.json in a folder of that name below docs/results, and the
# table of a README on standard output.
# Usage: tools/measure_cpu.sh NAME [PROGRAM] [OPTIONS OF axisloom bench rearrange...]
set -euo pipefail
cd "$(dirname "$0")/.."

name="${1:?usage: $0 NAME [PROGRAM] [OPTIONS...]}"
program="${2:-build/axisloom}"
shift $(($# < 2 ? $# : 2))

folder="docs/results/$name"
mkdir -p "$folder"
"$program" bench rearrange --device cpu "$@" --format json -o "$folder/rearrange.json"
"$program" bench table "$folder/rearrange.json"
