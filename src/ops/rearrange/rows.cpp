// Variant "rows": the fastest axis is kept, so whole rows move in packets of up to 16 bytes. For GPUs; the kernel is
// plain's.
#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/plain.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr double cpu_detour = 4;  // a packet of 16 bytes is a quarter of what "rows_cpu" moves at a time

/// Cost of scattered rows, relative to long ones. Of permutations of 220 to 230 MB, which an H200 copies in 103 to 114
/// us, those of rows of 64 bytes took 141 and 149, of 128 bytes 121 and 126, of 192 bytes 113; shorter ones are
/// like 64.
double row_cost(const Move& move) {
  constexpr double shortest = 64, longest = 1024, doubled = 36;  // bytes; a row of the last would take twice its time
  const double row = move.axes.back().extent * move.element;
  if (row >= longest) return 1;
  const double share = doubled / std::max(shortest, row);
  return 1 + share * share;
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  if (!keeps_fastest_axis(move)) return refuse("the fastest axis of the output is not contiguous in the input");
  const i64 packet = packet_bytes(move, wish.at("packet"));
  const double bytes = 2 * sector_bytes(move.count(), move.axes.back().extent, 1, move.element, device);
  const double detour = device.is_cpu() ? cpu_detour : row_cost(move);
  const double seconds = transfer_seconds(detour * bytes / access_efficiency(packet, device), device);
  Configuration values = wish;
  values["packet"] = packet;
  values["in_flight"] = value_or(wish, "in_flight", move.axes.size() == 1 ? 1 : 4);
  return propose_elements(problem.as(counted_in(move, packet)), values, seconds, device);
}

}  // namespace

MoveCandidate rows_move() {
  return {
      {.name = "rows",
       .summary = "whole rows in 16-byte packets, where the fastest axis is kept",
       .tunables =
           {
               {"items", 256, {1, 32, 64, 128, 256, 512, 1024}, "work-items", "group size"},
               {"in_flight", 0, zero_or_doublings(1, 8), "packets",
                "loads that an item issues before its first store; 0: 1 where all is one run, else 4. On an H200 1 GiB "
                "take 508 us with 1, 523 with 2 and 530 with 4; rows of 255 floats 26 us with 4, 36 with 1"},
               {"packet", 16, doublings(1, 16), "bytes",
                "widest access; the widest that every row's start and length allow is taken"},
               {"segment", 1024, {64, 256, 1024, 4096}, "packets", "longest run of an item where a group is one item"},
           }},
      propose};
}

}  // namespace axisloom::ops
