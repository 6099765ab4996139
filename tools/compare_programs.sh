#!/usr/bin/env bash
# Says which cases became faster or slower between two builds: each suite by one program, then by the other, so that both see
# the same machine.
# Usage: tools/compare_programs.sh BEFORE AFTER FOLDER [DEVICE [SUITE...]]
#   FOLDER is where the documents go, before-SUITE.json and after-SUITE.json; DEVICE is cpu when it is not given
#   OPTIONS: more for `axisloom bench`, such as --quick; MIN_TIME: seconds that each case runs at least; 0.01 when it is not set
set -euo pipefail
cd "$(dirname "$0")/.."

before="${1:?usage: $0 BEFORE AFTER FOLDER [DEVICE [SUITE...]]}"
after="${2:?which program is the new one?}"
folder="${3:?where do the documents go?}"
device="${4:-cpu}"
shift $(($# < 4 ? $# : 4))
(($#)) || set -- copy transpose relayout permute reduce matmul
read -ra options <<< "${OPTIONS:-}"

mkdir -p "$folder"
for suite in "$@"; do
  for name in before after; do
    "${!name}" bench rearrange --suite "$suite" --device "$device" --peers none --min-time "${MIN_TIME:-0.01}" \
      "${options[@]}" -o "$folder/$name-$suite.json" > "$folder/$name-$suite.txt"
  done
  "$after" bench compare "$folder/before-$suite.json" "$folder/after-$suite.json" || echo "$suite: some cases are slower"
done
