#!/usr/bin/env bash
# Prints a GoogleTest filter of the suites that open no device: those of the files that mention none, nor the headers of
# theirs beside them either.
set -euo pipefail
cd "$(dirname "$0")/unit"
mark='device::open|Device::open|_runtime\(\)|devices\(\)|dlopen|real_device\(\)'
headers="$(grep -lE "$mark" -- *.hpp | sed 's|\.|\\.|' | paste -sd'|')"
files="$(grep -LE "$mark${headers:+|$headers}" -- *_test.cpp)"
[[ -n "$files" ]] || { echo "no test file without a device" >&2; exit 1; }
# A suite may be plain, value-parameterised (Values/Suite.name/0) or typed (Suite/0.name).
# shellcheck disable=SC2086 # file names without blanks
grep -hoP '^(TYPED_)?TEST(_F|_P)?\(\K\w+' $files | sort -u | sed 's|.*|&.*:*/&.*:&/*|' | paste -sd:
