// Variant "vectors": rows copied by vectors of 1 to 16 elements, in six ways; its configurations are the rungs of a
// ladder.
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/plain.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

enum Way : std::int64_t { direct, async, double_buffered, strided, ahead, streaming };

constexpr std::int64_t share_bytes = 64 << 10;  // of a CPU's group: long against its start
constexpr std::int64_t cpu_item_bytes = 4096;   // of a chunk: a page, and long against an asynchronous copy's start
constexpr std::int64_t in_flight_bytes = 64;    // of an item between first load and first store
constexpr std::int64_t most_in_flight = 8;      // packets, so that narrow ones do not make long code

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"width", 4, {1, 2, 3, 4, 8, 16}, "elements", "of an access; elements of 16 bytes count as two of 8"},
      {"way",
       direct,
       {direct, async, double_buffered, strided, ahead, streaming},
       "",
       "0 direct, 1 asynchronous copies through local memory, 2 the same double-buffered, 3 strided ones, 4 "
       "prefetching "
       "the next chunk, 5 streaming stores"},
      {"items",
       0,
       {0, 1, 32, 64, 128, 256, 512},
       "work-items",
       "group size; 0: 256 on GPUs, fewer where local memory is short, and 1 on CPUs"},
      {"accesses",
       0,
       {0, 1, 2, 4, 8, 16, 32, 64},
       "packets",
       "that an item moves of a chunk; 0: 64 bytes, at most 8 packets, and 4 KiB on CPUs"},
      {"chunks", 4, {1, 2, 4, 8, 16}, "chunks", "of a row that a group moves one after the other"},
  };
  return list;
}

// All that follows from the element and the configuration; in elements of at most 8 bytes.
struct Shape {
  std::int64_t element, width, way, items, accesses, in_flight, segment;
  std::int64_t chunk() const { return items * accesses * width; }
  std::int64_t local_bytes() const {
    if (way == direct || way == ahead || way == streaming) return 0;
    return chunk() * element * (way == double_buffered ? 2 : 1);
  }
};

bool fits(const Shape& shape, const DeviceInfo& device) {
  return static_cast<std::size_t>(shape.local_bytes()) <= device.local_memory_max;
}

Shape shape_of(std::int64_t element, const Configuration& values, const DeviceInfo& device) {
  const bool cpu = device.kind == Kind::cpu;
  Shape shape{};
  shape.element = std::min<std::int64_t>(element, 8);
  shape.width = values.at("width");
  shape.way = values.at("way");
  const std::int64_t packet = (shape.width == 3 ? 4 : shape.width) * shape.element;  // three take the room of four
  const std::int64_t in_flight = std::clamp<std::int64_t>(in_flight_bytes / packet, 1, most_in_flight);
  shape.accesses = values.at("accesses");
  if (shape.accesses == 0) shape.accesses = cpu ? cpu_item_bytes / packet : in_flight;
  shape.in_flight = std::min(shape.accesses, in_flight);
  shape.items = values.at("items");
  if (shape.items == 0)
    for (shape.items = cpu ? 1 : 256; shape.items > 32 && !fits(shape, device);) shape.items /= 2;
  shape.segment = shape.chunk() * values.at("chunks");
  return shape;
}

// The move counted in elements of 8 bytes where it has larger ones.
core::Move in_words(core::Move move) {
  if (move.element <= 8) return move;
  const std::int64_t words = move.element / 8;
  for (core::MoveAxis& axis : move.axes) {
    axis.in_stride *= words;
    axis.out_stride *= words;
  }
  if (move.axes.empty()) move.axes.push_back({1, 1, 1});
  move.axes.back() = {move.axes.back().extent * words, 1, 1};
  move.in_offset *= words;
  move.out_offset *= words;
  move.element = 8;
  return move;
}

Verdict consider(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  if (problem.in_place) return Verdict::refuse("not in place");
  if (move.guard) return Verdict::refuse("the lesson is about whole rows, not about tails of channels");
  if (!move.axes.empty() && (move.axes.back().in_stride != 1 || move.axes.back().out_stride != 1))
    return Verdict::refuse("the fastest axis of the output is not contiguous in the input");
  const Shape shape = shape_of(move.element, values, device);
  if (shape.way == streaming && shape.width == 3)
    return Verdict::refuse("a streaming store writes whole packets, and one of three takes the room of four");
  if (std::string beyond = beyond_limits(device, shape.items, shape.local_bytes()); !beyond.empty())
    return Verdict::refuse(std::move(beyond));
  // A lesson runs where it is asked for by name: it never predicts less than the variant that takes everything.
  return Verdict::accept(2 * element_seconds(problem.move, device));
}

// Whether every packet of every row begins at a multiple of its own size.
bool packets_aligned(const core::Move& move, bool output, const Shape& shape) {
  const std::int64_t bytes = shape.width * shape.element;
  const int fastest = static_cast<int>(move.axes.size()) - 1;
  return shape.width != 3 && core::proven_alignment(move, output, fastest, bytes) >= bytes;
}

void define_packets(const core::Move& move, const Shape& shape, jit::Defines& defines) {
  const std::string element = type_of_bytes(move.element);
  const std::string packet = shape.width == 1 ? element : element + "x" + std::to_string(shape.width);
  const bool out = packets_aligned(move, true, shape);
  // Where the first aligned packet of the output is known at run time only, so is the input's alignment.
  const bool in = packets_aligned(move, false, shape) && (out || shape.way != streaming);
  defines.set("ELEMENT", element).set("ELEMENT_BYTES", move.element);
  defines.set("PACKET", packet).set("MAKE_PACKET", "make_" + packet);
  defines.set("ALIGNED_IN", in ? 1 : 0).set("ALIGNED_OUT", out ? 1 : 0);
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const core::Move move = in_words(problem.move);
  const int index_bits = core::fits_32_bits(move) ? problem.index_bits : 64;
  const Shape shape = shape_of(move.element, values, device);
  Launch launch;
  launch.kernel = {"rearrange/vectors.kernel", "vectors", {}, static_cast<unsigned>(shape.items), false};
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  const SegmentWalk walk = write_segment_walk(move, shape.segment, index_bits, params, defines);
  // A GPU's groups take a run each: a loop around it would only cost registers.
  const bool several = device.kind == Kind::cpu;
  share_out(several ? share_bytes : 0, walk.segment * move.element, params, launch.geometry);
  defines.set("SEVERAL_RUNS", several ? 1 : 0);
  defines.set("WIDTH", shape.width).set("WAY", shape.way);
  defines.set("ACCESSES", shape.accesses).set("IN_FLIGHT", shape.in_flight);
  define_packets(move, shape, defines);
  launch.geometry.items = static_cast<unsigned>(shape.items);
  launch.geometry.local_bytes = static_cast<std::size_t>(shape.local_bytes());
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
  return launch;
}

}  // namespace

MoveCandidate vectors_candidate() {
  return {
      {"vectors", "rows by vectors of 1 to 16 elements, asynchronously or not, as a lesson", tunables(), true, true},
      consider,
      lower};
}

}  // namespace axisloom::ops
