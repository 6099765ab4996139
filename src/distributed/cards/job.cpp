// Copies in the widest units that all of them allow, and rows that are worth a start of the copy engine.
#include "distributed/cards/job.hpp"

#include "core/divider.hpp"
#include "core/move.hpp"

#include <algorithm>

namespace axisloom::distributed::cards {
namespace {

core::Move move_of(const TransferCopy& copy) {
  core::Move move{.element = i64(size_of(copy.from.dtype)),
                  .axes = {},
                  .in_offset = copy.from.offset,
                  .out_offset = copy.to.offset,
                  .in_align = copy.from.align,
                  .out_align = copy.to.align};
  for (int axis = 0; axis < copy.from.rank(); ++axis)
    move.axes.push_back({copy.from.shape[axis], copy.from.strides[axis], copy.to.strides[axis]});
  return core::normalise(move);
}

bool has_rows(const core::Move& move) {
  return !move.axes.empty() && move.axes.back().in == 1 && move.axes.back().out == 1;
}

constexpr i64 widest_unit = 16, strip_bytes = widest_unit * loads * strip_lanes;

/// Bytes that the kernel can move at a time: an element, or more where rows of them lie alike on both sides.
i64 unit_of(const core::Move& move) {
  if (!has_rows(move)) return move.element;
  const int fastest = int(move.axes.size()) - 1;
  const i64 row = move.axes.back().extent * move.element;
  const i64 aligned = std::min(core::proven_alignment(move, false, fastest, widest_unit),
                               core::proven_alignment(move, true, fastest, widest_unit));
  return std::clamp(std::min(aligned, row & -row), move.element, widest_unit);
}

/// Whether each row is so many strips: the kernel looks up one unit of each.
bool in_strips(const core::Move& move) {
  return has_rows(move) && move.axes.back().extent * move.element % strip_bytes == 0;
}

JobAxis axis_of(i64 extent, i64 from, i64 to) {
  const core::Divider by = core::divider(u64(extent), 32);
  return {u32(extent), u32(by.multiplier), by.shift, from, to};
}

/// An element is cut where others are moved in narrower units.
JobCopy in_units(const core::Move& move, i64 unit, const SlotCopy& one) {
  JobCopy copy{.from = u64(move.in_offset * move.element),
               .to = u64(move.out_offset * move.element),
               .from_slot = u32(one.from),
               .to_slot = u32(one.to),
               .end = u32(move.count() * move.element / unit),
               .axes = 0,
               .axis = {}};
  for (const core::Loop& loop : move.axes)
    copy.axis[copy.axes++] = axis_of(loop.extent, loop.in * move.element, loop.out * move.element);
  if (has_rows(move))
    copy.axis[copy.axes - 1] = axis_of(move.axes.back().extent * move.element / unit, unit, unit);
  else if (unit < move.element)
    copy.axis[copy.axes++] = axis_of(move.element / unit, unit, unit);
  return copy;
}

i64 bytes_of(const std::vector<SlotCopy>& copies) {
  i64 bytes = 0;
  for (const SlotCopy& one : copies) bytes += one.copy.from.count() * i64(size_of(one.copy.from.dtype));
  return bytes;
}

}  // namespace

i64 bytes_of(const Stage& stage) {
  return bytes_of(stage.sends) + bytes_of(stage.kept);
}

std::optional<Job> job_of(const Stage& stage) {
  std::vector<std::pair<core::Move, const SlotCopy*>> moves;
  Job job{};
  i64 unit = widest_unit;
  const auto add = [&](const std::vector<SlotCopy>& copies) {
    for (const SlotCopy& one : copies) {
      core::Move move = move_of(one.copy);
      if (move.count() == 0) continue;
      unit = std::min(unit, unit_of(move));
      moves.emplace_back(std::move(move), &one);
    }
    return u32(moves.size());
  };
  job.sends = add(stage.sends);
  if (add(stage.kept) > most_copies) return {};
  job.before = stage.before;
  job.after = stage.after;
  job.unit = u32(unit);
  job.in_strips =
      unit == widest_unit && std::ranges::all_of(moves, in_strips, &std::pair<core::Move, const SlotCopy*>::first);
  for (const auto& [move, one] : moves) {
    const bool cut = unit < move.element && !has_rows(move);
    if (move.axes.size() + cut > most_axes) return {};
    const bool first = job.copies == 0 || job.copies == job.sends;
    const u32 before = first ? 0 : job.copy[job.copies - 1].end;
    JobCopy& copy = job.copy[job.copies++];
    copy = in_units(move, unit, *one);
    copy.end += before;
  }
  return job;
}

/// Memory is some ten times as fast as a link: half as many groups for each byte that stays keep ahead of those that
/// send.
u32 share_out(Job& job, u32 most, u32 items) {
  const u64 sent = job.sends > 0 ? job.copy[job.sends - 1].end : 0;
  const u64 kept = job.copies > job.sends ? job.copy[job.copies - 1].end : 0;
  const u64 groups = std::clamp<u64>((sent + kept + items - 1) / items, 1, most);
  const u64 keeping = kept == 0 ? 0 : std::max<u64>(groups * kept / (2 * (sent + kept)), 1);
  if (sent > 0)
    job.send_groups = u32(std::max<u64>(groups - std::min(keeping, groups), 1));
  else
    job.send_groups = job.before;
  const u64 others = sent > 0 ? keeping : kept > 0 ? groups : 0;
  return std::max<u32>(job.send_groups + u32(others), 1);
}

// Between two H200 the engine moves 390 GB/s each way, from rows of 256 bytes on, where kernels that store into the
// other card's memory move 366; and it leaves the card's processors to what a rank keeps. A copy of a MiB takes a
// kernel about as long as the engine takes to start; each call takes the host 2 us.
constexpr i64 least_row = 256, least_rows_bytes = i64{1} << 20;
constexpr i64 most_engine_calls = 32;
constexpr i64 most_pitch = (i64{1} << 31) - 1;  // bytes, as the driver has it

namespace {

/// Whether the engine takes an axis as slices: on each side these are whole numbers of rows apart, and do not overlap.
bool are_slices(const core::Loop& axis, const core::Loop& rows) {
  const auto apart = [&](i64 slice, i64 row) { return slice % row == 0 && slice / row >= rows.extent; };
  return apart(axis.in, rows.in) && apart(axis.out, rows.out);
}

}  // namespace

std::vector<EngineRows> rows_of(const SlotCopy& one) {
  core::Move move = move_of(one.copy);
  if (!has_rows(move)) return {};
  const i64 width = move.axes.back().extent * move.element;
  move.axes.pop_back();
  core::Loop rows{.extent = 1, .in = width / move.element, .out = width / move.element};
  if (!move.axes.empty()) {
    rows = move.axes.back();
    move.axes.pop_back();
  }
  const i64 from_pitch = rows.in * move.element, to_pitch = rows.out * move.element;
  const bool fits = width <= std::min(from_pitch, to_pitch) && std::max(from_pitch, to_pitch) <= most_pitch;
  if (!fits || width < least_row || width * rows.extent < least_rows_bytes) return {};
  core::Loop slices{.extent = 1, .in = rows.extent * rows.in, .out = rows.extent * rows.out};
  if (!move.axes.empty() && are_slices(move.axes.back(), rows)) {
    slices = move.axes.back();
    move.axes.pop_back();
  }
  if (core::count(move.axes) > most_engine_calls) return {};
  const auto side = [&](int slot, i64 offset, i64 pitch, i64 between) {
    return EngineSide{slot, u64(offset * move.element), u64(pitch), u64(between * move.element / pitch)};
  };
  std::vector<EngineRows> all;
  for (const core::Loop& point : core::points_of(move.axes))
    all.push_back({.from = side(one.from, move.in_offset + point.in, from_pitch, slices.in),
                   .to = side(one.to, move.out_offset + point.out, to_pitch, slices.out),
                   .width = u64(width),
                   .count = u64(rows.extent),
                   .slices = u64(slices.extent)});
  return all;
}

}  // namespace axisloom::distributed::cards
