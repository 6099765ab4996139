// Which variant a plan takes, for devices described by hand: nothing is compiled and no device is needed.
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace axisloom::ops_test {
namespace {

PlanReport report_of(const DeviceInfo& info, const Operation& op, const View& in, const PlanOptions& options = {}) {
  return plan(op, std::span(&in, 1), Device(std::make_shared<PretendedDevice>(info)), options).report();
}

std::string chosen(const DeviceInfo& info, const Operation& op, const View& in) {
  return report_of(info, op, in).candidate;
}

const CandidateReport& about(const PlanReport& report, std::string_view candidate) {
  const auto at = std::ranges::find(report.candidates, candidate, &CandidateReport::name);
  if (at == report.candidates.end()) throw std::runtime_error("not in the report");
  return *at;
}

PlanOptions in_place() {
  PlanOptions options;
  options.in_place = true;
  return options;
}

Operation swap_first_two() {
  constexpr std::array order{1, 0, 2};
  return permute(order);
}

class Choose : public ::testing::Test {
  NoDiskCache memory_only_;
};

TEST_F(Choose, LargeTransposesOnGpusGoByTiles) {
  for (const Api api : {Api::cuda, Api::opencl})
    for (const Dtype dtype : {Dtype::u8, Dtype::u16, Dtype::f32, Dtype::f64, Dtype::c128})
      EXPECT_EQ(chosen(gpu_info(api), transpose(), View::contiguous(dtype, {8192, 8192})), "tile") << name(dtype);
}

TEST_F(Choose, BlockedLayoutsOnGpusGoByTiles) {
  EXPECT_EQ(chosen(gpu_info(), relayout("NCHW", "NC/32HW32"), View::contiguous(Dtype::u8, {32, 256, 56, 56})), "tile");
}

TEST_F(Choose, ManyShortAxesOnGpusGoByTilesOfSeveralAxes) {
  const View eight = View::contiguous(Dtype::f32, {40, 37, 33, 35, 4, 2, 3, 5});
  EXPECT_EQ(chosen(gpu_info(), permute(std::array{7, 6, 5, 4, 3, 2, 1, 0}), eight), "tile_flat");
  EXPECT_EQ(chosen(gpu_info(), permute(std::array{5, 0, 6, 4, 1, 7, 2, 3}), eight), "tile_nd");
  const View twelve = View::contiguous(Dtype::f32, {24, 22, 18, 20, 2, 3, 2, 2, 3, 4, 3, 2});
  EXPECT_EQ(chosen(gpu_info(), permute(std::array{9, 10, 1, 6, 11, 0, 3, 2, 5, 8, 4, 7}), twelve), "tile_flat");
  EXPECT_EQ(chosen(gpu_info(), permute(std::array{1, 0, 2, 4, 5, 6, 3, 7}), eight), "tile_flat");
  const View five = View::contiguous(Dtype::f32, {48, 28, 28, 28, 48});
  EXPECT_EQ(chosen(gpu_info(), permute(std::array{4, 3, 2, 1, 0}), five), "tile") << "a tile is more than half full";
}

// Where pixels and lanes begin with 16 bytes, items pick them out of words; odd sizes and other counts go elsewhere.
TEST_F(Choose, FewChannelsOnGpus) {
  const auto taken = [](Dtype dtype, const char* from, const char* to, const Dims& shape) {
    return chosen(gpu_info(), relayout(from, to), View::contiguous(dtype, shape));
  };
  EXPECT_EQ(taken(Dtype::u8, "NHWC", "NCHW", {16, 4000, 6000, 3}), "interleave");
  EXPECT_EQ(taken(Dtype::f16, "NCHW", "NHWC", {256, 3, 224, 224}), "interleave");
  EXPECT_EQ(taken(Dtype::f32, "NHWC", "NCHW", {256, 224, 224, 3}), "interleave");
  EXPECT_EQ(taken(Dtype::f16, "NHWC", "NCHW", {256, 112, 112, 8}), "interleave");
  EXPECT_EQ(taken(Dtype::f16, "NC/8HW8", "NCHW", {256, 4, 112, 112, 8}), "interleave");
  EXPECT_EQ(taken(Dtype::f16, "NCHW", "NC/8HW8", {256, 3, 224, 224}), "interleave") << "one block with a tail";
  EXPECT_EQ(taken(Dtype::f32, "NHWC", "NCHW", {256, 223, 223, 3}), "tile_flat") << "plain 3083 GB/s on an H200";
  EXPECT_EQ(taken(Dtype::f16, "NHWC", "NCHW", {256, 112, 112, 32}), "tile");
}

TEST_F(Choose, TilesFitShortAxesOnGpus) {
  const auto sides = [](const Operation& op, const View& in) {
    const auto problem = problem_of(op, with_result(op, in));
    const ops::MoveCandidate& tile = candidate_named("tile");
    const std::string text =
        ops_test::launch_of(tile, problem, default_values(tile.info), gpu_info()).kernel.defines.text();
    const auto value = [&](const std::string& name) { return std::stoll(text.substr(text.find(name) + name.size())); };
    return std::array{value("define TILE_I "), value("define TILE_O ")};
  };
  EXPECT_EQ(sides(relayout("NCHW", "NHWC"), View::contiguous(Dtype::i8, {256, 64, 56, 56})), (std::array{256ll, 64ll}));
  EXPECT_EQ(sides(relayout("NHWC", "NCHW"), View::contiguous(Dtype::f16, {256, 56, 56, 64})),
            (std::array{64ll, 128ll}));
  EXPECT_EQ(sides(transpose(), View::contiguous(Dtype::u8, {4096, 96})), (std::array{128ll, 256ll}));
  EXPECT_EQ(sides(transpose(), View::contiguous(Dtype::f32, {16, 16})), (std::array{32ll, 32ll})) << "a warp or two";
  EXPECT_EQ(sides(transpose(), View::contiguous(Dtype::f32, {8192, 8192})), (std::array{64ll, 64ll}));
  EXPECT_EQ(sides(transpose(), View::contiguous(Dtype::f32, {48, 48})), (std::array{64ll, 64ll}));
  EXPECT_EQ(sides(transpose(), View::contiguous(Dtype::u8, {512, 784})), (std::array{256ll, 256ll}));
  EXPECT_EQ(chosen(gpu_info(), relayout("NCHW", "NHWC"), View::contiguous(Dtype::i8, {256, 64, 56, 56})), "tile");
  EXPECT_EQ(chosen(gpu_info(), relayout("NHWC", "NCHW"), View::contiguous(Dtype::i8, {256, 56, 56, 64})), "tile");
}

TEST_F(Choose, KeptRowsOnGpusGoByRows) {
  EXPECT_EQ(chosen(gpu_info(), swap_first_two(), View::contiguous(Dtype::f32, {512, 512, 256})), "rows");
  EXPECT_EQ(chosen(gpu_info(), copy(), View::contiguous(Dtype::u8, {64 << 20})), "rows");
}

TEST_F(Choose, RowsOfSmallElementsThatBeginUnlikeOnGpusAreShifted) {
  const auto padded = [](Dtype dtype, std::int64_t pitch) {
    View view = View::contiguous(dtype, {4096, 4096});
    view.strides[0] = pitch;
    return view;
  };
  EXPECT_EQ(chosen(gpu_info(), copy(), padded(Dtype::u8, 4097)), "shift");
  EXPECT_EQ(chosen(gpu_info(), copy(), padded(Dtype::u16, 4097)), "shift");
  EXPECT_EQ(chosen(gpu_info(), copy(), padded(Dtype::f32, 4097)), "rows");
  EXPECT_EQ(chosen(gpu_info(), copy(), padded(Dtype::u8, 4112)), "rows");
  EXPECT_EQ(chosen(cpu_info(), copy(), padded(Dtype::u8, 4097)), "rows_cpu");
}

TEST_F(Choose, TransposesOnCpusGoByBlocks) {
  for (const Dtype dtype : {Dtype::u8, Dtype::u16, Dtype::f32, Dtype::f64, Dtype::c128})
    for (const std::int64_t side : {512, 2048, 2049, 4096}) {
      if (dtype == Dtype::c128 && side == 512) continue;  // slabs are as fast there
      EXPECT_EQ(chosen(cpu_info(), transpose(), View::contiguous(dtype, {side, side})), "block")
          << name(dtype) << " " << side;
    }
}

TEST_F(Choose, KeptRowsOnCpusGoByRows) {
  EXPECT_EQ(chosen(cpu_info(), swap_first_two(), View::contiguous(Dtype::f32, {256, 256, 256})), "rows_cpu");
  EXPECT_EQ(chosen(cpu_info(), copy(), View::contiguous(Dtype::f32, {64 << 20})), "rows_cpu");
}

// Lines are written whole, and read from anywhere: NumPy's large arrays begin 16 bytes behind a page.
TEST_F(Choose, RowsOnCpusBeginWhereTheOutputHasThem) {
  View in = View::contiguous(Dtype::f32, {384, 384, 368});
  const double aligned = about(report_of(cpu_info(), swap_first_two(), in), "rows_cpu").seconds;
  in.align = 16;
  EXPECT_EQ(about(report_of(cpu_info(), swap_first_two(), in), "rows_cpu").seconds, aligned);
}

// A picture of 147 KiB is neither one core's work nor that of one and a bit.
TEST_F(Choose, SmallWorkOnCpusIsSharedEvenly) {
  const auto groups = [](const Operation& op, const View& in, const char* candidate) {
    PlanOptions options;
    options.candidate = candidate;
    const Device device(std::make_shared<PretendedDevice>(cpu_info()));
    return plan(op, std::array{in}, device, options).impl()->launches.at(0).geometry.groups;
  };
  EXPECT_GE(groups(relayout("NHWC", "NCHW"), View::contiguous(Dtype::u8, {1, 224, 224, 3}), "interleave_cpu"), 8u);
  EXPECT_GE(groups(copy(), View::contiguous(Dtype::u8, {150000}), "rows_cpu"), 8u);
  EXPECT_GE(groups(reduction("sum", ReduceOptions{.axes = {1}}), View::contiguous(Dtype::f32, {1000, 100}), "rows_cpu"),
            8u);
}

// A matrix that leaves the second-level cache is packed; caches of processors without AVX-512 are smaller.
TEST_F(Choose, ProductsOnCpusArePackedBeyondTheirCaches) {
  const auto taken = [](const char* level, std::int64_t side) {
    DeviceInfo info = cpu_info();
    info.api = Api::host;
    info.api_version = level;
    const std::array matrices{View::contiguous(Dtype::f32, {side, side}), View::contiguous(Dtype::f32, {side, side})};
    return plan(matmul(), matrices, Device(std::make_shared<PretendedDevice>(info))).report().candidate;
  };
  EXPECT_EQ(taken("x86-64-v3", 256), "direct");
  EXPECT_EQ(taken("x86-64-v3", 512), "packed");
  EXPECT_EQ(taken("x86-64-v4", 512), "direct");
  EXPECT_EQ(taken("x86-64-v4", 1024), "packed");
}

// A pixel of a colour photo is no element of any size: what is exchanged are runs of three bytes.
TEST_F(Choose, PhotosOnCpusAreTransposedByRuns) {
  const auto turned = [](Dtype dtype, const Dims& shape) {
    return chosen(cpu_info(), rearrange(shape.size() == 3 ? "h w c -> w h c" : "b h w c -> b w h c"),
                  View::contiguous(dtype, shape));
  };
  EXPECT_EQ(turned(Dtype::u8, {600, 512, 3}), "runs");
  EXPECT_EQ(turned(Dtype::u8, {4000, 6000, 3}), "runs");
  EXPECT_EQ(turned(Dtype::u8, {8, 240, 320, 3}), "runs");
  EXPECT_EQ(turned(Dtype::u8, {2047, 2049, 5}), "runs");
  EXPECT_EQ(turned(Dtype::u16, {1080, 1920, 3}), "runs");
  EXPECT_EQ(turned(Dtype::f32, {300, 1000, 2}), "block") << "pairs of floats are elements of 8 bytes";
}

// Pieces of elements that are wider than two bytes are found faster by tables, and so is what has short axes only.
TEST_F(Choose, ShortAxesOnCpusGoBySlabs) {
  const auto turned = [](Dtype dtype, const Dims& shape) {
    return chosen(cpu_info(), rearrange("h w c -> w h c"), View::contiguous(dtype, shape));
  };
  EXPECT_EQ(turned(Dtype::f32, {2000, 3000, 3}), "slab");
  EXPECT_EQ(turned(Dtype::f32, {1000, 1000, 32}), "slab") << "two lines";
  EXPECT_EQ(turned(Dtype::u8, {2, 100000, 3}), "slab") << "two rows";
  EXPECT_EQ(turned(Dtype::u8, {100000, 2, 3}), "slab") << "two columns";
  EXPECT_EQ(
      chosen(cpu_info(), permute(std::array{5, 4, 3, 2, 1, 0}), View::contiguous(Dtype::f32, {32, 15, 15, 15, 15, 32})),
      "slab");
}

TEST_F(Choose, RunsAreNoLongerThanARowOfTheirStage) {
  PlanOptions options;
  options.candidate = "runs";
  options.configuration = {{"row", 64}};
  const auto planned = [&](std::int64_t channels) {
    return report_of(cpu_info(), rearrange("h w c -> w h c"), View::contiguous(Dtype::u8, {50, 60, channels}), options);
  };
  EXPECT_EQ(planned(64).candidate, "runs");
  EXPECT_THROW(planned(65), Error);
  options.configuration.clear();
  EXPECT_EQ(planned(128).candidate, "runs");
  EXPECT_THROW(planned(129), Error);
}

// What kernels that copy row by row spend on finding a row counts where rows are short: 3 ms on a core for these, by
// either.
TEST_F(Choose, ShortRowsOnCpusAreDear) {
  const PlanReport report =
      report_of(cpu_info(), rearrange("h w c -> w h c"), View::contiguous(Dtype::u8, {600, 512, 3}));
  for (const char* name : {"plain", "rows_cpu"}) {
    EXPECT_GT(about(report, name).seconds, 1.2e-3) << name;
    EXPECT_LT(about(report, name).seconds, 3.6e-3) << name;
  }
  EXPECT_LT(about(report, "runs").seconds, 0.1e-3);
}

TEST_F(Choose, PixelsOnCpusAreInterleaved) {
  EXPECT_EQ(chosen(cpu_info(), rearrange("h w c -> c h w"), View::contiguous(Dtype::u8, {2160, 3840, 3})),
            "interleave_cpu");
  EXPECT_EQ(chosen(cpu_info(), rearrange("c h w -> h w c"), View::contiguous(Dtype::u8, {3, 2160, 3840})),
            "interleave_cpu");
  const auto taken = [](Dtype dtype, const char* from, const char* to, const Dims& shape) {
    return chosen(cpu_info(), relayout(from, to), View::contiguous(dtype, shape));
  };
  EXPECT_EQ(taken(Dtype::f32, "NCHW", "NHWC", {32, 8, 112, 112}), "interleave_cpu");
  EXPECT_EQ(taken(Dtype::f16, "NCHW", "NC/8HW8", {32, 64, 56, 56}), "interleave_cpu");
  EXPECT_EQ(taken(Dtype::f16, "NC/8HW8", "NCHW", {32, 8, 56, 56, 8}), "interleave_cpu");
  EXPECT_EQ(taken(Dtype::f32, "NCHW", "NC/4HW4", {32, 3, 224, 224}), "interleave_cpu") << "a block with a tail";
  EXPECT_EQ(taken(Dtype::i8, "NC/32HW32", "NCHW", {32, 2, 56, 56, 32}), "interleave_cpu");
  EXPECT_EQ(taken(Dtype::i8, "NCHW", "NC/32HW32", {32, 64, 56, 56}), "interleave_cpu");
}

// Many channels are lines of their own; small ones as well, where they are put together.
TEST_F(Choose, ManyChannelsOnCpusGoByBlocks) {
  const auto taken = [](Dtype dtype, const char* from, const char* to, const Dims& shape) {
    return chosen(cpu_info(), relayout(from, to), View::contiguous(dtype, shape));
  };
  EXPECT_EQ(taken(Dtype::i8, "NCHW", "NHWC", {32, 64, 56, 56}), "block");
  EXPECT_EQ(taken(Dtype::f16, "NHWC", "NCHW", {32, 56, 56, 64}), "block");
  EXPECT_EQ(taken(Dtype::f32, "NCHW", "NHWC", {32, 512, 28, 28}), "block");
}

// Kernels for GPUs run on CPUs, too, at a fiftieth of the speed and less.
TEST_F(Choose, RowSumsOnCpusGoByRows) {
  const Operation rows = reduction("sum", {{"axes", "-1"}});
  for (const Dtype dtype : {Dtype::u8, Dtype::f16, Dtype::f32, Dtype::f64})
    for (const Dims& shape : {Dims{1 << 20, 64}, Dims{1 << 20, 256}, Dims{1 << 20, 1024}, Dims{64, 1 << 20},
                              Dims{16384, 16384}, Dims{1 << 28}})
      EXPECT_EQ(chosen(cpu_info(), rows, View::contiguous(dtype, shape)), "rows_cpu") << name(dtype) << " " << shape[0];
  EXPECT_EQ(chosen(cpu_info(), rows, View::contiguous(Dtype::f32, {1 << 20, 16})), "rows_cpu");
  for (const Dtype dtype : {Dtype::u8, Dtype::f32, Dtype::f64})
    EXPECT_EQ(chosen(cpu_info(), rows, View::contiguous(dtype, {1 << 20, 8})), "rows_cpu") << "half a vector";
}

TEST_F(Choose, SumsOfOtherAxesOnCpusGoByColumns) {
  for (const Dtype dtype : {Dtype::u8, Dtype::f16, Dtype::f32, Dtype::f64}) {
    for (const Dims& shape : {Dims{1 << 20, 64}, Dims{64, 1 << 20}, Dims{16384, 16384}})
      EXPECT_EQ(chosen(cpu_info(), reduction("sum", {{"axes", "0"}}), View::contiguous(dtype, shape)), "columns_cpu");
    for (const Dims& shape : {Dims{256, 512, 512}, Dims{64, 16384, 64}, Dims{65536, 16, 64}})
      EXPECT_EQ(chosen(cpu_info(), reduction("sum", {{"axes", "1"}}), View::contiguous(dtype, shape)), "columns_cpu");
  }
}

TEST_F(Choose, SquaresInPlaceAreSwapped) {
  const View square = View::contiguous(Dtype::f32, {512, 512});
  EXPECT_EQ(report_of(gpu_info(), transpose(), square, in_place()).candidate, "swap");
  EXPECT_EQ(report_of(cpu_info(), transpose(), square, in_place()).candidate, "swap");
}

TEST_F(Choose, NothingIsChosenForNothing) {
  const PlanReport report = report_of(gpu_info(), transpose(), View::contiguous(Dtype::f32, {0, 5}));
  EXPECT_EQ(report.candidate, "none");
  EXPECT_EQ(report.bytes_moved, 0);
}

TEST_F(Choose, TheLowestPredictionWins) {
  for (const DeviceInfo& info : {gpu_info(), gpu_info(Api::opencl), cpu_info()}) {
    for (const Dims& shape : {Dims{3, 100, 100}, Dims{100, 3, 100}, Dims{100, 100, 3}, Dims{64, 2, 2}}) {
      for (const char* pattern : {"a b c -> c b a", "a b c -> b a c", "a b c -> a c b", "a b c -> a b c"}) {
        SCOPED_TRACE(info.label() + " " + pattern + " " + to_string(shape));
        const PlanReport report = report_of(info, rearrange(pattern), View::contiguous(Dtype::f32, shape));
        EXPECT_EQ(report.candidates.size(), ops::move_candidates().size());
        // The first of those that are equally fast.
        const CandidateReport* best = nullptr;
        for (const CandidateReport& candidate : report.candidates) {
          EXPECT_EQ(candidate.accepted, candidate.reason.empty()) << candidate.name;
          if (candidate.accepted && (!best || candidate.seconds < best->seconds)) best = &candidate;
        }
        ASSERT_NE(best, nullptr);
        EXPECT_EQ(report.candidate, best->name);
        EXPECT_EQ(report.expected_seconds, best->seconds);
        EXPECT_GT(report.expected_seconds, 0);
      }
    }
  }
}

// Elements of 16 bytes go one a work-item whichever variant takes them, so only the order of the list decides.
TEST_F(Choose, TiesGoToTheFirstOfTheList) {
  View in = View::contiguous(Dtype::c128, {512, 512, 256});
  const PlanReport report = report_of(gpu_info(), swap_first_two(), in);
  ASSERT_EQ(about(report, "rows").seconds, about(report, "plain").seconds);
  EXPECT_EQ(report.candidate, "rows");
}

TEST_F(Choose, InPlaceOneVariantAccepts) {
  const PlanReport square = report_of(cpu_info(), transpose(), View::contiguous(Dtype::f32, {64, 64}), in_place());
  EXPECT_EQ(std::ranges::count(square.candidates, true, &CandidateReport::accepted), 1);
}

TEST_F(Choose, PlainTakesEverything) {
  constexpr std::array order{4, 2, 0, 1, 3};
  View in = View::contiguous(Dtype::f32, {3, 5, 7, 11, 2});
  for (std::int64_t& stride : in.strides) stride *= 3;
  for (const DeviceInfo& info : {gpu_info(), cpu_info()}) {
    const PlanReport report = report_of(info, permute(order), in);
    EXPECT_TRUE(about(report, "plain").accepted);
  }
}

/// What a plan launches, all but its parameters' names.
std::vector<std::string> launched(const Plan& made) {
  std::vector<std::string> list;
  for (const Launch& launch : made.impl()->launches)
    list.push_back(launch.kernel.file + " " + launch.kernel.defines.text() + std::to_string(launch.geometry.items) +
                   " " + std::to_string(launch.geometry.groups) + " " + std::to_string(launch.geometry.local_bytes) +
                   " " + jit::sha256(std::span(launch.params)));
  return list;
}

// A report says what ran: nothing is left open, and who forces the same gets the same.
TEST_F(Choose, ReportedConfigurationsRunAgain) {
  const std::vector<std::pair<Operation, std::vector<View>>> problems = {
      {transpose(), {View::contiguous(Dtype::u16, {4096, 4100})}},
      {transpose(), {View::contiguous(Dtype::f64, {33, 47})}},
      {copy(), {View::contiguous(Dtype::u8, {100, 1023})}},
      {relayout("NHWC", "NCHW"), {View::contiguous(Dtype::u8, {2, 64, 64, 3})}},
      {permute(std::array{3, 2, 1, 0}), {View::contiguous(Dtype::f32, {9, 8, 7, 6})}},
      {rearrange("h w c -> w h c"), {View::contiguous(Dtype::u8, {60, 50, 3})}},
      {reduction("sum"), {View::contiguous(Dtype::f32, {1000, 1000})}},
      {reduction("sum", {{"axes", "0"}}), {View::contiguous(Dtype::f16, {1000, 1000})}},
      {matmul(), {View::contiguous(Dtype::f32, {300, 5000}), View::contiguous(Dtype::f32, {5000, 200})}},
      {matmul(), {View::contiguous(Dtype::f16, {1, 4096}), View::contiguous(Dtype::f16, {4096, 512})}},
  };
  for (const DeviceInfo& info : {gpu_info(), gpu_info(Api::opencl), cpu_info()}) {
    const Device device(std::make_shared<PretendedDevice>(info));
    for (const auto& problem : problems) {
      const Operation& op = problem.first;
      const std::vector<View>& inputs = problem.second;
      for (const ops::CandidateInfo& candidate : ops::entry(op.name).candidates) {
        PlanOptions options;
        options.candidate = candidate.name;
        SCOPED_TRACE(info.label() + " " + to_string(op) + " " + options.candidate);
        Plan first;
        if (code_thrown([&] { first = plan(op, inputs, device, options); }) == Errc::unsupported) continue;
        ASSERT_TRUE(first.impl());
        options.configuration = first.report().configuration;
        for (const ops::Tunable& tunable : candidate.tunables)
          EXPECT_TRUE(options.configuration.contains(std::string(tunable.name))) << tunable.name;
        EXPECT_EQ(launched(plan(op, inputs, device, options)), launched(first));
      }
    }
  }
}

TEST_F(Choose, KernelsForCpusRefuseGpusAndTheOtherRuntime) {
  const View in = View::contiguous(Dtype::f32, {512, 512});
  for (const char* name : {"block", "runs", "interleave_cpu", "rows_cpu"}) {
    EXPECT_NE(about(report_of(gpu_info(Api::opencl), transpose(), in), name).reason.find("a cpu"), std::string::npos);
    EXPECT_NE(about(report_of(gpu_info(Api::cuda), transpose(), in), name).reason.find("opencl"), std::string::npos);
  }
}

// A tile of the default size does not fit, so a smaller one is made or the variant says what it lacks.
TEST_F(Choose, TilesStayWithinSmallLocalMemory) {
  DeviceInfo info = gpu_info();
  for (const std::size_t local : {std::size_t{48} << 10, std::size_t{16} << 10}) {
    info.local_memory = info.local_memory_max = local;
    for (const Dtype dtype : {Dtype::u8, Dtype::f32, Dtype::c128}) {
      const View in = View::contiguous(dtype, {4096, 4096});
      const auto problem = problem_of(transpose(), with_result(transpose(), in));
      const ops::MoveCandidate& tile = candidate_named("tile");
      const Configuration values = default_values(tile.info);
      EXPECT_LE(ops_test::launch_of(tile, problem, values, info).geometry.local_bytes, local) << name(dtype);
    }
  }
  info.local_memory = info.local_memory_max = 0;
  EXPECT_NE(chosen(info, transpose(), View::contiguous(Dtype::f32, {4096, 4096})), "tile");
}

TEST_F(Choose, ATileTooLargeIsRefusedByItsBytes) {
  DeviceInfo info = gpu_info();
  info.local_memory = info.local_memory_max = 16 << 10;
  PlanOptions options;
  options.candidate = "tile";
  options.configuration = {{"tile_in", 1024}, {"tile_out", 1024}};
  const std::string text = text_thrown([&] {
    report_of(info, transpose(), View::contiguous(Dtype::f32, {4096, 4096}), options);
  });
  EXPECT_NE(text.find("262144 bytes of local memory"), std::string::npos) << text;
  EXPECT_NE(text.find("16384"), std::string::npos) << text;
}

}  // namespace
}  // namespace axisloom::ops_test
