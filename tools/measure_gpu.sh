#!/usr/bin/env bash
# Checks and measures an NVIDIA card through both runtimes and files the results below FOLDER: rearrange-cuda.json and
# rearrange-opencl.json (axisloom bench), checks.txt (test suites, cases, CHECKED kernels, compute-sanitizer).
# Usage: tools/measure_gpu.sh FOLDER [PROGRAM [TESTS]]     (default: builds and takes build/axisloom, build/axisloom_tests)
# Needs the driver, NVRTC and its OpenCL; compute-sanitizer, PyTorch and cuBLAS take part where they are found.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

folder="${1:?usage: $0 FOLDER [PROGRAM [TESTS]]}"
program="${2:-build/axisloom}"
tests="${3:-build/axisloom_tests}"
mkdir -p "$folder"
if [[ ! -x "$program" ]]; then cmake --preset release && cmake --build --preset release || exit; fi

report="$folder/checks.txt"
: > "$report"
failed=0

# step TITLE COMMAND...: runs it with a limit and keeps its last lines.
step() {
  local title="$1" start=$SECONDS output status
  shift
  output="$(timeout 200 "$@" 2>&1)"
  status=$?
  ((status == 0)) || failed=$((failed + 1))
  { echo "== $title: exit $status, $((SECONDS - start)) s"; tail -n 6 <<< "$output" | cut -c 1-300; } | tee -a "$report"
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | tee -a "$report"
step "devices" "$program" devices
for device in cuda:0 opencl:NVIDIA; do
  step "$device: unit tests" env AXISLOOM_DEVICE="$device" "$tests" --gtest_brief=1 \
    --gtest_filter="Cuda*:OpenCl*:Dialect*:Plan*:Run*:Slices*:Choose*:Relayout*:Bench*"
  step "$device: cases" "$program" check --device "$device" --cases tests/cases/*.cases
  step "$device: cases, 64-bit offsets" "$program" check --device "$device" --index 64 --cases tests/cases/*.cases
  step "$device: small cases, every candidate, every access checked" \
    "$program" check --device "$device" --checked --candidate all --cases tests/oclgrind/small.cases
  step "$device: random cases" "$program" check --device "$device" --random 300 --candidate all
  step "$device: beyond 2^32 elements, every element checked" "$program" bench rearrange --device "$device" \
    --peers none --min-time 0.05 "transpose u8 65537x65536" "transpose u8 65537x65539" "permute u16 1300x1300x1300 2,0,1" \
    "copy c128 17000x17000 in-strides=17001,1"
  step "$device: bench" "$program" bench rearrange --device "$device" --min-time 0.3 --format json \
    -o "$folder/rearrange-${device%%:*}.json"
  "$program" bench table "$folder/rearrange-${device%%:*}.json"
done
if command -v compute-sanitizer > /dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    step "compute-sanitizer $tool" compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "$program" check --device cuda:0 --tight --candidate all --cases tests/oclgrind/small.cases
  done
fi
echo "$failed steps failed"
exit $((failed > 0))
