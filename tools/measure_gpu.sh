#!/usr/bin/env bash
# Measures an NVIDIA card, whole suites with everybody who can take part, and files the results below FOLDER: for each device
# a document SUITE-*.json for each suite, and bench-*.txt, which says how long each took.
# Usage: tools/measure_gpu.sh FOLDER [PROGRAM TESTS [DEVICE...]]
#   default: builds and takes build/axisloom and build/axisloom_tests, on cuda:0; opencl:NVIDIA is the other runtime
#   STEPS: what to do: suites or other commands of axisloom bench, by name, and checks; every suite when it is not set
#   RANDOM_CASES: how many the step "checks" runs; 20000 when it is not set; AXISLOOM_SEED is their seed
#   MIN_TIME: seconds that each contestant runs at least; 0.01 when it is not set
#   LIMIT: seconds that a step may take; 500 when it is not set
# The suites take 8 minutes on an H200 through CUDA (452 s), 7 through OpenCL (390 s). The step "checks" takes 5 to 7, and
# leaves checks-*.txt: test suites, cases, CHECKED kernels, compute-sanitizer.
# Needs the driver, NVRTC and its OpenCL. Who else takes part where it is found: PyTorch; cuBLAS, cuTENSOR and cuDNN, of the
# system, the CUDA toolkit or Python packages; CUB (cmake -DAXISLOOM_CUB=ON); CLBlast (AXISLOOM_CLBLAST names a
# libclblast.so.1); compute-sanitizer.
set -uo pipefail
failed=0
cd "$(dirname "$0")/.." || exit

folder="${1:?usage: $0 FOLDER [PROGRAM [TESTS]]}"
program="${2:-build/axisloom}"
tests="${3:-build/axisloom_tests}"
shift $(($# < 3 ? $# : 3))
devices=("$@")
((${#devices[@]})) || devices=(cuda:0)
steps="${STEPS:-copy transpose relayout permute reduce matmul}"
mkdir -p "$folder"
. tools/peer_libraries.sh
if [[ ! -x "$program" ]]; then cmake --preset release && cmake --build --preset release || exit; fi

# step TITLE COMMAND...: runs it with a limit and keeps the names of tests that failed, and its last lines; of a bench that
# went well these only say who is not there.
step() {
  local title="$1" start=$SECONDS output status
  shift
  output="$(timeout "${LIMIT:-500}" "$@" 2>&1)"
  status=$?
  { echo "== $title: exit $status, $((SECONDS - start)) s"
    if [[ "$title" != "bench "* ]] || ((status)); then
      { grep -E '^\[  FAILED  \] .* ms\)$' <<< "$output" | head -n 10; tail -n 6 <<< "$output"; } | cut -c 1-300
    fi
  } | tee -a "$report"
}

# bench COMMAND: one document and its table.
bench() {
  step "bench $1" "$program" bench "$1" --device "$device" --min-time "${MIN_TIME:-0.01}" --format json -o "$folder/$1-$name.json"
  "$program" bench table "$folder/$1-$name.json"
}

for device in "${devices[@]}"; do
  name="${device%%:*}"
  report="$folder/checks-$name.txt"
  [[ " $steps " == *" checks "* ]] || report="$folder/bench-$name.txt"
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | tee "$report"
  for command in $steps; do
    [[ "$command" == checks ]] || bench "$command"
  done
  if [[ " $steps " != *" checks "* ]]; then
    failed=$((failed + $(grep -c '^== .*: exit [1-9]' "$report")))
    continue
  fi
  step "beyond 2^32 elements, every element checked" "$program" bench rearrange --device "$device" --peers none \
    --min-time 0.05 "transpose u8 65537x65536" "transpose u8 65537x65539" "permute u16 1300x1300x1300 2,0,1" \
    "copy c128 17000x17000 in-strides=17001,1"
  # What is checked is right or wrong whoever else uses the card: all at the same time.
  step "unit tests" env AXISLOOM_DEVICE="$device" tools/sharded.sh 6 "$tests" --gtest_brief=1 \
    --gtest_filter="CudaCard*:Opencl*:Device*:Dialect*:Plan*:HostRun*:Slices*:*Relayout*:Bench*:Launched*:Reduce*:Products*:Einsum*-DialectCompile*:ReduceCuda*:ProductsCuda*:EinsumCuda*" &
  # A file each: most of the time goes into compiling.
  step "cases" xargs -n 1 -P 8 "$program" check --device "$device" --cases < <(ls -S tests/cases/*.cases) &
  step "cases, 64-bit offsets" xargs -n 1 -P 8 "$program" check --device "$device" --index 64 --cases \
    < <(ls -S tests/cases/*.cases) &
  step "random cases, every candidate" "$program" check --device "$device" --random 300 --candidate all &
  step "random cases" env AXISLOOM_PROGRAM="$program" JOBS=8 \
    tools/random_cases.sh "${RANDOM_CASES:-20000}" --device "$device" &
  step "copies by vectors of every width in every way" \
    "$program" check --device "$device" --cases tests/cases-large/vectors.cases &
  step "copies of rows that begin unlike within 16 bytes" \
    "$program" check --device "$device" --cases tests/cases-large/shift.cases &
  step "permutations of many short axes" "$program" check --device "$device" --cases tests/cases-large/tile_nd.cases &
  step "pixels of few channels" "$program" check --device "$device" --cases tests/cases-large/interleave.cases &
  step "products by tensor cores" "$program" check --device "$device" --cases tests/cases-large/mma.cases &
  step "small cases, every candidate, every access checked" \
    "$program" check --device "$device" --checked --candidate all --cases tests/oclgrind/small.cases &
  if [[ "$name" == cuda ]]; then
    step "transposes by the tensor memory accelerator" \
      "$program" check --device "$device" --cases tests/cases-large/tma.cases &
    step "products by warpgroups" "$program" check --device "$device" --cases tests/cases-large/wgmma.cases &
  fi
  wait
  if [[ "$name" == cuda ]] && command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
      # The driver has no call for the number of a kernel's arguments: they are asked for until one is refused.
      step "compute-sanitizer $tool" compute-sanitizer --tool "$tool" --error-exitcode 9 --report-api-errors no \
        "$program" check --device cuda:0 --tight --candidate all --cases tests/oclgrind/small.cases &
    done
    wait
  fi
  failed=$((failed + $(grep -c '^== .*: exit [1-9]' "$report")))
done
echo "$failed steps failed"
exit $((failed > 0))
