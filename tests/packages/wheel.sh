#!/usr/bin/env bash
# Makes the Python package's wheel, and installs and uses it in systems that hold Python and nothing else: no compiler, no
# driver. Needs root, and the network for the systems' packages and for what pip installs beside the wheel.
# Usage: tests/packages/wheel.sh [SYSTEM...]      bookworm, trixie, noble: CPython 3.11, 3.13, 3.12 (default: bookworm)
#   AXISLOOM_SYSTEMS: where the systems are kept (default: build-release/systems)
set -euo pipefail
cd "$(dirname "$0")/../.."
systems="${AXISLOOM_SYSTEMS:-$PWD/build-release/systems}"
names=("$@")
if ((${#names[@]} == 0)); then names=(bookworm); fi

echo "-- build"
tools/wheel.sh
if ! unshare --mount true 2> /dev/null; then
  echo "NOT RUN: the wheel on bare systems, which need root and a mount namespace"
  exit
fi

# with_python NAME: the bare system with pip beside it, made once.
with_python() {
  local folder="$systems/$1-python"
  if [[ -e "$folder/usr/bin/pip3" ]]; then return; fi
  tools/make_system.sh "$1" "$systems/$1"
  rm -rf "$folder"
  cp -a "$systems/$1" "$folder"
  chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -euc '
    if grep -q noble /etc/apt/sources.list; then sed -i "s/ main$/ main universe/" /etc/apt/sources.list; fi
    apt-get update
    apt-get install -y --no-install-recommends ca-certificates python3-pip python3-venv' > "$folder.log" 2>&1 ||
    { rm -rf "$folder" && tail -n 5 "$folder.log" >&2 && return 1; }
}

# try_on NAME: in a copy of the system that goes afterwards.
try_on() {
  with_python "$1" || return 1
  work="$(mktemp -d)"
  cp -a "$systems/$1-python/." "$work/"
  cp build-wheel/dist/*.whl tests/packages/wheel_test.py "$work/root/"
  cp /etc/resolv.conf "$work/etc/resolv.conf"
  # pip's own settings, which may name another index, are those of this machine.
  pip_variables="$(env | grep '^PIP_' || true)"
  # shellcheck disable=SC2086  # a variable each
  unshare --mount --propagation private sh -euc 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"' "$work" \
    /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 $pip_variables sh -euc '
    cd /root
    . /etc/os-release
    echo "-- $PRETTY_NAME, $(python3 --version), $(ldd --version | sed -n "1s/.* //p")"
    for absent in c++ g++ gcc clang; do if command -v $absent; then echo "there is a compiler: $absent"; exit 1; fi; done
    python3 -m venv try
    . try/bin/activate
    pip install --quiet --disable-pip-version-check ./*.whl numpy
    python wheel_test.py'
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
  rm -rf "${work:?}"
done
echo "$passed passed, $failed failed"
((failed == 0))
