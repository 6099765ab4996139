#!/usr/bin/env bash
# Makes build-release/axisloom, a program for any Linux on x86-64 with the glibc of tools/make_toolchain.sh or newer: the C++
# library, libpng, libjpeg and zlib are within, and what OpenCL and CUDA need is looked for when it runs.
# Usage: tools/release.sh     on Debian 12; tools/try_release.sh then runs it on systems that have nothing else
set -euo pipefail
cd "$(dirname "$0")/.."
build="$PWD/build-release"
oldest_glibc="$(tools/make_toolchain.sh --oldest-glibc)"

tools/make_toolchain.sh "$build"
cmake -G Ninja -S . -B "$build" -DCMAKE_TOOLCHAIN_FILE="$build/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DAXISLOOM_TESTS=OFF -DAXISLOOM_INSTALL=OFF > "$build/configure.log" ||
  { cat "$build/configure.log" >&2; exit 1; }
cmake --build "$build" --target axisloom_cli

needed="$(objdump -p "$build/axisloom" | awk '$1 == "NEEDED" { print $2 }' | grep -vE '^(lib(c|m|dl|pthread|rt)|ld-linux-x86-64)\.so' || true)"
newest="$(objdump -T "$build/axisloom" | grep -oP 'GLIBC_\K[0-9.]+' | sort -V | tail -n 1)"
if [[ -n $needed || $(printf '%s\n' "$newest" "$oldest_glibc" | sort -V | tail -n 1) != "$oldest_glibc" ]]; then
  echo "build-release/axisloom needs ${needed:-no library}, and glibc $newest" >&2
  exit 1
fi
echo "build-release/axisloom: $(stat -c %s "$build/axisloom") bytes, glibc $newest or newer"
