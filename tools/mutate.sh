#!/usr/bin/env bash
# Plants small faults in a copy of the sources, one at a time, and says which of them no test notices.
# Usage: tools/mutate.sh [--count N] [--seed S] [--part I/K] [--jobs N] [--list] [--only NUMBER...]
# Called again with the same count and seed, it goes on where it was, and tries survivors again once tests have changed.
# Everything lies below build/mutants; tools/mutation/mutate.py says how faults are drawn, planted and judged.
set -euo pipefail
cd "$(dirname "$0")/.."
# The Python with NumPy: Debian's, where another one stands before it on the path.
python=python3
"$python" -c 'import numpy' 2> /dev/null || python=/usr/bin/python3
export AXISLOOM_PYTHON="${AXISLOOM_PYTHON:-$python}"
exec nice python3 tools/mutation/mutate.py "$@"
