#!/usr/bin/env bash
# The layout of the sources, and clang-tidy over everything that is compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/format.sh --check
cmake --preset release -B build-lint -DAXISLOOM_COMPILE_TOGETHER=OFF > /dev/null  # every file with its own command
git ls-files -- '*.cpp' | grep -v -e '^tests/consumer/' -e '^tests/fuzz/' |
  xargs -P "$(nproc)" -n 4 clang-tidy -p build-lint --quiet --warnings-as-errors='*' \
    --extra-arg=-Wno-unknown-warning-option  # GCC's, as the build was configured for it
