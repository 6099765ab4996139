#!/usr/bin/env bash
# Runs suites of tests, says how long each took, and closes with one line "N passed, N failed". A suite that fails does
# not keep the others from running; a build that fails does.
# Usage: tools/test.sh [test|all|long|SUITE...]
#   test  what catches most faults, in 6 minutes once built (the default)
#   all   the nets: sanitizers, CHECKED kernels, fuzzing, random cases and programs, other devices and implementations,
#         injected faults, slow unit tests, packages; half an hour, so a part of the cases where others meet them too
#   long  the same nets with many more cases, for hours; AXISLOOM_PART=I/K does every Kth case from the Ith on
#   or suites by name; a string of names runs them side by side
# AXISLOOM_SEED: of everything that is drawn (default: a new one each time; it is printed).
# AXISLOOM_DEADLINE: in seconds since 1970; suites of all and long that would begin later are left out, and named.
# AXISLOOM_TEST_CACHE: a folder where kernels that were compiled stay for the next run (default: below build).
set -uo pipefail
cd "$(dirname "$0")/.." || exit

logs="$PWD/build/test-logs"
work="$PWD/build/test-work"
mkdir -p "$logs" "$work"
find "$work" -mindepth 1 -maxdepth 1 ! -name pocl -exec rm -rf {} +  # what PoCL compiled serves the next call as well
jobs="$(nproc)"
# The Python with NumPy: Debian's, where another one stands before it on the path.
python=python3
"$python" -c 'import numpy' 2> /dev/null || python=/usr/bin/python3
export AXISLOOM_PYTHON="${AXISLOOM_PYTHON:-$python}"
unset PYTHONDONTWRITEBYTECODE  # ranks and other processes of the tests would compile each module anew
level=test
case "${1:-}" in test | all | long) level="$1" && shift ;; esac
seed="${AXISLOOM_SEED:-$(date +%s)}"
part="${AXISLOOM_PART:-1/1}"
echo "seed $seed${AXISLOOM_PART:+, part $part}"

# Cases force forms of kernels, which the host lacks unless it is given a compiler; suites that test it say so.
export AXISLOOM_DEVICE="${AXISLOOM_DEVICE-opencl:0}"

# Nothing of the user's own is read or written: compiled kernels, tuning results and caches are private to the run. PoCL
# keeps what it compiled for all suites; Axisloom's own folder would have it compile each kernel a second time, for groups
# of any size, so only the suites that test the folder have one.
kept="${AXISLOOM_TEST_CACHE:-$work}"
export POCL_CACHE_DIR="$kept/pocl" AXISLOOM_CACHE_DIR=off CUDA_CACHE_PATH="$work/cuda" \
  XDG_CACHE_HOME="$work/xdg-cache" XDG_DATA_HOME="$work/xdg-data"
mkdir -p "$POCL_CACHE_DIR" "$CUDA_CACHE_PATH" "$XDG_CACHE_HOME" "$XDG_DATA_HOME"

# by_level TEST ALL LONG: the one of the three for the level at hand.
by_level() { case "$level" in test) echo "$1" ;; all) echo "$2" ;; long) echo "$3" ;; esac }

# Unit tests that take long are left to the nets, where they begin first.
slow="$(paste -sd: tests/unit/slow.txt)"

# some_of ALL LONG: a part of the cases, as many as K in "I/K", chosen by the seed, for the level at hand.
some_of() {
  local parts
  parts="$(by_level "$1" "$1" "$2")"
  echo "$((seed % parts + 1))/$parts"
}

# case_files: every file of cases, those with most kernels first.
case_files() {
  printf '%s\n' tests/cases/{reduce,einsum,reduce_teams,permute,vectors}.cases tests/cases/*.cases | awk '!seen[$0]++'
}
# check_files OPTIONS...: those on standard input, as many at a time as there are cores.
check_files() { xargs -n 1 -P "$jobs" build/axisloom check "$@" --cases; }
check_cases() { case_files | check_files "$@"; }

# --- suites -----------------------------------------------------------------------------------------------------------

# NVRTC compiles every CUDA kernel, with or without a card.
suite_nvrtc() {
  local venv
  venv="$(tools/nvrtc.sh)" || { echo "INCOMPLETE: without NVRTC the CUDA kernels are not compiled"; return 1; }
  if [[ -n "$venv" ]]; then echo "$venv" > "$work/venv"; fi
}

# With the Python package's module, for the interpreter of its tests, which is brought while the rest compiles; where it cannot
# be had, the suite python says so.
suite_build() {
  local build=(cmake --build --preset release -j "$jobs")
  tools/python.sh test > "$work/python" &
  cmake --preset release && "${build[@]}" || return 1
  if wait $!; then cmake --preset release -DAXISLOOM_PYTHON=ON -DPython_EXECUTABLE="$(< "$work/python")" && "${build[@]}"; fi
}
# What is written for cards, by name and by profile; none of it may be refused.
check_played() {
  local cases=tests/cases-compiled check=(build/axisloom check --device host --seed "$seed")
  "${check[@]}" --cases "$cases/nvidia.cases" | tee "$work/played" && grep -q ' 0 failed, 0 refused' "$work/played" || return 1
  "${check[@]}" --cases "$cases/nvidia.cases" --checked || return 1
  "${check[@]}" --profile h200 --candidate all --random "$(by_level 5 20 500)" || return 1
  for profile in h200 a100 mi300x; do
    "${check[@]}" --cases "$cases/forms.cases" --profile "$profile" --candidate all || return 1
  done
}
suite_unit() { tools/sharded.sh "$jobs" build/axisloom_tests --gtest_brief=1 --gtest_filter="-$slow"; }
suite_slow() { SHARDED_FIRST="${slow//:/ }" tools/sharded.sh "$jobs" build/axisloom_tests --gtest_brief=1 --gtest_filter="$slow"; }
# These suites have PoCL compile more kernels than all others together: as they are written, in half the time. That it compiles
# them right when it optimises them, the unit tests and random cases ask.
cheaply() { if [[ $level != long ]]; then export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable; fi }
suite_cases() { cheaply && case_files | grep -v /dtypes.cases | check_files; }
# Of reductions of every dtype a part, since each is a kernel for the driver to compile. The suite host has them all.
suite_dtypes() { cheaply && build/axisloom check --part "$(some_of 4 1)" --seed "$seed" --cases tests/cases/dtypes.cases; }
# has_level LEVEL: whether this processor has that level of the instruction set.
has_level() { AXISLOOM_ISA="$1" build/axisloom --quiet check --device host "copy u8 1" > /dev/null 2>&1; }
# check_level LEVEL: on the host as on a machine without drivers and compilers. What lies beyond v4 counts for products alone.
check_level() {
  local -x AXISLOOM_ISA="$1" OCL_ICD_VENDORS="$work/no-drivers"
  if [[ $1 == v4_* ]]; then
    build/axisloom check --device host --cases tests/cases-host/products.cases
    return
  fi
  check_cases --device host && build/axisloom check --device host --cases tests/cases-host/*.cases &&
    build/axisloom check --device host --random "$(by_level 2000 20000 500000)" --seed "$seed"
}
# Sanitized builds have one level's hot kernels.
sanitized_level() { if has_level v4; then echo v4; else echo v3; fi; }
host_levels=(baseline v3 v4 v4_vnni v4_bf16)
suite_host() {
  tools/list_host_kernels.py build/axisloom_texts --check || return 1
  local isa
  for isa in "${host_levels[@]}"; do
    if has_level "$isa"; then check_level "$isa" || return 1; else echo "NOT RUN: this processor lacks $isa"; fi
  done
}
# On the host of another architecture, in an emulator: its own level and the baseline. All moves; of arithmetic a sample,
# since the oracle's long double is software there.
suite_neon() {
  cmake --preset neon > /dev/null && cmake --build --preset neon -j "$jobs" --target axisloom_cli axisloom_tests || return 1
  local emulator=(qemu-aarch64-static -L /usr/aarch64-linux-gnu) compiler="$work/aarch64-g++" isa
  export OCL_ICD_VENDORS="$work/no-drivers"
  # The architecture of the processor at hand, which the library asks its compiler for, is not the emulated one.
  printf '#!/bin/bash\nexec aarch64-linux-gnu-g++ "${@/-march=native/-march=armv8-a}"\n' > "$compiler" && chmod +x "$compiler"
  AXISLOOM_HOST_COMPILER="$compiler" "${emulator[@]}" build-neon/axisloom_tests --gtest_brief=1 || return 1
  local program=("${emulator[@]}" build-neon/axisloom check --device host)
  for isa in baseline neon; do
    export AXISLOOM_ISA="$isa"
    printf '%s\n' tests/cases/{permute,transpose,relayout,runs,copy,edge,repeat,vectors}.cases |
      xargs -n 1 -P "$jobs" "${program[@]}" --cases || return 1
    printf '%s\n' tests/cases-host/*.cases tests/cases/{reduce,dtypes,einsum,slices}.cases |
      xargs -n 1 -P "$jobs" "${program[@]}" --part "$(some_of 32 1)" --cases || return 1
    "${program[@]}" --random "$(by_level 100 250 20000)" --seed "$seed" || return 1
  done
}
# Kernels that only a name asks for, and every access checked: compiled here for the host, by either compiler.
suite_host_compiled() {
  export AXISLOOM_CACHE_DIR="$kept/host"
  local -A parts=([/usr/bin/g++]=1/1 [/usr/bin/clang++]="$(some_of 4 1)")
  local compiler
  for compiler in "${!parts[@]}"; do
    AXISLOOM_HOST_COMPILER="$compiler" check_cases --device host --part "${parts[$compiler]}" || return 1
    AXISLOOM_HOST_COMPILER="$compiler" check_played || return 1
    AXISLOOM_HOST_COMPILER="$compiler" build/axisloom check --device host --checked --random "$(by_level 20 200 5000)" --seed "$seed" ||
      return 1
  done
}
# The machine code of the host's kernels.
suite_assembly() { "$python" tests/assembly.py build; }
suite_index64() { build/axisloom check --index 64 --random "$(by_level 100 500 5000)" --seed "$seed"; }
suite_random() { AXISLOOM_SEED="$seed" LOGS="$work/random" tools/random_cases.sh "$(by_level 300 2000 200000)"; }
# As for devices that are not there, with the forms of the kernels that GPUs run; every access checked; on Oclgrind.
suite_profiles() {
  local profile profiles
  profiles="$(basename -s .json tuning/devices/*.json | grep -v '^generic-')"
  for profile in $profiles; do
    AXISLOOM_SEED="$seed" LOGS="$work/profiles" tools/random_cases.sh "$(by_level 50 80 20000)" --profile "$profile" || return 1
    AXISLOOM_SEED="$seed" LOGS="$work/profiles" tools/random_cases.sh "$(by_level 5 8 500)" --profile "$profile" --checked ||
      return 1
  done
  # Oclgrind grants no CPU's groups, and one card of each maker has its forms.
  xargs -P "$jobs" -I{} tests/oclgrind.sh build/axisloom check --tight --profile {} --cases tests/oclgrind/profiles.cases \
    < <(printf '%s\n' h200 mi300x arc-a770 mali-g52 adreno)
}
# Chained operations against NumPy and einops.
suite_programs() {
  local oracles
  oracles="$(tools/python.sh test)" || return 1
  "$oracles" tests/differential/differential.py build/axisloom --count "$(by_level 100 1000 20000)" --seed "$seed" --part "$part"
}
suite_faults() {
  "$python" tests/faults/inject.py --count "$(by_level 100 1000 20000)" --seed "$seed" --part "$part" build/axisloom
}
# On every implementation of OpenCL that runs on a CPU, each alone; kernels for processors that are not here are compiled.
suite_implementations() {
  tools/opencl_implementations.sh install || { echo "INCOMPLETE: an implementation of OpenCL cannot be had"; return 1; }
  local options=()
  if [[ $level != long ]]; then options=(--no-cases); fi
  AXISLOOM_IMPLEMENTATION_CACHE="$kept/implementations" tests/implementations.sh build/axisloom "${options[@]}" \
    --random "$(by_level 50 200 5000)" --oclgrind "$(by_level 5 20 500)" --seed "$seed"
}
suite_compilers() { tests/compilers.sh build/axisloom_texts "$(by_level 25 20 1)"; }
suite_checked() { check_cases --checked --part "$(some_of 5 1)"; }
suite_oclgrind() {
  tests/oclgrind.sh build/axisloom check --tight --candidate all --cases tests/oclgrind/small.cases || return 1
  tests/oclgrind.sh build/axisloom check --checked --cases tests/oclgrind/checked.cases
}
# The C interface, against what was promised of it.
suite_abi() { "$python" tools/check_abi.py build/libaxisloom.so && "$python" tests/abi_test.py; }
suite_modules() { python3 tests/modules.py && python3 tests/places.py && python3 tests/packages/recipes.py; }
suite_parts() { tests/add_parts.sh build; }
suite_alone() {
  python3 tests/alone.py build || return 1
  if [[ $level == long ]]; then python3 tests/alone.py --sources build; fi
}
# Packages, as they are made and used: Debian's in a system of their own.
suite_packages() {
  tools/install_dependencies.sh packages || return 1
  AXISLOOM_SYSTEMS="${AXISLOOM_SYSTEMS:-$kept/systems}" tests/packages/debian.sh && tests/packages/conan.sh
}
# The Python package as it stands in the build; the examples in its texts too. With PyTorch, which is large, only in long.
suite_python() {
  local tested
  tested="$(tools/python.sh "$(by_level test test torch)")" || { echo "INCOMPLETE: the packages for its tests cannot be had"; return 1; }
  unset AXISLOOM_DEVICE  # as at the user's
  local without=(--ignore python/tests/torch --ignore-glob '*/axisloom/torch/*')
  if [[ $level == long ]]; then without=(); fi
  local -x AXISLOOM_EMULATED_CARD="$PWD/build/faults/cuda" PYTHONPATH="$PWD/build/python" HYPOTHESIS_STORAGE_DIRECTORY="$work/hypothesis"
  "$tested" -m pytest -q -p no:cacheprovider --hypothesis-seed="$seed" --doctest-modules --doctest-glob '*.md' --pyargs \
    python/tests axisloom README.md README.zh.md docs/python*.md "${without[@]}"
}
# Process groups of PyTorch, which is large: make test has them only where an earlier run has brought it.
suite_gloo() {
  if [[ $level == test && ! -e "${AXISLOOM_TEST_CACHE:-.cache}/python-torch/packages" ]]; then
    echo "not tried: process groups of PyTorch, which make check-all installs"
    return 0
  fi
  local tested
  tested="$(tools/python.sh torch)" || { echo "INCOMPLETE: the packages for its tests cannot be had"; return 1; }
  unset AXISLOOM_DEVICE  # as at the user's
  local -x AXISLOOM_KILLS PYTHONPATH="$PWD/build/python"
  AXISLOOM_KILLS="$(by_level 3 10 100)"
  "$tested" -m pytest -q -p no:cacheprovider python/tests/torch/test_torch_{killed,distributed,dtensors,products,rooms,reduce}.py
}
# Exchanges between ranks of OpenMPI and of MPICH, and ranks that are killed in the middle.
suite_mpi() { tools/install_dependencies.sh mpi && tests/mpi.sh build "$(by_level 3 10 100)" "$(by_level 5 50 500)"; }
# The wheel, as it is made and used: in systems of their own.
suite_wheel() {
  tools/install_dependencies.sh packages || return 1
  # shellcheck disable=SC2046  # a word each
  AXISLOOM_SYSTEMS="${AXISLOOM_SYSTEMS:-$kept/systems}" tests/packages/wheel.sh $(by_level bookworm bookworm "bookworm trixie noble")
}
suite_consumer() { CMAKE_BUILD_PARALLEL_LEVEL=1 tests/consumer.sh build; }
suite_subdirectory() { CMAKE_BUILD_PARALLEL_LEVEL=1 tests/subdirectory.sh build; }
suite_docs() {
  python3 tools/check_docs.py --program build/axisloom && python3 tools/write_tables.py --check build/axisloom || return 1
  mkdir -p build/reference && doxygen docs/Doxyfile  # fails where something public has no comment
}

# The programs of files go by Axisloom's own folder, as they do at the user's; what needs many kernels goes without.
suite_cli() {
  unset AXISLOOM_DEVICE  # as at the user's
  AXISLOOM_CACHE_DIR="$work/cache" "$python" tests/cli/files_test.py build/axisloom || return 1
  printf '%s\n' tests/cli/*.py | grep -v /files_test.py | xargs -I{} "$python" {} build/axisloom
}

# Leaks are looked for in tests that open no device only: PoCL and LLVM leave plenty behind. Left out are tests that do
# nothing but compile kernels for CUDA, and the longest of those whose host code other tests run too.
suite_asan() {
  cmake --preset asan -DAXISLOOM_HOST_LEVELS="$(sanitized_level)" && cmake --build --preset asan -j "$jobs" || return 1
  local host left_out="*Cuda.*:NvrtcCompile.*:DialectCompile.*:$slow"
  host="$(tests/host_suites.sh)" || return 1
  ASAN_OPTIONS=detect_leaks=1 tools/sharded.sh "$jobs" build-asan/axisloom_tests --gtest_brief=1 \
    --gtest_filter="$host-$left_out" || return 1
  ASAN_OPTIONS=detect_leaks=0 tools/sharded.sh "$jobs" build-asan/axisloom_tests --gtest_brief=1 \
    --gtest_filter="*-$host:$left_out"
}

# The program and its bench, sanitized, in front of the same tests as the released one.
suite_asan_program() {
  export ASAN_OPTIONS=detect_leaks=0 AXISLOOM_CACHE_DIR="$work/asan-cache"
  local program
  for program in files program; do
    env -u AXISLOOM_DEVICE "$python" "tests/cli/${program}_test.py" build-asan/axisloom || return 1  # as at the user's
  done
  build-asan/axisloom check --cases tests/cases/edge.cases || return 1
  build-asan/axisloom check --random "$(by_level 20 200 5000)" --seed "$seed"
}

# Races of ours; those within PoCL and LLVM are suppressed by name. Of the host's kernels the baseline will do: what threads
# share lies around them.
suite_tsan() {
  cmake --preset tsan && cmake --build --preset tsan -j "$jobs" || return 1
  TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp" tools/sharded.sh "$jobs" build-tsan/axisloom_tests --gtest_brief=1 \
    --gtest_filter='*Thread*:Cache.*:Launched.*'
}

suite_fuzz() {
  local seconds
  seconds="$(by_level 5 15 1800)"
  ls build-asan/*_fuzz > /dev/null || return 1
  printf '%s\n' build-asan/*_fuzz | xargs -P "$jobs" -I{} tests/fuzz.sh {} "$seconds" "$work"
}

# --- running them -----------------------------------------------------------------------------------------------------

# total: the sum of the numbers on standard input, nothing when there are none.
total() { awk '{ sum += $1 } END { if (NR) print sum }'; }

# counts LOG: "N passed, N failed" as the suite's own programs count; a suite that does not count is one test.
counts() {
  local good bad
  good="$({ grep -oP '^\[  PASSED  \] \K\d+' "$1"; grep -oP '\b\d+(?= passed)' "$1"; } | total)"
  bad="$({ grep -cP '^\[  FAILED  \] .* \(\d+ ms\)$' "$1"; grep -oP '\b\d+(?= failed)' "$1"; } | total)"
  echo "${good:-0} ${bad:-0}"
}

# run_suite NAME: leaves "VERDICT SECONDS PASSED FAILED" in its .result.
run_suite() {
  local name="$1" start=$SECONDS verdict=ok good bad
  if [[ -e "$work/venv" ]]; then VIRTUAL_ENV="$(< "$work/venv")" && export VIRTUAL_ENV; fi
  "suite_$name" > "$logs/$name.log" 2>&1 || verdict=FAILED
  read -r good bad < <(counts "$logs/$name.log")
  if [[ $verdict == ok ]]; then
    ((good + bad)) || good=1
    if ((bad)); then verdict=FAILED; fi
  elif ((bad == 0)); then
    bad=1
  fi
  echo "$verdict $((SECONDS - start)) $good $bad" > "$work/$name.result"
}

passed=0
failed=0
table=()

ran=()
left_out=()
# is_late: whether the nets have no time left. Some machines take three times as long as others.
is_late() { [[ $level != test && -n "${AXISLOOM_DEADLINE:-}" ]] && (($(date +%s) > AXISLOOM_DEADLINE)); }

# report NAME: its line, and the end of the log when it failed, as does a suite without a result.
report() {
  local name="$1" verdict=FAILED seconds=0 good=0 bad=1 line skipped compiles
  if [[ -e "$work/$name.result" ]]; then read -r verdict seconds good bad < "$work/$name.result"; fi
  passed=$((passed + good))
  failed=$((failed + bad))
  line="$(printf '%-13s %-6s %4d s  %6d passed  %4d failed' "$name" "$verdict" "$seconds" "$good" "$bad")"
  skipped="$(grep -oP '^\[  SKIPPED \] \K\d+' "$logs/$name.log" | total)"
  compiles="$(grep -oP '\b\d+(?= compiles?\b)' "$logs/$name.log" | total)"
  line+="${skipped:+  $skipped skipped}${compiles:+  $compiles compiles}"
  echo "$line"
  table+=("$line")
  if [[ $verdict != ok ]]; then
    tail -n 40 "$logs/$name.log" | cut -c 1-240 | sed 's/^/    /'
    return 1
  fi
}

# Suites of one string run side by side, as many at a time as there are cores: they keep one core busy, or the network.
# The longest come first, so that the last ones fill the gaps.
case "$level" in
  test) stages=("nvrtc build" "unit" "cases" "python cli host dtypes mpi docs consumer index64 assembly random abi modules gloo") ;;
  # Those come last that are left out first where time is short (AXISLOOM_DEADLINE).
  *) stages=("nvrtc build" "checked" "asan" "random" "host_compiled subdirectory compilers alone parts" "packages tsan faults wheel"
    "oclgrind asan_program programs fuzz mpi" "gloo neon profiles implementations slow") ;;
esac
if [[ $level == long ]]; then stages+=("python"); fi  # which then has PyTorch
if (($#)); then stages=("$@"); fi
for name in ${stages[*]}; do
  declare -F "suite_$name" > /dev/null || { echo "there is no suite $name: $(declare -F | grep -oP 'suite_\K.*' | tr '\n' ' ')"; exit 2; }
done
for stage in "${stages[@]}"; do
  begun=()
  for name in $stage; do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
    if is_late; then
      left_out+=("$name")
      continue
    fi
    begun+=("$name")
    ran+=("$name")
    run_suite "$name" &
  done
  wait
  for name in "${begun[@]}"; do
    if ! report "$name" && [[ $name == build ]]; then break 2; fi
  done
done

echo
printf '%s\n' "${table[@]}"
echo "total ${SECONDS} s; logs in build/test-logs"
for name in "${ran[@]}"; do grep -sE '^(NOT RUN|INCOMPLETE)' "$logs/$name.log"; done  # not what lies there from before
if ((${#left_out[@]})); then echo "NOT RUN, since the time was up: ${left_out[*]}"; fi
echo "$passed passed, $failed failed"
((failed == 0))
