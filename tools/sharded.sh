#!/usr/bin/env bash
# Deals the tests of a GoogleTest program to COUNT processes at a time, and prints what each of them said, one after the
# other; kernels are compiled on one core each. Exit status 1 when a test failed.
# Usage: tools/sharded.sh COUNT PROGRAM ARGUMENTS...
set -uo pipefail

export GTEST_TOTAL_SHARDS="${1:?usage: $0 COUNT PROGRAM ARGUMENTS...}"
shift
logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT
processes=()
for ((shard = 0; shard < GTEST_TOTAL_SHARDS; ++shard)); do
  GTEST_SHARD_INDEX="$shard" "$@" > "$logs/$shard" 2>&1 &
  processes+=($!)
done
status=0
for ((shard = 0; shard < GTEST_TOTAL_SHARDS; ++shard)); do
  wait "${processes[shard]}" || status=1
  cat "$logs/$shard"
done
exit "$status"
