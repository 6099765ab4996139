#!/usr/bin/env bash
# Installs what is missing on Debian 12 and Ubuntu 24.04, says what it installs, and is silent when nothing is missing.
# Usage: tools/install_dependencies.sh build|test|ci|lint|reference|release|deb|packages|python|mpi [no-drivers]
#   no-drivers: PoCL and OpenCL's loader are left out, which nothing needs that runs on the host
set -euo pipefail
cd "$(dirname "$0")/.."
usage="usage: $0 build|test|ci|lint|reference|release|deb|packages|python|mpi [no-drivers]"

build_packages=(g++ cmake ninja-build make pkg-config opencl-headers libcli11-dev libfmt-dev nlohmann-json3-dev libpng-dev
  libjpeg-dev libgtest-dev)
driver_packages=(pocl-opencl-icd ocl-icd-libopencl1)
case "${2:-}" in
  "") build_packages+=("${driver_packages[@]}") ;;
  no-drivers) ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
test_packages=(libeigen3-dev libopencv-core-dev libdlpack-dev oclgrind clang libclang-rt-dev python3 python3-dev python3-numpy
  python3-venv binutils git clang-19 libamdhip64-dev g++-aarch64-linux-gnu qemu-user-static doxygen)
ci_packages=(ccache)
lint_packages=(clang-format clang-tidy)
reference_packages=(doxygen)
release_packages=(python3-venv binutils debootstrap)
deb_packages=(debhelper dpkg-dev git)
python_packages=(python3 python3-dev python3-venv)
mpi_packages=(libopenmpi-dev openmpi-bin libmpich-dev mpich)
packages_packages=("${deb_packages[@]}" lintian autopkgtest debootstrap python3-venv)

case "${1:-}" in
  build) packages=("${build_packages[@]}") ;;
  test) packages=("${build_packages[@]}" "${test_packages[@]}") ;;
  ci) packages=("${build_packages[@]}" "${test_packages[@]}" "${ci_packages[@]}") ;;
  lint) packages=("${build_packages[@]}" "${lint_packages[@]}") ;;
  reference) packages=("${reference_packages[@]}") ;;
  release) packages=("${build_packages[@]}" "${release_packages[@]}") ;;
  deb) packages=("${build_packages[@]}" "${deb_packages[@]}") ;;
  packages) packages=("${build_packages[@]}" "${packages_packages[@]}") ;;
  python) packages=("${build_packages[@]}" "${python_packages[@]}") ;;
  mpi) packages=("${build_packages[@]}" "${mpi_packages[@]}") ;;
  *) echo "$usage" >&2; exit 2 ;;
esac

if ! command -v apt-get > /dev/null; then
  echo "No apt-get here: these must be installed by hand (Debian's names): ${packages[*]}" >&2
  exit 0
fi

# Suites that run side by side install one after the other: apt-get waits for no other's lists. Nothing that it starts, which
# may stay, holds the lock.
exec 9< tools/install_dependencies.sh
flock 9

installed() { dpkg-query -W -f '${Status}' "$1" 2> /dev/null | grep -q 'ok installed'; }

missing=()
for package in "${packages[@]}"; do installed "$package" || missing+=("$package"); done
if ((${#missing[@]})); then
  as_root=()
  if ((EUID != 0)); then
    command -v sudo > /dev/null || { echo "Missing, and neither root nor sudo to install them: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "Installing: ${missing[*]}"
  log="$(mktemp)"
  trap 'rm -f "$log"' EXIT
  if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y --no-install-recommends "${missing[@]}"; } > "$log" 2>&1 9<&-; then
    tail -n 20 "$log" >&2
    echo "apt-get could not install: ${missing[*]}" >&2
    exit 1
  fi
fi
