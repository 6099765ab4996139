#!/usr/bin/env bash
# Runs one fuzz target for some seconds from its seeds; new inputs go to a working folder, never into the seeds.
# Usage: tests/fuzz.sh TARGET SECONDS FOLDER
set -euo pipefail
target="$1" seconds="$2"
name="$(basename "$target")"
found="$3/$name"
seeds="$(dirname "$0")/fuzz/corpus/${name%_fuzz}"
mkdir -p "$found/new"
log="$found/log"
if ! "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 -verbosity=0 \
     -artifact_prefix="$found/" "$found/new" "$seeds" > "$log" 2>&1; then
  tail -n 40 "$log"
  echo "$name: the input at fault is in $found" >&2
  exit 1
fi
echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
