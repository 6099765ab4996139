#!/usr/bin/env bash
# Plants small faults in a copy of the sources, one at a time, and says which of them no test notices.
# Usage: tools/mutate.sh [--count N] [--seed S] [--part I/K] [--list] [--only NUMBER...]
# Everything lies below build/mutants; tools/mutate.py says how faults are drawn, planted and judged.
set -euo pipefail
cd "$(dirname "$0")/.."
exec nice python3 tools/mutate.py "$@"
