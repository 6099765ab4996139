#!/usr/bin/env bash
# Makes FOLDER/toolchain.cmake, with which CMake builds for any Linux on x86-64 with glibc 2.31 (2020) or newer: libpng,
# libjpeg and zlib are linked in, and what OpenCL and CUDA need is looked for when a program runs. The compiler is Zig's, which
# has the symbols of every glibc; it comes as a Python package. Headers and archives are those of the development packages.
# Usage: tools/make_toolchain.sh FOLDER     on Debian 12; `make release` and `make wheel` use it
#        tools/make_toolchain.sh --oldest-glibc     prints the version
set -euo pipefail
cd "$(dirname "$0")/.."

zig_version=0.17.1
oldest_glibc=2.31
if [[ $1 == --oldest-glibc ]]; then echo "$oldest_glibc" && exit; fi
folder="$(realpath -m "$1")"
prefix="$folder/prefix"
packages=(libfmt-dev nlohmann-json3-dev libcli11-dev opencl-c-headers zlib1g-dev libpng-dev libjpeg62-turbo-dev)
architecture=x86_64-linux-gnu
# Headers of Debian's own Python, where it is there, stand beside those of glibc too.
mapfile -t -O "${#packages[@]}" packages < <(
  dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' 'libpython3*-dev' 2> /dev/null | sed -n 's/^installed //p')

mkdir -p "$folder"
if ! "$folder/zig/bin/python" -m ziglang version 2> /dev/null | grep -qx "$zig_version"; then
  echo "Installing Zig $zig_version into $folder"
  python3 -m venv "$folder/zig"
  "$folder/zig/bin/pip" install --quiet --disable-pip-version-check "ziglang==$zig_version"
fi
# Zig's names for processors have other dashes. The version is there for ccache, which knows this compiler by its text.
cat > "$folder/c++.part" << END
#!/bin/bash
# Zig $zig_version
exec "$folder/zig/bin/python" -m ziglang c++ -target x86_64-linux-gnu.$oldest_glibc "\${@/#-march=x86-64-/-march=x86_64_}"
END
chmod +x "$folder/c++.part"
mv "$folder/c++.part" "$folder/c++"

# A copy of the packages, since /usr/include holds the headers of this system's glibc too; without the shared libraries,
# so that nothing but their archives is found. Times are kept, so that nothing is compiled again for it.
rm -rf "$prefix"
mkdir -p "$prefix"
dpkg -L "${packages[@]}" | grep -E '^/usr/(include|lib|share/cmake)/' | grep -v '\.so' |
  while read -r file; do if [[ ! -d $file ]]; then echo "${file#/usr/}"; fi; done |
  tar -C /usr -c -T - | tar -C "$prefix" -x
rm "$prefix/lib/$architecture/cmake/fmt"/fmt-targets-*.cmake  # which look for its library; its headers are enough

cat > "$folder/toolchain.cmake" << END
set(CMAKE_CXX_COMPILER "$folder/c++")
set(CMAKE_CXX_FLAGS_INIT "-isystem $prefix/include/$architecture -isystem $prefix/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,--strip-debug)
list(APPEND CMAKE_PREFIX_PATH "$prefix")
set(CMAKE_LIBRARY_ARCHITECTURE $architecture)
set(AXISLOOM_OPENCL_HEADERS "$prefix/include" CACHE PATH "")
if("\$ENV{CMAKE_CXX_COMPILER_LAUNCHER}" STREQUAL "ccache")
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_COMPILERTYPE=clang CCACHE_COMPILERCHECK=content ccache CACHE STRING "")
endif()
END
