#!/usr/bin/env bash
# Tries the Python package on a machine with an NVIDIA card and times it there: the tests of arrays, of PyTorch and of CuPy
# with CUDA, and bench/python/speed.py. Leaves python-tests.txt, python-speed.txt and python-speed.json in FOLDER.
# Usage: tools/try_python_on_card.sh FOLDER WHEEL...    the wheels of axisloom, and of what the machine lacks
# Needs: Python 3.11 or newer with venv, NumPy, PyTorch and CuPy of the machine, the driver, NVRTC.
set -uo pipefail
folder="$(realpath -m "${1:?usage: $0 FOLDER WHEEL...}")"
shift
cd "$(dirname "$0")/.." || exit
mkdir -p "$folder"
venv="$folder/venv"
python3 -m venv --system-site-packages "$venv" && "$venv/bin/pip" install --quiet --no-index --no-deps "$@" || exit
"$venv/bin/axisloom" devices
failed=0
"$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests/torch python/tests/test_arrays.py python/tests/test_cupy.py \
  2>&1 | tail -n 40 | tee "$folder/python-tests.txt" || failed=1
"$venv/bin/python" bench/python/speed.py --device cuda --json "$folder/python-speed.json" 2>&1 | tee "$folder/python-speed.txt" || failed=1
rm -rf "$venv"
exit "$failed"
