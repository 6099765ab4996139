#!/usr/bin/env bash
# Makes the Python package's wheel in build-wheel/dist, and has auditwheel and abi3audit judge it. How it is made stands in
# pyproject.toml. It is compiled by GCC, as what is tested and measured is. Zig's compiler, which `make release` uses, would
# ask for an older glibc, but has another C++ library than nanobind's backend, with which the module shares exceptions.
# Libraries of pictures are within the program.
# Usage: tools/wheel.sh     on Debian 12; tests/packages/wheel.sh installs and uses it
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$PWD/build-wheel"
platform=manylinux_2_35_x86_64
python="$(tools/python.sh wheel)"
export PATH="${python%/*}:$PATH"
archives="$(g++ -print-file-name=libpng.a)"
archives="${archives%/*}"

# Beside the root as `build` is, with its compiler's name and its flags: ccache has what that compiled.
export CXX="${CXX:-c++}"
rm -rf "$folder/dist" "$folder/raw"
mkdir -p "$folder"
if ! pip --disable-pip-version-check wheel . --no-deps --no-build-isolation --wheel-dir "$folder/raw" \
     -C build-dir="$folder" -C cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON \
     -C cmake.define.PNG_LIBRARY_RELEASE="$archives/libpng.a" -C cmake.define.JPEG_LIBRARY_RELEASE="$archives/libjpeg.a" \
     -C cmake.define.ZLIB_LIBRARY_RELEASE="$archives/libz.a" > "$folder/build.log" 2>&1; then
  tail -n 40 "$folder/build.log" >&2
  echo "the wheel could not be built; all of it is in build-wheel/build.log" >&2
  exit 1
fi

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
judge > "$folder/audit.log" 2>&1 || { cat "$folder/audit.log" >&2; exit 1; }
wheel="$(echo "$folder"/dist/*.whl)"
echo "${wheel#"$PWD/"}: $(stat -c %s "$wheel") bytes"
