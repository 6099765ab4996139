#!/usr/bin/env bash
# Prints a GoogleTest filter of the suites that open no device: those of the files that never mention one.
set -euo pipefail
cd "$(dirname "$0")/unit"
files="$(grep -LE 'device::open|Device::open|_runtime\(\)|devices\(\)|dlopen' -- *_test.cpp)"
[[ -n "$files" ]] || { echo "no test file without a device" >&2; exit 1; }
# A suite may be plain, value-parameterised (Values/Suite.name/0) or typed (Suite/0.name).
grep -hoP '^(TYPED_)?TEST(_F|_P)?\(\K\w+' $files | sort -u | sed 's|.*|&.*:*/&.*:&/*|' | paste -sd:
