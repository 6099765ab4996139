// The table of rungs: name, candidate, settings and why; then, where that is not the same there, why on CPUs and why
// with CUDA. One more is one more entry here; tests/unit/bench_ladder_test.cpp looks that its candidate and tunables
// exist.
#include "bench/ladder/ladder.hpp"

#include <optional>
#include <vector>

namespace axisloom::bench::ladder {
namespace {

constexpr Unit elements = Unit::elements;

Rung changed(Change change, Rung rung) {
  rung.change = change;
  return rung;
}

/// A rung that is not compared with the one before it.
Rung over(std::string_view earlier, Rung rung) {
  rung.over = earlier;
  return rung;
}

Rung tuned() {
  return {.name = "tuned", .why = "What Axisloom chooses for this job on this device; the note says which kernel."};
}

// Values of the tunables of `plain` and `tile`: in whose order elements are taken, in which order tiles are, and how a
// tile lies in local memory.
enum : i64 { output_order, input_order };
enum : i64 { along_rows, down_columns, diagonal };
enum : i64 { straight, padded, swizzled };

/// An element an item by `plain`, in an order that may be left open.
std::vector<Setting> one_by_one(std::optional<i64> order = {}) {
  std::vector<Setting> settings{{"items", 256}, {"in_flight", 1}};
  if (order) settings.push_back({"order", *order});
  return settings;
}

/// Tiles of so many elements by `tile`, so many an access.
std::vector<Setting> tiles(i64 in, i64 out, i64 access, i64 layout, i64 order = along_rows, i64 items = 256) {
  return {{"tile_in", in, elements},    {"tile_out", out, elements}, {"items", items},
          {"access", access, elements}, {"layout", layout},          {"order", order}};
}

Lesson image_transpose() {
  return {.title = "transpose of an 8-bit image",
          .op = "transpose",
          .dtype = "u8",
          .shapes = {"256x256", "8192x8192", "32768x32768"},
          .rungs = {
              {"naive", "plain", one_by_one(output_order),
               "Each item writes one element beside its neighbour's. What they read lies a row apart, so every read "
               "fetches a whole segment of memory for one element.",
               "A core writes one element after the other. What it reads lies a row apart, so every read touches "
               "another cache line."},
              {"coalesced-in", "plain", one_by_one(input_order),
               "Items walk in the input's order: neighbours read neighbours, and a warp's reads become few segments. "
               "Now the writes lie a row apart, which helps only where those are cheaper.",
               "Cores walk in the input's order: reads run along cache lines, every write touches another one. A line "
               "is read before a part of it is written, so this need not help."},
              {"tiled-local", "tile", tiles(32, 32, 1, straight),
               "A tile of 32 x 32 elements passes through local memory: global memory is read and written along rows, "
               "and only local memory is accessed across them.",
               "A tile of 32 x 32 elements passes through local memory. On a CPU that is ordinary memory: a detour, "
               "whose gain is that the cache lines of a tile stay in reach."},
              {"tiled-local+4x4-per-item", "tile", tiles(64, 64, 4, straight),
               "16 x 16 items move 4 x 4 elements each, four to an access, and transpose them in registers: a quarter "
               "of the loads, and bytes travel as words."},
              {"diagonal", "tile", tiles(64, 64, 4, straight, diagonal),
               "Groups take the tiles diagonally, so that those that run together spread over the partitions of "
               "memory. Cards that hash addresses over their partitions gain nothing.",
               "Groups take the tiles diagonally. That was against partitions of memory on which groups camp, which a "
               "CPU does not have: nothing to gain."},
              {"padded", "tile", tiles(64, 64, 4, padded, diagonal),
               "Each row of the tile is followed by 16 unused bytes: rows begin in other banks of local memory, and "
               "fewer items of a warp meet in one.",
               "Each row of the tile is followed by 16 unused bytes. That is for the banks of local memory, which a "
               "CPU does not have: nothing to gain."},
              {"swizzled", "tile", tiles(64, 64, 4, swizzled, diagonal),
               "Instead of padding, the 16-byte chunks of a row change places by an XOR with its number: fewer items "
               "still meet in a bank, and no local memory is spent.",
               "Instead of padding, the 16-byte chunks of a row change places by an XOR with its number: for banks "
               "too, so nothing to gain on a CPU."},
              tuned(),
          }};
}

Lesson float_transpose() {
  const auto in_rows = [](i64 items, i64 layout) {
    auto settings = tiles(32, 32, 1, layout, along_rows, items);
    settings.push_back({"rows", 1});
    return settings;
  };
  return {
      .title = "transpose of a matrix of floats",
      .op = "transpose",
      .dtype = "f32",
      .shapes = {"1024x1024", "4096x4096", "16384x16384"},
      .rungs = {
          changed(
              Change::copy,
              {"copy", "plain", one_by_one(),
               "No transpose: as many elements copied by the kernel of the next rungs, in order on both sides. What "
               "they lose against it, they lose by the order."}),
          {"naive-row", "plain", one_by_one(input_order),
           "Items read along rows, which coalesces. What a warp writes goes to 32 rows of the output, 4096 bytes apart "
           "in the lesson, and each element costs a segment.",
           "Cores read along rows. What they write goes to another row of the output each time, 4096 bytes apart in "
           "the lesson: another cache line, and the same few sets of the cache."},
          {"naive-col", "plain", one_by_one(output_order),
           "The other way round: writes coalesce and reads are strided. A segment that was read is found in the cache "
           "by the next items, where a written one may be sent off in pieces.",
           "The other way round: writes run along cache lines, and reads jump from row to row. A line that was read "
           "stays in reach for its other elements."},
          {"tile", "tile", in_rows(1024, straight),
           "A tile of 32 x 32 in local memory, an element an item: reads and writes both go along rows of global "
           "memory. Eight items of a warp meet in one bank on the way in.",
           "A tile of 32 x 32 in local memory, an element an item. On a CPU local memory is ordinary memory, and a "
           "group of 1024 items is a loop."},
          {"tile+pad", "tile", in_rows(1024, padded),
           "Each row of the tile is padded by 16 bytes: the items of a warp meet 32 different banks.",
           "Each row of the tile is padded by 16 bytes. That is for banks, which a CPU does not have."},
          {"tile+rows", "tile", in_rows(256, padded),
           "A quarter as many items with four rows each: four loads are under way before the first is needed, and "
           "where a tile lies is worked out by fewer items.",
           "A quarter as many items with four rows each: where a tile lies is worked out less often. Loads of a core "
           "are under way together anyway."},
          {"tile+vec4", "tile", tiles(128, 32, 4, padded),
           "A tile of 32 rows and 128 columns, four values an access on both sides: a quarter of the instructions for "
           "the same bytes."},
          {"tma",
           "tma",
           {},
           "Tiles travel as boxes that the tensor memory accelerator moves by itself, both ways: one item asks, and "
           "the others only transpose what has arrived."},
          tuned(),
      }};
}

Lesson channel_blocks() {
  return {.title = "channels of images in blocks",
          .op = "relayout",
          .arguments = "NCHW NC/32HW32",
          .dtype = "i8",
          .shapes = {"1x64x56x56", "16x256x56x56", "64x256x112x112"},
          .rungs = {
              {"relayout-naive", "plain", one_by_one(),
               "Each item writes one element. Channels that lie side by side in the output lie a whole picture apart "
               "in the input, so every read fetches a segment for one element.",
               "A core writes one element after the other. Channels that lie side by side in the output lie a whole "
               "picture apart in the input: each read touches another cache line."},
              {"relayout-tiled", "tile", tiles(64, 32, 1, padded),
               "A change of layout is many small transposes, of pixels by channels: each passes through local memory, "
               "and both sides are accessed along rows, an element at a time.",
               "A change of layout is many small transposes, of pixels by channels, each through local memory: on a "
               "CPU a detour through ordinary memory."},
              {"relayout-packed",
               "tile",
               {{"tile_in", 0},
                {"tile_out", 0},
                {"items", 0},
                {"access", 16},
                {"layout", swizzled},
                {"order", down_columns}},
               "16 bytes an access on both sides, as far as alignment allows: elements of several channels are packed "
               "into words in registers before they enter local memory."},
              tuned(),
          }};
}

Lesson vector_copy() {
  enum : i64 { direct, async, double_buffered, strided, ahead, streaming };
  const auto vectors = [](i64 width, i64 way) { return std::vector<Setting>{{"width", width}, {"way", way}}; };
  return {
      .title = "copy of an array",
      .op = "copy",
      .dtype = "f32",
      .shapes = {"1048576", "67108864", "268435456"},
      .rungs = {
          {"scalar", "vectors", vectors(1, direct),
           "One element an access. Neighbours move neighbours, so accesses coalesce; but there are as many "
           "instructions as elements.",
           "One element an access, in a loop that a compiler may or may not make vectors of."},
          {"vec2", "vectors", vectors(2, direct),
           "Two elements an access: half as many instructions for the same bytes."},
          {"vec3", "vectors", vectors(3, direct),
           "Three elements an access. No access to memory is as wide as that, and every third vector begins elsewhere "
           "against a segment: it is made of narrower ones."},
          {"vec4", "vectors", vectors(4, direct),
           "Four elements an access: of floats 16 bytes, the widest access that most GPUs have."},
          {"vec8", "vectors", vectors(8, direct),
           "Eight elements an access: of floats twice 16 bytes where nothing is wider, which leaves the instructions "
           "as many as before.",
           "Eight elements an access: of floats 32 bytes, a register of AVX.",
           "Eight elements an access. For floats the intrinsic is only emulated, by two accesses of 16 bytes."},
          {"vec16", "vectors", vectors(16, direct),
           "Sixteen elements an access: of floats four times 16 bytes where nothing is wider.",
           "Sixteen elements an access: of floats 64 bytes, a cache line and a register of AVX-512.",
           "Sixteen elements an access. For floats the intrinsic is only emulated, by four accesses of 16 bytes, and "
           "neighbours no longer read side by side."},
          over(
              "vec4",
              changed(
                  Change::misaligned,
                  {"misaligned", "vectors", vectors(4, direct),
                   "As vec4, but both arrays begin one element behind an aligned address. Where hardware wants vectors "
                   "aligned, each becomes single elements: right, and slower.",
                   "As vec4, but both arrays begin one element behind an aligned address. A CPU's vector accesses may "
                   "do so, and cost more only where they cross a cache line.",
                   "As vec4, but both arrays begin one element behind an aligned address. The intrinsic is then "
                   "emulated by single elements: right, and slower."})),
          over("vec4", {"async", "vectors", vectors(4, async),
                        "Chunks come to local memory by async_work_group_copy and are written from there. A driver may "
                        "make it a loop; alone it is a detour, since everybody waits for it.",
                        "Chunks come to local memory by async_work_group_copy. On PoCL the intrinsic is only emulated, "
                        "by a loop at once: an element is copied twice.",
                        "Chunks come to shared memory by cp.async, real from sm_80 on where addresses and length are "
                        "multiples of 4 bytes, else a loop. Alone it is a detour, since everybody waits for it."}),
          {"async+double-buffer", "vectors", vectors(4, double_buffered),
           "Two chunks of local memory: one fills while the other is written out.",
           "Two chunks of local memory, one to fill while the other is written out. Where the copy is a loop made at "
           "once, nothing overlaps."},
          over("async",
               {"async-strided", "vectors", vectors(4, strided),
                "As async, by strided copies that take the vectors apart: the first elements of all, then the second. "
                "Each reads every fourth element, and the intrinsic is emulated by a loop almost everywhere.",
                "",
                "As async, by strided copies that take the vectors apart: the first elements of all, then the second. "
                "The intrinsic is only emulated, by a loop that reads every fourth element."}),
          over("vec4",
               {"prefetch", "vectors", vectors(4, ahead),
                "As vec4, and the next chunk is prefetched, which is a hint. A GPU has other warps to run while one "
                "waits: little is left to hide.",
                "As vec4, and the next chunk is prefetched, which is a hint. A CPU's own prefetcher follows a copy by "
                "itself."}),
          over("vec4",
               {"stream-store", "vectors", vectors(4, streaming),
                "As vec4 with streaming stores: what nobody reads again soon need not push other things out of the "
                "cache.",
                "As vec4 with non-temporal stores: lines are not read before they are written, which saves a third of "
                "the traffic to memory. Arrays that fit into the cache are better kept there."}),
          tuned(),
      }};
}

Lesson array_sum() {
  const auto style = [](i64 value, i64 packet, i64 loads, i64 launches) {
    return std::vector<Setting>{
        {"style", value}, {"packet", packet}, {"loads", loads}, {"items", 256}, {"launches", launches}};
  };
  enum : i64 { interleaved, sequential, unrolled, shuffled, atomic };
  return {
      .title = "sum of an array",
      .op = "sum",
      .dtype = "u32",
      .shapes = {"4096", "67108864", "268435456"},
      .rungs = {
          {"atomic", "lesson", style(atomic, 1, 1, 2),
           "Every item adds its element to one counter, where all of them wait for one another.",
           "Every item adds its element to one counter: cores pass its cache line to and fro."},
          {"interleaved", "lesson", style(interleaved, 1, 1, 2),
           "A tree in local memory: an item whose number divides by 2s adds what lies s further on. Groups no longer "
           "wait for each other, but in every warp most items idle.",
           "A tree in local memory: an item whose number divides by 2s adds what lies s further on. Cores no longer "
           "wait for each other, but each barrier ends a loop over the items."},
          {"sequential", "lesson", style(sequential, 1, 1, 2),
           "The first s items add what lies s further on: whole warps are done instead of parts of all, and neighbours "
           "access neighbouring banks.",
           "The first s items add what lies s further on. That is for warps and banks; on a CPU neighbours at least "
           "share cache lines."},
          {"add-on-load", "lesson", style(sequential, 1, 2, 2),
           "Each item adds two elements while it loads them: half as many groups, and the first step of the tree, in "
           "which half of the items would idle, is saved."},
          {"vec4+add-on-load", "lesson", style(sequential, 4, 2, 2),
           "The lesson's own kernel: packets of four, two of them added on load. A load brings 16 bytes, and a tree "
           "adds up eight times as many elements as before the last two rungs."},
          {"unrolled", "lesson", style(unrolled, 4, 2, 2),
           "The steps of the tree are written out: no counter, no test whether it ends. A compiler that knows the "
           "group's size, as here, may have done so before."},
          {"shuffle", "lesson", style(shuffled, 4, 2, 2),
           "Within a warp sums go from register to register: five steps of the tree need neither local memory nor "
           "barriers."},
          over("unrolled",
               {"one-launch", "lesson", style(unrolled, 4, 2, 1),
                "As unrolled, but the group that finishes last adds up what all have found: a second launch is saved, "
                "which is much of the time of a short array."}),
          tuned(),
      }};
}

Lesson matrix_product() {
  const auto tile = [](i64 access, i64 buffers, i64 async) {
    return std::vector<Setting>{{"block_m", 64},
                                {"block_n", 64},
                                {"tile_m", 4},
                                {"tile_n", 4},
                                {"step_k", 16},
                                {"split", 1},
                                {"access", access, elements},
                                {"buffers", buffers},
                                {"async", async}};
  };
  return {
      .title = "product of two matrices",
      .op = "matmul",
      .dtype = "f32",
      .shapes = {"768x768,768x768", "1024x1024,1024x1024", "4096x4096,4096x4096"},
      .rungs = {
          {"naive",
           "plain",
           {},
           "Each item makes one element of C from a row of A and a column of B in global memory: two loads for two "
           "operations.",
           "Each element of C is summed by itself from a row of A and a column of B: every step touches another cache "
           "line of B, and nothing becomes a vector."},
          {"local16",
           "local16",
           {},
           "Tiles of A and B of 16 x 16 lie in local memory: what is loaded from global memory serves 16 items, for "
           "the price of two barriers a tile.",
           "Tiles of A and B of 16 x 16 lie in local memory. A CPU's caches hold such tiles anyway; what helps is that "
           "16 neighbours of a row can be a vector."},
          {"register-tile", "tile", tile(1, 1, 0),
           "Each item keeps 4 x 4 outputs in registers: a value from local memory serves four of them, so that local "
           "memory is no longer what limits.",
           "Each item keeps 4 x 4 outputs. On a CPU they do not stay in registers: there is one set of those for all "
           "items of a group, and barriers spill them."},
          {"vectorised", "tile", tile(4, 1, 0),
           "Tiles are loaded four elements at a time: a quarter of the load instructions."},
          {"double-buffer", "tile", tile(4, 2, 0),
           "Two tiles of each operand in local memory: the next ones are laid down while the present ones are "
           "multiplied, and one barrier a step is enough.",
           "Two tiles of each operand in local memory. Items of a CPU's group run one after the other, so nothing "
           "overlaps; a barrier a step is saved."},
          changed(
              Change::a_along_m,
              {"async", "tile", tile(4, 2, 1),
               "Tiles come by async_work_group_copy, without a detour through registers; A is stored transposed, so "
               "that rows of tiles lie together. Where a driver makes it a loop, nothing is gained.",
               "Tiles come by async_work_group_copy; A is stored transposed, so that rows of tiles lie together. On a "
               "CPU the intrinsic is only emulated, by a copy made at once.",
               "Tiles come by cp.async, real from sm_80 on, without a detour through registers; A is stored "
               "transposed, so that rows of tiles lie together."}),
          {"packed-cpu",
           "packed",
           {},
           "Panels of A and B are packed once in the order of their use, and sums stay in vector registers. There are "
           "no items, no barriers and no local memory: a kernel for CPUs."},
          tuned(),
      }};
}

Lesson half_product() {
  return {.title = "product of two matrices of 16-bit floats",
          .op = "matmul",
          .dtype = "f16",
          .shapes = {"768x768,768x768", "1024x1024,1024x1024", "4096x4096,4096x4096"},
          .rungs = {
              {"naive",
               "plain",
               {},
               "Each item makes one element of C from a row of A and a column of B in global memory. Each element is "
               "widened to 32 bits when it is loaded, as often as it is used."},
              {"register-tile",
               "tile",
               {},
               "Tiles are widened once, on their way into local memory, and outputs stay in registers. From there on "
               "it is a product of floats of 32 bits: half of the bytes, and no more operations a second.",
               "Tiles are widened once, on their way into local memory. On a CPU outputs do not stay in registers, and "
               "local memory is a detour."},
              {"tensor-core",
               "mma",
               {},
               "The 32 items of a warp hold fragments of 16 x 16 and 16 x 8 elements together, and one instruction "
               "multiplies them: 2048 multiplications where an item's own instruction has one. Sums have 32 bits.",
               "Fragments are multiplied by the tensor cores of NVIDIA's cards. A CPU has none: the host plays them, "
               "slowly."},
              {"warpgroup",
               "wgmma",
               {},
               "The 128 items of four warps multiply 64 x 16 by 16 x 256 elements in one instruction that reads local "
               "memory itself: no fragments to load. Tiles are fetched by the tensor memory accelerator, which one "
               "item of a warpgroup of its own asks; they meet at barriers for each tile, and the group as a whole "
               "never waits.",
               "Warpgroups are those of NVIDIA's compute capability 9.0. A CPU has none: the host plays them, slowly."},
              tuned(),
          }};
}

}  // namespace

std::span<const Ladder> ladders() {
  static const std::vector<Ladder> all{
      {"copy", "Copy an array: wider accesses, other ways through the chip.", {vector_copy()}},
      {"transpose",
       "Transpose a matrix: an 8-bit image as it is taught in OpenCL, and floats as in CUDA.",
       {image_transpose(), float_transpose()}},
      {"relayout", "Put the channels of images into blocks.", {channel_blocks()}},
      {"reduce", "Sum an array, from an atomic counter to shuffles.", {array_sum()}},
      {"matmul",
       "Multiply matrices, from one item an output to registers, panels and tensor cores.",
       {matrix_product(), half_product()},
       {"opencv", "openblas", "clblast", "cublas"}},
  };
  return all;
}

}  // namespace axisloom::bench::ladder
