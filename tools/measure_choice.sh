#!/usr/bin/env bash
# Measures every candidate on the quick cases of every suite (WHOLE=1: on all its cases) and on the drawn ones, and files the times for the test of the
# choice. Run it twice: of each candidate the better time stays.
# Usage: tools/measure_choice.sh NAME PROFILE [DEVICE [PROGRAM [SUITE...]]]
#   NAME is the file of docs/results/choice; PROFILE names the device's file in tuning/devices; DEVICE is cpu when it is not given
#   DOCUMENTS: a folder for what the bench writes, a temporary one when it is not set
#   MIN_TIME: seconds that each candidate runs at least; 0.02 when it is not set
# Takes about ten minutes on two cores; whole suites two and a half on an H200.
set -euo pipefail
cd "$(dirname "$0")/.."

name="${1:?usage: $0 NAME PROFILE [DEVICE [PROGRAM [SUITE...]]]}"
profile="${2:?which of tuning/devices?}"
device="${3:-cpu}"
program="${4:-build/axisloom}"
shift $(($# < 4 ? $# : 4))
(($#)) || set -- copy transpose relayout permute quick reduce matmul drawn
documents="${DOCUMENTS:-$(mktemp -d)}"

for suite in "$@"; do
  options=(--quick)
  [[ $suite == drawn || -n "${WHOLE:-}" ]] && options=()
  "$program" bench rearrange --suite "$suite" "${options[@]}" --device "$device" --candidate all --peers none --cache warm \
    --min-time "${MIN_TIME:-0.02}" -o "$documents/$suite.json"
done
tools/pack_choice.py "$name" "$profile" "$documents"/*.json
