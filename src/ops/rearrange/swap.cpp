// Variant "swap": square matrices transposed in place.
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/variants.hpp"

namespace axisloom::ops {
namespace {

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items", 64, {32, 64, 128, 256}, "work-items", "group size"},
  };
  return list;
}

// The two axes that change places; all others must lie the same on both sides.
std::optional<TileAxes> mirrored_axes(const core::Move& move) {
  TileAxes found{-1, -1};
  for (int d = 0; d < static_cast<int>(move.axes.size()); ++d) {
    const core::MoveAxis& axis = move.axes[static_cast<std::size_t>(d)];
    if (axis.in_stride == axis.out_stride) continue;
    if (found.in < 0) {
      found.in = d;
    } else if (found.out < 0) {
      found.out = d;
    } else {
      return std::nullopt;
    }
  }
  if (found.out < 0 || move.in_offset != move.out_offset) return std::nullopt;
  const core::MoveAxis& a = move.axes[static_cast<std::size_t>(found.in)];
  const core::MoveAxis& b = move.axes[static_cast<std::size_t>(found.out)];
  if (a.extent != b.extent || a.in_stride != b.out_stride || a.out_stride != b.in_stride) return std::nullopt;
  return found;
}

Verdict consider(const MoveProblem& problem, const Configuration&, const DeviceInfo& device) {
  if (!problem.in_place) return Verdict::refuse("output and input are different arrays");
  if (problem.move.guard) return Verdict::refuse("blocks of channels with a tail");
  if (!mirrored_axes(problem.move))
    return Verdict::refuse("in place only two axes of equal extent and positive stride can change places");
  const auto bytes = static_cast<double>(2 * problem.move.count() * problem.move.element);
  return Verdict::accept(transfer_seconds(bytes, device));
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo&) {
  const core::Move& move = problem.move;
  const TileAxes axes = *mirrored_axes(move);
  const std::int64_t items = values.at("items");
  Launch launch;
  launch.kernel = {"rearrange/swap.kernel", "swap", {}, static_cast<unsigned>(items), false};
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  std::vector<core::MoveAxis> walked = axes_without(move, axes.in, axes.out);
  walked.push_back(move.axes[static_cast<std::size_t>(axes.in)]);
  walked.push_back(move.axes[static_cast<std::size_t>(axes.out)]);
  write_walk(walked, 0, Ranks::fine, problem.index_bits, params, defines);
  defines.set("ELEMENT", type_of_bytes(move.element));
  launch.geometry.items = static_cast<unsigned>(items);
  launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(params.work, items));
  launch.params = params_bytes(params);
  launch.buffers = {{1, move.out_offset, move.element}};
  return launch;
}

}  // namespace

MoveCandidate swap_candidate() {
  return {{"swap", "square matrices in place, a mirrored pair an item", tunables(), true, true}, consider, lower};
}

}  // namespace axisloom::ops
