// What peers are told about a job, worked out on the host; and the peers of this machine's CPU on small awkward arrays.
#include "bench/peers/images.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/modes.hpp"
#include "bench/peers/peers.hpp"

#include "harness/case.hpp"
#include "ops/rearrange/rearrange.hpp"
#include "planner/registry.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>

namespace axisloom::bench {
namespace {

/// A case's views, contiguous or with the strides that it gives, inputs first.
struct Views {
  explicit Views(const char* text) : what(harness::parse_case(text)) {
    for (std::size_t i = 0; i < what.shapes.size(); ++i) {
      View view = View::contiguous(what.dtypes[i], what.shapes[i]);
      if (what.inputs[i].strides) view.strides = *what.inputs[i].strides;
      view.offset = what.inputs[i].offset - view.bounds().low;
      views.push_back(view);
    }
    View out = result_view(what.op, views);
    if (what.output.strides) out.strides = *what.output.strides;
    views.push_back(out);
  }
  core::Move merged() const { return core::normalise(ops::lowered_move(what.op, views)); }

  harness::Case what;
  std::vector<View> views;
};

/// Computes a problem by its modes alone: every output element is the sum, over the modes that it lacks, of the
/// products of the inputs' elements.
std::vector<double> computed(const ModeProblem& problem, const std::vector<std::vector<double>>& in, std::size_t size) {
  std::map<std::int32_t, std::int64_t> extents;
  for (const ModeTensor& input : problem.inputs)
    for (const Mode& mode : input.modes) extents[mode.number] = mode.extent;
  for (const Mode& mode : problem.out.modes) extents[mode.number] = mode.extent;
  std::map<std::int32_t, std::int64_t> index;
  const auto at = [&](const ModeTensor& tensor) {
    std::int64_t position = tensor.offset;
    for (const Mode& mode : tensor.modes) position += index[mode.number] * mode.stride;
    return static_cast<std::size_t>(position);
  };
  std::int64_t points = 1;
  for (const auto& [number, extent] : extents) points *= extent;
  std::vector<double> out(size, 0);
  for (std::int64_t point = 0; point < points; ++point) {
    std::int64_t rest = point;
    for (const auto& [number, extent] : extents) {
      index[number] = rest % extent;
      rest /= extent;
    }
    double product = 1;
    for (std::size_t i = 0; i < in.size(); ++i) product *= in[i].at(at(problem.inputs[i]));
    out.at(at(problem.out)) += product;
  }
  return out;
}

/// The same by the oracle of the operation, on small whole numbers.
void expect_oracle_agrees(const char* text, const ModeProblem& problem, const Views& views) {
  std::vector<std::vector<double>> in;
  std::vector<const std::byte*> addresses;
  for (std::size_t i = 0; i + 1 < views.views.size(); ++i) {
    std::vector<double> values(static_cast<std::size_t>(views.views[i].bounds().high));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>((k * 7 + i) % 23) - 9;
    in.push_back(std::move(values));
  }
  for (const auto& values : in) addresses.push_back(reinterpret_cast<const std::byte*>(values.data()));
  std::vector<double> want(static_cast<std::size_t>(views.views.back().bounds().high), 0);
  ops::entry(views.what.op.name)
      .oracle(views.what.op, views.views, addresses, reinterpret_cast<std::byte*>(want.data()));
  EXPECT_EQ(computed(problem, in, want.size()), want) << text;
}

TEST(BenchPeers, ModesOfMoves) {
  for (const char* text : {"transpose f64 5x7", "permute f64 3x4x5x6 3,1,0,2",
                           "transpose f64 5x7 in-strides=9,1 out-strides=11,1", "relayout f64 2x8x3x5 NCHW NC/4HW4",
                           "repeat f64 5x4 \"h w -> h w c\" c=3", "copy f64 6x4 in-strides=1,7", "transpose f64 1x9"}) {
    const Views views(text);
    const ModeProblem problem = modes_of(views.merged());
    EXPECT_FALSE(problem.has_negative_strides()) << text;
    expect_oracle_agrees(text, problem, views);
  }
  EXPECT_TRUE(modes_of(Views("copy f64 6x4 in-strides=-4,1").merged()).has_negative_strides());
}

TEST(BenchPeers, ModesBeginWithTheSmallestStride) {
  const ModeProblem problem = modes_of(Views("permute f32 3x4x5x6 3,1,0,2").merged());
  for (const ModeTensor* tensor : {&problem.inputs[0], &problem.out})
    EXPECT_TRUE(std::is_sorted(tensor->modes.begin(), tensor->modes.end(),
                               [](const Mode& a, const Mode& b) { return a.stride < b.stride; }));
  EXPECT_EQ(problem.out.modes.front().stride, 1);
}

TEST(BenchPeers, ModesOfReductions) {
  for (const char* text : {"sum f64 60", "sum f64 6x7 axes=1", "sum f64 6x7 axes=0", "sum f64 3x4x5 axes=1",
                           "sum f64 3x4x5 axes=0,2", "sum f64 3x4x5x2 axes=0,2"}) {
    const Views views(text);
    const auto reduction = reduction_of(views.what.op, views.views);
    ASSERT_TRUE(reduction) << text;
    expect_oracle_agrees(text, modes_of(*reduction), views);
  }
}

TEST(BenchPeers, ModesOfContractions) {
  for (const char* text : {"matmul f64 5x7,7x3", "matmul f64 4x5x7,7x3", "matmul f64 4x5x7,4x7x3", "matmul f64 5x7,7",
                           "matmul f64 5x7,7x3 in-strides=1,5", "matmul f64 1x7,7x3",
                           "einsum f64 3x4x5,5x4x2 \"a b c, c b d -> d a\"", "einsum f64 3x4,4x3 \"a b, b a ->\""}) {
    const Views views(text);
    expect_oracle_agrees(text, modes_of(ops::contraction_of(views.what.op, views.views)), views);
  }
}

std::optional<StridedImages> images_of(const char* text) {
  return strided_images(Views(text).merged());
}

TEST(BenchPeers, ImagesAreChangesBetweenNchwAndNhwc) {
  const auto last = images_of("relayout f32 2x3x5x7 NCHW NHWC");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->extents, (std::vector<int>{2, 3, 1, 35}));
  EXPECT_EQ(last->from, (std::vector<int>{105, 35, 35, 1}));
  EXPECT_EQ(last->to, (std::vector<int>{105, 1, 105, 3}));
  const auto first = images_of("relayout f32 2x5x7x3 NHWC NCHW");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->extents, (std::vector<int>{2, 3, 1, 35}));
  EXPECT_EQ(first->from, (std::vector<int>{105, 1, 105, 3}));
  EXPECT_EQ(first->to, (std::vector<int>{105, 35, 35, 1}));
  const auto matrix = images_of("transpose f32 4x6");
  ASSERT_TRUE(matrix);
  EXPECT_EQ(matrix->extents, (std::vector<int>{1, 4, 1, 6}));
  EXPECT_EQ(matrix->from, (std::vector<int>{24, 6, 6, 1}));
  EXPECT_EQ(matrix->to, (std::vector<int>{24, 1, 24, 4}));
  EXPECT_EQ(images_of("copy f32 12")->extents, (std::vector<int>{1, 1, 1, 12}));
  EXPECT_EQ(images_of("permute f32 2x3x4x5x6x7 5,4,3,2,1,0")->extents.size(), 6u);
}

TEST(BenchPeers, ImagesMoveEveryElementToItsPlace) {
  for (const char* text : {"relayout f64 2x3x5x7 NCHW NHWC", "relayout f64 2x5x7x3 NHWC NCHW", "transpose f64 9x4",
                           "permute f64 3x4x5x6 2,0,3,1", "transpose f64 5x7 in-strides=9,1 out-strides=11,1"}) {
    const Views views(text);
    const core::Move merged = views.merged();
    const auto images = strided_images(merged);
    ASSERT_TRUE(images) << text;
    ModeProblem problem{{{merged.in_offset, {}}}, {merged.out_offset, {}}};
    for (std::size_t i = 0; i < images->extents.size(); ++i) {
      problem.inputs[0].modes.push_back({static_cast<int>(i), images->extents[i], images->from[i]});
      problem.out.modes.push_back({static_cast<int>(i), images->extents[i], images->to[i]});
    }
    expect_oracle_agrees(text, problem, views);
  }
}

TEST(BenchPeers, ImagesOfOtherMovesAreRefused) {
  EXPECT_FALSE(images_of("relayout i8 1x3x4x5 NCHW NC/4HW4"));
  EXPECT_FALSE(images_of("copy f32 6x4 in-strides=-4,1"));
  EXPECT_FALSE(images_of("repeat f32 5 \"h -> h c\" c=3"));
  EXPECT_FALSE(images_of("transpose u8 65536x65536"));
}

TEST(BenchPeers, ImagesWithChannelsInBlocks) {
  const auto blocked = [](const char* text) {
    const Views views(text);
    return blocked_images(views.what.op, views.views);
  };
  const auto to = blocked("relayout i8 2x64x3x5 NCHW NC/32HW32");
  ASSERT_TRUE(to);
  EXPECT_EQ((std::array{to->n, to->c, to->h, to->w, to->block}), (std::array{2, 64, 3, 5, 32}));
  EXPECT_TRUE(to->to_blocks && !to->channels_last);
  const auto from = blocked("relayout i8 2x2x3x5x4 NC/4HW4 NHWC");
  ASSERT_TRUE(from);
  EXPECT_EQ((std::array{from->n, from->c, from->h, from->w, from->block}), (std::array{2, 8, 3, 5, 4}));
  EXPECT_TRUE(!from->to_blocks && from->channels_last);
  EXPECT_FALSE(blocked("relayout i8 2x63x3x5 NCHW NC/32HW32"));
  EXPECT_FALSE(blocked("relayout i8 2x64x3x5 NCHW NC/16HW16"));
  EXPECT_FALSE(blocked("relayout i8 2x64x3x5 NCHW NHWC"));
  EXPECT_FALSE(blocked("transpose i8 64x64"));
}

TEST(BenchPeers, BlocksWithATailOfZeros) {
  const auto padded = [](const char* text) { return padded_blocks(Views(text).merged()); };
  const auto to = padded("relayout i8 2x33x3x5 NCHW NC/32HW32");
  ASSERT_TRUE(to);
  EXPECT_EQ((std::array{to->n, to->c, to->pixels, to->block}), (std::array<std::int64_t, 4>{2, 33, 15, 32}));
  EXPECT_EQ((std::array{to->n_stride, to->c_stride, to->pixel_stride}), (std::array<std::int64_t, 3>{495, 15, 1}));
  EXPECT_TRUE(to->to_blocks);
  const auto from = padded("relayout i8 2x3x3x5x16 NC/16HW16 NHWC channels=41");
  ASSERT_TRUE(from);
  EXPECT_EQ((std::array{from->n, from->c, from->pixels, from->block}), (std::array<std::int64_t, 4>{2, 41, 15, 16}));
  EXPECT_EQ((std::array{from->n_stride, from->c_stride, from->pixel_stride}),
            (std::array<std::int64_t, 3>{615, 1, 41}));
  EXPECT_FALSE(from->to_blocks);
  EXPECT_FALSE(padded("relayout i8 2x32x3x5 NCHW NC/32HW32"));
}

TEST(BenchPeers, LibrariesAreLookedForAndMissedByName) {
  constexpr const char* variable = "AXISLOOM_NO_SUCH_LIBRARY";
  const device::DynamicLibrary none(library_files(variable, {"libnone.so.1"}));
  EXPECT_EQ(library_obstacle(none, {"f"}, "libnone.so.1", variable),
            "libnone.so.1 was not found; AXISLOOM_NO_SUCH_LIBRARY can name it");
  LoadingVariables variables;
  variables.set(variable, "/nowhere/libnone.so.1");
  const auto files = library_files(variable, {"libnone.so.1"});
  EXPECT_EQ(files, (std::vector<std::string>{"/nowhere/libnone.so.1", "libnone.so.1"}));
  EXPECT_EQ(cuda_library_files(variable, {"libnone.so.1"}).front(), "/nowhere/libnone.so.1");
  const std::string why = library_obstacle(device::DynamicLibrary(files), {"f"}, "libnone.so.1", variable);
  EXPECT_NE(why.find("AXISLOOM_NO_SUCH_LIBRARY: /nowhere/libnone.so.1: "), std::string::npos) << why;
  const device::DynamicLibrary math(library_files("", {"libm.so.6"}));
  ASSERT_TRUE(math);
  EXPECT_NE(library_obstacle(math, {"f", "g"}, "libm.so.6", variable).find(" lacks f, g"), std::string::npos);
  EXPECT_EQ(version_text(130102), "13.1.2");
}

TEST(BenchPeers, VariablesLastAsLongAsTheLoading) {
  constexpr const char *ours = "AXISLOOM_TEST_OURS", *theirs = "AXISLOOM_TEST_THEIRS";
  setenv(theirs, "kept", 1);
  {
    LoadingVariables variables;
    variables.set(ours, "1");
    variables.set(theirs, "1");
    EXPECT_STREQ(std::getenv(ours), "1");
    EXPECT_STREQ(std::getenv(theirs), "kept");
  }
  EXPECT_EQ(std::getenv(ours), nullptr);
  EXPECT_STREQ(std::getenv(theirs), "kept");
  unsetenv(theirs);
}

class BenchPeersOnCpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = Device::open("opencl:0");
    } catch (const Error&) {
      GTEST_SKIP() << "no OpenCL device";
    }
  }
  Workload workload_of(const char* text) { return {harness::parse_case(text), device_, team_, 1, Strength::automatic}; }
  /// What it computes is judged and found right, and what was there before is found wrong.
  static void require_right(Contestant& contestant, const char* text) {
    contestant.spoil(std::byte{0x55});
    EXPECT_GT(contestant.judge().count, 0) << text;
    EXPECT_GT(contestant.run().call, 0) << text;
    const Mistakes mistakes = contestant.judge();
    EXPECT_EQ(mistakes.count, 0) << contestant.name() << ", " << text << ": " << to_string(mistakes);
  }
  /// What a peer offers, judged.
  Offer judged(const char* peer, const char* text) {
    Workload workload = workload_of(text);
    const auto table = peer_table();
    const auto entry = std::find_if(table.begin(), table.end(), [&](const PeerEntry& e) { return e.name == peer; });
    Offer offer = entry->offer(workload, session_);
    if (offer.contestant) {
      require_right(*offer.contestant, text);
      offer.contestant.reset();  // it goes before its workload
      offer.reason = "took part";
    }
    return offer;
  }
  /// Whether the peer's library is here, which one job tells.
  bool is_here(const char* peer, const char* text) {
    return judged(peer, text).reason.find("not found") == std::string::npos;
  }

  Device device_;
  Team team_{2};
  Session session_;
};

TEST_F(BenchPeersOnCpu, PeersOfNvidiaSayWhyTheyAreAbsent) {
  for (const char* peer : {"cutensor", "cudnn", "cublas", "cub", "mdspan"})
    EXPECT_EQ(judged(peer, "transpose f32 9x5").reason, "runs on CUDA devices only");
}

// Rows of 15 floats lie 16 apart on one side: of 1000 lines of 64 bytes each, where its bytes fill 938.
TEST_F(BenchPeersOnCpu, TheFloorCopiesWholeLines) {
  EXPECT_EQ(judged("floor", "copy f32 1000x15 in-strides=16,1").reason, "took part");
  EXPECT_EQ(workload_of("copy f32 1000x15 in-strides=16,1").floor_copy()->count(), (1000 + 938) * 64 / 2 / 4);
  for (const char* text : {"copy f32 1000x15", "transpose u8 63x65"})
    EXPECT_EQ(judged("floor", text).reason, "the job touches no more memory than the copy does") << text;
  EXPECT_EQ(judged("floor", "sum f32 1000").reason, "a copy says nothing of this job");
}

TEST_F(BenchPeersOnCpu, ReadingAsOnGpusSeesEveryWord) {
  for (const char* text : {"sum f32 16", "sum f32 100003", "sum u8 1000001", "matmul f32 3x70000,70000x1"}) {
    Workload workload = workload_of(text);
    require_right(*make_device_read(workload), text);
  }
}

TEST_F(BenchPeersOnCpu, OnednnReorders) {
  if (!is_here("onednn", "transpose f32 67x45")) GTEST_SKIP() << "no oneDNN";
  for (const char* text :
       {"transpose u8 67x45", "transpose f32 67x45 in-strides=50,1 out-strides=71,1", "transpose f64 33x31",
        "transpose c128 17x9", "transpose u32 129x65", "permute f32 3x4x5x6 3,1,0,2", "permute u8 3x4x5x6x7 4,0,2,1,3",
        "relayout i8 2x64x5x3 NCHW NC/32HW32", "relayout f32 2x3x5x7 NCHW NHWC",
        "copy f32 9x8 in-strides=9,1 out-strides=11,1"})
    EXPECT_EQ(judged("onednn", text).reason, "took part") << text;
  // Where the CPU has no bf16 it refuses.
  judged("onednn", "transpose bf16 67x45");
  EXPECT_NE(judged("onednn", "copy f32 6x4 in-strides=-4,1").reason, "took part");
  for (const char* text : {"relayout i8 2x33x5x3 NCHW NC/32HW32", "relayout f32 2x3x5x7 NHWC NC/8HW8",
                           "relayout u8 1x50x5x7 NCHW NC/16HW16", "relayout i8 2x3x5x3x16 NC/16HW16 NCHW channels=41"})
    EXPECT_EQ(judged("onednn", text).reason, "took part") << text;
  EXPECT_NE(judged("onednn", "relayout f64 2x33x5x3 NCHW NC/32HW32").reason.find("tail"), std::string::npos);
  EXPECT_EQ(judged("onednn", "sum f32 100").reason, "is called for moves");
}

TEST_F(BenchPeersOnCpu, HpttPermutes) {
  if (!is_here("hptt", "transpose f32 67x45")) GTEST_SKIP() << "no module of HPTT";
  for (const char* text :
       {"transpose f32 67x45 in-strides=50,1 out-strides=71,1", "permute f64 3x4x5x6 3,1,0,2", "transpose c64 17x9",
        "permute c128 5x7x3 2,0,1", "permute f32 9x8x7x6x5 4,2,0,3,1", "relayout f32 2x3x5x7 NCHW NHWC"})
    EXPECT_EQ(judged("hptt", text).reason, "took part") << text;
  EXPECT_EQ(judged("hptt", "transpose u8 67x45").reason, "permutes floats of 4 bytes and more");
  EXPECT_NE(judged("hptt", "copy f32 6x4 in-strides=-4,1").reason, "took part");
}

TEST_F(BenchPeersOnCpu, OpenblasTransposes) {
  if (!is_here("openblas", "transpose f32 67x45")) GTEST_SKIP() << "no OpenBLAS";
  for (const char* text : {"transpose f32 67x45 in-strides=50,1 out-strides=71,1", "transpose f64 33x31",
                           "transpose c64 1000x3", "transpose c128 17x9 in-strides=11,1"})
    EXPECT_EQ(judged("openblas", text).reason, "took part") << text;
  for (const char* text : {"transpose u8 67x45", "permute f32 3x4x5 2,1,0", "copy f32 6x4 in-strides=-4,1"})
    EXPECT_EQ(judged("openblas", text).reason, "transposes matrices of floats of 4 bytes and more") << text;
}

TEST_F(BenchPeersOnCpu, ClblastTransposes) {
  if (!is_here("clblast", "transpose f32 67x45")) GTEST_SKIP() << "no CLBlast";
  for (const char* text : {"transpose f32 67x45 in-strides=50,1 out-strides=71,1", "transpose f64 64x64"})
    EXPECT_EQ(judged("clblast", text).reason, "took part") << text;
  EXPECT_EQ(judged("clblast", "permute f32 3x4x5 2,1,0").reason, "omatcopy transposes matrices");
}

}  // namespace
}  // namespace axisloom::bench
