// What all moves share: checks, plan, oracle and slices.
#include "ops/rearrange/rearrange.hpp"

#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/rearrange/candidate.hpp"
#include "ops/rearrange/lowering.hpp"
#include "ops/rearrange/oracle.hpp"
#include "ops/rearrange/params.hpp"
#include "planner/choose.hpp"

#include <algorithm>
#include <array>

namespace axisloom::ops {
namespace {

constexpr i64 large_bytes = 64 << 20;  // moved, from which tuned values are kept apart: beyond most caches

void oracle(const Operation& op, Views views, HostBuffers in, std::byte* out) {
  move_on_host(lowered_move(op, views), in[0], out);
}

i64 bytes(const Operation& op, Views views) {
  return lowered_move(op, views).bytes_moved();
}

/// Whether every element's place in the output is its place in the input.
bool stays(const Move& move) {
  return move.in_offset == move.out_offset && !move.tail &&
         std::ranges::all_of(move.axes, [](const auto& axis) { return axis.in == axis.out; });
}

SharedPlan plan_move(const Move& lowered, Views views, const Device& device, const PlanOptions& options);

/// A move of more axes than kernels walk: the shortest ones become a loop over launches.
SharedPlan plan_in_launches(Move move, Views views, const Device& device, const PlanOptions& options) {
  const size_t axes = move.axes.size();
  const i64 bytes = move.bytes_moved();
  const core::Loops outer = core::take_shortest(move.axes, MOVE_AXES);
  if (core::count(outer) > most_repeats) throw_too_many_axes("move", axes, MOVE_AXES);
  for (const Loop& loop : outer) {  // each launch begins where all may
    move.in_align = core::common_alignment(move.in_align, loop.in * move.element);
    move.out_align = core::common_alignment(move.out_align, loop.out * move.element);
  }
  auto plan = plan_move(move, views, device, options);
  std::vector<std::vector<Place>> others;
  for (const Loop& at : core::points_of(outer))
    others.push_back({{0, at.in * move.element}, {1, at.out * move.element}});
  others.erase(others.begin());
  repeat(*plan, others);
  plan->report.bytes_moved = bytes;
  return plan;
}

/// `lowered`: in any form; part of a move may have axes of one step, which no candidate expects.
SharedPlan plan_move(const Move& lowered, Views views, const Device& device, const PlanOptions& options) {
  const Move move = normalise(lowered);
  if (move.axes.size() > MOVE_AXES && !move.tail && move.count() > 0)
    return plan_in_launches(move, views, device, options);
  auto plan = empty_plan(views, device, options);
  const MoveProblem problem{with_tail_in_front(move), index_bits(fits_32_bits(move), options.index, "move")};
  plan->report.index = width_of(problem.index_bits);
  plan->report.bytes_moved = move.bytes_moved();
  if (move.count() == 0 || (options.in_place && stays(move))) return plan;
  complete(*plan, request("rearrange", "move", move_candidates(), problem), options);
  return plan;
}

SharedPlan make_plan(const Operation& op, Views views, const Device& device, const PlanOptions& options) {
  return plan_move(lowered_move(op, views), views, device, options);
}

Slices slices(const Operation& op, Views views, const Device& device, const PlanOptions& options, i64 limit) {
  Slices slices;
  for (Move& part : cut_move(lowered_move(op, views), limit)) {
    const Slice::Range in = rebase(0, part.in_offset, part.in_align, in_bounds(part), part.element);
    const Slice::Range out = rebase(1, part.out_offset, part.out_align, out_bounds(part), part.element);
    const std::array buffers{view_of(in, Dtype::u8, part.in_align), view_of(out, Dtype::u8, part.out_align)};
    slices.list.push_back({{in, out}, plan_move(part, buffers, device, options)});
  }
  return slices;
}

}  // namespace

std::string to_string(const MoveProblem& problem) {
  return to_string(problem.move);
}

std::string shape_class(const MoveProblem& problem) {
  const Move& move = problem.move;
  return concat(move.element, "B ", move.axes.size(), "-d ", move.bytes_moved() >= large_bytes ? "large" : "small");
}

Move lowered_move(const Operation& op, Views views) {
  return entry(op.name).move(op, views);
}

std::vector<OpEntry> move_entries(std::vector<OpEntry> entries) {
  for (OpEntry& entry : entries) {
    entry.plan = make_plan;
    entry.oracle = oracle;
    entry.bytes = bytes;
    entry.slices = slices;
    entry.candidates = move_candidates().infos();
  }
  return entries;
}

}  // namespace axisloom::ops
