// Variant "tile": transposes through local memory, 16 bytes an access on both sides. For GPUs.
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

enum Order : std::int64_t { along_rows = 0, down_columns = 1, diagonal = 2 };
enum Layout : std::int64_t { straight = 0, padded = 1, swizzled = 2 };

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"tile_in",
       0,
       {0, 16, 32, 64, 128, 256, 512, 1024, 2048},
       "bytes",
       "row of a tile on the input's side; 0: 256, or 128 or 64 if a short axis leaves fewer of them empty. Of floats, "
       "128 bytes cost 8 to 12% on an H200"},
      {"tile_out", 0, {0, 16, 32, 64, 128, 256, 512, 1024, 2048}, "bytes", "the same on the output's side"},
      {"items",
       0,
       {0, 32, 64, 128, 256, 512, 1024},
       "work-items",
       "group size; 0: 256, for 2-byte elements 512 (4111 against 3993 GB/s on an H200). 1024 cost 8% there"},
      {"layout",
       swizzled,
       {straight, padded, swizzled},
       "",
       "local memory: 0 straight, 1 a chunk of padding a row, 2 XOR swizzle"},
      {"order",
       down_columns,
       {along_rows, down_columns, diagonal},
       "",
       "how groups walk: 0 along the input's rows, 1 down its columns (2 to 3% faster on an H200), 2 diagonally"},
      {"access", 16, {1, 2, 4, 8, 16}, "bytes", "widest global access; the widest that the alignment allows is taken"},
      {"stream", 0, {0, 1}, "", "1: streaming loads and stores; no gain on an H200 (within 0.1%)"},
      {"rows",
       0,
       {0, 1, 2, 4},
       "rows",
       "of the tile that an item turns at a time in its registers; 0: what makes up 16 bytes, at most 4"},
  };
  return list;
}

// All that follows from element size, alignment and configuration; in elements unless it says bytes.
struct Shape {
  std::int64_t tile_i, tile_o, rows, vector_i, vector_o, items, chunks, pitch;
  std::int64_t local_bytes() const { return tile_i * pitch * 16; }
  std::int64_t loads() const { return tile_i / vector_i * tile_o / rows; }  // of all items together
  std::int64_t stores() const { return tile_i * (tile_o / vector_o); }
};

// Accesses are 16 bytes, 4 bytes (smaller elements) or one element.
std::int64_t access_bytes(std::int64_t element, std::int64_t proven) {
  if (proven >= 16) return 16;
  return proven >= 4 && element < 4 ? 4 : element;
}

// Elements per access on the input's and the output's side.
struct Vectors {
  std::int64_t in, out;
};
Vectors vectors_of(const core::Move& move, const TileAxes& axes, std::int64_t limit) {
  Vectors vectors{access_bytes(move.element, core::proven_alignment(move, false, axes.in, limit)) / move.element,
                  access_bytes(move.element, core::proven_alignment(move, true, axes.out, limit)) / move.element};
  // Single elements on one side set the pace: 4 bytes on the other would only be one more kernel.
  if (vectors.in == 1 && vectors.out * move.element < 16) vectors.out = 1;
  if (vectors.out == 1 && vectors.in * move.element < 16) vectors.in = 1;
  return vectors;
}

// Time of a tile whose rows are so short, of what 256 bytes take: 128 on both sides cost bytes 6% and floats 8 to 12%
// on an H200, even where 256 leave a quarter empty (48 x 48 floats: 2961 against 3197 GB/s). Rows of 32 bytes stand
// beside long ones.
double row_cost(std::int64_t bytes) {
  return bytes >= 256 || bytes < 64 ? 1 : bytes >= 128 ? 1.15 : 1.4;
}

// Bytes of rows along an axis of so many: few of them stay empty.
std::int64_t fitting_row(std::int64_t extent_bytes) {
  const auto cost = [&](std::int64_t row) {
    return static_cast<double>(ceil_div(extent_bytes, row) * row) * row_cost(row);
  };
  std::int64_t best = 256;
  for (const std::int64_t row : {128, 64})
    if (cost(row) < cost(best)) best = row;
  return best;
}

// Bytes of a tile's rows (in, out) where the tunables leave them open: 256 each, of which 8-bit elements reach 4065
// GB/s on an H200. If all accesses are wide, shorter ones follow short axes: of 64 bytes beside 3136, tiles of 256 x
// 256 move 556 GB/s there. Beside an axis of at most 32 bytes a long other side grows by what it leaves; where local
// memory is small, both shrink. Few forms, since each is compiled anew.
struct Sides {
  std::int64_t in, out;
};
Sides default_sides(const core::Move& move, const TileAxes& axes, const Vectors& vectors, const DeviceInfo& device) {
  const auto bytes = [&](int axis) { return move.axes[static_cast<std::size_t>(axis)].extent * move.element; };
  const auto beside = [&](int narrow, int other) { return bytes(narrow) <= 32 && bytes(other) >= 1024; };
  Sides sides{256, 256};
  if (std::min(vectors.in, vectors.out) * move.element == 16) {
    if (beside(axes.in, axes.out))
      sides = {32, 2048};
    else if (beside(axes.out, axes.in))
      sides = {2048, 32};
    else
      sides = {fitting_row(bytes(axes.in)), fitting_row(bytes(axes.out))};
  }
  // Two warps have something to load, 16 bytes of what is up to 16 bytes of a column.
  while (sides.in * sides.out < 1024 * std::min<std::int64_t>(16, 4 * move.element))
    (sides.in < sides.out ? sides.in : sides.out) *= 2;
  while (static_cast<std::size_t>(sides.in * sides.out / move.element) > device.local_memory_max)
    (sides.in > sides.out ? sides.in : sides.out) /= 2;
  return sides;
}

Shape shape_of(const MoveProblem& problem, const TileAxes& axes, const Configuration& values,
               const DeviceInfo& device) {
  const core::Move& move = problem.move;
  const std::int64_t element = move.element;
  const Vectors vectors = vectors_of(move, axes, values.at("access"));
  const Sides sides = default_sides(move, axes, vectors, device);
  const auto side = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t bytes = values.at(name);
    return (bytes == 0 ? otherwise : bytes) / element;
  };
  Shape shape{};
  shape.tile_i = side("tile_in", sides.in);
  shape.tile_o = side("tile_out", sides.out);
  shape.rows = values.at("rows");
  if (shape.rows == 0) shape.rows = element <= 4 ? 4 : 16 / element;
  shape.vector_i = vectors.in;
  shape.vector_o = vectors.out;
  shape.chunks = shape.tile_o * element / 16;
  shape.pitch = shape.chunks + (values.at("layout") == padded ? 1 : 0);
  shape.items = values.at("items");
  if (shape.items == 0) shape.items = std::min({shape.loads(), shape.stores(), std::int64_t{element == 2 ? 512 : 256}});
  return shape;
}

// Empty when the shape is one that the kernel can be compiled for.
std::string impossible(const Shape& shape, std::int64_t element, const DeviceInfo& device) {
  if (shape.rows * element > 16) return "an item turns at most 16 bytes of a column at a time";
  if (element < 4 && shape.rows != 4) return "elements below 4 bytes are turned four rows at a time";
  if (shape.tile_i < shape.vector_i || shape.chunks == 0 || shape.tile_o % shape.rows != 0 || shape.items == 0)
    return "tile rows shorter than an access";
  const std::int64_t lanes = std::min<std::int64_t>(8, shape.tile_i / shape.vector_i);
  const std::int64_t parts = 16 / (shape.rows * element);
  if (shape.loads() % shape.items != 0 || shape.stores() % shape.items != 0 || lanes == 0 ||
      shape.tile_o / shape.rows % parts != 0)
    return "the tile cannot be dealt evenly to " + std::to_string(shape.items) + " work-items";
  return beyond_limits(device, shape.items, shape.local_bytes());
}

double predicted_seconds(const MoveProblem& problem, const TileAxes& axes, const Shape& shape,
                         const DeviceInfo& device) {
  const core::Move& move = problem.move;
  const core::MoveAxis& i = move.axes[static_cast<std::size_t>(axes.in)];
  const core::MoveAxis& o = move.axes[static_cast<std::size_t>(axes.out)];
  const auto elements = static_cast<double>(move.count());
  const auto run_i = static_cast<double>(std::min(i.extent, shape.tile_i));
  const auto run_o = static_cast<double>(std::min(o.extent, shape.tile_o));
  const double in =
      segment_bytes(elements, run_i, 1, move.element, gpu_segment) / access_efficiency(shape.vector_i * move.element);
  const double out =
      segment_bytes(elements, run_o, 1, move.element, gpu_segment) / access_efficiency(shape.vector_o * move.element);
  // A tile that is mostly outside the array still costs its passage through local memory, about half its global
  // traffic.
  const double others = elements / (static_cast<double>(i.extent) * static_cast<double>(o.extent));
  const double tiles =
      others * static_cast<double>(ceil_div(i.extent, shape.tile_i) * ceil_div(o.extent, shape.tile_o));
  const double width =
      std::min(access_efficiency(shape.vector_i * move.element), access_efficiency(shape.vector_o * move.element));
  const double passage = tiles * static_cast<double>(shape.tile_i * shape.tile_o * move.element) / width;
  const double rows = (row_cost(shape.tile_i * move.element) + row_cost(shape.tile_o * move.element)) / 2;
  return local_memory_seconds(move, rows * std::max(in + out, passage), device);
}

Verdict consider(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (problem.in_place) return Verdict::refuse("not in place");
  const std::optional<TileAxes> axes = tile_axes(problem.move);
  if (!axes) return Verdict::refuse("no two different axes are contiguous, one in the input and one in the output");
  if (!guard_fits_tiles(problem.move, *axes)) return Verdict::refuse("the tail of channels lies across the tiles");
  const Shape shape = shape_of(problem, *axes, values, device);
  if (std::string why = impossible(shape, problem.move.element, device); !why.empty()) return Verdict::refuse(why);
  return Verdict::accept(predicted_seconds(problem, *axes, shape, device));
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  const TileAxes axes = *tile_axes(move);
  const Shape shape = shape_of(problem, axes, values, device);
  Launch launch;
  launch.kernel = {"rearrange/tile.kernel", "tile", {}, static_cast<unsigned>(shape.items), false};
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  const bool columns = values.at("order") == down_columns;
  write_tile_walk(move, axes, {shape.tile_i, shape.tile_o, columns}, problem.index_bits, params, defines);
  write_guard_params(move, problem.index_bits, params);
  defines.set("GUARD_WALKED", move.guard && !axes.has(move.guard->inner) ? 1 : 0);
  defines.set("TILE_I", shape.tile_i).set("TILE_O", shape.tile_o).set("ROWS", shape.rows);
  defines.set("VECTOR_I", shape.vector_i).set("VECTOR_O", shape.vector_o);
  defines.set("LAYOUT", values.at("layout")).set("ORDER", values.at("order")).set("STREAM", values.at("stream"));
  defines.set("ELEMENT", type_of_bytes(move.element)).set("ELEMENT_BYTES", move.element);
  launch.geometry.items = static_cast<unsigned>(shape.items);
  launch.geometry.groups = static_cast<std::uint64_t>(params.work);
  launch.geometry.local_bytes = static_cast<std::size_t>(shape.local_bytes());
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
  return launch;
}

}  // namespace

MoveCandidate tile_candidate() {
  return {{"tile", "transposes through local memory in 16-byte accesses on a GPU", tunables(), true, true},
          consider,
          lower};
}

}  // namespace axisloom::ops
