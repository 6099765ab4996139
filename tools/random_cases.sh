#!/usr/bin/env bash
# Runs random cases in parts, several side by side, and closes with one line "N passed, N failed". A run that broke off goes on
# where it was: the same command with its seed skips the parts that have ended.
# Usage: tools/random_cases.sh N [OPTION...]    options of `axisloom check`: --device cuda:0, --profile h200, --candidate all
# AXISLOOM_SEED: the seed (default: a new one, printed first).   JOBS: parts at a time (default: one per core).
# PARTS: only these, such as "3 7" (default: all).   LOGS: folder of the parts' logs (default: build/random-logs).
# AXISLOOM_PROGRAM: the program (default: build/axisloom).
set -uo pipefail
cd "$(dirname "$0")/.." || exit

count="${1:?usage: $0 N [OPTION...]}"
shift
seed="${AXISLOOM_SEED:-$((RANDOM << 15 | RANDOM))}"
jobs="${JOBS:-$(nproc)}"
export program="${AXISLOOM_PROGRAM:-build/axisloom}"

# A power of two: sixty-four classes of cases follow each other, so that parts have classes, and kernels, of their own. Few cases
# a part, so that little is lost where a run breaks off.
most_cases=4000
parts=1
while ((parts < 64 && (parts < jobs || parts * most_cases < count))); do parts=$((2 * parts)); done

name="$count-$seed$(printf '%s' "$*" | tr -c 'a-zA-Z0-9' '_')"
export logs="${LOGS:-build/random-logs}/$name"
mkdir -p "$logs" || exit
echo "seed $seed: $count random cases in $parts parts, $jobs at a time, $program check $*"

# part I: leaves its log; one that has ended is not run again.
part() {
  local number="$1" log="$logs/part-$1.log"
  shift
  [[ -e "$log" ]] && return
  "$program" check "$@" --part "$number/$parts" --max-failures 20 --quiet > "$log.running" 2>&1
  local status=$?
  if ((status > 1)); then
    echo "0 passed, 1 failed: it ended with status $status before its time" >> "$log.running"
    mv "$log.running" "$log.broken"
    return
  fi
  rm -f "$log.broken"
  mv "$log.running" "$log"
}
export -f part
export parts
started=$SECONDS
for number in ${PARTS:-$(seq "$parts")}; do printf '%s\n' "$number"; done |
  xargs -P "$jobs" -I{} bash -c 'part "$@"' "$0" {} --random "$count" --seed "$seed" "$@"

passed=0 failed=0 refused=0 compiles=0
for number in ${PARTS:-$(seq "$parts")}; do
  log="$logs/part-$number.log"
  if [[ ! -e "$log" ]]; then
    log="$log.broken"
    echo "part $number broke off; again: $program check --random $count --seed $seed --part $number/$parts $*"
    tail -n 5 "$log" | sed 's/ passed.*//'
  fi
  grep -v ' passed, ' "$log"
  # "N passed, N failed, N refused; ... N compiles, ..."
  read -r good bad declined built < <(tail -n 1 "$log" | grep -oP '\d+(?= (passed|failed|refused|compiles))' | tr '\n' ' ')
  passed=$((passed + good)) failed=$((failed + bad)) refused=$((refused + ${declined:-0})) compiles=$((compiles + ${built:-0}))
done
echo "seed $seed: $compiles compiles, $refused refused by name, $((SECONDS - started)) s; logs in $logs"
echo "$passed passed, $failed failed"
((failed == 0))
