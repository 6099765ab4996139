#!/usr/bin/env bash
# Tries the Python package on a machine with an NVIDIA card and times it there: the tests of arrays, of PyTorch, CuPy and JAX
# with CUDA, and bench/python/speed.py. Leaves python-tests.txt, python-speed.txt and python-speed.json in FOLDER.
# Usage: tools/try_python_on_card.sh FOLDER WHEEL...    the wheels of axisloom, and of what the machine lacks
# Needs: Python 3.11 or newer with pip, NumPy, einops, pytest, PyTorch, CuPy and JAX, the driver, NVRTC.
set -uo pipefail
folder="$(realpath -m "${1:?usage: $0 FOLDER WHEEL...}")"
shift
cd "$(dirname "$0")/.." || exit
mkdir -p "$folder"
site="$folder/site"
python3 -m pip install --quiet --no-index --no-deps --target "$site" "$@" || exit
export PYTHONPATH="$site" AXISLOOM_CACHE_DIR="$folder/cache" XLA_PYTHON_CLIENT_PREALLOCATE=false
python3 -m axisloom devices
failed=0
# attempt LOG COMMAND...: what it prints is kept, and its last lines are shown.
attempt() {
  local log="$folder/$1"
  shift
  "$@" > "$log" 2>&1 || failed=1
  tail -n 60 "$log"
}
attempt python-tests.txt python3 -m pytest -q -p no:cacheprovider --durations 5 python/tests/torch python/tests/test_arrays.py \
  python/tests/test_cupy.py python/tests/test_jax.py
attempt python-speed.txt python3 bench/python/speed.py --device cuda --json "$folder/python-speed.json"
rm -rf "$site" "$folder/cache"
exit "$failed"
