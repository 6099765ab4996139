#!/usr/bin/env bash
# Makes a system of nothing but its smallest set of packages in a folder, by debootstrap, unless the folder is there. Needs
# root, the network, and some 400 MB.
# Usage: tools/make_system.sh NAME FOLDER      bullseye, bookworm, trixie: Debian; noble: Ubuntu
set -euo pipefail
name="$1"
folder="$2"
if [[ -e "$folder/etc/os-release" ]]; then exit 0; fi

archive=(http://deb.debian.org/debian)
options=(--variant=minbase)
if [[ $name == noble ]]; then  # by the script of all Ubuntus; unsigned, since Debian has neither its name nor its keys
  archive=(http://archive.ubuntu.com/ubuntu gutsy)
  options+=(--no-check-gpg)
fi
mkdir -p "$(dirname "$folder")"
rm -rf "${folder:?}.part"
if ! debootstrap "${options[@]}" "$name" "$folder.part" "${archive[@]}" > "$folder.log" 2>&1; then
  tail -n 5 "$folder.log" >&2
  exit 1
fi
mv "$folder.part" "$folder"
