#!/usr/bin/env bash
# Runs the tests of a GoogleTest program in COUNT processes at a time, since kernels are compiled on one core each, and
# prints what they said, one after the other. The tests are dealt to four times as many processes, so that no core waits
# long for another. Exit status 1 when a test failed, or when there is none.
# Usage: tools/sharded.sh COUNT PROGRAM ARGUMENTS...
# SHARDED_FIRST: full names of long tests with blanks between; they begin first, each in a process of its own.
set -uo pipefail

count="${1:?usage: $0 COUNT PROGRAM ARGUMENTS...}"
shift
logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT
export logs

# tests: the names of all that the arguments select, a line each.
tests() { "$@" --gtest_list_tests | awk '/^[^ ]/ { suite = $1 } /^  / { print suite $1 }'; }
all="$(tests "$@")"
[[ -n "$all" ]] || { echo "no test is selected: $*" >&2; exit 1; }

# Each line is the filter of one process.
# shellcheck disable=SC2016 # expanded by awk
deal='
  { selected[$0] }
  END {
    count = split(ENVIRON["SHARDED_FIRST"], names)
    for (i = 1; i <= count; ++i) if (names[i] in selected) { print names[i]; delete selected[names[i]] }
    for (name in selected) {
      at = n++ % hands
      hand[at] = hand[at] name ":"
    }
    for (i in hand) print hand[i]
  }'
# shellcheck disable=SC2016 # expanded by the shell of each process
run='filter="$1" && shift && "$@" --gtest_filter="$filter" > "$(mktemp "$logs/XXXXXX")" 2>&1'
awk -v hands=$((4 * count)) "$deal" <<< "$all" |
  xargs -P "$count" -I{} bash -c "$run" "$0" {} "$@"
status=$?
cat "$logs"/*
exit $((status != 0))
