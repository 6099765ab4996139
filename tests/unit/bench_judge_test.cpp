// Judging what computes: right results pass, a single wrong element does not, and neither does a lack of precision.
#include "bench/bench.hpp"
#include "bench/peers/peers.hpp"

#include "core/number.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace axisloom::bench {
namespace {

/// A case on an OpenCL device whose buffers are host memory.
class BenchJudge : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = Device::open("opencl:0");
    } catch (const Error&) {
      GTEST_SKIP() << "no OpenCL device";
    }
  }

  Workload& begin(const std::string& text, Strength strength) {
    workload_ = std::make_unique<Workload>(harness::parse_case(text), device_, team_, 1, strength);
    workload_->spoil_output(std::byte{0x55});
    return *workload_;
  }
  /// The case done by Axisloom.
  Workload& done(const std::string& text, Strength strength) {
    Workload& workload = begin(text, strength);
    make_ours(workload, "axisloom", {})->run();
    return workload;
  }
  std::byte* element(std::int64_t at) {
    return workload_->host_out() + at * static_cast<std::int64_t>(size_of(workload_->out().dtype));
  }
  /// To its last component.
  void add(std::int64_t at, long double amount) {
    const Dtype dtype = workload_->out().dtype;
    const int last = core::components_of(dtype) - 1;
    core::store_number(dtype, element(at), core::number_at(dtype, element(at), last) + amount, last);
  }
  template <class Real>
  Real input(std::size_t i, std::int64_t at) const {
    return reinterpret_cast<const Real*>(workload_->host(i))[at];
  }

  Device device_;
  Team team_{2};
  std::unique_ptr<Workload> workload_;
};

struct ReductionCase {
  const char* text;
  long double unit;  // the least by which a result can be wrong
};
const ReductionCase reductions[] = {
    {"sum f32 100003", 1.0L / 64},
    {"sum u32 70x1001 axes=1", 1},
    {"sum i16 71x33x5 axes=0,1", 1},
    {"sum f64 13x1009 axes=0", 1.0L / 64},
    {"sum u8 5001", 1},
    {"sum c64 31x3001 axes=1", 1.0L / 64},
    {"sum c128 5x999x3 axes=1", 1.0L / 64},
    {"mean c64 4096", 1.0L / 1024},
    {"max f32 100003", 1.0L / (1 << 24)},
    {"min i32 31x57 axes=0", 1},
    {"argmax f32 64x999 axes=1", 1},
    {"argmin i8 3001", 1},
    {"mean f64 4096", 1.0L / 1024},
    {"mean f32 7x5x6x11 axes=0,2,3", 1.0L / (1 << 16)},
    {"sum f32 19x7x23x3 axes=0,2", 1.0L / 64},
    {"sum c64 9x2x31 axes=0,2", 1.0L / 64},
    {"argmax i8 37x3x41 axes=0,2", 1},
    {"argmin f32 13x4x21x3 axes=0,2", 1},
    {"norm f32 100003", 1.0L / 1024},
    {"norm f32 31x7x19 axes=0,2", 1.0L / (1 << 14)},
    {"norm f16 67x129 axes=1", 1.0L / 8},
    {"norm bf16 67x129 axes=0 ord=2", 1},
    {"norm f64 5x1001 axes=1", 1.0L / (1 << 20)},
};

// Rows and columns 0 and 2 of the first matrix of these are sampled, 1 is not. Of the last one's fewer are.
const char* const products[] = {
    "matmul f32 130x70,70x150",   "matmul f32 130x70,70x150 in-strides=1,130 in2-strides=1,70",
    "matmul f64 130x70,70x150",   "matmul i8 130x70,70x150",
    "matmul u32 130x70,70x150",   "matmul f32 3x130x20,3x20x150",
    "matmul f32 2x130x20,20x150", "matmul f32 300x150x100,300x100x170",
};

TEST_F(BenchJudge, ReductionsAreWorkedOutToTheLastBit) {
  for (const auto& [text, unit] : reductions) {
    SCOPED_TRACE(text);
    Workload& workload = done(text, Strength::automatic);
    EXPECT_EQ(workload.strength(), Strength::indexed);
    EXPECT_EQ(workload.judge(nullptr).count, 0) << to_string(workload.judge(nullptr));
    const std::int64_t last = workload.out().count() - 1;
    add(last, unit);
    const Mistakes found = workload.judge(nullptr);
    EXPECT_EQ(found.count, 1);
    EXPECT_EQ(found.first, last);
  }
}

// As where the arrays lie on a device of its own.
TEST_F(BenchJudge, TheDeviceWorksOutReductionsAlike) {
  for (const auto& [text, unit] : reductions) {
    SCOPED_TRACE(text);
    Workload& workload = done(text, Strength::automatic);
    const auto judge = make_reduction_judge(workload, workload.reduction().value(), Where::device);
    EXPECT_EQ(judge->judge(workload.host_out()).count, 0) << to_string(judge->judge(workload.host_out()));
    for (const std::int64_t at : {std::int64_t{0}, workload.out().count() - 1}) {
      add(at, unit);
      EXPECT_EQ(judge->judge(workload.host_out()).count, 1);
      EXPECT_EQ(judge->judge(workload.host_out()).first, at);
      add(at, -unit);
    }
  }
}

TEST_F(BenchJudge, TheDeviceWorksOutProductsAlike) {
  for (const char* text : products) {
    SCOPED_TRACE(text);
    Workload& workload = done(text, Strength::sampled);
    const auto judge = make_product_judge(workload, workload.product().value(), Where::device);
    EXPECT_EQ(judge->judge(workload.host_out()).count, 0) << to_string(judge->judge(workload.host_out()));
    const bool floats = core::float_format(workload.out().dtype) != nullptr;
    for (const std::int64_t at : {std::int64_t{151}, workload.out().count() - 1}) {
      add(at, floats ? 1 : 1 << 5);
      EXPECT_GE(judge->judge(workload.host_out()).count, 1) << at;
      add(at, floats ? -1 : -(1 << 5));
    }
  }
}

TEST_F(BenchJudge, TheOracleAgreesWithTheHashes) {
  for (const auto& [text, unit] : reductions) {
    SCOPED_TRACE(text);
    Workload& workload = done(text, Strength::full);
    EXPECT_EQ(workload.strength(), Strength::full);
    EXPECT_EQ(workload.judge(nullptr).count, 0);
    workload.spoil_output(std::byte{0x55});
    EXPECT_EQ(workload.judge(nullptr).count, workload.out().count());
  }
}

TEST_F(BenchJudge, ASumThatLeavesOutOneElementIsWrong) {
  Workload& workload = begin("sum f32 65537", Strength::automatic);
  float sum = 0;
  for (std::int64_t i = 0; i < 65537; ++i) sum += input<float>(0, i);
  std::memcpy(element(0), &sum, sizeof sum);
  EXPECT_EQ(workload.judge(nullptr).count, 0) << "plain sums of this data are exact";
  sum -= input<float>(0, 4711);
  std::memcpy(element(0), &sum, sizeof sum);
  EXPECT_EQ(workload.judge(nullptr).count, 1);
}

TEST_F(BenchJudge, ProductsAreSampledAndTheRestIsSummed) {
  for (const char* text : products) {
    SCOPED_TRACE(text);
    Workload& workload = done(text, Strength::sampled);
    EXPECT_EQ(workload.judge(nullptr).count, 0) << to_string(workload.judge(nullptr));
    const Product product = workload.product().value();
    const bool floats = core::float_format(workload.out().dtype) != nullptr;
    const auto place = [&](std::int64_t matrix, std::int64_t row, std::int64_t column) {
      return (matrix * product.m + row) * product.n + column;
    };
    // Samples begin one row and column further on from matrix to matrix: the last element of the last may be either.
    const std::int64_t last = product.batch - 1;
    const std::pair<std::int64_t, std::string> places[] = {
        {place(0, 0, 1), "element"},
        {place(0, 1, 1), "sum"},
        {place(last, last % product.m, last % product.n), "element"},
        {place(last, product.m - 1, product.n - 1), last == 0 ? "element" : ""}};
    for (const auto& [at, of] : places) {
      add(at, floats ? 1 : 1 << 5);
      const Mistakes found = workload.judge(nullptr);
      EXPECT_GE(found.count, 1) << at;
      EXPECT_EQ(found.of, of.empty() ? found.of : of) << at;
      add(at, floats ? -1 : -(1 << 5));
    }
    EXPECT_EQ(workload.judge(nullptr).count, 0);
  }
}

TEST_F(BenchJudge, TheOracleJudgesSmallProducts) {
  Workload& workload = done("matmul f32 40x30,30x50", Strength::automatic);
  EXPECT_EQ(workload.strength(), Strength::full);
  EXPECT_EQ(workload.judge(nullptr).count, 0);
  add(17, 1);
  EXPECT_EQ(workload.judge(nullptr).count, 1);
  EXPECT_EQ(workload.judge(nullptr).first, 17);
}

/// f32 with the fraction of TF32, rounded to nearest.
float as_tf32(float x) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000u) & 0xFFFFE000u);
}

TEST_F(BenchJudge, AProductOfRoundedInputsIsNotPreciseEnough) {
  constexpr std::int64_t m = 70, k = 4096, n = 66;
  Workload& workload = begin("matmul f32 70x4096,4096x66", Strength::sampled);
  const auto multiply = [&](auto rounded) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t kk = 0; kk < k; ++kk)
          sum += rounded(input<float>(0, i * k + kk)) * rounded(input<float>(1, kk * n + j));
        std::memcpy(element(i * n + j), &sum, sizeof sum);
      }
  };
  multiply([](float x) { return x; });
  EXPECT_EQ(workload.judge(nullptr).count, 0) << "one running sum: " << to_string(workload.judge(nullptr));
  multiply(as_tf32);
  const Mistakes found = workload.judge(nullptr);
  EXPECT_GT(found.count, 0);
  EXPECT_NE(found.why.find("root mean square"), std::string::npos) << found.why;
}

TEST_F(BenchJudge, WhatCannotBeJudgedSoIsRefused) {
  EXPECT_THROW(begin("sum f32 100", Strength::sampled), Error);
  EXPECT_THROW(begin("matmul f32 4x4,4x4", Strength::indexed), Error);
  EXPECT_THROW(begin("transpose f32 4x4", Strength::sampled), Error);
}

/// Writes what it is told, whatever the job.
class Liar final : public Contestant {
 public:
  using Contestant::Contestant;
  Timing run() override {
    workload().spoil_output(std::byte{0});
    return {0.01, std::nullopt};
  }
};

TEST_F(BenchJudge, APeerThatIsWrongIsCalledWrong) {
  Settings settings;
  settings.rules = {0, 0, 0, 0.02, 6, 6};
  CacheFlusher smaller_cache(device_, team_, 1);  // than the arrays, which are measured once then
  for (const char* text : {"sum f32 5000", "max u16 70x30 axes=0", "matmul f32 140x90,90x140", "matmul i8 9x8,8x7"}) {
    Workload& workload = begin(text, Strength::automatic);
    std::vector<std::unique_ptr<Contestant>> both;
    both.push_back(make_ours(workload, "axisloom", {}));
    both.push_back(std::make_unique<Liar>(workload, "liar", "zeros", Role::peer));
    const CaseResult result = compete(workload, text, both, smaller_cache, settings, [](const std::string&) {}).front();
    EXPECT_EQ(result.entries[0].status, Status::right) << text << result.entries[0].reason;
    EXPECT_EQ(result.entries[1].status, Status::wrong) << text;
    EXPECT_FALSE(result.entries[1].call);
  }
}

TEST_F(BenchJudge, EverybodyOnThisMachineComputesRight) {
  Session session;
  Settings settings;
  settings.rules = {0, 0, 0, 0.02, 6, 6};
  const char* const texts[] = {"sum f32 100000",
                               "sum u32 300x400 axes=1",
                               "sum f32 300x400 axes=0",
                               "max f32 90000",
                               "argmax f64 300x400 axes=0",
                               "mean f32 20x30x40 axes=0,2",
                               "argmin f32 20x30x40 axes=0,2",
                               "norm f32 300x400 axes=1",
                               "matmul f32 140x90,90x130",
                               "matmul f64 90x90,90x90 in-strides=1,90",
                               "matmul f32 5x20x30,5x30x40",
                               "matmul f32 400x300,300",
                               "matmul i8 50x60,60x70"};
  CacheFlusher smaller_cache(device_, team_, 1);
  for (const char* text : texts) {
    const CaseResult r = time_case({text, harness::parse_case(text), {}}, device_, team_, session, smaller_cache,
                                   settings, [](const std::string&) {})
                             .front();
    EXPECT_EQ(r.entries.front().role, Role::ours);
    for (const Entry& entry : r.entries)
      EXPECT_TRUE(entry.status == Status::right || (entry.status == Status::absent && entry.role != Role::ours))
          << text << ", " << entry.name << ": " << entry.reason;
    EXPECT_EQ(r.reference == "read", r.limit == Limit::memory) << text;
  }
}

TEST_F(BenchJudge, ReferencesThatDoNothingAreWrong) {
  Session session;
  for (const auto& [text, name] : {std::pair("sum f32 100000", "read"), std::pair("matmul f32 99x99,99x99", "peak")}) {
    Workload& workload = begin(text, Strength::automatic);
    for (const PeerEntry& peer : peer_table()) {
      if (peer.name != std::string_view(name)) continue;
      const Offer offer = peer.offer(workload, session);
      if (!offer.contestant) GTEST_SKIP() << offer.reason;
      offer.contestant->run();
      EXPECT_EQ(offer.contestant->judge().count, 0) << name;
      offer.contestant->spoil(std::byte{0x55});
      EXPECT_GT(offer.contestant->judge().count, 0) << name;
    }
  }
}

TEST_F(BenchJudge, ArithmeticOnTheDeviceIsCountedAndJudged) {
  for (const char* dtype : {"f32", "f64", "i8", "u64", "c64", "f16"}) {
    const std::string text = std::string("matmul ") + dtype + " 90x90,90x90";
    const auto peak = make_device_peak(begin(text, Strength::automatic));
    peak->spoil(std::byte{0x55});
    EXPECT_GT(peak->judge().count, 0);
    EXPECT_GT(peak->run().call, 0);
    EXPECT_EQ(peak->judge().count, 0);
    EXPECT_GE(peak->work().operations, 2.0 * 90 * 90 * 90);
  }
}

TEST_F(BenchJudge, OtherCandidatesTakePartWhereACaseNamesThem) {
  const Job job = job_of("label", "transpose f32 64x64 also=plain also=plain:items:128 also=nobody");
  ASSERT_EQ(job.also.size(), 3u);
  EXPECT_EQ(job.what.text, "transpose f32 64x64");
  EXPECT_EQ(job.also[1].options.configuration, (Configuration{{"items", 128}}));
  Session session;
  Settings settings;
  settings.rules = {0, 0, 0, 0.02, 6, 6};
  settings.all_peers = false;
  CacheFlusher smaller_cache(device_, team_, 1);
  const CaseResult r =
      time_case(job, device_, team_, session, smaller_cache, settings, [](const std::string&) {}).front();
  EXPECT_EQ(r.entries[1].name, "axisloom:plain");
  EXPECT_EQ(r.entries[1].status, Status::right);
  EXPECT_EQ(r.entries[2].name, "axisloom:plain:items:128");
  const auto& last = r.entries;
  EXPECT_TRUE(std::any_of(last.begin(), last.end(), [](const Entry& entry) {
    return entry.name == "axisloom:nobody" && entry.status == Status::absent;
  }));
  for (const char* bad :
       {"transpose f32 4x4 also=", "transpose f32 4x4 also=plain:items", "transpose f32 4x4 also=plain:a:b"})
    EXPECT_THROW(job_of("", bad), Error) << bad;
}

TEST(BenchProblem, AxesOfReductionsAreMerged) {
  const auto reduction = [](const char* text) {
    const harness::Case what = harness::parse_case(text);
    const View in = View::contiguous(what.dtypes.front(), what.shapes.front());
    const View views[] = {in, result_view(what.op, std::span(&in, 1))};
    return reduction_of(what.op, views);
  };
  const auto middle = reduction("sum f32 2x3x4x5x6 axes=2,-2");
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->outer, 6);
  EXPECT_EQ(middle->reduced, 20);
  EXPECT_EQ(middle->inner, 6);
  EXPECT_EQ(middle->lead, 1);
  const auto apart = reduction("sum f32 2x3x4x5x6 axes=0,2,3");
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->lead, 2);
  EXPECT_EQ(apart->outer, 3);
  EXPECT_EQ(apart->reduced, 20);
  EXPECT_EQ(apart->inner, 6);
  EXPECT_EQ(apart->count(), 40);
  EXPECT_EQ(apart->results(), 18);
  EXPECT_EQ(reduction("sum f32 2x3x4 axes=0,2")->lead, 2);
  const auto columns = reduction("sum f32 2x3x4 axes=0");
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->lead, 1);
  EXPECT_EQ(columns->inner, 12);
  EXPECT_FALSE(reduction("sum f32 2x3x4x5 axes=1,3"));
  EXPECT_FALSE(reduction("sum f32 2x3x4x5x6 axes=0,2,4"));
  EXPECT_EQ(reduction("sum f32 2x3x4")->reduced, 24);
  EXPECT_EQ(reduction("norm f32 2x3 ord=fro")->kind, "norm");
  EXPECT_FALSE(reduction("norm f32 2x3 ord=1"));
  EXPECT_FALSE(reduction("transpose f32 2x3"));
}

}  // namespace
}  // namespace axisloom::bench
