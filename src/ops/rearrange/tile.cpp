// Variant "tile": transposes through local memory, 16 bytes an access on both sides, wherever rows begin. For GPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

enum Order : i64 { along_rows, down_columns, diagonal };
enum Layout : i64 { straight, padded, swizzled };

// All that follows from element size, alignment and configuration; in elements unless it says bytes. `pitch`: 16 bytes.
struct Shape {
  i64 tile_i, tile_o, rows, vector_i, vector_o, items, pitch;
  bool shifted;  // loads of rows that begin anywhere are put together from two
  i64 skew;      // bytes by which tiles overlap, where rows of the output begin anywhere
  i64 overlap;   // the same in elements
  i64 step_o() const { return tile_o - overlap; }
  Group group() const { return {items, tile_i * pitch * 16}; }
  i64 loads() const { return tile_i / vector_i * tile_o / rows; }  // of all items together
  i64 stores() const { return tile_i * (tile_o / vector_o); }
  // The move as its groups walk it: where tiles overlap, the first begins before the array.
  Move walked(Move move, int o) const {
    if (skew) move.axes[o].extent += overlap - proven_alignment(move, true, o, skew) / move.element;
    return move;
  }
};

// What a tile has on the input's and on the output's side.
struct Sides {
  i64 in, out;
};

enum Unaligned : i64 { by_length, never };  // of the tunable `skew`, beside the bytes

// What rows that begin anywhere within 16 bytes are moved by.
struct Skew {
  bool shifted = false;
  i64 bytes = 0;
};

// Bytes by which tiles overlap: the fewest, since neighbours read them twice.
constexpr i64 default_skew = 16;

// Bytes of an axis from which on a tile of 16-byte accesses to rows that begin anywhere competes: shorter ones leave
// much of it empty. 14 x 14 x 512 bytes took an H200 13.6 us in tiles of 64 x 128, and 14.8 by "tile_flat".
constexpr i64 long_rows = 128;

// Not of moves with a tail, nor of larger elements, of which each is an access.
Skew skew_of(const Move& move, const TileAxes& axes, const Configuration& values, const DeviceModel& device) {
  const i64 wish = values.at("skew");
  if (wish == never || values.at("access") < 16 || move.element > 4 || move.tail) return {};
  const auto bytes = [&](int axis) { return move.axes[axis].extent * move.element; };
  if (wish == by_length && (device.is_cpu() || std::min(bytes(axes.in), bytes(axes.out)) < long_rows)) return {};
  return {proven_alignment(move, false, axes.in, 16) < 16,
          proven_alignment(move, true, axes.out, 16) < 16 ? (wish == by_length ? default_skew : wish) : 0};
}

// Elements per access: of 16 bytes, 4 bytes (smaller elements) or one element.
Sides vectors_of(const Move& move, const TileAxes& axes, i64 limit, const Skew& skew) {
  const auto elements = [&](bool output, int axis) {
    const i64 proven = proven_alignment(move, output, axis, limit);
    return std::max<i64>(1, (proven >= 16 ? 16 : proven >= 4 ? 4 : 1) / move.element);
  };
  i64 in = skew.shifted ? 16 / move.element : elements(false, axes.in);
  i64 out = skew.bytes ? 16 / move.element : elements(true, axes.out);
  // Single elements on one side set the pace: 4 bytes on the other would only be one more kernel.
  if (in == 1 && out * move.element < 16) out = 1;
  if (out == 1 && in * move.element < 16) in = 1;
  return {in, out};
}

// Time of reading rows of 32 bytes, relative to rows of 256: 103 MB, NHWC to NCHW, took an H200 73 us, a copy 54.
constexpr double short_reads = 1.5;

// Cost of a tile's row relative to one of 256 bytes: 128 on both sides cost bytes 6% and floats 8 to 12% on an
// H200, even where 256 leave a quarter empty (48 x 48 floats: 2961 against 3197 GB/s). Of 64 on one side 51 MB of
// bytes, NHWC to NCHW and back, took 32 us and a copy takes 28: 1.33, or more of a shorter launch. Rows of 32 bytes are
// paired with long ones.
double row_cost(i64 bytes) {
  return bytes >= 256 || bytes < 64 ? 1 : bytes >= 128 ? 1.15 : 1.4;
}

// The length of a tile's row, in bytes, that costs least along an axis of `extent_bytes`.
i64 fitting_row(i64 extent_bytes) {
  const auto cost = [&](i64 row) { return in_blocks(extent_bytes, row) * row_cost(row); };
  i64 best = 256;
  for (const i64 row : {128, 64})
    if (cost(row) < cost(best)) best = row;
  return best;
}

// Bytes of a tile's rows (in, out) where the tunables leave them open: 256 each, of which 8-bit elements reach 4065
// GB/s on an H200. If all rows are aligned, shorter ones follow short axes: of 64 bytes beside 3136, tiles of 256 x
// 256 move 556 GB/s there. Beside an axis of at most 32 bytes a long other side grows by what it leaves; where local
// memory is small, both shrink. Few forms, since each is compiled anew.
Sides default_tile_bytes(const Move& move, const TileAxes& axes, const Sides& vectors, const Skew& skew,
                         const DeviceModel& device) {
  const auto bytes = [&](int axis) { return move.axes[axis].extent * move.element; };
  const auto beside = [&](int narrow, int other) { return bytes(narrow) <= 32 && bytes(other) >= 1024; };
  i64 in = 256, out = 256;
  if (std::min(vectors.in, vectors.out) * move.element == 16 && !skew.shifted && !skew.bytes) {
    if (beside(axes.in, axes.out))
      in = 32, out = 2048;
    else if (beside(axes.out, axes.in))
      in = 2048, out = 32;
    else
      in = fitting_row(bytes(axes.in)), out = fitting_row(bytes(axes.out));
  } else if (move.element <= 2 && (skew.shifted || skew.bytes)) {
    // On an H200 8191 x 8193 bytes took 48 us, and 53 in tiles of 256 x 256; 8191 x 4097 of two bytes 44 and 47; of
    // 401 x 399 x 403 bytes, of which tiles of 64 x 128 leave less empty, 54, 58 by 128 x 128 and 68 by 256 x 256.
    const bool is_short = move.element == 1 && std::min(bytes(axes.in), bytes(axes.out)) < 512;
    in = is_short ? 64 : 128;
    out = is_short ? 128 : 256;
  }
  // Two warps have something to load, 16 bytes of what is up to 16 bytes of a column.
  while (in * out < 1024 * std::min<i64>(16, 4 * move.element)) (in < out ? in : out) *= 2;
  while (size_t(in * out / move.element) > device.local_memory_max) (in > out ? in : out) /= 2;
  return {in, out};
}

Shape shape_of(const Move& move, const TileAxes& axes, const Configuration& values, const DeviceModel& device) {
  const i64 element = move.element;
  const Skew skew = skew_of(move, axes, values, device);
  const Sides vectors = vectors_of(move, axes, values.at("access"), skew);
  const Sides open = default_tile_bytes(move, axes, vectors, skew, device);
  const i64 row_o = value_or(values, "tile_out", open.out);
  Shape shape{.tile_i = value_or(values, "tile_in", open.in) / element,
              .tile_o = row_o / element,
              .rows = value_or(values, "rows", element <= 4 ? 4 : 16 / element),
              .vector_i = vectors.in,
              .vector_o = vectors.out,
              .items = values.at("items"),
              .pitch = row_o / 16 + (values.at("layout") == padded),
              .shifted = skew.shifted,
              .skew = skew.bytes,
              .overlap = skew.bytes / element};
  const bool many = element == 2 || (element == 1 && (shape.shifted || shape.skew));
  const i64 most_items = std::min<i64>(many ? 512 : 256, i64(std::bit_floor(device.max_group)));
  if (shape.items == 0) shape.items = std::min({shape.loads(), shape.stores(), most_items});
  return shape;
}

// Empty when the shape is one that the kernel can be compiled for.
std::string impossible(const Shape& shape, i64 element) {
  if (shape.rows * element > 16) return "an item transposes at most 16 bytes of a column at a time";
  if (element < 4 && shape.rows != 4) return "elements below 4 bytes are transposed four rows at a time";
  if (shape.tile_i < shape.vector_i || shape.tile_o * element < 16 || shape.tile_o % shape.rows != 0 ||
      shape.items == 0)
    return "tile rows shorter than an access";
  if (shape.tile_o <= shape.overlap) return "tiles that overlap are longer than that";
  const i64 parts = 16 / (shape.rows * element);
  if (shape.loads() % shape.items != 0 || shape.stores() % shape.items != 0 || shape.tile_o / shape.rows % parts != 0)
    return concat("the tile cannot be divided evenly among ", shape.items, " work-items");
  return {};
}

// Share of a copy's rate that 16-byte accesses to rows which begin anywhere reach, measured on an H200: 0.83 to 0.87,
// 0.85 to 0.93 and 0.98 of elements of 1, 2 and 4 bytes.
double unaligned_efficiency(i64 element) {
  return element == 1 ? 0.85 : element == 2 ? 0.9 : 0.97;
}

// Of the first tiles' way in and the last ones' way out. On an H200 1024 x 1024 floats took 1.8 us beside what else is
// predicted, and where tiles overlap 2000 x 1500 floats 4; counted is what that is more than with other kernels.
constexpr double beginning_seconds = 1e-6, shifted_beginning_seconds = 1.5e-6;

// What a card copies while the ends of such a row are moved. 257 x 509 x 511 bytes as 0,2,1 took an H200 4% longer than
// the tiles' empty parts explain, when ends went by elements: 20 bytes for a row on either side.
constexpr double bytes_per_end = 20;

double predicted_seconds(const Move& move, const TileAxes& axes, const Shape& shape, const DeviceModel& device) {
  const Loop &i = move.axes[axes.in], &o = move.axes[axes.out];
  const double elements = move.count();
  const auto efficiency = [&](bool unaligned, i64 vector) {
    return unaligned ? unaligned_efficiency(move.element) : access_efficiency(vector * move.element, device);
  };
  const double efficiency_i = efficiency(shape.shifted, shape.vector_i);
  const double efficiency_o = efficiency(shape.skew != 0, shape.vector_o);
  const auto sectors = [&](i64 extent, i64 tile) {
    return sector_bytes(elements, std::min(extent, tile), 1, move.element, device);
  };
  const double traffic =
      sectors(i.extent, shape.tile_i) / efficiency_i + sectors(o.extent, shape.tile_o) / efficiency_o;
  const double others = elements / (double(i.extent) * o.extent);
  const double tiles = others * (ceil_div(i.extent, shape.tile_i) *
                                 ceil_div(shape.walked(move, axes.out).axes[axes.out].extent, shape.step_o()));
  // What an element of a tile that lies outside the array costs, relative to half of one inside: it passes through
  // local memory all the same. Measured on an H200. Bytes: 762 us for 41 x 9 x 11 x 63 x 45 with the 11 moved last, 69
  // to 87 for 28 x 28 x 512 (a copy: 54). Two bytes: 95 us for 6 x 632 x 1115 as h w c. Four: 48 x 48 at 3197 GB/s.
  const double outside = move.element == 1 ? 2 : move.element == 2 ? 1.3 : 1;
  const double passage =
      outside * tiles * (shape.tile_i * shape.tile_o * move.element) / std::min(efficiency_i, efficiency_o);
  const i64 bytes_i = shape.tile_i * move.element;
  const double reading = bytes_i < 64 ? short_reads : row_cost(bytes_i);
  // Where tiles overlap the measured shares hold what short rows cost.
  const double rows = shape.shifted || shape.skew ? 1 : (reading + row_cost(shape.tile_o * move.element)) / 2;
  // Where an axis is shorter than an access, elements come or go one by one, in bytes that could have been copied
  // meanwhile. From blocks of 32 channels an H200 took 137 us for 8 channels of 103 MB, for 3 and 4 of 411 MB 273 and
  // 306.
  const bool single = i.extent < shape.vector_i || o.extent < shape.vector_o;
  const double singles = single ? 2 * bytes_of(move) / access_efficiency(move.element, device) : 0;
  const double ended_rows = (shape.shifted ? elements / i.extent : 0) + (shape.skew ? elements / o.extent : 0);
  const double ends = ended_rows * bytes_per_end;
  const double beginning = shape.shifted || shape.skew ? shifted_beginning_seconds : beginning_seconds;
  return local_memory_seconds(move, rows * std::max(traffic, passage) + singles + ends, device) +
         (device.is_cpu() ? 0 : beginning);
}

// Groups that every card from compute capability 8.0 on holds at a time.
constexpr i64 most_groups = 16;

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  const auto axes = tile_axes(move);
  if (!axes) return refuse(no_tile_axes);
  if (!tail_fits_tiles(move, *axes)) return refuse("the channel tail lies across the tiles");
  const Shape shape = shape_of(move, *axes, wish, device);
  if (std::string why = impossible(shape, move.element); !why.empty()) return refuse(std::move(why));
  Configuration values = wish;
  values["tile_in"] = shape.tile_i * move.element;
  values["tile_out"] = shape.tile_o * move.element;
  values["items"] = shape.items;
  values["rows"] = shape.rows;
  values["skew"] = shape.skew || shape.shifted ? std::max(shape.skew, default_skew) : never;
  const auto launches = [=, &problem] {
    const auto& tail = problem.move.tail;
    MoveLaunch launch("rearrange/tile", problem.as(shape.walked(problem.move, axes->out)), shape.group());
    launch.walk_tiles(*axes, {shape.tile_i, shape.step_o(), values.at("order") == down_columns});
    launch.params.extent_o = problem.move.axes[axes->out].extent;
    launch.write_tail();
    launch.define_element()
        .set("TAIL_WALKED", tail && !axes->has(tail->inner))
        .set("TILE_I", shape.tile_i)
        .set("TILE_O", shape.tile_o)
        .set("ROWS", shape.rows)
        .set("VECTOR_I", shape.vector_i)
        .set("VECTOR_O", shape.vector_o)
        .set("LAYOUT", values.at("layout"))
        .set("ORDER", values.at("order"))
        .set("STREAM", values.at("stream"));
    if (shape.shifted) launch.defines().set("SHIFTED", 1);
    if (shape.shifted)
      launch.launch.kernel.resident = unsigned(std::min(most_groups, values.at("resident") / shape.items));
    if (shape.skew) launch.defines().set("SKEW", shape.skew);
    return launch.done();
  };
  return {.group = shape.group(),
          .seconds = predicted_seconds(move, *axes, shape, device),
          .configuration = values,
          .launches = launches};
}

}  // namespace

MoveCandidate tile_move() {
  return {
      {.name = "tile",
       .summary = "transposes through local memory in 16-byte accesses on a GPU",
       .tunables =
           {
               {"tile_in", 0, zero_or_doublings(16, 2048), "bytes",
                "row of a tile on the input's side; 0: 256, or 128 or 64 if a short axis leaves fewer of them empty. "
                "Of floats, 128 bytes cost 8 to 12% on an H200"},
               {"tile_out", 0, zero_or_doublings(16, 2048), "bytes", "the same on the output's side"},
               {"items", 0, zero_or_doublings(32, 1024), "work-items",
                "group size; 0: 256, for 2-byte elements 512 (4111 against 3993 GB/s on an H200), as for bytes whose "
                "rows begin anywhere (54.6 us against 60.1). 1024 cost 8% there"},
               {"layout",
                swizzled,
                {straight, padded, swizzled},
                "",
                "local memory: 0 straight, 1 a chunk of padding a row, 2 XOR swizzle"},
               {"order",
                down_columns,
                {along_rows, down_columns, diagonal},
                "",
                "how groups walk: 0 along the input's rows, 1 down its columns (2 to 3% faster on an H200), 2 "
                "diagonally"},
               {"access", 16, doublings(1, 16), "bytes",
                "widest global access; the widest that the alignment allows is taken"},
               {"skew",
                by_length,
                {by_length, never, 16, 32},
                "bytes",
                "by which tiles overlap where rows of elements up to 4 bytes begin anywhere within 16 bytes, which are "
                "moved in 16-byte accesses all the same; 0: 16, where a GPU moves rows of 256 bytes and more; 1: none, "
                "and accesses as the alignment allows"},
               {"resident",
                1024,
                {0, 768, 1024, 1536},
                "work-items",
                "of a compute unit, to which registers are fitted where loads are put together; 0: the compiler's own, "
                "which waits for the first of eight packets before it asks for the last"},
               {"stream", 0, {0, 1}, "", "1: streaming loads and stores; no gain on an H200 (within 0.1%)"},
               {"rows",
                0,
                {0, 1, 2, 4},
                "rows",
                "of the tile that an item transposes at a time in its registers; 0: what makes up 16 bytes, at most 4"},
           }},
      propose};
}

}  // namespace axisloom::ops
