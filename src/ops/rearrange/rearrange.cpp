// The move operations: their registry entries, and the plan that all of them share.
#include "ops/rearrange/rearrange.hpp"

#include "core/overlap.hpp"
#include "ops/rearrange/candidate.hpp"
#include "ops/rearrange/lowering.hpp"
#include "ops/rearrange/oracle.hpp"
#include "ops/rearrange/params.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <array>

namespace axisloom::ops {
namespace {

using Result = View (*)(const Operation&, const View&);
using Lower = core::Move (*)(const Operation&, const View&, const View&);

/// What distinguishes one move operation from another; everything else is shared.
struct MoveOp {
  std::string_view name, summary;
  std::span<const Word> words;
  bool lengths;
  Result result;
  Lower lower;
};

constexpr std::array pattern_word = {Word{"pattern", "einops pattern, such as \"n (c x) h w -> n c h w x\""}};
constexpr std::array axes_word = {Word{"axes", "input axis of each output axis, such as 2,0,1"}};
constexpr std::array layout_words = {
    Word{"from", "layout of the input: NCHW, NHWC, CHWN, NC/xHWx with x in 4, 8, 16, 32"},
    Word{"to", "layout of the output; a tail of channels is filled with zeros"}};

constexpr std::array move_ops = {
    MoveOp{"rearrange", "Reorder, split and merge axes by an einops pattern.", pattern_word, true, rearrange_result,
           lower_rearrange},
    MoveOp{"repeat", "As rearrange, with new axes on the right.", pattern_word, true, rearrange_result,
           lower_rearrange},
    MoveOp{"copy", "The same shape, with other strides.", {}, false, copy_result, lower_copy},
    MoveOp{"transpose", "Exchange the last two axes.", {}, false, transpose_result, lower_transpose},
    MoveOp{"permute", "Reorder axes by number.", axes_word, false, permute_result, lower_permute},
    MoveOp{"relayout", "Change between image layouts, with channels in blocks or not.", layout_words, true,
           relayout_result, lower_relayout},
};

const MoveOp& move_op(const Operation& op) {
  return *std::find_if(move_ops.begin(), move_ops.end(), [&](const MoveOp& m) { return m.name == op.name; });
}

View result(const Operation& op, std::span<const View> inputs) {
  return move_op(op).result(op, inputs[0]);
}

void oracle(const Operation& op, std::span<const View> views, std::span<const std::byte* const> in, std::byte* out) {
  move_on_host(lowered_move(op, views), in[0], out);
}

std::int64_t bytes(const Operation& op, std::span<const View> views) {
  return lowered_move(op, views).bytes_moved();
}

std::span<const CandidateInfo> candidate_infos() {
  static const std::vector<CandidateInfo> infos = [] {
    std::vector<CandidateInfo> list;
    for (const MoveCandidate& candidate : move_candidates()) list.push_back(candidate.info);
    return list;
  }();
  return infos;
}

int index_bits(const core::Move& move, IndexWidth width) {
  const bool fits = core::fits_32_bits(move);
  if (width == IndexWidth::bits32 && !fits)
    throw Error(Errc::usage, "32-bit indices cannot address every element of this move", "leave the index width open");
  return fits && width != IndexWidth::bits64 ? 32 : 64;
}

tune::Key key_of(const MoveCandidate& candidate, const core::Move& move) {
  const char* const size = move.bytes_moved() >= (64 << 20) ? "large" : "small";
  return {"rearrange/" + std::string(candidate.info.name), core::to_string(move),
          std::to_string(move.element) + "B " + std::to_string(move.axes.size()) + "-d " + size};
}

[[noreturn]] void throw_refused(const MoveProblem& problem, const std::string& why) {
  if (problem.in_place)
    throw Error(Errc::usage, "this move cannot be done in place" + why, "give an output of its own");
  throw Error(Errc::unsupported, "no candidate takes this move" + why, "leave candidate and configuration open");
}

void check_views(const Operation& op, std::span<const View> views) {
  const View &in = views[0], &out = views[1];
  validate(in, "input");
  validate(out, "output");
  if (in.dtype != out.dtype)
    throw Error(Errc::usage, "a move keeps the dtype, the output is " + std::string(name(out.dtype)),
                "give an output of dtype " + std::string(name(in.dtype)));
  const View expected = result(op, views.first(1));
  if (!(expected.shape == out.shape))
    throw Error(Errc::usage,
                "the result is " + to_string(expected.shape) + ", the output view " + to_string(out.shape));
  if (core::overlaps_itself(out) != core::Overlap::no)
    throw Error(Errc::overlap, "two elements of the output may lie at one address",
                "give an output whose strides keep its elements apart");
}

/// Whether every element's place in the output is its place in the input.
bool stays(const core::Move& move) {
  return move.in_offset == move.out_offset && !move.guard &&
         std::all_of(move.axes.begin(), move.axes.end(),
                     [](const auto& axis) { return axis.in_stride == axis.out_stride; });
}

/// `lowered`: in any form; part of a move may have axes of one step, which no candidate expects.
std::shared_ptr<PlanImpl> plan_move(const core::Move& lowered, std::vector<View> views, const Device& device,
                                    const PlanOptions& options) {
  const core::Move move = core::normalise(lowered);
  auto plan = std::make_shared<PlanImpl>();
  plan->device = device;
  plan->views = std::move(views);
  plan->in_place = options.in_place;
  plan->checked = options.checked;
  const MoveProblem problem{with_guard_in_front(move), index_bits(move, options.index), options.in_place,
                            options.checked};
  PlanReport& report = plan->report;
  report.index = problem.index_bits == 64 ? IndexWidth::bits64 : IndexWidth::bits32;
  report.bytes_moved = move.bytes_moved();
  report.candidate = "none";
  if (move.count() == 0 || (options.in_place && stays(move))) return plan;
  const auto key = [&](const MoveCandidate& candidate) { return key_of(candidate, move); };
  auto choice = choose(move_candidates(), problem, key, device.info(), options, report);
  if (!choice) throw_refused(problem, refusals(report, options));
  report.candidate = choice->candidate->info.name;
  report.configuration = std::move(choice->configuration.values);
  report.configuration_source = std::move(choice->configuration.source);
  report.expected_seconds = choice->verdict.seconds;
  plan->launches.push_back(choice->candidate->lower(problem, report.configuration, device.info()));
  compile(*plan);
  return plan;
}

std::shared_ptr<PlanImpl> make_plan(const Operation& op, std::span<const View> views, const Device& device,
                                    const PlanOptions& options) {
  check_views(op, views);
  return plan_move(lowered_move(op, views), {views.begin(), views.end()}, device, options);
}

Slices slices(const Operation& op, std::span<const View> views, const Device& device, const PlanOptions& options,
              std::int64_t limit) {
  check_views(op, views);
  Slices slices;
  for (core::Move& part : cut_move(lowered_move(op, views), limit)) {
    const Slice::Range in = rebase(0, part.in_offset, part.in_align, core::in_bounds(part), part.element);
    const Slice::Range out = rebase(1, part.out_offset, part.out_align, core::out_bounds(part), part.element);
    View in_view = View::contiguous(Dtype::u8, {in.bytes}), out_view = View::contiguous(Dtype::u8, {out.bytes});
    in_view.align = part.in_align;
    out_view.align = part.out_align;
    slices.list.push_back({{in, out}, plan_move(part, {in_view, out_view}, device, options)});
  }
  return slices;
}

}  // namespace

core::Move lowered_move(const Operation& op, std::span<const View> views) {
  return move_op(op).lower(op, views[0], views[1]);
}

std::span<const OpEntry> move_entries() {
  static const std::vector<OpEntry> entries = [] {
    std::vector<OpEntry> list;
    for (const MoveOp& op : move_ops)
      list.push_back({.name = op.name,
                      .summary = op.summary,
                      .words = op.words,
                      .lengths = op.lengths,
                      .result = result,
                      .plan = make_plan,
                      .oracle = oracle,
                      .bytes = bytes,
                      .slices = slices,
                      .candidates = candidate_infos()});
    return list;
  }();
  return entries;
}

}  // namespace axisloom::ops
