#!/usr/bin/env bash
# Makes the Python package's wheel, and installs and uses it in systems that hold Python and nothing else: no compiler, no
# driver, no network. Needs root, and the network for the systems' packages and for NumPy and nanobind's backend.
# Usage: tests/packages/wheel.sh [SYSTEM...]      bookworm, trixie, noble: CPython 3.11, 3.13, 3.12 (default: bookworm)
#   AXISLOOM_SYSTEMS: where the systems are kept (default: build-release/systems)
set -euo pipefail
cd "$(dirname "$0")/../.."
systems="${AXISLOOM_SYSTEMS:-$PWD/build-release/systems}"
names=("$@")
if ((${#names[@]} == 0)); then names=(bookworm); fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

echo "-- build"
tools/wheel.sh
if ! unshare --mount true 2> /dev/null; then
  echo "NOT RUN: the wheel on bare systems, which need root and a mount namespace"
  exit
fi
python="$(tools/python.sh wheel)"

# with_python NAME: the bare system with Python and venv beside it, made once.
with_python() {
  local folder="$systems/$1-python"
  if [[ -e "$folder/usr/bin/python3" ]]; then return; fi
  tools/make_system.sh "$1" "$systems/$1" || return 1
  rm -rf "$folder.part"
  cp -a "$systems/$1" "$folder.part"
  if ! chroot "$folder.part" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -euc '
    if grep -q ubuntu /etc/apt/sources.list; then sed -i "s/ main$/ main universe/" /etc/apt/sources.list; fi
    apt-get update
    apt-get install -y --no-install-recommends python3-venv' > "$folder.log" 2>&1; then
    tail -n 5 "$folder.log" >&2
    return 1
  fi
  mv "$folder.part" "$folder"
}

# with_wheels ROOT: what pip needs for our wheel on that system's Python and glibc, in /root/wheels.
with_wheels() {
  local version glibc platforms=(--platform manylinux2014_x86_64) minor
  version="$(chroot "$1" /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
  glibc="$(chroot "$1" /usr/bin/ldd --version | sed -n '1s/.* 2\.//p')"
  for ((minor = 17; minor <= glibc; minor++)); do platforms+=(--platform "manylinux_2_${minor}_x86_64"); done
  "$python" -m pip --quiet --disable-pip-version-check download --only-binary :all: --implementation cp \
    --python-version "$version" "${platforms[@]}" --dest "$1/root/wheels" build-wheel/dist/*.whl numpy
}

# try_on NAME: in a copy of the system.
try_on() {
  with_python "$1" || return 1
  local root="$work/$1"
  cp -a "$systems/$1-python" "$root"
  with_wheels "$root" || return 1
  cp tests/packages/wheel_test.py README.md "$root/root/"
  # shellcheck disable=SC2016  # the inner shells expand these
  unshare --mount --net --propagation private sh -euc 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"' "$root" \
    /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 sh -euc '
    cd /root
    . /etc/os-release
    echo "-- $PRETTY_NAME, $(python3 --version), $(ldd --version | sed -n "1s/.* //p")"
    for absent in c++ g++ gcc clang; do
      if command -v $absent; then echo "there is a compiler: $absent"; exit 1; fi
    done
    python3 -m venv try
    try/bin/pip install --quiet --disable-pip-version-check --no-index --find-links wheels "axisloom[numpy]"
    try/bin/python wheel_test.py'
}

passed=0
failed=0
for name in "${names[@]}"; do
  if try_on "$name"; then
    passed=$((passed + 1))
  else
    echo "FAILED on $name" >&2
    failed=$((failed + 1))
  fi
  rm -rf "${work:?}/$name"
done
echo "$passed passed, $failed failed"
((failed == 0))
