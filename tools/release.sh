#!/usr/bin/env bash
# Makes build-release/axisloom, a program for any Linux on x86-64 with glibc 2.31 (2020) or newer: the C++ library, libpng,
# libjpeg and zlib are within, and what OpenCL and CUDA need is looked for when it runs. The compiler is Zig's, which has
# the symbols of every glibc; it comes as a Python package. Headers and archives are those of the development packages.
# Usage: tools/release.sh     on Debian 12; tools/try_release.sh then runs it on systems that have nothing else
set -euo pipefail
cd "$(dirname "$0")/.."

zig_version=0.17.1
oldest_glibc=2.31
build="$PWD/build-release"
prefix="$build/prefix"
packages=(libfmt-dev nlohmann-json3-dev libcli11-dev opencl-c-headers zlib1g-dev libpng-dev libjpeg62-turbo-dev)
architecture=x86_64-linux-gnu

mkdir -p "$build"
if ! "$build/venv/bin/python" -m ziglang version 2> /dev/null | grep -qx "$zig_version"; then
  echo "Installing Zig $zig_version into build-release"
  python3 -m venv "$build/venv"
  "$build/venv/bin/pip" install --quiet --disable-pip-version-check "ziglang==$zig_version"
fi
# Zig's names for processors have other dashes.
printf '#!/bin/bash\nexec "%s" -m ziglang c++ -target x86_64-linux-gnu.%s "${@/#-march=x86-64-/-march=x86_64_}"\n' \
  "$build/venv/bin/python" "$oldest_glibc" > "$build/c++"
chmod +x "$build/c++"

# A copy of the packages, since /usr/include holds the headers of this system's glibc too; without the shared libraries,
# so that nothing but their archives is found.
rm -rf "$prefix"
mkdir -p "$prefix"
dpkg -L "${packages[@]}" | grep -E '^/usr/(include|lib|share/cmake)/' | grep -v '\.so' |
  while read -r file; do if [[ ! -d $file ]]; then echo "${file#/usr/}"; fi; done |
  tar -C /usr -c -T - | tar -C "$prefix" -x
rm "$prefix/lib/$architecture/cmake/fmt"/fmt-targets-*.cmake  # which look for its library; its headers are enough

env -u CMAKE_CXX_COMPILER_LAUNCHER cmake -G Ninja -S . -B "$build" -DCMAKE_CXX_COMPILER="$build/c++" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS="-isystem $prefix/include/$architecture" -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
  -DCMAKE_EXE_LINKER_FLAGS=-Wl,--strip-debug -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_LIBRARY_ARCHITECTURE="$architecture" \
  -DAXISLOOM_OPENCL_HEADERS="$prefix/include" -DAXISLOOM_TESTS=OFF -DAXISLOOM_INSTALL=OFF > "$build/configure.log" ||
  { cat "$build/configure.log" >&2; exit 1; }
cmake --build "$build" --target axisloom_cli

needed="$(objdump -p "$build/axisloom" | awk '$1 == "NEEDED" { print $2 }' | grep -vE '^(lib(c|m|dl|pthread|rt)|ld-linux-x86-64)\.so' || true)"
newest="$(objdump -T "$build/axisloom" | grep -oP 'GLIBC_\K[0-9.]+' | sort -V | tail -n 1)"
if [[ -n $needed || $(printf '%s\n' "$newest" "$oldest_glibc" | sort -V | tail -n 1) != "$oldest_glibc" ]]; then
  echo "build-release/axisloom needs ${needed:-no library}, and glibc $newest" >&2
  exit 1
fi
echo "build-release/axisloom: $(stat -c %s "$build/axisloom") bytes, glibc $newest or newer"
