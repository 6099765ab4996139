// Variant "vectors": rows copied by vectors of 1 to 16 elements, in six ways; its configurations are the rungs of a
// ladder.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

enum Way : i64 { direct, async, double_buffered, strided, ahead, streaming };

constexpr i64 group_bytes = 64 << 10;  // of a CPU's group: long against its start
constexpr i64 cpu_item_bytes = 4096;   // of a chunk: a page, and long against an asynchronous copy's start
constexpr i64 in_flight_bytes = 64;    // of an item between first load and first store
constexpr i64 most_in_flight = 8;      // packets, so that narrow ones do not make long code

// All that follows from the element and the configuration; in elements of at most 8 bytes.
struct Shape {
  i64 element, width, way, items;
  i64 accesses = 0, in_flight = 0, segment = 0;
  i64 chunk() const { return items * accesses * width; }
  i64 local_bytes() const {
    if (way == direct || way == ahead || way == streaming) return 0;
    return chunk() * element * (way == double_buffered ? 2 : 1);
  }
  Group group() const { return {items, local_bytes()}; }
};

Shape shape_of(i64 element, const Configuration& values, const DeviceModel& device) {
  const bool cpu = device.is_cpu();
  Shape shape{.element = std::min<i64>(element, 8),
              .width = values.at("width"),
              .way = values.at("way"),
              .items = values.at("items")};
  const i64 packet = (shape.width == 3 ? 4 : shape.width) * shape.element;  // three take the room of four
  const i64 in_flight = std::clamp<i64>(in_flight_bytes / packet, 1, most_in_flight);
  shape.accesses = value_or(values, "accesses", cpu ? cpu_item_bytes / packet : in_flight);
  shape.in_flight = std::min(shape.accesses, in_flight);
  if (shape.items == 0) {
    shape.items = cpu ? 1 : 256;
    while (shape.items > 32 && size_t(shape.local_bytes()) > device.local_memory_max) shape.items /= 2;
  }
  shape.segment = shape.chunk() * values.at("chunks");
  return shape;
}

// Whether every packet of every row begins at a multiple of its own size.
bool packets_aligned(const Move& move, bool output, const Shape& shape) {
  const i64 bytes = shape.width * shape.element;
  return shape.width != 3 && proven_alignment(move, output, int(move.axes.size()) - 1, bytes) >= bytes;
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  if (move.tail) return refuse("the lesson is about whole rows, not about channel tails");
  if (!move.axes.empty() && !keeps_fastest_axis(move))
    return refuse("the fastest axis of the output is not contiguous in the input");
  const Shape shape = shape_of(move.element, wish, device);
  if (shape.way == streaming && shape.width == 3)
    return refuse("a streaming store writes whole packets, and one of three takes the room of four");
  Configuration values = wish;
  values["items"] = shape.items;
  values["accesses"] = shape.accesses;
  const auto launches = [=, &problem, cpu = device.is_cpu(), units = i64(device.units())] {
    static constexpr const char* ways[] = {"WAY_DIRECT",  "WAY_ASYNC", "WAY_DOUBLE",
                                           "WAY_STRIDED", "WAY_AHEAD", "WAY_STREAM"};
    MoveLaunch launch("lessons/vectors", problem.as(counted_in(problem.move, shape.element)), shape.group());
    const i64 segment = launch.walk_segments(shape.segment);
    const std::string element = type_of_bytes(shape.element);
    const bool out = packets_aligned(launch.problem.move, true, shape);
    launch.define_element()
        .set("SEVERAL_RUNS", cpu)
        .set("WIDTH", shape.width)
        .set("WAY", ways[shape.way])
        .set("ACCESSES", shape.accesses)
        .set("IN_FLIGHT", shape.in_flight)
        .set("PACKET", shape.width == 1 ? element : concat(element, "x", shape.width))
        .set("ALIGNED_OUT", out)
        // Where the first aligned packet of the output is known at run time only, so is the input's alignment.
        .set("ALIGNED_IN", packets_aligned(launch.problem.move, false, shape) && (out || shape.way != streaming));
    // A GPU's groups take a run each: a loop around it would only cost registers.
    return launch.done(launch.split_into_groups(cpu ? group_bytes : 0, segment * shape.element, units));
  };
  const double efficiency = access_efficiency(shape.width * shape.element, device);
  return {.group = shape.group(),
          .seconds = transfer_seconds(2 * bytes_of(move) / efficiency, device),
          .configuration = values,
          .launches = launches};
}

}  // namespace

MoveCandidate vectors_move() {
  return {
      {.name = "vectors",
       .summary = "rows by vectors of 1 to 16 elements, asynchronously or not, as a lesson",
       .tunables =
           {
               {"width", 4, {1, 2, 3, 4, 8, 16}, "elements", "of an access; elements of 16 bytes count as two of 8"},
               {"way",
                direct,
                {direct, async, double_buffered, strided, ahead, streaming},
                "",
                "0 direct, 1 asynchronous copies through local memory, 2 the same double-buffered, 3 strided ones, 4 "
                "prefetching the next chunk, 5 streaming stores"},
               {"items",
                0,
                {0, 1, 32, 64, 128, 256, 512},
                "work-items",
                "group size; 0: 256 on GPUs, fewer where local memory is short, and 1 on CPUs"},
               {"accesses", 0, zero_or_doublings(1, 4096), "packets",
                "that an item moves of a chunk; 0: 64 bytes, at most 8 packets, and 4 KiB on CPUs"},
               {"chunks", 4, doublings(1, 16), "chunks", "of a row that a group moves one after the other"},
           },
       .chosen_on = no_kind},
      propose};
}

}  // namespace axisloom::ops
