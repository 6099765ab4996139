// Variant "shift": rows of 1- and 2-byte elements that do not begin alike within 16 bytes, in 16-byte packets all the
// same. For GPUs.
#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr i64 packet = 16;  // bytes
// Bytes that a card copies while the two ends of a row go in pieces, in its first and last packets: an estimate. Byte
// by byte they cost an H200 900: up to 15 accesses an end, and pieces are up to 4. Shorter rows have shorter ends.
constexpr double edge_bytes = 200, longest_edges = 2 * packet;

// The move in bytes, its rows cut into packets; where a row may begin within a packet it has one more.
Move cut_into_packets(const Move& move) {
  const bool aligned = proven_alignment(move, true, int(move.axes.size()) - 1, packet) >= packet;
  Move cut = counted_in(move, 1);
  const i64 run = cut.axes.back().extent;
  cut.axes.back() = {ceil_div(aligned ? run : run + packet - 1, packet), packet, packet};
  return cut;
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  if (move.tail) return refuse("moves whole rows, not channel tails");
  if (!keeps_fastest_axis(move)) return refuse("the fastest axis of the output is not contiguous in the input");
  const i64 row = move.axes.back().extent * move.element, bytes = move.count() * move.element;
  const double edges = edge_bytes * std::min(1.0, row / longest_edges);
  const auto launches = [=, &problem] {
    const i64 items = wish.at("items"), in_flight = wish.at("in_flight");
    MoveLaunch launch("rearrange/shift", problem.as(cut_into_packets(problem.move)), {items});
    launch.walk(launch.problem.move.axes, 0, Ranks::coarse);
    launch.params.extent_i = row;
    launch.defines().set("IN_FLIGHT", in_flight);
    return launch.done(ceil_div(launch.params.work, items * in_flight));
  };
  // Accesses of 4 bytes already reach 95% of a copy on an H200.
  return {.by_name_only = packet_bytes(move, 4) >= 4 ? "accesses of 4 bytes are wide enough" : "",
          .group = {wish.at("items")},
          .seconds = transfer_seconds(double(bytes) / row * (2 * row + edges), device),
          .configuration = wish,
          .launches = launches};
}

}  // namespace

MoveCandidate shift_move() {
  return {{.name = "shift",
           .summary = "rows that begin anywhere in 16-byte packets, put together from two of the input",
           .tunables =
               {
                   {"items", 256, doublings(64, 512), "work-items", "group size"},
                   {"in_flight", 1, doublings(1, 8), "packets",
                    "that an item puts together before its first store; on an H200 1, 2, 4, 8 move 256 MiB from byte 1 "
                    "to byte 5 at 4066, 4033, 4009 and 3391 GB/s, rows of 1023 bytes at 2892, 2857, 2549 and 2371"},
               },
           .chosen_on = gpus},
          propose};
}

}  // namespace axisloom::ops
