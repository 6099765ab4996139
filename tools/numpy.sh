#!/usr/bin/env bash
# Sees to it that there is a Python with NumPy 2 and einops, the oracles of tests/differential, and prints its path.
# Exit status 1: it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

has_oracles() { "$1" -c 'import einops, numpy; assert int(numpy.__version__.split(".")[0]) >= 2' 2> /dev/null; }

venv="$PWD/.cache/oracles"
for python in "${AXISLOOM_PYTHON:-python3}" "$venv/bin/python"; do
  if command -v "$python" > /dev/null && has_oracles "$python"; then
    echo "$python"
    exit 0
  fi
done
echo "Installing NumPy 2 and einops into .cache/oracles" >&2
if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check 'numpy==2.*' 'einops==0.8.*'; } >&2
then
  echo "NumPy 2 and einops could not be installed" >&2
  exit 1
fi
echo "$venv/bin/python"
