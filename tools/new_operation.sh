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

#include <numeric>

namespace axisloom::ops {
namespace {

std::vector<int> order_of(const View& in) {
  std::vector<int> order(std::size_t(in.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

View result(const Operation&, std::span<const View> inputs) {
  return permuted_result(inputs[0], order_of(inputs[0]));
}

core::Move move(const Operation&, std::span<const View> views) {
  return permuted(views[0], views[1], order_of(views[0]));
}

}  // namespace

std::span<const OpEntry> ${name}_entries() {
  static const OpEntry entry = move_entry({.name = "$name",
                                           .summary = "Reverse the order of the axes.",
                                           .examples = "axisloom $name in.npy -o out.npy",
                                           .result = result,
                                           .move = move});
  return {&entry, 1};
}

}  // namespace axisloom::ops
END
echo "OPERATION($name)" >> operations.inc
