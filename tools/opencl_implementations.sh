#!/usr/bin/env bash
# Other implementations of OpenCL to test with, each in a folder of its own, so that a program sees exactly one of them
# and the system's own drivers stay as they are.
# Usage: tools/opencl_implementations.sh install [NAME...]
#        tools/opencl_implementations.sh run NAME COMMAND [ARGUMENT...]
#        tools/opencl_implementations.sh names | platform NAME
#   pocl      the system's package (pocl-opencl-icd)
#   intel     Intel's runtime for CPUs, from PyPI into .cache/opencl/intel (its licence allows use, not passing it on)
#   rusticl   Mesa's, on llvmpipe: the package mesa-opencl-icd, unpacked into .cache/opencl/rusticl; it has no f64
#   oclgrind  the system's package (oclgrind)
# Their caches lie in .cache/opencl/NAME/cache, or below AXISLOOM_IMPLEMENTATION_CACHE.
set -euo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)"
home="$root/.cache/opencl"
names=(pocl intel rusticl oclgrind)
# The first does not name the third, without which libsvml is missing.
intel_packages=('intel-opencl-rt==2026.2.0' 'tbb==2023.2.0' 'intel-cmplr-lib-rt==2026.2.0')

die() {
  echo "$*" >&2
  exit 1
}

# library_of NAME: the driver, or nothing where it is not installed.
library_of() {
  case "$1" in
    pocl) find /usr/lib /usr/local/lib -name 'libpocl.so.*' -type f -print -quit 2> /dev/null ;;
    intel) find "$home/intel/lib" -maxdepth 1 -name libintelocl.so -print -quit 2> /dev/null ;;
    rusticl) find "$home/rusticl/usr/lib" -name 'libRusticlOpenCL.so.1' -print -quit 2> /dev/null ;;
    oclgrind) find /usr/lib /usr/local/lib -name liboclgrind-rt-icd.so -print -quit 2> /dev/null ;;
    *) die "there is no implementation \"$1\"; there are: ${names[*]}" ;;
  esac
}

# What `axisloom devices` calls the platform.
platform_of() {
  case "$1" in
    pocl) echo 'Portable Computing Language' ;;
    intel) echo 'Intel(R) OpenCL' ;;
    rusticl) echo rusticl ;;
    oclgrind) echo Oclgrind ;;
  esac
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    command -v sudo > /dev/null || die "neither root nor sudo to run: $*"
    sudo "$@"
  fi
}

install_intel() {
  python3 -m venv "$home/intel"
  "$home/intel/bin/pip" install --quiet --disable-pip-version-check "${intel_packages[@]}"
}

# The driver is unpacked and not installed, since every program would see it then; what it needs is installed.
install_rusticl() {
  local needed work
  as_root apt-get update
  needed="$(apt-cache show mesa-opencl-icd | sed -n 's/^Depends: //p' | head -n 1)"
  [[ -n "$needed" ]] || die "apt knows no package mesa-opencl-icd"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get satisfy -y --no-install-recommends "$needed"
  work="$(mktemp -d)"
  (cd "$work" && apt-get download mesa-opencl-icd)
  mkdir -p "$home/rusticl"
  dpkg-deb -x "$work"/*.deb "$home/rusticl"
  rm -r "$work"
}

install() {
  local name log
  for name in "$@"; do
    if [[ -n "$(library_of "$name")" ]]; then continue; fi
    declare -F "install_$name" > /dev/null || die "$name is not installed: tools/install_dependencies.sh test"
    echo "Installing $name into .cache/opencl"
    mkdir -p "$home"
    log="$home/$name.log"
    "install_$name" > "$log" 2>&1 || { tail -n 20 "$log" >&2; die "cannot install $name"; }
    [[ -n "$(library_of "$name")" ]] || die "$name was installed and its library is not there"
  done
}

# run NAME COMMAND...: in an environment in which it is the only implementation.
run() {
  local name="$1" library cache
  shift
  library="$(library_of "$name")"
  [[ -n "$library" ]] || die "$name is not installed: tools/opencl_implementations.sh install $name"
  cache="${AXISLOOM_IMPLEMENTATION_CACHE:-$home}/$name/cache"
  mkdir -p "$cache"/{pocl,mesa} "$home/$name/vendors"
  # Renamed into place, since several programs may begin at once.
  echo "$library" > "$home/$name/vendors/new.$$"
  mv "$home/$name/vendors/new.$$" "$home/$name/vendors/$name.icd"
  AXISLOOM_DEVICE="opencl:$(platform_of "$name")"
  export AXISLOOM_DEVICE OCL_ICD_VENDORS="$home/$name/vendors" POCL_CACHE_DIR="$cache/pocl" \
    MESA_SHADER_CACHE_DIR="$cache/mesa" RUSTICL_ENABLE=llvmpipe
  exec "$@"
}

case "${1:-}" in
  install) shift && install "${@:-${names[@]}}" ;;
  run) (($# >= 3)) || die "usage: $0 run NAME COMMAND [ARGUMENT...]"; shift && run "$@" ;;
  names) printf '%s\n' "${names[@]}" ;;
  platform) platform_of "${2:?usage: $0 platform NAME}" ;;
  *) echo "usage: $0 install [NAME...] | run NAME COMMAND [ARGUMENT...] | names | platform NAME" >&2; exit 2 ;;
esac
