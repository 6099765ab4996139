#!/usr/bin/env bash
# Lays out every C and C++ source by .clang-format; with --check only says which ones differ.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.c' 'include/*.h')
if [[ "${1:-}" == --check ]]; then
  clang-format --dry-run -Werror "${files[@]}"
elif [[ $# == 0 ]]; then
  clang-format -i "${files[@]}"
else
  echo "usage: tools/format.sh [--check]" >&2
  exit 2
fi
