#!/usr/bin/env bash
# Begins an operation: a folder with its entry, and a line in src/ops/operations.inc. It builds and runs as it is, as the
# simplest of moves, with the axes of an array in reverse order; what it does otherwise is yours to write.
# Usage: tools/new_operation.sh NAME
set -euo pipefail
cd "$(dirname "$0")/../src/ops"

(($# == 1)) || { sed -n '4s/^# //p' "$0"; exit 2; }
name="$1"
refuse() { echo "tools/new_operation.sh: $1" >&2; exit 2; }
[[ "$name" =~ ^[a-z][a-z0-9_]*$ ]] || refuse "an operation's name is of lower-case letters, digits and _"
[[ ! -e "$name" ]] || refuse "src/ops has a $name"
! grep -q "name = \"$name\"" ./*/*.cpp || refuse "there is an operation $name"

mkdir "$name"
cat > "$name/$name.cpp" << END
// $name: the axes in reverse order.
#include "ops/rearrange/lowering.hpp"
#include "ops/rearrange/rearrange.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

View result(const Operation&, Views inputs) {
  Dims shape = inputs[0].shape;
  std::reverse(shape.begin(), shape.end());
  return View::contiguous(inputs[0].dtype, shape);
}

Move lower(const Operation&, Views views) {
  const View &in = views[0], &out = views[1];
  Move move = move_of(in, out);
  for (int axis = in.rank(); axis-- > 0;)
    move.axes.push_back({in.shape[axis], in.strides[axis], out.strides[int(move.axes.size())]});
  return move;
}

}  // namespace

std::span<const OpEntry> ${name}_entries() {
  static const std::vector<OpEntry> entries =
      move_entries({{.name = "$name",
                     .summary = "Reverse the order of the axes.",
                     .examples = "axisloom $name in.npy -o out.npy",
                     .result = result,
                     .move = lower}});
  return entries;
}

}  // namespace axisloom::ops
END
echo "OPERATION($name)" >> operations.inc
