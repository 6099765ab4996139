#!/usr/bin/env bash
# Builds the library as a part of another project, through add_subdirectory, and uses it there.
# Usage: tests/subdirectory.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
added="$(realpath "$1")/consumer"  # a place that stays: compiling the library again takes minutes
mkdir -p "$added"
{ cmake -G Ninja -S tests/consumer/add_subdirectory -B "$added" -DAXISLOOM_FOLDER="$PWD" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_CXX_FLAGS=-O0 -DAXISLOOM_HOST_LEVELS= && cmake --build "$added"; } > "$added.log" 2>&1 || { tail -n 40 "$added.log"; exit 1; }
"$added/consumer"
