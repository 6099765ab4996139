#!/usr/bin/env bash
# Makes the Debian packages of this folder as it is, changes that are not committed included: libaxisloom0, libaxisloom-dev,
# axisloom, and the source package, in build-deb. How they are made stands in packaging/debian, Debian's own way. Nothing is
# downloaded; what is missing to build is installed by `make deb`, which calls this.
# Usage: tools/build_deb.sh     on Debian 12; tests/packages/debian.sh installs and uses them
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$PWD/build-deb"

changelog() { dpkg-parsechangelog -l packaging/debian/changelog -S "$1"; }
part() { grep -oP "define AXISLOOM_VERSION_$1 \K[0-9]+" include/axisloom/version.hpp; }
version="$(part MAJOR).$(part MINOR).$(part PATCH)"
packaged="$(changelog Version)"
if [[ ${packaged%-*} != "$version" ]]; then
  echo "packaging/debian/changelog is about version ${packaged%-*}, include/axisloom/version.hpp about $version" >&2
  exit 1
fi

tree="$folder/axisloom-$version"
rm -rf "$tree"
mkdir -p "$tree"
find "$folder" -maxdepth 1 -type f -delete  # the packages of the last call
git -c safe.directory='*' ls-files -z --cached --others --exclude-standard -- ':!packaging/debian' |
  while IFS= read -r -d '' file; do if [[ -e $file ]]; then printf '%s\0' "$file"; fi; done |
  tar -c --null -T - | tar -C "$tree" -x
tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(changelog Timestamp)" -c "axisloom-$version" |
  gzip -9n > "$folder/axisloom_$version.orig.tar.gz"
cp -r packaging/debian "$tree/debian"

# Debugging information takes half of the time, and packages of its own: DEB_BUILD_OPTIONS= DEB_CXXFLAGS_APPEND= has it.
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-noautodbgsym}" DEB_CXXFLAGS_APPEND="${DEB_CXXFLAGS_APPEND--g0}"
# CMake asks the environment for ccache; its paths are to be those below the folder that is built.
export CCACHE_BASEDIR="$tree" CCACHE_NOHASHDIR=1
if ! (cd "$tree" && dpkg-buildpackage --no-sign --build=full) > "$folder/build.log" 2>&1; then
  tail -n 40 "$folder/build.log" >&2
  echo "the packages could not be built; all of it is in build-deb/build.log" >&2
  exit 1
fi
(cd "$folder" && ls -- *.deb)
