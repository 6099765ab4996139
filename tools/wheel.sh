#!/usr/bin/env bash
# Makes the Python package's wheel in build-wheel/dist, for any Linux on x86-64 with glibc 2.31 or newer and every CPython
# from 3.11 on, and has auditwheel and abi3audit judge it. How it is made stands in pyproject.toml; the compiler is that of
# tools/make_toolchain.sh.
# Usage: tools/wheel.sh     on Debian 12; tests/packages/wheel.sh installs and uses it
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$PWD/build-wheel"

tools/make_toolchain.sh build-release
python="$(tools/python.sh wheel)"
export PATH="${python%/*}:$PATH"

rm -rf "$folder/dist" "$folder/raw"
if ! pip --disable-pip-version-check wheel . --no-deps --no-build-isolation --wheel-dir "$folder/raw" \
     -C build-dir="$folder/build" -C cmake.toolchain-file="$PWD/build-release/toolchain.cmake" \
     > "$folder/build.log" 2>&1; then
  tail -n 40 "$folder/build.log" >&2
  echo "the wheel could not be built; all of it is in build-wheel/build.log" >&2
  exit 1
fi

# A library that is not of the system would be copied into the wheel: there must be none.
tag="manylinux_$(tools/make_toolchain.sh --oldest-glibc | tr . _)_x86_64"
auditwheel repair --only-plat --plat "$tag" --wheel-dir "$folder/dist" "$folder"/raw/*.whl > "$folder/audit.log" 2>&1 ||
  { cat "$folder/audit.log" >&2; exit 1; }
wheel="$(echo "$folder"/dist/*.whl)"
if python3 -m zipfile -l "$wheel" | grep -F .libs/ >&2; then
  echo "the wheel needs a library that is not of the system" >&2
  exit 1
fi
auditwheel show "$wheel"
abi3audit --strict --summary "$wheel"
echo "${wheel#"$PWD/"}: $(stat -c %s "$wheel") bytes"
