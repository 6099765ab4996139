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

namespace axisloom::ops {
namespace {

constexpr i64 large_bytes = 64 << 20;  // moved, from which tuned values are kept apart: beyond most caches

void oracle(const Operation& op, Views views, std::span<const std::byte* const> in, std::byte* out) {
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

/// `lowered`: in any form; part of a move may have axes of one step, which no candidate expects.
std::shared_ptr<PlanImpl> plan_move(const Move& lowered, std::vector<View> views, const Device& device,
                                    const PlanOptions& options) {
  const Move move = normalise(lowered);
  auto plan = empty_plan(std::move(views), device, options);
  const MoveProblem problem{with_tail_in_front(move), index_bits(fits_32_bits(move), options.index, "move")};
  plan->report.index = problem.index_bits == 64 ? IndexWidth::bits64 : IndexWidth::bits32;
  plan->report.bytes_moved = move.bytes_moved();
  if (move.count() == 0 || (options.in_place && stays(move))) return plan;
  complete(*plan, request("rearrange", "move", move_candidates(), problem), options);
  return plan;
}

std::shared_ptr<PlanImpl> make_plan(const Operation& op, Views views, const Device& device,
                                    const PlanOptions& options) {
  return plan_move(lowered_move(op, views), {views.begin(), views.end()}, device, options);
}

Slices slices(const Operation& op, Views views, const Device& device, const PlanOptions& options, i64 limit) {
  Slices slices;
  for (Move& part : cut_move(lowered_move(op, views), limit)) {
    const Slice::Range in = rebase(0, part.in_offset, part.in_align, in_bounds(part), part.element);
    const Slice::Range out = rebase(1, part.out_offset, part.out_align, out_bounds(part), part.element);
    std::vector buffers{View::contiguous(Dtype::u8, {in.bytes}), View::contiguous(Dtype::u8, {out.bytes})};
    buffers[0].align = part.in_align;
    buffers[1].align = part.out_align;
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
