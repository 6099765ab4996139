// Variant "shift": rows of 1- and 2-byte elements that do not begin alike within 16 bytes, in 16-byte packets all the
// same. For GPUs.
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/plain.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr std::int64_t packet = 16;  // bytes

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items", 256, {64, 128, 256, 512}, "work-items", "group size"},
      {"in_flight",
       1,
       {1, 2, 4, 8},
       "packets",
       "that an item puts together before its first store; on an H200 1, 2, 4, 8 move 256 MiB from byte 1 to byte 5 at "
       "4066, 4033, 4009 and 3391 GB/s, rows of 1023 bytes at 2892, 2857, 2549 and 2371"},
  };
  return list;
}

// The move in bytes, its rows cut into packets; where a row may begin within a packet it has one more.
core::Move in_packets(core::Move move) {
  const int fastest = static_cast<int>(move.axes.size()) - 1;
  const bool aligned = core::proven_alignment(move, true, fastest, packet) >= packet;
  for (core::MoveAxis& axis : move.axes) {
    axis.in_stride *= move.element;
    axis.out_stride *= move.element;
  }
  const std::int64_t run = move.axes.back().extent * move.element;
  move.axes.back() = {ceil_div(aligned ? run : run + packet - 1, packet), packet, packet};
  move.in_offset *= move.element;
  move.out_offset *= move.element;
  move.element = 1;
  return move;
}

Verdict consider(const MoveProblem& problem, const Configuration&, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  if (problem.in_place) return Verdict::refuse("not in place");
  if (move.guard) return Verdict::refuse("moves whole rows, not tails of channels");
  if (move.axes.empty() || move.axes.back().in_stride != 1 || move.axes.back().out_stride != 1)
    return Verdict::refuse("the fastest axis of the output is not contiguous in the input");
  const int fastest = static_cast<int>(move.axes.size()) - 1;
  const auto alike = [&](bool output) { return core::proven_alignment(move, output, fastest, 4); };
  // Accesses of 4 bytes already reach 95% of a copy on an H200, so there is nothing to gain; nor on a CPU.
  if (device.kind == Kind::cpu ||
      (std::min(alike(false), alike(true)) >= 4 && move.axes.back().extent * move.element % 4 == 0))
    return Verdict::accept(2 * element_seconds(move, device));
  const auto packets = static_cast<double>(in_packets(move).axes.back().extent);
  // Up to four packets of a row are moved byte by byte.
  constexpr double edges = 4, edge_packets = 3;
  const double bytes = 2 * static_cast<double>(move.count() * move.element);
  return Verdict::accept(transfer_seconds(bytes * (packets + edges * edge_packets) / packets, device));
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo&) {
  const core::Move move = in_packets(problem.move);
  Launch launch;
  MoveParams params{};
  const auto items = static_cast<unsigned>(values.at("items"));
  launch.kernel = {"rearrange/shift.kernel", "shift", {}, items, false};
  const int index_bits = core::fits_32_bits(move) ? problem.index_bits : 64;
  write_walk(move.axes, 0, Ranks::coarse, index_bits, params, launch.kernel.defines);
  params.extent_i = problem.move.axes.back().extent * problem.move.element;
  launch.kernel.defines.set("IN_FLIGHT", values.at("in_flight"));
  launch.geometry.items = items;
  launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(params.work, items * values.at("in_flight")));
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, 1}, {1, move.out_offset, 1}};
  return launch;
}

}  // namespace

MoveCandidate shift_candidate() {
  return {{"shift", "rows that begin anywhere in 16-byte packets, put together from two of the input", tunables(), true,
           true},
          consider,
          lower};
}

}  // namespace axisloom::ops
