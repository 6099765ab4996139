// Variant "rows": the fastest axis is kept, so whole rows move in packets of up to 16 bytes. For GPUs; the kernel is
// plain's.
#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/plain.hpp"

namespace axisloom::ops {
namespace {

constexpr double cpu_detour = 4;  // a packet of 16 bytes is a quarter of what "rows_cpu" moves at a time

std::vector<Tunable> tunables() {
  return {
      {"items", 256, {1, 32, 64, 128, 256, 512, 1024}, "work-items", "group size"},
      {"in_flight", 4, {1, 2, 4, 8}, "packets", "loads that an item issues before its first store"},
      {"packet",
       16,
       {1, 2, 4, 8, 16},
       "bytes",
       "widest access; the widest that every row's start and length allow is taken"},
      {"segment", 1024, {64, 256, 1024, 4096}, "packets", "longest run of an item where a group is one item"},
  };
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const core::Move& move = problem.move;
  if (!keeps_fastest_axis(move)) return refuse("the fastest axis of the output is not contiguous in the input");
  const i64 packet = packet_bytes(move, wish.at("packet"));
  const double bytes = 2 * sector_bytes(double(move.count()), double(move.axes.back().extent), 1, move.element, device);
  const double detour = device.is_cpu() ? cpu_detour : 1;
  const double seconds = transfer_seconds(detour * bytes / access_efficiency(packet, device), device);
  Configuration values = wish;
  values["packet"] = packet;
  return propose_elements(problem.as(counted_in(move, packet)), values, seconds, device);
}

}  // namespace

MoveCandidate rows_move() {
  return {{.name = "rows",
           .summary = "whole rows in 16-byte packets, where the fastest axis is kept",
           .tunables = tunables()},
          propose};
}

}  // namespace axisloom::ops
