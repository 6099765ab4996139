// Variant "tma": transposes whose tiles the tensor memory accelerator brings and takes. CUDA from compute
// capability 9.0 on.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/nvidia/nvidia.hpp"
#include "ops/nvidia/tensor_map.hpp"
#include "ops/rearrange/params.hpp"

namespace axisloom::ops {
namespace {

constexpr i64 most_box_rows = 256;   // what a tensor map can say
constexpr i64 swizzle_bytes = 1024;  // after which the pattern of the swizzle repeats
constexpr double of_copy = 1.02;     // of what a copy takes: 16384 x 16384 floats on an H200 at 4008 GB/s, "tile" 4103
constexpr i64 barrier_bytes = 16;    // 8, in whole packets

MappedArray mapped_array(const Move& move, const TileAxes& axes, bool output) {
  const core::Operand side = core::side(output);
  const Loop& along = move.axes[output ? axes.out : axes.in];
  const Loop& across = move.axes[output ? axes.in : axes.out];
  const Loops rest = without(move.axes, axes.in, axes.out);
  if (rest.empty()) return {along.extent, across.extent, 1, across.*side, across.extent * across.*side};
  return {along.extent, across.extent, rest[0].extent, across.*side, rest[0].*side};
}

/// Empty when a tensor map can describe an array.
std::string indescribable(const MappedArray& array, i64 element) {
  if (array.pitch < array.along || array.matrix_pitch < array.across * array.pitch ||
      array.matrix_pitch % array.pitch != 0)
    return "tensor maps need rows, and matrices of rows, that follow one another";
  return array.is_too_large(element, most_box_rows) ? too_large_for_maps : "";
}

std::string refusal(const Move& move, i64 side, const DeviceModel& device) {
  if (compute_capability(device) < 90)
    return "tensor maps need compute capability 9.0, the device is " + card_name(device);
  const auto axes = tile_axes(move);
  if (!axes) return no_tile_axes;
  if (move.tail) return "a channel tail is not a box";
  if (move.axes.size() > 3) return "takes at most one axis besides the two that are exchanged";
  if (proven_alignment(move, false, axes->in, tensor_alignment) < tensor_alignment ||
      proven_alignment(move, true, axes->out, tensor_alignment) < tensor_alignment)
    return "starts and pitches must be multiples of 16 bytes";
  for (const bool output : {false, true})
    if (std::string why = indescribable(mapped_array(move, *axes, output), move.element); !why.empty()) return why;
  // At the edge of an array the accelerator writes the last 16 bytes of a row whole, zeros behind its end (seen on an
  // H200).
  if (move.axes[axes->out].extent * move.element % tensor_alignment != 0)
    return "rows of the output must be multiples of 16 bytes";
  if (side > most_box_rows) return concat("boxes have at most 256 rows, not ", side);
  return {};
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  const i64 element = move.element, side = value_or(wish, "side",
                                                    element == 1   ? 128
                                                    : element <= 4 ? 256
                                                                   : 512) /
                                           element;
  if (std::string why = refusal(move, side, device); !why.empty()) return refuse(std::move(why));
  // A tile is square, and so are the boxes' numbers on both sides.
  const Group group{wish.at("items"), swizzle_bytes + 2 * side * side * element + barrier_bytes};
  Configuration values = wish;
  values["side"] = side * element;
  const auto launches = [=, &problem] {
    const TileAxes axes = *tile_axes(problem.move);
    MoveLaunch launch("lessons/tma", problem, group);
    launch.walk_tiles(axes, {side, side, true});
    launch.defines()
        .set("TILE_I", side)
        .set("TILE_O", side)
        .set("LOCAL_BYTES", group.local_bytes)
        .set("ELEMENT_BYTES", element)
        .set("VECTOR_I", 16 / element)
        .set("ROWS", element <= 4 ? 4 : 16 / element);
    for (LaunchBuffer& buffer : launch.launch.buffers)
      buffer.map = tensor_map(mapped_array(problem.move, axes, buffer.view == 1), element, side);
    return launch.done();
  };
  return {.group = group,
          .seconds = transfer_seconds(of_copy * 2 * bytes_of(move), device),
          .configuration = values,
          .launches = launches};
}

}  // namespace

MoveCandidate tma_move() {
  return {{.name = "tma",
           .summary = "transposes by bulk tensor copies, on CUDA from compute capability 9.0 on",
           .tunables =
               {
                   {"side",
                    0,
                    {0, 128, 256, 512},
                    "bytes",
                    "of a tile's rows on either side; 0: 128, 256, 256, 512, 512 for elements of 1 to 16 bytes, so "
                    "that tiles are 16 to 32 KiB"},
                   {"items", 256, doublings(64, 512), "work-items", "group size; they only transpose the tile"},
               },
           .runtimes = {Api::cuda, Api::host},
           .chosen_on = no_kind,
           .checkable = false},
          propose};
}

}  // namespace axisloom::ops
