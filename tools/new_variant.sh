#!/usr/bin/env bash
# Begins a variant as a copy of its nearest sibling: FOLDER/NAME.cpp, FOLDER/NAME.kernel and a line in variants.inc, before
# the last one, which fits everything. It builds and runs as it is; what it does otherwise is yours to write.
# Usage: tools/new_variant.sh rearrange|reduce|matmul NAME SIBLING       such as: tools/new_variant.sh rearrange ribbon rows_cpu
set -euo pipefail
cd "$(dirname "$0")/../src/ops"

(($# == 3)) || { sed -n '4s/^# //p' "$0"; exit 2; }
folder="$1" name="$2" sibling="$3"
refuse() { echo "tools/new_variant.sh: $1" >&2; exit 2; }
[[ -e "$folder/variants.inc" ]] || refuse "there is no folder $folder with variants: $(ls -x -- */variants.inc)"
[[ "$name" =~ ^[a-z][a-z0-9_]*$ ]] || refuse "a variant's name is of lower-case letters, digits and _"
! compgen -G "$folder/$name.*" > /dev/null || refuse "$folder has a $name"
for suffix in cpp kernel; do
  [[ -e "$folder/$sibling.$suffix" ]] || refuse "$folder has no $sibling.$suffix: take a sibling with a kernel of its own"
done
! grep -q "/$sibling.hpp\"" "$folder/$sibling.cpp" || refuse "$sibling.cpp is also used by others: take another sibling"

for suffix in cpp kernel; do
  sed -E "s/\b$sibling(\b|_)/$name\1/g" "$folder/$sibling.$suffix" > "$folder/$name.$suffix"
done
sed -i "\$i VARIANT($name)  // as $sibling" "$folder/variants.inc"
