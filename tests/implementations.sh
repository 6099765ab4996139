#!/usr/bin/env bash
# Runs the cases and random ones on several implementations of OpenCL, each of which must be the only one to be seen and
# the one that ran. What a device refuses by name for lack of a feature is counted apart. A line for each implementation,
# then "N passed, N failed".
# Usage: tests/implementations.sh PROGRAM [OPTION...] [NAME...]     names: tools/opencl_implementations.sh names
#   --random N     random cases on each (500)
#   --oclgrind N   random cases on Oclgrind, which interprets (50)
#   --seed S       of the random cases (new every run)
#   --no-cases     random cases only
#   --jobs J       parts at a time (one per core)
set -uo pipefail

here="$(cd "$(dirname "$0")" && pwd)"
implementations="$here/../tools/opencl_implementations.sh"
program="$(realpath "${1:?usage: tests/implementations.sh PROGRAM [OPTION...] [NAME...]}")"
shift
random=500 oclgrind=50 seed="$(($(date +%s) % 1000000))" cases=1 jobs="$(nproc)" part=125 wanted=()
while (($#)); do
  case "$1" in
    --random) random="$2" && shift ;;
    --oclgrind) oclgrind="$2" && shift ;;
    --seed) seed="$2" && shift ;;
    --jobs) jobs="$2" && shift ;;
    --no-cases) cases=0 ;;
    -*) echo "unknown option $1" >&2 && exit 2 ;;
    *) wanted+=("$1") ;;
  esac
  shift
done
if ((${#wanted[@]} == 0)); then mapfile -t wanted < <("$implementations" names); fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export AXISLOOM_CACHE_DIR=off program implementations work

# devices NAME: "platform|driver|name" of each OpenCL device that is seen.
devices() {
  "$implementations" run "$1" "$program" devices --format json |
    python3 -c 'import json, sys
for d in json.load(sys.stdin):
    if d["device"].startswith("opencl:"): print(d["platform"], d["driver"], d["name"], sep="|")'
}

# one_part NAME LOG ARGUMENT...: one call of the program; its exit status goes beside its log.
one_part() {
  local name="$1" log="$work/$2"
  shift 2
  if [[ $name == oclgrind ]]; then
    export OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=1 OCLGRIND_CHECK_API=1 OCLGRIND_LOG="$log.objections"
    set -- --tight "$@"
  fi
  timeout "$([[ $name == oclgrind ]] && echo "$most_seconds" || echo 0)" \
    "$implementations" run "$name" "$program" check --quiet --max-failures 0 "$@" > "$log" 2>&1
  echo $? > "$log.status"
}
export -f one_part

# Of a case on Oclgrind: a product of several small batches takes a quarter of an hour. Those that take longer are counted.
export most_seconds=120 too_long=124

# Oclgrind does a few hundred thousand steps a second: arrays of more elements would take minutes each.
most_elements=512

# small_cases N: random cases of the seed none of whose inputs has more elements than that, and none in slices: their buffers
# take the place of smaller ones (see parts).
small_cases() {
  local chosen
  mapfile -t chosen < <("$program" check --list --random $((20 * $1)) --seed "$seed" |
    awk -v most="$most_elements" -v count="$1" '!/largest-buffer=/ {
      arrays = split($3, shape, ",")
      for (a = 1; a <= arrays; ++a) {
        product = 1
        axes = split(shape[a], extent, "x")
        for (i = 1; i <= axes; ++i) product *= extent[i]
        if (product > most) next
      }
      if (found++ < count) print
    }')
  ((${#chosen[@]} == $1)) || echo "${#chosen[@]} of $1 small cases" >&2
  printf '%s\n' "${chosen[@]}"
}

# parts NAME: the arguments of one_part, a line each. On Oclgrind (21.10) each random case has a process of its own: a buffer
# that takes the place of a smaller one, which was released, is held to be uninitialised beyond the smaller one's end.
parts() {
  local name="$1" count="$random" of=1 i=0
  if ((cases)) && [[ $name != oclgrind ]]; then
    for file in "$here"/cases/*.cases; do echo "$name $name.$(basename "$file").log --cases $file"; done
  fi
  # A power of two, so that parts have classes of cases, and kernels, of their own.
  while ((of * part < count)); do of=$((2 * of)); done
  if [[ $name == oclgrind ]]; then
    small_cases "$oclgrind" | while read -r line; do
      echo "$line" > "$work/$((++i)).case" && echo "oclgrind oclgrind.random$i.log --seed $seed --cases $work/$i.case"
    done
    return
  fi
  for ((i = 1; count > 0 && i <= of; ++i)); do
    echo "$name $name.random$i.log --random $count --seed $seed --part $i/$of"
  done
}

# sum_of NAME WORD: the sum of "N WORD" over the logs.
sum_of() { cat "$work/$1".*.log | grep -oP "\b\d+(?= $2\b)" | awk '{ sum += $1 } END { print sum + 0 }'; }

passed=0 failed=0
echo "seed $seed"
for name in "${wanted[@]}"; do
  start=$SECONDS
  seen="$(devices "$name")"
  if [[ "$(wc -l <<< "$seen")" != 1 || "${seen%%|*}" != "$("$implementations" platform "$name")" ]]; then
    echo "$name: other devices were seen than its own: $seen"
    ((++failed))
    continue
  fi
  if (($(parts "$name" | wc -l) == 0)); then echo "$name: nothing to run" && ((++failed)); fi
  parts "$name" | xargs -P "$jobs" -L 1 bash -c 'one_part "$@"' _
  late=0
  "$implementations" run "$name" "$program" doctor > "$work/$name.doctor" 2>&1
  status=$?
  good="$(sum_of "$name" passed)" bad="$(sum_of "$name" failed)" refused="$(sum_of "$name" refused)"
  if ((status)); then
    echo "$name: doctor ended with status $status" && cat "$work/$name.doctor"
    ((++bad))
  else
    ((++good))
    sed -n 's/.*OpenCL: worked around/  worked around/p' "$work/$name.doctor"
  fi
  # A part that ended in any way but by counting is a failure, and says where.
  while read -r status; do
    log="${status%.status}"
    if [[ $name == oclgrind && $(< "$status") == "$too_long" ]]; then
      ((++late))
    elif (($(< "$status") > 1)) || ! grep -q ' passed, ' "$log"; then
      echo "$name: ended with status $(< "$status"): $(parts "$name" | grep -F " $(basename "$log") ")"
      tail -n 5 "$log" | cut -c 1-300
      ((++bad))
    elif [[ $name == oclgrind && ! -e "$log.objections" ]]; then
      echo "Oclgrind never ran: $(parts "$name" | grep -F " $(basename "$log") ")"
      ((++bad))
    elif [[ -s "$log.objections" ]]; then
      echo "$name objects: $(parts "$name" | grep -F " $(basename "$log") ")"
      head -n 20 "$log.objections"
      ((++bad))
    elif (($(< "$status"))); then
      grep -A 2 '^FAILED' "$log" | head -n 30 | cut -c 1-600
    fi
  done < <(find "$work" -name "$name.*.status")
  if ((10 * late > oclgrind)); then echo "$name: $late cases took longer than $most_seconds s" && ((++bad)); fi
  echo "$name: $good right, $bad wrong, $refused refused for lack of a feature, $late left out as slow, $((SECONDS - start)) s" \
    "on $seen"
  passed=$((passed + good)) failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
((failed == 0))
