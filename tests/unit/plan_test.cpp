// What a plan refuses, and what it reports, before anything runs. No device is needed: nothing is compiled.
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <array>

namespace axisloom::ops_test {
namespace {

const Device& pretended() {
  static const Device device(std::make_shared<PretendedDevice>(cpu_info()));
  return device;
}

Plan planned(const Operation& op, const std::vector<View>& views, const PlanOptions& options = {}) {
  return plan(op, views, pretended(), options);
}

std::optional<Errc> refused(const Operation& op, const std::vector<View>& views, const PlanOptions& options = {}) {
  return code_thrown([&] { planned(op, views, options); });
}

View f32(const Dims& shape) {
  return View::contiguous(Dtype::f32, shape);
}

class Plans : public ::testing::Test {
  NoDiskCache memory_only_;
};

TEST_F(Plans, ReportWhatWasDecided) {
  const Plan made = planned(rearrange("h w -> w h"), {f32({300, 400})});
  const PlanReport& report = made.report();
  EXPECT_EQ(report.op, "rearrange \"h w -> w h\"");
  EXPECT_EQ(report.shapes, "f32[300,400] -> f32[400,300]");
  EXPECT_EQ(report.device, pretended().info().label());
  EXPECT_EQ(report.configuration_source, "default");
  EXPECT_EQ(report.configuration,
            (Configuration{{"lines_in", 4}, {"lines_out", 16}, {"order", 1}, {"run", 4}, {"stream_mib", 48}}));
  EXPECT_EQ(report.index, IndexWidth::bits32);
  EXPECT_EQ(report.workspace_bytes, 0u);
  EXPECT_EQ(report.bytes_moved, 2 * 300 * 400 * 4);
  EXPECT_GT(report.expected_seconds, 0);
  ASSERT_EQ(made.views().size(), 2u);
  EXPECT_EQ(made.views()[1].shape, (Dims{400, 300}));
  EXPECT_EQ(made.device().impl(), pretended().impl());
}

TEST_F(Plans, CountABroadcastElementOnce) {
  View row = f32({100, 50});
  row.strides = {0, 1};
  EXPECT_EQ(planned(copy(), {row}).report().bytes_moved, (50 + 100 * 50) * 4);
}

TEST_F(Plans, KnowTheResultOfEveryMove) {
  constexpr std::array order{2, 0, 1};
  const View in = f32({3, 4, 5});
  const auto shape = [&](const Operation& op, const View& view) { return result_view(op, std::span(&view, 1)).shape; };
  EXPECT_EQ(shape(copy(), in), (Dims{3, 4, 5}));
  EXPECT_EQ(shape(transpose(), in), (Dims{3, 5, 4}));
  EXPECT_EQ(shape(permute(order), in), (Dims{5, 3, 4}));
  EXPECT_EQ(shape(rearrange("a (b x) c -> (a c) x b", {{"x", 2}}), in), (Dims{15, 2, 2}));
  EXPECT_EQ(shape(repeat("a b c -> a n b c", {{"n", 7}}), in), (Dims{3, 7, 4, 5}));
  EXPECT_EQ(shape(relayout("NCHW", "NC/4HW4"), f32({2, 5, 6, 7})), (Dims{2, 2, 6, 7, 4}));
}

TEST_F(Plans, RefuseOperationsThatCannotBe) {
  const View in = f32({3, 4});
  constexpr std::array order{2, 0, 1};
  const auto refusal = [&](const Operation& op) { return code_thrown([&] { result_view(op, std::span(&in, 1)); }); };
  EXPECT_EQ(refusal({"turn", {}, {}}), Errc::usage);
  EXPECT_EQ(refusal({"rearrange", {}, {}}), Errc::usage) << "no pattern";
  EXPECT_EQ(refusal({"transpose", {}, {{"x", 2}}}), Errc::usage) << "lengths";
  EXPECT_EQ(refusal(permute(order)), Errc::axis) << "three axes of two";
  EXPECT_EQ(refusal({"permute", {"0,0"}, {}}), Errc::axis);
  EXPECT_EQ(refusal({"permute", {"0,x"}, {}}), Errc::axis);
  EXPECT_EQ(refusal(rearrange("a b c -> c b a")), Errc::shape);
  EXPECT_EQ(refusal(relayout("NCHW", "NHWC")), Errc::shape);
  EXPECT_EQ(code_thrown([&] { result_view(copy(), {}); }), Errc::usage) << "no input";
  const std::string text = text_thrown([&] { result_view({"turn", {}, {}}, std::span(&in, 1)); });
  EXPECT_NE(text.find("transpose"), std::string::npos) << "the known ones are listed: " << text;
}

TEST_F(Plans, RefuseOutputsOfAnotherKind) {
  const View in = f32({3, 4});
  EXPECT_EQ(refused(transpose(), {in, View::contiguous(Dtype::i32, {4, 3})}), Errc::dtype);
  EXPECT_EQ(refused(transpose(), {in, f32({3, 4})}), Errc::shape);
  EXPECT_EQ(refused(transpose(), {in, f32({4, 3, 1})}), Errc::shape);
  EXPECT_EQ(refused(transpose(), {in, f32({4, 3}), f32({4, 3})}), Errc::usage) << "three views";
  EXPECT_EQ(refused(transpose(), {}), Errc::usage);
}

TEST_F(Plans, RefuseOutputsThatOverlapThemselves) {
  View out = f32({4, 3});
  out.strides = {0, 1};
  EXPECT_EQ(refused(transpose(), {f32({3, 4}), out}), Errc::overlap);
  out.strides = {2, 1};
  EXPECT_EQ(refused(transpose(), {f32({3, 4}), out}), Errc::overlap);
  out.strides = {-3, 1};
  out.offset = 9;
  EXPECT_EQ(refused(transpose(), {f32({3, 4}), out}), std::nullopt);
}

TEST_F(Plans, ErrorsNameOperationShapesAndDevice) {
  const std::string text = text_thrown([] { planned(transpose(), {f32({3, 4}), f32({3, 4})}); });
  for (const char* part : {"transpose", "f32[3,4] -> f32[3,4]", "[4,3]", "pthread-skylake-avx512"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST_F(Plans, ForcedCandidatesAreTakenOrExplained) {
  PlanOptions options;
  options.candidate = "plain";
  EXPECT_EQ(planned(transpose(), {f32({300, 400})}, options).report().candidate, "plain");
  options.candidate = "no such";
  EXPECT_EQ(refused(transpose(), {f32({300, 400})}, options), Errc::usage);
  options.candidate = "rows_cpu";
  EXPECT_EQ(refused(transpose(), {f32({300, 400})}, options), Errc::unsupported);
  const std::string text = text_thrown([&] { planned(transpose(), {f32({300, 400})}, options); });
  EXPECT_NE(text.find("not contiguous"), std::string::npos) << "the reason: " << text;
}

TEST_F(Plans, ForcedTunablesAreTakenOrRefused) {
  PlanOptions options;
  options.candidate = "block";
  options.configuration = {{"lines_in", 8}};
  const PlanReport report = planned(transpose(), {f32({300, 400})}, options).report();
  EXPECT_EQ(report.configuration.at("lines_in"), 8);
  EXPECT_EQ(report.configuration_source, "forced");
  options.configuration = {{"lines_in", 7}};
  EXPECT_EQ(refused(transpose(), {f32({300, 400})}, options), Errc::usage);
  options.configuration = {{"lines_inward", 8}};
  EXPECT_EQ(refused(transpose(), {f32({300, 400})}, options), Errc::usage);
}

TEST_F(Plans, ATunableAloneChoosesAmongThoseThatHaveIt) {
  PlanOptions options;
  options.configuration = {{"segment", 64}};
  EXPECT_EQ(planned(transpose(), {f32({300, 400})}, options).report().candidate, "plain");
}

TEST_F(Plans, NarrowIndicesAreRefusedWhereTheyDoNotFit) {
  View out = f32({4, 3});
  out.strides = {std::int64_t{1} << 31, 1};
  EXPECT_EQ(planned(transpose(), {f32({3, 4}), out}).report().index, IndexWidth::bits64);
  PlanOptions options;
  options.index = IndexWidth::bits32;
  EXPECT_EQ(refused(transpose(), {f32({3, 4}), out}, options), Errc::usage);
  EXPECT_EQ(planned(transpose(), {f32({3, 4})}, options).report().index, IndexWidth::bits32);
  options.index = IndexWidth::bits64;
  EXPECT_EQ(planned(transpose(), {f32({3, 4})}, options).report().index, IndexWidth::bits64);
}

// Elements fit in 32 bits here, the bytes that rows are copied by do not.
TEST_F(Plans, WideStridesOfRowsOnCpusCountInBytes) {
  View in = f32({3, 5});
  in.strides = {std::int64_t{1} << 29, 1};
  const ops::MoveProblem problem = problem_of(copy(), with_result(copy(), in));
  EXPECT_TRUE(core::fits_32_bits(problem.move));
  const ops::MoveCandidate& rows = candidate_named("rows_cpu");
  const Launch launch = launch_of(rows, problem, default_values(rows.info), cpu_info());
  EXPECT_NE(launch.kernel.defines.text().find("#define INDEX_BITS 64"), std::string::npos);
}

TEST_F(Plans, OnlySquaresTransposeInPlace) {
  constexpr std::array order{2, 0, 1};
  PlanOptions options;
  options.in_place = true;
  EXPECT_EQ(planned(transpose(), {f32({40, 40})}, options).report().candidate, "swap");
  EXPECT_EQ(planned(copy(), {f32({40, 30})}, options).report().candidate, "none") << "every element stays";
  EXPECT_EQ(refused(transpose(), {f32({40, 30})}, options), Errc::usage);
  EXPECT_EQ(refused(permute(order), {f32({8, 8, 8})}, options), Errc::usage);
  EXPECT_EQ(refused(relayout("NCHW", "NC/4HW4"), {f32({1, 5, 2, 2})}, options), Errc::usage);
  View shifted = f32({40, 40});
  shifted.offset = 1;
  EXPECT_EQ(refused(transpose(), {f32({40, 40}), shifted}, options), Errc::usage);
}

TEST_F(Plans, OfEmptyArraysHaveNothingToDo) {
  for (const Dims& shape : {Dims{0}, Dims{0, 5}, Dims{5, 0}, Dims{3, 0, 4}}) {
    const PlanReport report = planned(copy(), {f32(shape)}).report();
    EXPECT_EQ(report.candidate, "none") << to_string(shape);
    EXPECT_EQ(report.bytes_moved, 0);
  }
}

TEST_F(Plans, AreMadeTogetherAheadOfTime) {
  const std::vector<PlanRequest> requests{{transpose(), {f32({64, 48})}, {}}, {copy(), {f32({64, 48})}, {}}};
  const std::vector<Plan> plans = warm_up(requests, pretended());
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].report().op, "transpose");
  EXPECT_EQ(plans[1].report().op, "copy");
}

}  // namespace
}  // namespace axisloom::ops_test
