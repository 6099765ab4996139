// From a pattern's axes, or a move's, to stretches of files.
#include "cli/file_plan.hpp"

#include "core/move.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"

#include <axisloom/distributed.hpp>
#include <axisloom/plan.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace axisloom::cli {
namespace {

using core::Loop, core::Loops, core::Operand;

// --- patterns --------------------------------------------------------------------------------------------------------

bool by_pattern(const ops::OpEntry& entry) {
  return entry.draw == ops::Draw::pattern || entry.draw == ops::Draw::new_axes;
}

bool is_part_of_cut(char c) {
  return core::is_letter(c) || core::is_digit(c) || c == '_' || c == ':';
}

/// The pattern without its cuts: "@x", "@(x y):balanced".
std::string without_cuts(std::string_view pattern) {
  std::string plain;
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '@') {
      plain += pattern[at++];
      continue;
    }
    if (++at < pattern.size() && pattern[at] == '(') at = pattern.find(')', at) + 1;
    while (at < pattern.size() && is_part_of_cut(pattern[at])) ++at;
  }
  return plain;
}

/// The names of mesh axes that a pattern cuts over, each once.
Texts mesh_names(std::string_view pattern) {
  Texts names;
  for (size_t at = pattern.find('@'); at != pattern.npos; at = pattern.find('@', at + 1)) {
    std::string_view over = pattern.substr(at + 1);
    over = over.starts_with('(') ? over.substr(1, over.find(')') - 1)
                                 : over.substr(0, std::ranges::find_if_not(over, is_part_of_cut) - over.begin());
    for (const std::string_view name : split(over.substr(0, over.find(':')), " "))
      if (!name.empty()) add_once(names, std::string(name));
  }
  return names;
}

std::string mesh_of(const SharedWork& work, const std::string& pattern, int ranks) {
  if (!work.mesh.empty()) return work.mesh;
  const Texts names = mesh_names(pattern);
  if (names.size() > 1)
    refuse(fmt::format("say how {} ranks form a grid, as in --mesh \"{}=2 {}={}\"", ranks, names[0], names[1],
                       std::max(1, ranks / 2)),
           "\"{}\" names {} axes of a mesh, and there is no --mesh", pattern, names.size());
  return fmt::format("{}={}", names.empty() ? "ranks" : names[0], ranks);
}

// --- plans -----------------------------------------------------------------------------------------------------------

/// One side's axes in the order of its file, slowest first: numbers of a move's axes.
std::vector<size_t> file_order(const Loops& axes, Operand side) {
  std::vector<size_t> order;
  for (size_t axis = 0; axis < axes.size(); ++axis)
    if (axes[axis].*side != 0) order.push_back(axis);
  std::ranges::sort(order, [&](size_t a, size_t b) { return axes[a].*side > axes[b].*side; });
  i64 elements = 1;
  for (size_t i = order.size(); i-- > 0; elements *= axes[order[i]].extent)
    if (axes[order[i]].*side != elements) refuse("run it without ranks", "the move leaves gaps in a file");
  return order;
}

std::string composed(std::span<const size_t> axes) {
  return concat("(", joined(axes, " ", [](size_t axis) { return concat("e", axis); }), ")");
}

/// Cuts the slowest axes together: as few of them as leave ranks with nearly as much as each other.
FileSide file_side(const Loops& axes, Operand side, int ranks) {
  constexpr i64 shares = 20;  // all but one of so many parts of a rank's work are what a fair share would be
  const std::vector<size_t> order = file_order(axes, side);
  if (order.empty()) return {};  // the one element of a file, which all ranks read
  i64 slow = 1, fast = 1;
  size_t count = 0;
  for (bool fair = false; !fair && count < order.size(); ++count) {
    slow *= axes[order[count]].extent;
    const i64 most = (slow + ranks - 1) / ranks;
    fair = shares * (most * ranks - slow) <= slow;
  }
  for (size_t i = count; i < order.size(); ++i) fast *= axes[order[i]].extent;
  const std::span all(order);
  FileSide made{.whole = composed(all),
                .cut = composed(all.first(count)) + "@ranks:balanced",
                .whole_shape = {slow * fast},
                .cut_shape = {slow}};
  if (count == order.size()) return made;
  made.cut += " " + composed(all.subspan(count));
  made.cut_shape.push_back(fast);
  return made;
}

Lengths lengths_of(const Loops& axes) {
  Lengths lengths;
  for (size_t axis = 0; axis < axes.size(); ++axis) lengths.emplace_back(concat("e", axis), axes[axis].extent);
  return lengths;
}

FilePlan plan_of_move(const core::Move& lowered, int ranks) {
  const core::Move move = core::normalise(lowered);
  if (move.tail) refuse("run it without ranks", "ranks do not fill up blocks of channels");
  Loops axes = move.axes;
  if (axes.empty() || move.count() == 0) axes = {Loop{.extent = move.count(), .in = 1, .out = 1}};
  return {.in = file_side(axes, &Loop::in, ranks),
          .parts = file_side(axes, &Loop::out, ranks).cut,
          .then = {},
          .lengths = lengths_of(axes)};
}

// --- reductions ------------------------------------------------------------------------------------------------------

bool reduces(const ops::OpEntry& entry) {
  return entry.draw == ops::Draw::reduced_pattern;
}

/// Each rank makes elements of its own of all that is reduced to them, in the order of the input's axes.
FilePlan plan_of_reduction(const Operation& op, const View& in, int ranks) {
  if (!core::contains(op.options, std::pair<std::string, std::string>("order", "portable")))
    refuse("add --order portable", "without a fixed order of additions the result would depend on the number of ranks");
  if (in.count() == 0) refuse("run it without ranks", "there are no elements to share");
  const core::BoundPattern bound = core::bind_one(op, op.arguments[1], in.shape, core::OneSided::left);
  const std::vector<i64> from = core::elementary_strides(bound, bound.inputs[0], in.strides);
  const std::vector<i64> to =
      core::elementary_strides(bound, bound.output, contiguous_strides(core::output_shape(bound)));
  Loops axes;
  std::vector<size_t> reduced;
  for (const core::Composition& dim : bound.inputs[0])
    for (const int axis : dim) {
      if (bound.axes[axis].extent == 1) continue;
      if (core::contains(bound.removed, axis)) reduced.push_back(axes.size());
      axes.push_back({.extent = bound.axes[axis].extent, .in = from[axis], .out = to[axis]});
    }
  const FileSide out = file_side(axes, &Loop::out, ranks);
  if (out.cut.empty()) refuse("run it without ranks", "the result has one element, which ranks cannot share");
  const char* const pattern = out.cut_shape.size() == 1 ? "a r -> a" : "a b r -> a b";
  return {.in = file_side(axes, &Loop::in, ranks),
          .parts = concat(out.cut, " ", composed(reduced)),
          .then = Operation{op.name, {op.arguments[0], pattern}, {}, op.options},
          .lengths = lengths_of(axes)};
}

}  // namespace

bool can_share(const ops::OpEntry& entry) {
  return entry.move != nullptr || reduces(entry);
}

Operation plain_operation(const SharedWork& work, const Dims& shape, int ranks) {
  Operation op = work.op;
  const std::string pattern = by_pattern(work.entry) ? op.arguments[0] : "";
  if (pattern.find('+') != pattern.npos) refuse("leave '+' out", "\"{}\": a file holds no addends", pattern);
  if (pattern.find('@') == pattern.npos && work.mesh.empty()) return op;
  const Mesh mesh(mesh_of(work, pattern, ranks));
  if (mesh.ranks() != ranks)
    refuse("give one that has as many", "the mesh \"{}\" has {} ranks, and {} were started", to_string(mesh),
           mesh.ranks(), ranks);
  if (pattern.find('@') == pattern.npos) return op;
  static_cast<void>(Redistribution(pattern, mesh, shape, op.lengths));
  op.arguments[0] = without_cuts(pattern);
  return op;
}

FilePlan file_plan(const ops::OpEntry& entry, const Operation& op, const View& in, const View& out, int ranks) {
  if (reduces(entry)) return plan_of_reduction(op, in, ranks);
  const std::array views{in, out};
  return plan_of_move(entry.move(op, views), ranks);
}

}  // namespace axisloom::cli
