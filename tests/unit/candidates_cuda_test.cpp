// What can be told of the moves' CUDA kernels without a card: every specialisation compiles for every generation of
// cards, without a message, and the machine code is what the variants promise.
#include "nvrtc_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

namespace axisloom::ops_test {
namespace {

constexpr std::array dtypes = {Dtype::u8, Dtype::u16, Dtype::f32, Dtype::f64, Dtype::c128};  // a size each

struct Problem {
  std::string name;
  ops::MoveProblem problem;
};

std::int64_t bytes_each(Dtype dtype) {
  return static_cast<std::int64_t>(size_of(dtype));
}

View pitched(Dtype dtype, std::int64_t rows, std::int64_t columns, std::int64_t pitch_bytes) {
  View view = View::contiguous(dtype, {rows, columns});
  view.strides[0] = pitch_bytes / bytes_each(dtype);
  return view;
}

Problem transpose_problem(Dtype dtype, std::int64_t pitch_in, std::int64_t pitch_out, int index_bits = 32) {
  const std::vector<View> views{pitched(dtype, 304, 400, pitch_in), pitched(dtype, 400, 304, pitch_out)};
  return {"pitches " + std::to_string(pitch_in) + " and " + std::to_string(pitch_out),
          problem_of(transpose(), views, index_bits)};
}

Problem relayout_problem(Dtype dtype, const char* from, const char* to, const Dims& shape, std::int64_t channels = 0) {
  const Operation op = relayout(from, to, channels);
  return {std::string(from) + " to " + to, problem_of(op, with_result(op, View::contiguous(dtype, shape)))};
}

Problem copy_problem(Dtype dtype) {
  return {"copy", problem_of(copy(), with_result(copy(), pitched(dtype, 300, 400, 6400)))};
}

/// Between blocked layouts, with images along the fastest axis of the output: the tail is neither along i nor along o.
Problem walked_tail_problem(Dtype dtype, const char* from, const char* to, const Dims& shape, std::int64_t channels) {
  const Operation op = relayout(from, to, channels);
  std::vector<View> views = with_result(op, View::contiguous(dtype, shape));
  const Dims out = views[1].shape;  // N, blocks, H, W, channels of a block
  views[1].strides = {out[1] * out[4] * out[2] * out[3], out[4] * out[2] * out[3], out[3], 1, out[2] * out[3]};
  return {std::string(from) + " to " + to + " by rows", problem_of(op, views)};
}

std::vector<Problem> tail_axis_problems(Dtype dtype) {
  return {relayout_problem(dtype, "NCHW", "NC/32HW32", {2, 35, 16, 16}),
          relayout_problem(dtype, "NHWC", "NC/32HW32", {2, 16, 16, 35}),
          relayout_problem(dtype, "NC/32HW32", "NCHW", {2, 2, 16, 16, 32}, 35),
          walked_tail_problem(dtype, "NC/4HW4", "NC/32HW32", {2, 9, 16, 16, 4}, 35),
          walked_tail_problem(dtype, "NC/32HW32", "NC/4HW4", {2, 2, 16, 16, 32}, 35)};
}

std::vector<View> square_views(Dtype dtype) {
  return with_result(transpose(), View::contiguous(dtype, {64, 64}));
}

std::vector<Problem> problems(Dtype dtype) {
  const std::int64_t element = bytes_each(dtype);
  const std::array order{5, 3, 1, 4, 2, 0};
  const Operation shuffle = permute(order);
  std::vector<Problem> list{
      transpose_problem(dtype, 6400, 6400),
      transpose_problem(dtype, 6400 + element, 6400 + element),
      {"in place", problem_of(transpose(), square_views(dtype))},
      {"shuffle", problem_of(shuffle, with_result(shuffle, View::contiguous(dtype, {3, 5, 7, 2, 4, 6})))},
      copy_problem(dtype)};
  if (element == 4) list.push_back(transpose_problem(dtype, 6400, 6400, 64));
  if (element < 4) list.push_back(transpose_problem(dtype, 6404, 6404));
  return list;
}

constexpr std::array generations = {"sm_80", "sm_90", "sm_100"};

DeviceInfo card(const std::string& architecture) {
  DeviceInfo info = gpu_info();
  info.architecture = architecture;
  return info;
}

/// Texts to compile by what they are of, for one generation of cards; one text once.
class Texts {
 public:
  explicit Texts(std::string architecture = "sm_90") : architecture_(std::move(architecture)) {}
  void add(const ops::MoveCandidate& candidate, const Problem& problem, const Configuration& values) {
    const DeviceInfo device = card(architecture_);
    if (!ops_test::refusal_of(candidate, problem.problem, values, device).empty()) return;
    Launch launch = ops_test::launch_of(candidate, problem.problem, values, device);
    check_geometry(launch, device);
    taken_[std::string(candidate.info.name)] += 1;
    const std::string name = std::string(candidate.info.name) + " of " + std::to_string(problem.problem.move.element) +
                             " bytes, " + problem.name + ", " + ops::to_string(values);
    plain_.try_emplace(jit::full_text(launch.kernel, Api::cuda), name);
    if (!candidate.info.checkable) return;
    launch.kernel.checked = true;
    checked_.try_emplace(jit::full_text(launch.kernel, Api::cuda), name);
  }
  const std::map<std::string, std::string>& plain() const { return plain_; }
  const std::map<std::string, std::string>& checked() const { return checked_; }
  int taken(const std::string& candidate) const { return taken_.contains(candidate) ? taken_.at(candidate) : 0; }

 private:
  static void check_geometry(const Launch& launch, const DeviceInfo& device) {
    EXPECT_EQ(launch.kernel.items, launch.geometry.items);
    EXPECT_LE(launch.geometry.items, device.max_group);
    EXPECT_LE(launch.geometry.local_bytes, device.local_memory_max);
    EXPECT_GE(launch.geometry.groups, 1u);
    // Each buffer is an address, an offset and, when checked, a length, or else a map; the log is one more address.
    std::size_t bytes = launch.params.size() + 8;
    for (const LaunchBuffer& buffer : launch.buffers) bytes += buffer.map ? 128 : 24;
    EXPECT_LE(bytes, 1000u);
  }

  std::string architecture_;
  std::map<std::string, std::string> plain_, checked_;
  std::map<std::string, int> taken_;
};

/// Every value that is allowed for a tunable, the others at their defaults.
void add_every_value(Texts& texts, std::string_view name, const Problem& problem) {
  const ops::MoveCandidate& candidate = candidate_named(name);
  for (const ops::Tunable& tunable : candidate.info.tunables) {
    for (const std::int64_t value : tunable.values) {
      Configuration values = default_values(candidate.info);
      values[std::string(tunable.name)] = value;
      texts.add(candidate, problem, values);
    }
  }
}

void add_defaults(Texts& texts, const Problem& problem) {
  for (const ops::MoveCandidate& candidate : ops::move_candidates())
    if (candidate.info.runtimes.contains(Api::cuda)) texts.add(candidate, problem, default_values(candidate.info));
}

/// Every size of elements and every kind of tail.
Texts default_texts(const std::string& architecture) {
  Texts texts(architecture);
  for (const Dtype dtype : dtypes)
    for (const Problem& problem : problems(dtype)) add_defaults(texts, problem);
  for (const Problem& problem : tail_axis_problems(Dtype::u8)) add_defaults(texts, problem);
  return texts;
}

/// Each takes the compiler ten times as long when every access is checked.
Texts few_texts() {
  Texts texts;
  for (const Problem& problem : problems(Dtype::f64)) add_defaults(texts, problem);
  for (const Problem& problem : tail_axis_problems(Dtype::f32)) add_defaults(texts, problem);
  return texts;
}

/// Every tunable, for one problem of each variant.
Texts tuned_texts() {
  Texts texts;
  add_every_value(texts, "tile", transpose_problem(Dtype::u16, 6400, 6400));
  add_every_value(texts, "tile", transpose_problem(Dtype::f32, 6404, 6404));
  for (const std::int64_t rows : {1, 2}) {
    Configuration values = default_values(candidate_named("tile").info);
    values["rows"] = rows;
    texts.add(candidate_named("tile"), transpose_problem(Dtype::f32, 6400, 6400), values);
    texts.add(candidate_named("tile"), transpose_problem(Dtype::f64, 6400, 6400), values);
  }
  add_every_value(texts, "tile_nd", problems(Dtype::u8)[3]);
  add_every_value(texts, "tile_flat", problems(Dtype::u8)[3]);
  add_every_value(texts, "tile_flat", transpose_problem(Dtype::f32, 6404, 6404));
  add_every_value(texts, "rows", tail_axis_problems(Dtype::f32)[1]);
  add_every_value(texts, "swap", {"in place", problem_of(transpose(), square_views(Dtype::f32))});
  add_every_value(texts, "tma", transpose_problem(Dtype::u16, 6400, 6400));
  add_every_value(texts, "shift", copy_problem(Dtype::u8));
  add_every_value(texts, "vectors", copy_problem(Dtype::u8));
  add_every_value(texts, "plain", tail_axis_problems(Dtype::f32)[2]);
  return texts;
}

class CandidatesCuda : public NvrtcTest {};

/// The texts of one generation of cards, where each text is compiled for one of them and each variant for all.
std::map<std::string, std::string> dealt(const std::map<std::string, std::string>& texts, std::size_t hand) {
  std::map<std::string, std::string> mine;
  std::map<std::string, std::size_t> seen;  // texts of a variant
  for (const auto& text : texts)
    if (seen[text.second.substr(0, text.second.find(' '))]++ % generations.size() == hand) mine.insert(text);
  return mine;
}

TEST_F(CandidatesCuda, EveryProblemCompilesAndEveryVariantForEveryGeneration) {
  for (std::size_t hand = 0; hand < generations.size(); ++hand) {
    const char* const architecture = generations[hand];
    const Texts texts = default_texts(architecture);
    for (const char* candidate : {"tile", "tile_nd", "tile_flat", "rows", "shift", "swap", "vectors", "plain"})
      EXPECT_GE(texts.taken(candidate), 5) << candidate;
    if (std::string(architecture) == "sm_80")
      EXPECT_EQ(texts.taken("tma"), 0);
    else
      EXPECT_GE(texts.taken("tma"), 5);
    compile_all(dealt(texts.plain(), hand), {architecture});
  }
}

TEST_F(CandidatesCuda, EveryTunableCompiles) {
  compile_all(tuned_texts().plain(), {"sm_90"});
}

TEST_F(CandidatesCuda, EveryVariantCompilesChecked) {
  compile_all(few_texts().checked(), {"sm_90"});
}

Launch launch_of(const char* name, const Problem& problem, const Configuration& forced = {}) {
  const ops::MoveCandidate& candidate = candidate_named(name);
  Configuration values = default_values(candidate.info);
  for (const auto& [tunable, value] : forced) values[tunable] = value;
  return ops_test::launch_of(candidate, problem.problem, values, gpu_info());
}

Launch tile_launch(const Problem& problem, const Configuration& forced = {}) {
  return launch_of("tile", problem, forced);
}

TEST_F(CandidatesCuda, TilesMoveSixteenBytesAnAccess) {
  for (const Dtype dtype : dtypes) {
    SCOPED_TRACE(name(dtype));
    const std::string ptx = ptx_of(tile_launch(transpose_problem(dtype, 6400, 6400)));
    EXPECT_GT(occurrences(ptx, R"(ld\.global(\.nc)?\.v4\.[bu]32)"), 0);
    EXPECT_GT(occurrences(ptx, R"(st\.global\.v4\.[bu]32)"), 0);
    EXPECT_EQ(occurrences(ptx, R"(\.local)"), 0) << "registers that are indexed at run time";
  }
}

TEST_F(CandidatesCuda, TilesOfOddPitchMoveElements) {
  const std::string ptx = ptx_of(tile_launch(transpose_problem(Dtype::f32, 6404, 6404), {{"skew", 1}}));
  EXPECT_EQ(occurrences(ptx, R"((ld|st)\.global(\.nc)?\.v[24])"), 0);
  EXPECT_GT(occurrences(ptx, R"(ld\.global(\.nc)?\.[bu]32)"), 0);
}

TEST_F(CandidatesCuda, TilesOfRowsThatBeginAnywhereMoveSixteenBytesAnAccess) {
  for (const Dtype dtype : {Dtype::u8, Dtype::u16, Dtype::f32}) {
    SCOPED_TRACE(name(dtype));
    const std::int64_t pitch = 6400 + bytes_each(dtype);
    const Launch launch = tile_launch(transpose_problem(dtype, pitch, pitch), {{"tile_in", 256}, {"tile_out", 256}});
    const std::string ptx = ptx_of(launch);
    EXPECT_GT(occurrences(ptx, R"(ld\.global(\.nc)?\.v4\.[bu]32)"), 0);
    EXPECT_GT(occurrences(ptx, R"(st\.global\.v4\.[bu]32)"), 0);
    EXPECT_EQ(assembler_messages(jit::full_text(launch.kernel, Api::cuda)), "");
  }
}

TEST_F(CandidatesCuda, StreamingTilesSaySo) {
  const std::string ptx = ptx_of(tile_launch(transpose_problem(Dtype::f32, 6400, 6400), {{"stream", 1}}));
  EXPECT_GT(occurrences(ptx, R"(ld\.global\.cs\.v4)"), 0);
  EXPECT_GT(occurrences(ptx, R"(st\.global\.cs\.v4)"), 0);
}

TEST_F(CandidatesCuda, TilesKeepToTheirRegisters) {
  for (const Dtype dtype : dtypes) {
    SCOPED_TRACE(name(dtype));
    const Launch launch = tile_launch(transpose_problem(dtype, 6400, 6400));
    EXPECT_EQ(assembler_messages(jit::full_text(launch.kernel, Api::cuda)), "");
  }
}

TEST_F(CandidatesCuda, TileNdKeepsToItsRegisters) {
  for (const Dtype dtype : dtypes) {
    SCOPED_TRACE(name(dtype));
    const Launch launch = launch_of("tile_nd", relayout_problem(dtype, "NHWC", "NCHW", {8, 64, 64, 24}));
    EXPECT_EQ(assembler_messages(jit::full_text(launch.kernel, Api::cuda)), "");
  }
}

std::string refusal_of(const char* name, const Problem& problem, const DeviceInfo& device = gpu_info(),
                       const Configuration& forced = {}) {
  const ops::MoveCandidate& candidate = candidate_named(name);
  Configuration values = default_values(candidate.info);
  for (const auto& [tunable, value] : forced) values[tunable] = value;
  return ops_test::refusal_of(candidate, problem.problem, values, device);
}

TEST_F(CandidatesCuda, TensorTilesAreMovedByTheAcceleratorAlone) {
  for (const Dtype dtype : dtypes) {
    SCOPED_TRACE(name(dtype));
    const Launch launch = launch_of("tma", transpose_problem(dtype, 6400, 6400));
    const std::string ptx = ptx_of(launch);
    EXPECT_GT(occurrences(ptx, R"(cp\.async\.bulk\.tensor\.3d\.shared::cluster\.global\.tile\.mbarrier)"), 0);
    EXPECT_GT(occurrences(ptx, R"(cp\.async\.bulk\.tensor\.3d\.global\.shared::cta\.tile\.bulk_group)"), 0);
    EXPECT_EQ(occurrences(ptx, R"((ld|st)\.global)"), 0);
    EXPECT_EQ(occurrences(ptx, R"(\.local)"), 0) << "registers that are indexed at run time";
    EXPECT_EQ(assembler_messages(jit::full_text(launch.kernel, Api::cuda)), "");
  }
}

TEST(CandidatesTensor, MapsDescribeBothArrays) {
  const Launch launch = launch_of("tma", transpose_problem(Dtype::f32, 6400, 3200));
  ASSERT_TRUE(launch.buffers[0].map && launch.buffers[1].map);
  const device::TensorMap &in = *launch.buffers[0].map, &out = *launch.buffers[1].map;
  EXPECT_EQ(in.extent, (std::array<std::uint64_t, 3>{400, 304, 1}));
  EXPECT_EQ(out.extent, (std::array<std::uint64_t, 3>{304, 400, 1}));
  EXPECT_EQ(in.pitch, (std::array<std::uint64_t, 2>{6400, 304 * 6400}));
  EXPECT_EQ(out.pitch, (std::array<std::uint64_t, 2>{3200, 400 * 3200}));
  EXPECT_EQ(in.box, (std::array<std::uint32_t, 3>{32, 64, 1}));
  EXPECT_EQ(launch.geometry.groups, 7u * 5u);
}

TEST(CandidatesTensor, ElementsOfSixteenBytesAreTwoOfEight) {
  const View in = View::contiguous(Dtype::c128, {5, 30, 40});
  const Launch launch = launch_of("tma", {"batch", problem_of(transpose(), with_result(transpose(), in))});
  const device::TensorMap& map = *launch.buffers[1].map;
  EXPECT_EQ(map.element, 8u);
  EXPECT_EQ(map.extent, (std::array<std::uint64_t, 3>{60, 40, 5}));
  EXPECT_EQ(map.pitch, (std::array<std::uint64_t, 2>{480, 40 * 480}));
  EXPECT_EQ(map.box, (std::array<std::uint32_t, 3>{16, 32, 1}));
}

TEST(CandidatesTensor, RefusalsSayWhy) {
  const Problem fits = transpose_problem(Dtype::f32, 6400, 6400);
  EXPECT_EQ(refusal_of("tma", fits), "");
  EXPECT_EQ(refusal_of("tma", fits, card("sm_100")), "");
  EXPECT_NE(refusal_of("tma", fits, card("sm_80")).find("compute capability 9.0, the device is sm_80"),
            std::string::npos);
  EXPECT_NE(refusal_of("tma", transpose_problem(Dtype::f32, 6404, 6400)).find("multiples of 16"), std::string::npos);
  EXPECT_NE(refusal_of("tma", transpose_problem(Dtype::f32, 6400, 6404)).find("multiples of 16"), std::string::npos);
  EXPECT_NE(refusal_of("tma", transpose_problem(Dtype::f32, 32, 6400)).find("follow one another"), std::string::npos);
  EXPECT_NE(
      refusal_of("tma", transpose_problem(Dtype::u16, 6400, 6400), gpu_info(), {{"side", 512}}).find("local memory"),
      std::string::npos);
  EXPECT_NE(refusal_of("tma", transpose_problem(Dtype::u8, 6400, 6400), gpu_info(), {{"side", 512}}).find("256 rows"),
            std::string::npos);
  EXPECT_NE(refusal_of("tma", tail_axis_problems(Dtype::u8)[0]).find("tail"), std::string::npos);
  EXPECT_FALSE(candidate_named("tma").info.checkable);
  const View four = View::contiguous(Dtype::f32, {4, 8, 16, 32});
  const Operation swap_outer = permute(std::array{1, 0, 3, 2});
  EXPECT_NE(refusal_of("tma", {"four axes", problem_of(swap_outer, with_result(swap_outer, four))}).find("one axis"),
            std::string::npos);
}

TEST(CandidatesVectors, LessonsAreChosenByNameOnly) {
  for (const char* lesson : {"tma", "vectors"}) {
    for (const Kind kind : {Kind::cpu, Kind::gpu, Kind::other})
      EXPECT_FALSE(candidate_named(lesson).info.chosen_on.contains(kind)) << lesson;
  }
}

TEST_F(CandidatesCuda, VectorsAreAsWideAsAsked) {
  const auto ptx = [](std::int64_t width, std::int64_t way) {
    return ptx_of(launch_of("vectors", copy_problem(Dtype::f32), {{"width", width}, {"way", way}}));
  };
  const char* const wide_load = R"(ld\.global(\.nc)?\.v4\.[bu]32)";
  const char* const wide_store = R"(st\.global\.v4\.[bu]32)";
  EXPECT_EQ(occurrences(ptx(1, 0), R"((ld|st)\.global(\.nc)?\.v[24])"), 0);
  EXPECT_GT(occurrences(ptx(2, 0), R"(ld\.global(\.nc)?\.v2\.[bu]32)"), 0);
  EXPECT_EQ(occurrences(ptx(3, 0), R"((ld|st)\.global(\.nc)?\.v[24])"), 0) << "three floats begin anywhere";
  EXPECT_GT(occurrences(ptx(4, 0), wide_load), 0);
  EXPECT_GE(occurrences(ptx(16, 0), wide_load), 4);
  EXPECT_GT(occurrences(ptx(16, 0), wide_store), 0);
  EXPECT_GT(occurrences(ptx(4, 1), R"(cp\.async\.cg\.shared\.global)"), 0);
  EXPECT_GT(occurrences(ptx(4, 2), R"(cp\.async\.cg\.shared\.global)"),
            occurrences(ptx(4, 1), R"(cp\.async\.cg\.shared\.global)"));
  EXPECT_EQ(occurrences(ptx(4, 3), R"(cp\.async\.c[ag])"), 0) << "a strided copy is a loop";
  EXPECT_GT(occurrences(ptx(4, 4), R"(prefetch\.global\.L2)"), 0);
  EXPECT_GT(occurrences(ptx(4, 5), R"(st\.global\.cs\.v4)"), 0);
}

TEST_F(CandidatesCuda, VectorsKeepToTheirRegisters) {
  for (const Dtype dtype : {Dtype::u8, Dtype::f64})
    for (const std::int64_t way : {0, 3, 5})
      EXPECT_EQ(assembler_messages(jit::full_text(
                    launch_of("vectors", copy_problem(dtype), {{"width", 16}, {"way", way}}).kernel, Api::cuda)),
                "")
          << name(dtype) << ", way " << way;
}

TEST(CandidatesVectors, RefusalsSayWhy) {
  EXPECT_NE(refusal_of("vectors", copy_problem(Dtype::f32), gpu_info(), {{"width", 3}, {"way", 5}}).find("three"),
            std::string::npos);
  EXPECT_NE(refusal_of("vectors", transpose_problem(Dtype::f32, 6400, 6400)).find("not contiguous"), std::string::npos);
  EXPECT_NE(refusal_of("vectors", copy_problem(Dtype::f64), gpu_info(),
                       {{"width", 16}, {"way", 2}, {"items", 512}, {"accesses", 8}})
                .find("local memory"),
            std::string::npos);
  // Left to itself the group shrinks until both chunks fit.
  DeviceInfo small = gpu_info(Api::opencl);
  small.local_memory_max = 48 << 10;
  EXPECT_EQ(refusal_of("vectors", copy_problem(Dtype::f64), small, {{"width", 16}, {"way", 2}}), "");
}

TEST_F(CandidatesCuda, TheAssemblerTellsOfSpills) {
  const std::string hungry =
      "extern \"C\" __global__ void hungry(float* a, int n) {\n"
      "  float kept[64];\n"
      "  for (int i = 0; i < 64; ++i) kept[i] = a[i];\n"
      "  for (int i = 0; i < n; ++i) a[i] = kept[(n * i) & 63];\n"
      "}\n";
  EXPECT_NE(assembler_messages(hungry), "");
}

}  // namespace
}  // namespace axisloom::ops_test
