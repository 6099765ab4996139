#!/usr/bin/env bash
# Makes the Conan package of packaging/conan from this folder, shared and static, and a program that uses it; nothing comes from
# a Conan server. Without optimisation and hot kernels, which do not change what is packaged.
# Usage: tests/packages/conan.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
conan_version=2.34.0
venv="$PWD/build/conan"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

if ! "$venv/bin/conan" --version 2> /dev/null | grep -qwF "$conan_version"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "conan==$conan_version"
fi
export CONAN_HOME="$work/home" CCACHE_BASEDIR="$work/home"
"$venv/bin/conan" profile detect > /dev/null 2>&1
"$venv/bin/conan" remote disable '*' > /dev/null 2>&1

for shared in True False; do
  echo "-- shared=$shared"
  options=(-s compiler.cppstd=20 -s build_type=Debug -o "axisloom/*:shared=$shared" -o 'axisloom/*:host_levels=none')
  if ! "$venv/bin/conan" create packaging/conan "${options[@]}" -c tools.cmake.cmake_layout:test_folder="$work/test" \
       > "$work/log" 2>&1; then
    tail -n 60 "$work/log" >&2
    exit 1
  fi
  grep -q '^transposed on ' "$work/log"
done
echo "2 passed, 0 failed"
