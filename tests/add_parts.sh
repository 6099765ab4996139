#!/usr/bin/env bash
# Adds a variant to each folder that has some, and an operation, as CONTRIBUTING.md says; builds the program, and runs a
# case through each. Fails when another file had to be touched. All that is written goes to memory that lies over the tree
# where it stands: so the build that is there goes on, and nothing of it is left. Where the system does not allow that,
# a copy of the tree is built from nothing, which takes minutes.
# Usage: tests/add_parts.sh BUILD_FOLDER
set -euo pipefail

# In the current folder, a tree that may be changed, with the build in $1; $2: a folder for notes.
add_parts() {
  local build="$1" notes="$2"
  sums() { find . \( -name 'build*' -o -name .git -o -name __pycache__ \) -prune -o -type f -exec sha1sum {} + | sort; }
  sums > "$notes/before"
  tools/new_variant.sh rearrange spare rows_cpu
  tools/new_variant.sh reduce spare plain
  tools/new_variant.sh matmul spare plain
  tools/new_operation.sh reversed
  cmake --build "$build" --target axisloom_cli > "$notes/log" 2>&1 || { tail -n 40 "$notes/log" >&2; return 1; }

  "$build/axisloom" check --candidate spare 'copy f32 100x31' 'sum f32 100x31 axes=1' 'matmul f32 40x31,31x20'
  "$build/axisloom" check 'reversed u16 3x4x5'
  printf abcdef > "$notes/in.raw"
  "$build/axisloom" reversed --shape 2x3 --dtype u8 "$notes/in.raw" -o "$notes/out.raw"
  [[ "$(< "$notes/out.raw")" == adbecf ]] || { echo "reversed gives $(< "$notes/out.raw")" >&2; return 1; }
  python3 tests/modules.py

  sums > "$notes/after"
  comm -3 "$notes/before" "$notes/after" | awk '{ print $NF }' | sort -u > "$notes/touched"
  printf './src/ops/%s\n' {matmul,rearrange,reduce}/{spare.cpp,spare.kernel,variants.inc} operations.inc \
    reversed/reversed.cpp | sort | diff - "$notes/touched" || { echo "these files were touched, or not" >&2; return 1; }
}

if [[ "$1" == --inside ]]; then
  layers="$3"
  mount -t tmpfs tmpfs "$layers"
  mkdir "$layers/written" "$layers/work" "$layers/notes"
  mount -t overlay overlay -o "userxattr,lowerdir=$PWD,upperdir=$layers/written,workdir=$layers/work" "$PWD"
  cd "$PWD"
  if [[ -n "${4:-}" ]]; then exit; fi  # it was to be seen whether this can be done
  add_parts "$2" "$layers/notes"
  exit
fi

cd "$(dirname "$0")/.."
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
over_the_tree() { unshare --user --map-root-user --mount tests/add_parts.sh --inside "$1" "$scratch" "${@:2}"; }
if over_the_tree "$1" only-try 2> "$scratch/why"; then
  over_the_tree "$1"
else
  git ls-files -co --exclude-standard -z | tar -c --null -T - | tar -x -C "$scratch"
  mkdir "$scratch/.notes"
  cd "$scratch"
  cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release -DAXISLOOM_TESTS=OFF > .notes/log
  add_parts build .notes
fi
