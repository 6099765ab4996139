// Variant "swap": square matrices transposed in place.
#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

namespace axisloom::ops {
namespace {

// A CPU group's work: long against a group's start, short against a core's share.
constexpr i64 group_bytes = 128 << 10;

// The two axes that change places; all others must lie the same on both sides.
std::optional<TileAxes> mirrored_axes(const Move& move) {
  std::vector<int> moved;
  for (int d = 0; d < int(move.axes.size()); ++d)
    if (move.axes[d].in != move.axes[d].out) moved.push_back(d);
  if (moved.size() != 2 || move.in_offset != move.out_offset) return std::nullopt;
  const Loop &a = move.axes[moved[0]], &b = move.axes[moved[1]];
  if (a.extent != b.extent || a.in != b.out || a.out != b.in) return std::nullopt;
  return TileAxes{moved[0], moved[1]};
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  if (move.tail) return refuse("takes no channel tail");
  const auto axes = mirrored_axes(move);
  if (!axes) return refuse("in place, only two axes of equal extent and positive stride can be exchanged");
  const bool cpu = device.is_cpu();
  Configuration values = wish;
  i64& items = values["items"];
  if (cpu) items = 1;
  if (items == 1 && !cpu) return refuse(single_items);
  const auto launches = [&move = problem.move, &problem, axes = *axes, items, cpu, units = i64(device.units())] {
    MoveLaunch launch("rearrange/swap", problem, {items});
    Loops walked = without(move.axes, axes.in, axes.out);
    for (const int axis : {axes.in, axes.out}) walked.push_back(move.axes[axis]);
    launch.walk(walked, 0, Ranks::fine);
    launch.defines().set("ELEMENT", type_of_bytes(move.element));
    launch.launch.buffers.erase(launch.launch.buffers.begin());  // one array
    return launch.done(cpu ? launch.split_into_groups(group_bytes, move.element, units)
                           : ceil_div(launch.params.work, items));
  };
  return {.group = {items},
          .seconds = transfer_seconds(2 * bytes_of(move), device),
          .configuration = values,
          .launches = launches};
}

}  // namespace

MoveCandidate swap_move() {
  return {{.name = "swap",
           .summary = "square matrices in place, a mirrored pair an item",
           .tunables =
               {
                   {"items", 64, {1, 32, 64, 128, 256}, "work-items", "group size on GPUs; a CPU group is one item"},
               },
           .in_place = true},
          propose};
}

}  // namespace axisloom::ops
