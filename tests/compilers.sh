#!/usr/bin/env bash
# Compiles every kernel that the cases need with compilers for processors that are not here: each text must become machine
# code, or SPIR-V's dialect of LLVM, without a warning. Nothing is run.
#   hip   Clang's HIP for AMD's gfx90a, gfx1100 and gfx942 (an older Clang: gfx940, which came before it)
#   gpu   Clang's OpenCL C for gfx90a
#   cpu   Clang's OpenCL C for spir64, in which no vector has more than 16 components
# Five times as many texts, of every kernel and of an H200 too, are preprocessed, plain or with every access checked: no #if
# may ask for a macro that is not defined.
# Usage: tests/compilers.sh PROGRAM [EVERY [CASES...]]     PROGRAM: axisloom_texts; EVERY: one text in so many (1)
set -uo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)"
texts="$(realpath "${1:?usage: tests/compilers.sh PROGRAM [EVERY [CASES...]]}")"
every="${2:-1}"
files=("${@:3}")
if ((${#files[@]} == 0)); then files=("$root"/tests/cases/*.cases); fi
work="$(mktemp -d -t compilers.XXXXXX)"  # without "-", behind which stand the kernels by which texts are sorted
trap 'rm -rf "$work"' EXIT

missing() {
  echo "INCOMPLETE: $*; tools/install_dependencies.sh test installs it"
  exit 1
}

# The newest Clang that is installed and can compile for AMD.
clang=
for version in {22..14}; do
  if command -v "clang-$version" > /dev/null && "clang-$version" --print-targets | grep -q amdgcn; then
    clang="clang-$version" && break
  fi
done
[[ -n "$clang" ]] || missing "no Clang that compiles for AMD's processors"
# HIP's headers include Clang's own by their folder.
resources="$("$clang" -print-resource-dir)"
bare_hip() { "$clang" -x hip --cuda-device-only -nogpulib -nogpuinc -isystem "$resources" "$@"; }
knows() { bare_hip --offload-arch="$1" -S -o /dev/null /dev/null 2> /dev/null; }

# An older Clang has gfx940, which came before gfx942.
cards=(gfx90a gfx942 gfx1100)
knows gfx942 || cards[1]=gfx940
for card in "${cards[@]}"; do knows "$card" || missing "$clang does not know $card"; done
echo '#include <hip/hip_runtime.h>' > "$work/headers.hip"
bare_hip --offload-arch=gfx90a -D__HIP_PLATFORM_AMD__ -E -o /dev/null "$work/headers.hip" || missing "no headers of HIP"
echo "$clang; HIP for ${cards[*]}"
export clang resources root work

hip() {
  bare_hip --offload-arch="$2" -D__HIP_PLATFORM_AMD__ -std=c++17 -ffp-contract=off -include hip/hip_runtime.h \
    -I"$root/src" -I"$root/src/dialect" -O2 -Werror -S -o /dev/null "$1"
}
gpu() {
  mapfile -t options < "${1%.cl}.options"
  "$clang" -x cl -target amdgcn-amd-amdhsa -mcpu="$2" -Xclang -finclude-default-header -nogpulib "${options[@]}" -S \
    -o /dev/null "$1"
}
cpu() {
  mapfile -t options < "${1%.cl}.options"
  # Unoptimised: newer optimisers make wide vectors of narrow ones by themselves.
  "$clang" -x cl -target "$2" -Xclang -finclude-default-header "${options[@]}" -Xclang -disable-llvm-passes -S -emit-llvm \
    -o "$1.ll" "$1" || return 1
  if grep -m 3 -nE '<(1[7-9]|[2-9][0-9]|[1-9][0-9]{2,}) x ' "$1.ll"; then
    echo "a vector of more than 16 components" && return 1
  fi
}

# The texts of CUDA are C++, those of OpenCL are read with the options of their build. TARGET: 1 where accesses are checked, which
# those of bulk copies never are.
macros() {
  local options=() language=(-x c++ -D__CUDACC__)
  if [[ "$1" == *.cl ]]; then
    mapfile -t options < "${1%.cl}.options"
    language=(-x cl -target spir64)
  fi
  local checked="$2"
  if grep -q 'so their accesses cannot be watched' "$1"; then checked=0; fi
  sed "s/^#define AXL_CHECKED .*/#define AXL_CHECKED $checked/" "$1" |
    "$clang" "${language[@]}" "${options[@]}" -E -Wundef -Werror=undef -o /dev/null -
}

# one KIND TARGET FILE: leaves a file when it fails.
one() {
  if "$1" "$3" "$2" > "$3.$2.log" 2>&1; then
    echo . >> "$work/passed"
  else
    { echo "FAILED $1 for $2: $(head -n 1 "$3")" && head -n 12 "$3.$2.log"; } > "$3.$2.failed"
  fi
}
export -f one bare_hip hip gpu cpu macros

for kind in hip gpu cpu nvidia; do
  mkdir "$work/$kind"
  echo "$kind: $("$texts" "$kind" "$work/$kind" "${files[@]}")" || exit 1
done
# chosen EVERY FOLDER...: every text of these folders, or every so many of each kernel; with `first` the first of each too.
chosen() {
  find "${@:2}" -name '*.hip' -o -name '*.cl' -o -name '*.cu' | sort -t- -k 2 | awk -v every="$1" -v first="${first:-0}" -F- \
    'NR % every == 1 % every || (first && $2 != kernel) { print } { kernel = $2 }'
}
{
  # Each for one card, in turn: a kernel has so many texts that it meets all cards.
  chosen "$every" "$work/hip" | awk -v cards="${cards[*]}" '{ n = split(cards, card, " "); print "hip", card[NR % n + 1], $0 }'
  chosen "$every" "$work/gpu" | sed 's/^/gpu gfx90a /'
  chosen "$every" "$work/cpu" | sed 's/^/cpu spir64 /'
  first=1 chosen "$(((every + 4) / 5))" "$work/gpu" "$work/cpu" "$work/nvidia" | awk '{ print "macros", NR % 2, $0 }'
} > "$work/jobs"
xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' _ < "$work/jobs"
find "$work" -name '*.failed' -exec cat {} + | head -n 100
# What left no mark, whatever became of it, has failed too.
touch "$work/passed"
total="$(wc -l < "$work/jobs")" passed="$(wc -l < "$work/passed")"
echo "$passed passed, $((total - passed)) failed"
((total > 0 && passed == total))
