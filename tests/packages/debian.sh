#!/usr/bin/env bash
# Builds the Debian packages, without hot kernels, which do not change what is packaged, has lintian judge them, and runs
# their own tests (packaging/debian/tests) in a copy of a Debian 12 that holds nothing but its smallest set of packages.
# Needs root, and the network for Debian's packages.
# Usage: tests/packages/debian.sh
#   AXISLOOM_SYSTEMS: where the system is kept (default: build-release/systems)
set -euo pipefail
cd "$(dirname "$0")/../.."
systems="${AXISLOOM_SYSTEMS:-$PWD/build-release/systems}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

echo "-- build"
LEVELS=none tools/build_deb.sh
echo "-- lintian"
lintian --allow-root --fail-on error,warning --info build-deb/*.changes
echo "-- autopkgtest"
if ! unshare --mount true 2> /dev/null; then
  echo "NOT RUN: the tests in packaging/debian/tests, which need root and a mount namespace"
  exit
fi
tools/make_system.sh bookworm "$systems/bookworm"
cp -a "$systems/bookworm" "$work/system"
mapfile -t packages < <(find build-deb -name '*.deb' ! -name '*-dbgsym_*')
mapfile -t -O "${#packages[@]}" packages < <(find build-deb -name '*.dsc')
# In a namespace of its own, with which its /proc goes, and without variables that name what it lacks, such as ccache.
if ! unshare --mount --propagation private sh -euc 'mount -t proc proc "$0/proc"; exec "$@"' "$work/system" \
     env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
     autopkgtest --no-built-binaries --setup-commands "apt-get update" --output-dir "$work/results" "${packages[@]}" \
     -- chroot "$work/system" > "$work/log" 2>&1; then
  tail -n 60 "$work/log" >&2
  exit 1
fi
cat "$work/results/summary"
echo "$(grep -c ' PASS$' "$work/results/summary") passed, 0 failed"
