#!/usr/bin/env bash
# Runs the program of `make release` on systems that hold nothing but their smallest set of packages: debootstrap makes
# each in a folder, and the program is started in a chroot. Needs root, the network, and some 400 MB for each system.
# Usage: tools/try_release.sh [SYSTEM...]      bullseye, bookworm, trixie, noble (default: all)
#   AXISLOOM_SYSTEMS: where the systems are kept (default: build-release/systems)
set -euo pipefail
cd "$(dirname "$0")/.."
program="$PWD/build-release/axisloom"
systems="${AXISLOOM_SYSTEMS:-$PWD/build-release/systems}"
names=("$@")
if ((${#names[@]} == 0)); then names=(bullseye bookworm trixie noble); fi

# Those of this processor, which the program must find on each of the systems.
levels=""
if grep -qw avx2 /proc/cpuinfo; then levels+=" v3"; fi
if grep -qw avx512vl /proc/cpuinfo; then levels+=" v4"; fi

# try_on NAME: a picture is made, transposed and compared, and cases are checked; with no driver, and a cache of its own.
try_on() {
  cp "$program" "$systems/$1/usr/local/bin/axisloom"
  chroot "$systems/$1" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/root /bin/sh -euc '
    . /etc/os-release
    echo "-- $PRETTY_NAME, $(ldd --version | sed -n "1s/.* //p")"
    rm -rf /root/.cache/axisloom /tmp/try && mkdir /tmp/try && cd /tmp/try
    axisloom --version
    axisloom demo -o cards --quiet
    axisloom transpose cards/card.png -o transposed.png
    cmp transposed.png cards/card-transposed.png
    for isa in baseline '"$levels"'; do AXISLOOM_ISA=$isa axisloom check --device host --random 200 --seed 1; done
    axisloom devices'
}

passed=0
failed=0
for name in "${names[@]}"; do
  if tools/make_system.sh "$name" "$systems/$name" && try_on "$name"; then
    passed=$((passed + 1))
  else
    echo "FAILED on $name" >&2
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
