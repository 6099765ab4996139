// Variant "rows": the fastest axis is kept, so whole rows move in packets of up to 16 bytes. For GPUs; the kernel is
// plain's.
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/plain.hpp"
#include "ops/rearrange/variants.hpp"

namespace axisloom::ops {
namespace {

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items", 256, {32, 64, 128, 256, 512, 1024}, "work-items", "group size"},
      {"in_flight", 4, {1, 2, 4, 8}, "packets", "loads that an item issues before its first store"},
      {"packet",
       16,
       {1, 2, 4, 8, 16},
       "bytes",
       "widest access; the widest that every row's start and length allow is taken"},
      {"segment", 1024, {64, 256, 1024, 4096}, "packets", "longest run of an item where a group is one item"},
  };
  return list;
}

Verdict consider(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  if (problem.in_place) return Verdict::refuse("not in place");
  if (move.axes.empty() || move.axes.back().in_stride != 1 || move.axes.back().out_stride != 1)
    return Verdict::refuse("the fastest axis of the output is not contiguous in the input");
  const auto elements = static_cast<double>(move.count());
  const auto run = static_cast<double>(move.axes.back().extent);
  // On a CPU a packet of 16 bytes is a quarter of what strip moves at a time.
  const double detour = device.kind == Kind::cpu ? 4 : 1;
  const double bytes = 2 * detour * segment_bytes(elements, run, 1, move.element, gpu_segment);
  return Verdict::accept(transfer_seconds(bytes / access_efficiency(packet_bytes(move, values.at("packet"))), device));
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const std::int64_t bytes = packet_bytes(problem.move, values.at("packet"));
  return lower_elements(in_packets(problem.move, bytes), problem, values, device);
}

}  // namespace

MoveCandidate rows_candidate() {
  return {{"rows", "whole rows in 16-byte packets, where the fastest axis is kept", tunables(), true, true},
          consider,
          lower};
}

}  // namespace axisloom::ops
