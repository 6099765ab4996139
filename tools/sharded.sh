#!/usr/bin/env bash
# Runs the tests of a GoogleTest program in COUNT processes at a time, since kernels are compiled on one core each, and
# prints what they said, one after the other. The tests are dealt to four times as many processes, so that no core waits
# long for another. Exit status 1 when a test failed.
# Usage: tools/sharded.sh COUNT PROGRAM ARGUMENTS...
set -uo pipefail

count="${1:?usage: $0 COUNT PROGRAM ARGUMENTS...}"
shift
logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT
export logs GTEST_TOTAL_SHARDS=$((4 * count))
# shellcheck disable=SC2016 # expanded by the shell of each process
seq -w 0 $((GTEST_TOTAL_SHARDS - 1)) |
  xargs -P "$count" -I{} bash -c 'GTEST_SHARD_INDEX={} "$@" > "$logs/{}" 2>&1' "$0" "$@"
status=$?
cat "$logs"/*
exit $((status != 0))
