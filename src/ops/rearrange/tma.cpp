// Variant "tma": transposes whose tiles the tensor memory accelerator brings and takes. CUDA from compute
// capability 9.0 on.
#include "ops/nvidia.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/plain.hpp"
#include "ops/rearrange/variants.hpp"
#include "ops/tensor_map.hpp"

#include <algorithm>
#include <limits>

namespace axisloom::ops {
namespace {

constexpr std::int64_t most_box_rows = 256;   // what a tensor map can say
constexpr std::int64_t swizzle_bytes = 1024;  // after which the pattern of the swizzle repeats
constexpr std::int64_t barrier_bytes = 16;    // 8, in whole packets

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"side",
       0,
       {0, 128, 256, 512},
       "bytes",
       "of a tile's rows on either side; 0: 128, 256, 256, 512, 512 for elements of 1 to 16 bytes, so that tiles are "
       "16 to 32 KiB"},
      {"items", 256, {64, 128, 256, 512}, "work-items", "group size; they only turn the tile"},
  };
  return list;
}

// A tile is square, and so are the boxes' numbers on both sides.
struct Tile {
  std::int64_t side;     // elements
  std::int64_t element;  // bytes
  std::int64_t bytes() const { return side * side * element; }
  std::int64_t local_bytes() const { return swizzle_bytes + 2 * bytes() + barrier_bytes; }
};

Tile tile_of(const core::Move& move, const Configuration& values) {
  std::int64_t bytes = values.at("side");
  if (bytes == 0) bytes = move.element == 1 ? 128 : move.element <= 4 ? 256 : 512;
  return {bytes / move.element, move.element};
}

/// One array as a map sees it: along its own contiguous axis, across it along the other tile axis, and the third one.
struct Side {
  std::int64_t along, across, pitch, matrices, matrix_pitch;  // pitches in elements
};
Side side_of(const core::Move& move, const TileAxes& axes, bool output) {
  const core::MoveAxis& along = move.axes[static_cast<std::size_t>(output ? axes.out : axes.in)];
  const core::MoveAxis& across = move.axes[static_cast<std::size_t>(output ? axes.in : axes.out)];
  const auto pitch = [&](const core::MoveAxis& axis) { return output ? axis.out_stride : axis.in_stride; };
  const std::vector<core::MoveAxis> rest = axes_without(move, axes.in, axes.out);
  Side side{along.extent, across.extent, pitch(across), 1, across.extent * pitch(across)};
  if (!rest.empty()) side.matrices = rest[0].extent, side.matrix_pitch = pitch(rest[0]);
  return side;
}

/// Empty when a tensor map can describe one side.
std::string indescribable(const Side& side, std::int64_t element) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  constexpr std::int64_t most_coordinate = std::numeric_limits<std::int32_t>::max() / 2 - most_box_rows;
  if (side.pitch < side.along || side.matrix_pitch < side.across * side.pitch || side.matrix_pitch % side.pitch != 0)
    return "tensor maps take rows, and matrices of rows, one behind the other";
  if (side.matrix_pitch >= most_bytes / element || std::max({side.along, side.across, side.matrices}) > most_coordinate)
    return "too large for a tensor map";
  return {};
}

std::string refusal(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  if (problem.in_place) return "not in place";
  if (problem.checked) return "bulk copies pass by the words of the dialect, so they cannot be checked";
  if (compute_capability(device) < 90)
    return "tensor maps need compute capability 9.0, the device is " +
           (device.architecture.empty() ? "no NVIDIA card" : device.architecture);
  const std::optional<TileAxes> axes = tile_axes(move);
  if (!axes) return "no two different axes are contiguous, one in the input and one in the output";
  if (move.guard) return "a tail of channels is no box";
  if (move.axes.size() > 3) return "takes one axis beside the two that change places";
  if (core::proven_alignment(move, false, axes->in, tensor_alignment) < tensor_alignment ||
      core::proven_alignment(move, true, axes->out, tensor_alignment) < tensor_alignment)
    return "starts and pitches must be multiples of 16 bytes";
  for (const bool output : {false, true})
    if (std::string why = indescribable(side_of(move, *axes, output), move.element); !why.empty()) return why;
  // At the edge of an array the accelerator writes the last 16 bytes of a row whole, zeros behind its end (seen on an
  // H200).
  if (side_of(move, *axes, true).along * move.element % tensor_alignment != 0)
    return "rows of the output must be multiples of 16 bytes";
  const Tile tile = tile_of(move, values);
  if (tile.side > most_box_rows) return "boxes have at most 256 rows, not " + std::to_string(tile.side);
  return beyond_limits(device, values.at("items"), tile.local_bytes());
}

Verdict consider(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (std::string why = refusal(problem, values, device); !why.empty()) return Verdict::refuse(std::move(why));
  // An H200 moves 16384 x 16384 floats at 4008 GB/s so, and at 4103 by "tile": it runs where it is asked for by name,
  // and never predicts less than what takes everything.
  return Verdict::accept(2 * element_seconds(problem.move, device));
}

device::TensorMap map_of(const Side& side, const Tile& tile) {
  const std::int64_t element = std::min<std::int64_t>(tile.element, 8), parts = tile.element / element;
  return tensor_map(element, {side.along * parts, side.across, side.matrices},
                    {side.pitch * parts, side.matrix_pitch * parts}, tile.side);
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo&) {
  const core::Move& move = problem.move;
  const TileAxes axes = *tile_axes(move);
  const Tile tile = tile_of(move, values);
  const std::int64_t element = move.element;
  Launch launch;
  launch.kernel = {"rearrange/tma.kernel", "tma", {}, static_cast<unsigned>(values.at("items")), false};
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  write_tile_walk(move, axes, {tile.side, tile.side, true}, problem.index_bits, params, defines);
  defines.set("TILE_I", tile.side).set("TILE_O", tile.side).set("LOCAL_BYTES", tile.local_bytes());
  defines.set("ELEMENT_BYTES", element).set("VECTOR_I", 16 / element).set("ROWS", element <= 4 ? 4 : 16 / element);
  launch.geometry.items = launch.kernel.items;
  launch.geometry.groups = static_cast<std::uint64_t>(params.work);
  launch.geometry.local_bytes = static_cast<std::size_t>(tile.local_bytes());
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, element, map_of(side_of(move, axes, false), tile)},
                    {1, move.out_offset, element, map_of(side_of(move, axes, true), tile)}};
  return launch;
}

}  // namespace

MoveCandidate tma_candidate() {
  return {{"tma", "transposes by bulk tensor copies, on CUDA from compute capability 9.0 on", tunables(), false, true},
          consider,
          lower};
}

}  // namespace axisloom::ops
