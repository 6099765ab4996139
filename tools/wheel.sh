#!/usr/bin/env bash
# Makes the Python package's source archive and its wheel, from what the archive holds, in build-wheel/dist, and has auditwheel and
# abi3audit judge it. How it is made stands in pyproject.toml. It is compiled by GCC, as what is tested and measured is. Zig's
# compiler, which `make release` uses, would ask for an older glibc, but has another C++ library than nanobind's backend, with
# which the module shares exceptions. Libraries of pictures are within the program.
# Usage: tools/wheel.sh     on Debian 12; tests/packages/wheel.sh installs and uses it
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$PWD/build-wheel"
platform=manylinux_2_35_x86_64
python="$(tools/python.sh wheel)"
export PATH="${python%/*}:$PATH"
archives="$(g++ -print-file-name=libpng.a)"
archives="${archives%/*}"

rm -rf "$folder"
mkdir -p "$folder"
# step NAME COMMAND...: its output is shown only where it fails.
step() {
  local log="$folder/$1.log"
  shift
  "$@" > "$log" 2>&1 || { tail -n 40 "$log" >&2; echo "all of it is in ${log#"$PWD/"}" >&2; return 1; }
}
step archive python -m build --sdist --no-isolation --outdir "$folder/dist" .
tar -C "$folder" -xf "$folder"/dist/*.tar.gz
tree="$(echo "$folder"/axisloom-*/)"
# The folders stand as the tests' build and the root do, and the compiler has the same name: ccache has what that compiled.
export CXX="${CXX:-c++}" CCACHE_BASEDIR="${tree%/}" CCACHE_NOHASHDIR=1
step build python -m pip --disable-pip-version-check wheel "$tree" --no-deps --no-build-isolation --wheel-dir "$folder/raw" \
  --config-settings build-dir="${tree}build" --config-settings cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON \
  --config-settings cmake.define.PNG_LIBRARY_RELEASE="$archives/libpng.a" --config-settings cmake.define.JPEG_LIBRARY_RELEASE="$archives/libjpeg.a" \
  --config-settings cmake.define.ZLIB_LIBRARY_RELEASE="$archives/libz.a"

# A library that is not of the system would be copied into the wheel: there must be none. What is too new for the platform, or
# not of the stable ABI, is an error.
judge() {
  auditwheel repair --only-plat --plat "$platform" --wheel-dir "$folder/dist" "$folder"/raw/*.whl &&
    auditwheel show "$folder"/dist/*.whl && abi3audit --strict --summary "$folder"/dist/*.whl || return 1
  if python -m zipfile -l "$folder"/dist/*.whl | grep -F .libs/; then
    echo "the wheel needs a library that is not of the system"
    return 1
  fi
}
step audit judge
wheel="$(echo "$folder"/dist/*.whl)"
echo "${wheel#"$PWD/"}: $(stat -c %s "$wheel") bytes"
