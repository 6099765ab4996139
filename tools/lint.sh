#!/usr/bin/env bash
# The layout of the sources, and clang-tidy over everything that is compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/format.sh --check
cmake --preset release > /dev/null
git ls-files -- '*.cpp' | grep -v -e '^tests/consumer/' -e '^tests/fuzz/' |
  xargs -P "$(nproc)" -n 4 clang-tidy -p build --quiet --warnings-as-errors='*'
