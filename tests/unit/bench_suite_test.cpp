// The suites' files: that they can be read, that their cases exist and fit, and how cases are picked.
#include "bench/suite.hpp"

#include "planner/registry.hpp"

#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace axisloom::bench {
namespace {

std::vector<View> views_of(const harness::Case& what) {
  std::vector<View> views;
  for (std::size_t i = 0; i < what.shapes.size(); ++i) {
    views.push_back(View::contiguous(what.dtypes[i], what.shapes[i]));
    if (what.inputs[i].strides) views.back().strides = *what.inputs[i].strides;
  }
  const View result = result_view(what.op, views);
  views.push_back(View::contiguous(result.dtype, result.shape));
  if (what.output.strides) views.back().strides = *what.output.strides;
  return views;
}

std::int64_t bytes_of(const View& view) {
  return view.bounds().high * static_cast<std::int64_t>(size_of(view.dtype));
}

TEST(BenchSuite, EveryCaseIsOneAndFits) {
  for (const SuiteCase& c : suite_cases()) {
    const auto views = views_of(job_of(c.label, c.text).what);
    std::int64_t all = 0;
    for (const View& view : views) {
      // PoCL's largest buffer here is 2 GiB.
      EXPECT_LE(bytes_of(view), c.scale == Scale::gpu ? std::int64_t{4} << 30 : std::int64_t{2} << 30) << c.text;
      all += bytes_of(view);
    }
    if (c.suite != "speed" && c.suite != "quick") continue;  // whose arrays are larger than any cache
    EXPECT_GE(all, c.scale == Scale::gpu ? 400'000'000 : 100'000'000) << c.text;
  }
}

TEST(BenchSuite, NoCaseStandsTwiceInASuite) {
  std::set<std::tuple<std::string, Scale, std::string>> texts, labels;
  for (const SuiteCase& c : suite_cases()) {
    EXPECT_TRUE(texts.emplace(c.suite, c.scale, c.text).second) << c.suite << ": " << c.text;
    EXPECT_TRUE(labels.emplace(c.suite, c.scale, c.label).second) << c.suite << ": " << c.label;
  }
}

TEST(BenchSuite, EverySuiteHasAFewQuickCasesForEachScale) {
  std::map<std::pair<std::string, Scale>, std::pair<int, int>> counts;  // quick, all
  for (const SuiteCase& c : suite_cases()) {
    auto& [quick, all] = counts[{c.suite, c.scale}];
    quick += c.quick;
    ++all;
  }
  EXPECT_EQ(counts.size(), 2 * suite_names().size());
  for (const auto& [suite, count] : counts) {
    if (suite.first == "speed") continue;  // the suite quick stands for it
    if (suite.first == "odd") continue;    // no few of its cases stand for the others
    EXPECT_GE(count.first, 3) << suite.first;
    EXPECT_LE(count.first, 16) << suite.first;
  }
}

TEST(BenchSuite, The57OfTtcAreThoseOfItsList) {
  std::map<std::string, int> of_permutation;
  std::int64_t least = 1 << 30, most = 0;
  int cases = 0;
  for (const SuiteCase& c : suite_cases()) {
    if (c.suite != "permute" || c.scale != Scale::gpu || !c.label.starts_with("TTC ")) continue;
    const harness::Case what = job_of(c.label, c.text).what;
    if (what.dtypes.front() != Dtype::f32) continue;
    ++cases;
    ++of_permutation[c.label.substr(4, c.label.find(' ', 4) - 4)];
    const std::int64_t bytes = bytes_of(views_of(what).front());
    least = std::min(least, bytes);
    most = std::max(most, bytes);
    // TTC counts from the fastest axis: its axis i of the output is axis digit[i] of the input.
    const std::string digits = c.label.substr(4, c.label.find(' ', 4) - 4);
    const std::size_t rank = digits.size();
    std::string ours;
    for (std::size_t j = 0; j < rank; ++j)
      ours += (j ? "," : "") + std::to_string(static_cast<int>(rank) - 1 - (digits[rank - 1 - j] - '0'));
    EXPECT_EQ(what.op.arguments.front(), ours) << c.label;
    EXPECT_EQ(what.shapes.front().size(), rank) << c.label;
  }
  EXPECT_EQ(cases, 57);
  EXPECT_EQ(of_permutation.size(), 19u);
  for (const auto& [permutation, count] : of_permutation) EXPECT_EQ(count, 3) << permutation;
  EXPECT_NEAR(static_cast<double>(least), 193.0 * (1 << 20), 2 << 20);
  EXPECT_NEAR(static_cast<double>(most), 231.0 * (1 << 20), 2 << 20);
}

TEST(BenchSuite, LinesStandForManyCasesOnBothScales) {
  const auto cases = read_suite_line("s", "any quick \"{t=u8,f32} {n=2..4}\": transpose {t} {n}x{n}");
  ASSERT_EQ(cases.size(), 12u);
  EXPECT_EQ(cases[0].label, "u8 2");
  EXPECT_EQ(cases[0].text, "transpose u8 2x2");
  EXPECT_EQ(cases[0].scale, Scale::cpu);
  EXPECT_EQ(cases[1].scale, Scale::gpu);
  EXPECT_TRUE(cases[11].quick);
  EXPECT_EQ(cases[11].text, "transpose f32 4x4");
  EXPECT_FALSE(read_suite_line("s", "cpu full \"a\": copy u8 7").front().quick);
  for (const char* bad :
       {"cpu \"a\": copy u8 7", "all quick \"a\": copy u8 7", "cpu quick a: copy u8 7", "cpu quick \"a\" copy u8 7"})
    EXPECT_THROW(read_suite_line("s", bad), Error) << bad;
}

TEST(BenchSuite, OtherCandidatesOfCasesExist) {
  for (const SuiteCase& c : suite_cases()) {
    const Job job = job_of(c.label, c.text);
    const auto known = ops::entry(job.what.op.name).candidates;
    for (const Variant& variant : job.also)
      EXPECT_TRUE(std::any_of(known.begin(), known.end(),
                              [&](const auto& candidate) { return candidate.name == variant.options.candidate; }))
          << c.text << ": " << variant.name;
  }
}

TEST(BenchSuite, CasesArePickedByNameOrWritten) {
  DeviceInfo cpu;
  cpu.kind = Kind::cpu;
  EXPECT_EQ(jobs_of({"speed", false, {"NC/32"}}, cpu).size(), 1u);
  EXPECT_EQ(jobs_of({"speed", false, {"transpose f32 12x13"}}, cpu)[0].what.shapes.front(), (Dims{12, 13}));
  EXPECT_EQ(jobs_of({"speed", false, {"transpose f32 8192"}}, cpu).size(), 1u);
  const auto sums = jobs_of({"reduce", false, {"sum f32 16384"}}, cpu);  // a part of "sum f32 16384x16384 1"
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].what.shapes.front(), (Dims{16384}));
  EXPECT_GT(jobs_of({"reduce", false, {"f32 16384"}}, cpu).size(), 1u);
  EXPECT_GT(jobs_of({"permute"}, cpu).size(), jobs_of({"permute", true}, cpu).size());
  EXPECT_EQ(jobs_of({"permute", true, {"TTC 10 "}}, cpu).size(), 2u);
  EXPECT_THROW(jobs_of({"speed", false, {"nonsense"}}, cpu), Error);
  EXPECT_THROW(jobs_of({"speed", false, {"nonsense of two words"}}, cpu), Error);
}

}  // namespace
}  // namespace axisloom::bench
