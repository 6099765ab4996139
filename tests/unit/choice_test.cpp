// The choice against measurements: of each problem of docs/results/choice the candidate that a plan takes on that
// device, and how much longer it took than the best one. No device is needed.
#include "bench/document.hpp"
#include "bench/suite.hpp"
#include "harness/arena.hpp"
#include "model/profile.hpp"
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace axisloom::ops_test {
namespace {

constexpr std::string_view held_out_mark = ", held out";

/// A device's file: what it says of itself, and of each problem the milliseconds of every candidate that was timed.
struct MeasuredDevice {
  std::string profile;
  DeviceInfo info;
  struct Problem {
    std::string suite, label, text;
    std::map<std::string, double> ms;
    bool held_out() const { return label.ends_with(held_out_mark); }
  };
  std::vector<Problem> problems;
  /// None where the device was measured before the last draw, and is not at hand any more: all its problems are open.
  bool has_held_out() const { return std::ranges::any_of(problems, &Problem::held_out); }
};

std::vector<std::filesystem::path> measured_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(AXISLOOM_SOURCE_DIR "/docs/results/choice"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// What the profile knows, and what only the driver does.
DeviceInfo info_of(const std::string& profile, const bench::Document& device) {
  DeviceInfo info = model::profile_named(profile).model;
  info.api = device::parse_spec(device.at("spec").get<std::string>()).api;
  info.platform = device.at("platform");
  info.api_version = device.at("api_version");
  info.driver = device.at("driver");
  info.compiler = device.at("compiler");
  return info;
}

MeasuredDevice read_measured(const std::filesystem::path& file) {
  std::ifstream in(file);
  const auto document = bench::Document::parse(in);
  MeasuredDevice measured;
  measured.profile = document.at("profile");
  measured.info = info_of(measured.profile, document.at("device"));
  for (const auto& problem : document.at("problems"))
    measured.problems.push_back({problem.at("suite"), problem.at("label"), problem.at("case"),
                                 problem.at("ms").get<std::map<std::string, double>>()});
  return measured;
}

/// What is asked of all problems of a device that are open, or of all that are held out.
constexpr double most_on_average = 1.03, most_of_one = 1.25;

/// Kernels that are newer than the record of a device, or have changed since so that their times were taken out: where
/// one of these is chosen without a time, the best of the measured candidates is judged. Any other has to have one.
constexpr std::pair<std::string_view, std::string_view> newer[] = {
    {"epyc", "runs"}, {"epyc", "rows_cpu"}, {"epyc", "block"}};

class ChoiceMeasured : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  std::string chosen(const MeasuredDevice::Problem& problem) const {
    const harness::Case what = bench::job_of(problem.label, problem.text).what;
    const Device device(std::make_shared<PretendedDevice>(measured_.info));
    const PlanReport report = plan(what.op, harness::views_of(what, 0), device, what.options).report();
    const bool is_newer = std::ranges::any_of(
        newer, [&](const auto& one) { return one.first == measured_.profile && one.second == report.candidate; });
    if (!is_newer || problem.ms.contains(report.candidate)) return report.candidate;
    const CandidateReport* best = nullptr;
    for (const CandidateReport& candidate : report.candidates)
      if (candidate.accepted && problem.ms.contains(candidate.name) &&
          (best == nullptr || candidate.seconds < best->seconds))
        best = &candidate;
    return best != nullptr ? best->name : report.candidate;
  }

  MeasuredDevice measured_ = read_measured(GetParam());
  NoDiskCache memory_only_;
};

/// How much longer choices took than the best.
struct Regret {
  double logarithms = 0, worst = 1;
  int count = 0;
  void add(double ratio) {
    logarithms += std::log(ratio);
    worst = std::max(worst, ratio);
    ++count;
  }
  double mean() const { return std::exp(logarithms / std::max(1, count)); }
};

// Problems that models were fitted to, and those that were held out: of these nothing is printed but how many, the mean
// and the worst, so that nobody fits a model to them.
TEST_P(ChoiceMeasured, TheChosenIsHardlySlowerThanTheBest) {
  std::map<bool, Regret> regrets;
  for (const MeasuredDevice::Problem& problem : measured_.problems) {
    const std::string name = chosen(problem), shown = problem.held_out() ? "held out" : problem.label + ": " + name;
    const auto time = problem.ms.find(name);
    if (time == problem.ms.end()) {
      // Where the device is not at hand any more, candidates made since then are not judged.
      if (measured_.has_held_out()) ADD_FAILURE() << shown << " was not measured";
      continue;
    }
    const auto best = std::ranges::min_element(problem.ms, {}, [](const auto& entry) { return entry.second; });
    const double ratio = time->second / best->second;
    regrets[problem.held_out()].add(ratio);
    if (problem.held_out()) continue;
    EXPECT_LE(ratio, most_of_one) << shown << " instead of " << best->first;
  }
  for (const auto& [held_out, regret] : regrets) {
    SCOPED_TRACE(held_out ? "held out" : "open");
    EXPECT_GT(regret.count, 30);
    EXPECT_LE(regret.mean(), most_on_average);
    EXPECT_LE(regret.worst, most_of_one);
  }
}

TEST_P(ChoiceMeasured, EveryQuickAndEveryDrawnProblemIsThere) {
  const bench::Scale scale = measured_.info.kind == Kind::cpu ? bench::Scale::cpu : bench::Scale::gpu;
  for (const bench::SuiteCase& c : bench::suite_cases()) {
    if (c.scale != scale || (c.suite != "drawn" && !c.quick)) continue;
    if (c.label.ends_with(held_out_mark) && !measured_.has_held_out()) continue;
    const std::string text = bench::job_of(c.label, c.text).what.text;
    EXPECT_TRUE(std::ranges::any_of(measured_.problems,
                                    [&](const MeasuredDevice::Problem& problem) {
                                      return problem.suite == c.suite && problem.label == c.label &&
                                             problem.text == text;
                                    }))
        << c.suite << ": " << c.label << "; measure it with tools/measure_choice.sh";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ChoiceMeasured, ::testing::ValuesIn(measured_files()), [](const auto& file) {
  std::string name = file.param.stem().string();
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
});

}  // namespace
}  // namespace axisloom::ops_test
