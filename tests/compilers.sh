#!/usr/bin/env bash
# Compiles every kernel that the cases need with compilers for processors that are not here: each text must become machine
# code, or SPIR-V's dialect of LLVM, without a warning. Nothing is run.
#   hip   Clang's HIP for AMD's gfx90a, gfx1100 and gfx942 (an older Clang: gfx940, which came before it)
#   gpu   Clang's OpenCL C for gfx90a
#   cpu   Clang's OpenCL C for spir64, in which no vector has more than 16 components
# Usage: tests/compilers.sh PROGRAM [EVERY [CASES...]]     PROGRAM: axisloom_texts; EVERY: one text in so many (1)
set -uo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)"
texts="$(realpath "${1:?usage: tests/compilers.sh PROGRAM [EVERY [CASES...]]}")"
every="${2:-1}"
files=("${@:3}")
if ((${#files[@]} == 0)); then files=("$root"/tests/cases/*.cases); fi
work="$(mktemp -d -t compilers.XXXXXX)"  # without "-", behind which stand the kernels by which texts are sorted
trap 'rm -rf "$work"' EXIT

# The newest Clang that is installed and can compile for AMD.
clang=
for version in {22..14}; do
  if command -v "clang-$version" > /dev/null && "clang-$version" --print-targets | grep -q amdgcn; then
    clang="clang-$version" && break
  fi
done
[[ -n "$clang" ]] || { echo "INCOMPLETE: no Clang that compiles for AMD's processors"; exit 1; }

knows() { "$clang" -x hip --cuda-device-only --offload-arch="$1" -nogpulib -nogpuinc -S -o /dev/null /dev/null 2> /dev/null; }
cards=()
for card in gfx90a gfx942 gfx940 gfx1100; do
  if [[ $card == gfx940 && " ${cards[*]} " == *gfx942* ]]; then continue; fi
  if knows "$card"; then cards+=("$card"); fi
done
echo "$clang; HIP for ${cards[*]}"
export clang root work

hip() {
  "$clang" -x hip --cuda-device-only --offload-arch="$2" -nogpulib -nogpuinc -D__HIP_PLATFORM_AMD__ -std=c++17 \
    -ffp-contract=off -include hip/hip_runtime.h -I"$root/src" -I"$root/src/dialect" -O2 -Werror -S -o /dev/null "$1"
}
gpu() {
  mapfile -t options < "${1%.cl}.options"
  "$clang" -x cl -target amdgcn-amd-amdhsa -mcpu="$2" -Xclang -finclude-default-header -nogpulib "${options[@]}" -S \
    -o /dev/null "$1"
}
cpu() {
  mapfile -t options < "${1%.cl}.options"
  "$clang" -x cl -target "$2" -Xclang -finclude-default-header "${options[@]}" -O1 -S -emit-llvm -o "$1.ll" "$1" || return 1
  if grep -m 3 -nE '<(1[7-9]|[2-9][0-9]|[1-9][0-9]{2,}) x ' "$1.ll"; then
    echo "a vector of more than 16 components" && return 1
  fi
}

# one KIND TARGET FILE: leaves a file when it fails.
one() {
  if "$1" "$3" "$2" > "$3.$2.log" 2>&1; then
    echo . >> "$work/passed"
  else
    { echo "FAILED $1 for $2: $(head -n 1 "$3")" && head -n 12 "$3.$2.log"; } > "$3.$2.failed"
  fi
}
export -f one hip gpu cpu

for kind in hip gpu cpu; do
  mkdir "$work/$kind"
  echo "$kind: $("$texts" "$kind" "$work/$kind" "${files[@]}")" || exit 1
done
# chosen FOLDER: every text of a folder, or every so many of each kernel.
chosen() { find "$1" -name '*.hip' -o -name '*.cl' | sort -t- -k 2 | awk -v every="$every" 'NR % every == 1 % every'; }
{
  # Each for one card, in turn: a kernel has so many texts that it meets all cards.
  chosen "$work/hip" | awk -v cards="${cards[*]}" '{ n = split(cards, card, " "); print "hip", card[NR % n + 1], $0 }'
  chosen "$work/gpu" | sed 's/^/gpu gfx90a /'
  chosen "$work/cpu" | sed 's/^/cpu spir64 /'
} | xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' _
failed="$(find "$work" -name '*.failed' | wc -l)"
find "$work" -name '*.failed' -exec cat {} + | head -n 100
echo "$(wc -l < "$work/passed") passed, $failed failed"
((failed == 0))
