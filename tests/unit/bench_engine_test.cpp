// The engine and the competition around it, with contestants whose times and mistakes are made up.
#include "bench/bench.hpp"
#include "bench/peers/peers.hpp"
#include "bench/report.hpp"
#include "bench/sweep.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace axisloom::bench {
namespace {

TEST(BenchStatistics, RanksOfTheInterval) {
  // Tables of the sign test: n = 10 gives the 2nd and the 9th, n = 100 the 40th and the 61st.
  const std::pair<std::size_t, std::size_t> known[] = {{1, 0},  {5, 0},  {6, 1},  {8, 1},   {9, 2},
                                                       {10, 2}, {20, 6}, {25, 8}, {50, 18}, {100, 40}};
  for (const auto& [n, rank] : known) EXPECT_EQ(interval_rank(n), rank) << n;
  EXPECT_NEAR(static_cast<double>(interval_rank(501)), static_cast<double>(interval_rank(500)), 1);
}

TEST(BenchStatistics, MediansAndIntervals) {
  const Summary odd = summarise({5, 1, 4, 2, 3, 6, 7, 9, 8});
  EXPECT_EQ(odd.median, 5);
  EXPECT_EQ(odd.low, 2);
  EXPECT_EQ(odd.high, 8);
  EXPECT_EQ(odd.samples, 9u);
  EXPECT_EQ(summarise({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(summarise({3}).width(), 0);
}

TEST(BenchStatistics, TheIntervalHoldsTheMedianAsOftenAsItSays) {
  std::mt19937 engine(1);
  std::exponential_distribution<double> skewed(1);
  int held = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> samples(30);
    for (double& sample : samples) sample = skewed(engine);
    const Summary s = summarise(samples);
    held += s.low <= std::log(2.0) && std::log(2.0) <= s.high;
  }
  EXPECT_GE(held, 2000 * 94 / 100);
  EXPECT_LT(held, 2000 * 99 / 100);
}

class BenchEngine : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = Device::open("cpu");
    } catch (const Error&) {
      GTEST_SKIP() << "no CPU device";
    }
    workload_ =
        std::make_unique<Workload>(harness::parse_case("transpose u16 67x45"), device_, team_, 1, Strength::full);
  }

  Device device_;
  Team team_{2};
  std::unique_ptr<Workload> workload_;
  std::string log_;
};

/// Moves the data as the oracle does, takes as long as it is told, and errs where it is told.
class Actor : public Contestant {
 public:
  Actor(Workload& workload, std::string name, std::function<double(int run)> seconds, Role role = Role::peer)
      : Contestant(workload, std::move(name), "acts", role), seconds_(std::move(seconds)) {}

  bool elsewhere() const override { return apart; }
  double written() const override { return writes; }
  double flush_cache(CacheFlusher&) override {
    if (log != nullptr) *log += "-";
    return flush_seconds;
  }
  Mistakes judge() override {
    if (judge_breaks) judge_breaks();
    return Contestant::judge();
  }
  Timing run() override {
    if (log != nullptr) *log += name();
    const View& in = workload().in();
    const View& out = workload().out();
    for (std::int64_t r = 0; moves && r < in.shape[0]; ++r)
      for (std::int64_t c = 0; c < in.shape[1]; ++c)
        std::memcpy(workload().host_out() + 2 * (c * out.strides[0] + r),
                    workload().host(0) + 2 * (r * in.strides[0] + c), 2);
    ++runs;
    if (wrong_from >= 0 && runs > wrong_from) workload().host_out()[101] ^= std::byte{4};
    if (throws_from >= 0 && runs > throws_from) throw Error(Errc::device, "it broke");
    return {seconds_(runs), std::nullopt};
  }

  std::string* log = nullptr;
  bool moves = true, apart = false;
  int wrong_from = -1, throws_from = -1;
  int runs = 0;
  double flush_seconds = 0, writes = 100;
  std::function<void()> judge_breaks;

 private:
  std::function<double(int)> seconds_;
};

const auto steady = [](double seconds) { return [seconds](int) { return seconds; }; };
const Rules rules{0.5, 5, 0.1, 0.02, 6, 20000, 60, 0};

TEST_F(BenchEngine, SteadyOnesConvergeAfterTheirTime) {
  Actor a(*workload_, "a", steady(0.01)), b(*workload_, "b", steady(0.05));
  Contestant* const both[] = {&a, &b};
  const auto measured = measure(both, rules, Clock::call);
  for (const Measured& m : measured) {
    EXPECT_EQ(m.stop, Stop::converged);
    EXPECT_GE(m.samples.size(), 50u);
    EXPECT_EQ(summary(m, Clock::call)->width(), 0);
    EXPECT_FALSE(summary(m, Clock::device));
  }
}

TEST_F(BenchEngine, NoisyOnesRunOutOfTime) {
  Actor a(*workload_, "a", [](int run) { return run % 2 == 0 ? 0.1 : 0.2; });
  Contestant* const one[] = {&a};
  const auto measured = measure(one, rules, Clock::call);
  EXPECT_EQ(measured[0].stop, Stop::time_up);
  EXPECT_NEAR(static_cast<double>(measured[0].samples.size()), 5 / 0.15, 2);
}

TEST_F(BenchEngine, SlowOnesGetTheFewestSamplesAndDoNotHoldUpTheOthers) {
  Actor slow(*workload_, "s", steady(10)), fast(*workload_, "f", steady(0.001));
  Contestant* const both[] = {&slow, &fast};
  const auto measured = measure(both, rules, Clock::call);
  EXPECT_EQ(measured[0].samples.size(), rules.min_samples);
  EXPECT_EQ(measured[0].stop, Stop::converged);
  EXPECT_GE(measured[1].samples.size(), 500u);
}

TEST_F(BenchEngine, WhoTakesMinutesIsLeftOut) {
  Actor endless(*workload_, "e", steady(100)), fast(*workload_, "f", steady(0.01));
  Contestant* const both[] = {&endless, &fast};
  const auto measured = measure(both, rules, Clock::call);
  EXPECT_EQ(measured[0].error, "took 100 s for one run");
  EXPECT_EQ(endless.runs, 1);
  EXPECT_EQ(measured[1].error, "");
}

// What follows what within rounds, counted over the rounds of a balanced design.
TEST_F(BenchEngine, EachFollowsEachOtherEquallyOften) {
  for (std::size_t n = 2; n <= 7; ++n) {
    log_.clear();
    const std::size_t rounds = n % 2 == 0 ? n : 2 * n;
    std::vector<std::unique_ptr<Actor>> actors;
    std::vector<Contestant*> all;
    for (std::size_t i = 0; i < n; ++i) {
      actors.push_back(std::make_unique<Actor>(*workload_, std::string(1, static_cast<char>('a' + i)), steady(1)));
      actors.back()->log = &log_;
      all.push_back(actors.back().get());
    }
    measure(all, {static_cast<double>(rounds), 100, 0.1, 0.02, 6, 20000, 60, 0}, Clock::call);
    std::map<std::string, std::size_t> pairs;
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::string order = log_.substr(n * (round + 1), n);  // after the warm-up
      EXPECT_EQ(std::set<char>(order.begin(), order.end()).size(), n) << order;
      for (std::size_t turn = 0; turn + 1 < n; ++turn) ++pairs[order.substr(turn, 2)];
    }
    EXPECT_EQ(pairs.size(), n * (n - 1));
    for (const auto& [pair, times] : pairs) EXPECT_EQ(times, rounds / n) << pair << " of " << n;
  }
}

TEST_F(BenchEngine, WhoFollowsOneThatWritesFarMoreOnADeviceRunsOnceUncounted) {
  Actor sum(*workload_, "s", steady(1)), copy(*workload_, "c", steady(1));
  for (Actor* actor : {&sum, &copy}) actor->log = &log_;
  sum.writes = 4;
  Contestant* const both[] = {&sum, &copy};
  measure(both, rules, Clock::device);
  EXPECT_EQ(log_,
            "sc"
            "ssccsssccsssccss");
  log_.clear();
  measure(both, rules, Clock::call);
  EXPECT_EQ(log_,
            "sc"
            "sccssccssccs");
}

TEST_F(BenchEngine, ATurnBeginsWithRunsThatDoNotCount) {
  Actor sum(*workload_, "s", steady(1e-3)), copy(*workload_, "c", steady(1e-3));
  for (Actor* actor : {&sum, &copy}) actor->log = &log_;
  Contestant* const both[] = {&sum, &copy};
  Rules settled = rules;
  settled.min_seconds = 5e-3;
  settled.warm_up_seconds = 5e-4;
  settled.settling = 1e-9;
  const auto measured = measure(both, settled, Clock::call);
  EXPECT_EQ(log_,
            "sc"
            "ssccccssssccccssssccccss");
  EXPECT_EQ(measured[0].samples.size(), 6U);
}

TEST_F(BenchEngine, WhoFollowsAnotherProcessOnADeviceRunsOnceUncounted) {
  Actor a(*workload_, "a", steady(1)), b(*workload_, "b", steady(1));
  for (Actor* actor : {&a, &b}) actor->log = &log_;
  b.apart = true;
  Contestant* const both[] = {&a, &b};
  const auto measured = measure(both, rules, Clock::device);
  EXPECT_EQ(log_,
            "ab"
            "aabbbaaabbbaaabbbaa");
  EXPECT_EQ(measured[0].samples.size(), 6u);
}

TEST_F(BenchEngine, WhoThrowsFailsAlone) {
  Actor a(*workload_, "a", steady(0.1)), b(*workload_, "b", steady(0.1));
  b.throws_from = 3;
  Contestant* const both[] = {&a, &b};
  const auto measured = measure(both, rules, Clock::call);
  EXPECT_EQ(measured[0].stop, Stop::converged);
  EXPECT_TRUE(measured[1].samples.empty());
  EXPECT_NE(measured[1].error.find("it broke"), std::string::npos);
}

TEST_F(BenchEngine, ANoisyOneDoesNotKeepASteadyOneFromConverging) {
  std::mt19937 engine(1);
  std::lognormal_distribution<double> jitter(std::log(0.02), 0.5);
  Actor steady_one(*workload_, "s", steady(0.01)), noisy(*workload_, "n", [&](int) { return jitter(engine); });
  Contestant* const both[] = {&steady_one, &noisy};
  const auto measured = measure(both, rules, Clock::call);
  EXPECT_EQ(measured[0].stop, Stop::converged);
  EXPECT_EQ(measured[1].stop, Stop::time_up);
  const Summary s = *summary(measured[1], Clock::call);
  EXPECT_GT(s.width(), rules.width);
  EXPECT_NEAR(s.median, 0.02, 0.004);
  EXPECT_LE(s.low, s.median);
  EXPECT_GE(s.high, s.median);
}

TEST_F(BenchEngine, OutliersDoNotMoveAMedian) {
  Actor a(*workload_, "a", [](int run) { return run % 10 == 0 ? 5.0 : 0.1; });
  Contestant* const one[] = {&a};
  const auto measured = measure(one, {0.5, 500, 0.1, 0.02, 6, 20000}, Clock::call);
  EXPECT_EQ(measured[0].stop, Stop::converged);
  EXPECT_EQ(summary(measured[0], Clock::call)->median, 0.1);
}

TEST_F(BenchEngine, TheCacheIsFlushedBeforeEachRunThatCounts) {
  Actor a(*workload_, "a", steady(1)), b(*workload_, "b", steady(1));
  for (Actor* actor : {&a, &b}) actor->log = &log_;
  b.apart = true;
  CacheFlusher unused(device_, team_, 1);
  const Flush flush = [&](Contestant& contestant) { return contestant.flush_cache(unused); };
  Contestant* const both[] = {&a, &b};
  measure(both, {0, 1, 0, 0.02, 2, 2}, Clock::call, flush);
  EXPECT_EQ(log_, "ab-a-b-b-a");  // not in the warm-up
  log_.clear();
  measure(both, {0, 1, 0, 0.02, 2, 2}, Clock::device, flush);
  EXPECT_EQ(log_, "aba-ab-b-ba-a");  // after the run that is not counted, so that its arrays are out again
}

TEST_F(BenchEngine, FlushingUsesUpTimeButIsNoPartOfTheRuns) {
  Actor a(*workload_, "a", steady(0.001));
  a.flush_seconds = 0.099;
  CacheFlusher unused(device_, team_, 1);
  Contestant* const one[] = {&a};
  const auto measured = measure(one, rules, Clock::call, [&](Contestant& c) { return c.flush_cache(unused); });
  EXPECT_EQ(measured[0].stop, Stop::converged);
  EXPECT_NEAR(static_cast<double>(measured[0].samples.size()), 6, 1);
  EXPECT_NEAR(summary(measured[0], Clock::call)->median, 0.001, 1e-12);
}

TEST_F(BenchEngine, AFlushThatFailsFailsItsContestant) {
  Actor a(*workload_, "a", steady(1));
  Contestant* const one[] = {&a};
  const auto measured =
      measure(one, rules, Clock::call, [](Contestant&) -> double { throw Error(Errc::out_of_memory, "no room"); });
  EXPECT_NE(measured[0].error.find("no room"), std::string::npos);
}

class BenchCompetition : public BenchEngine {
 protected:
  Actor& add(std::string name, double seconds, Role role = Role::peer) {
    contestants_.push_back(std::make_unique<Actor>(*workload_, std::move(name), steady(seconds), role));
    return static_cast<Actor&>(*contestants_.back());
  }
  std::vector<CaseResult> results(CacheChoice cache, std::size_t cache_bytes = 1 << 20) {
    Settings settings;
    settings.rules = rules;
    settings.cache = cache;
    CacheFlusher flusher(device_, team_, cache_bytes);
    return compete(*workload_, "label", std::exchange(contestants_, {}), flusher, settings, [](const std::string&) {});
  }
  CaseResult result() { return results(CacheChoice::warm).front(); }

  std::vector<std::unique_ptr<Contestant>> contestants_;
};

TEST_F(BenchCompetition, TheRightOnesAreRankedAndComparedWithTheCopy) {
  add("slow", 0.4);
  add("copy", 0.1, Role::copy);
  add("ours", 0.2, Role::ours);
  const CaseResult r = result();
  EXPECT_EQ(r.reference, "copy");
  EXPECT_EQ(r.entries[0].rank, 2);
  EXPECT_EQ(r.entries[1].rank, 0);
  EXPECT_EQ(r.entries[2].rank, 1);
  EXPECT_NEAR(*r.entries[2].share, 0.5, 1e-12);
  EXPECT_NEAR(r.entries[2].rate.bytes, 2 * 2 * 67 * 45 / 0.2, 1e-6);
}

TEST_F(BenchCompetition, WrongOnesAreNamedAndNotRanked) {
  add("right", 0.4);
  add("wrong", 0.1).wrong_from = 0;
  add("late", 0.1).wrong_from = 5;  // right when first checked
  add("lazy", 0.1).moves = false;   // leaves what was there
  add("broken", 0.1).throws_from = 0;
  const CaseResult r = result();
  EXPECT_EQ(r.entries[0].status, Status::right);
  EXPECT_EQ(r.entries[0].rank, 1);
  EXPECT_EQ(r.entries[4].status, Status::failed);
  for (std::size_t i : {1, 2, 3}) {
    EXPECT_EQ(r.entries[i].status, Status::wrong) << r.entries[i].name;
    EXPECT_EQ(r.entries[i].rank, 0);
    EXPECT_FALSE(r.entries[i].call);
  }
  EXPECT_EQ(r.entries[1].reason, "1 wrong element, the first at element 50 of the output");
  EXPECT_EQ(r.entries[3].reason.substr(0, 19), "3015 wrong elements");

  Report report;
  report.cases = {r};
  const auto json = json_of(report)["cases"][0]["contestants"];
  EXPECT_EQ(json[1]["status"], "WRONG");
  EXPECT_FALSE(json[1].contains("gb_per_second"));
  EXPECT_EQ(json[0]["rank"], 1);
  EXPECT_NEAR(json[0]["call"]["median_ms"].get<double>(), 400, 1e-9);
  EXPECT_NE(text_of(report, harness::Format::md).find("| WRONG |"), std::string::npos);
  EXPECT_NE(table_of(report.cases).text(harness::Format::csv).find("label,warm,wrong,,,,,,,,,WRONG"),
            std::string::npos);
}

TEST_F(BenchCompetition, AJudgeThatFailsCostsOneRow) {
  add("right", 0.4);
  add("ours", 0.2, Role::ours).judge_breaks = [] { throw Error(Errc::out_of_memory, "no room for the oracle"); };
  add("large", 0.2).judge_breaks = [] { throw std::bad_alloc(); };
  add("strange", 0.2).judge_breaks = [] { throw std::runtime_error("no number where one was expected"); };
  const CaseResult r = result();
  EXPECT_EQ(r.entries[0].rank, 1);
  for (std::size_t i : {1, 2, 3}) EXPECT_EQ(r.entries[i].status, Status::failed) << r.entries[i].name;
  EXPECT_NE(r.entries[1].reason.find("no room for the oracle"), std::string::npos);
  EXPECT_EQ(r.entries[2].reason, "out of host memory");
  EXPECT_EQ(r.entries[3].reason, "no number where one was expected");
}

TEST_F(BenchCompetition, ALostDeviceEndsEverything) {
  add("right", 0.4);
  add("ours", 0.2, Role::ours).judge_breaks = [] { throw Error(Errc::device_lost, "gone"); };
  EXPECT_THROW(result(), Error);
}

TEST_F(BenchEngine, ACaseThatCannotBePreparedIsARow) {
  Session session;
  Settings settings;
  CacheFlusher flusher(device_, team_, 1);
  const auto results = time_case(job_of("vast", "copy u8 140737488355328"), device_, team_, session, flusher, settings,
                                 [](const std::string&) {});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].label, "vast");
  ASSERT_EQ(results[0].entries.size(), 1u);
  EXPECT_EQ(results[0].entries[0].status, Status::failed);
  EXPECT_FALSE(results[0].entries[0].reason.empty());
  Report report;
  report.cases = results;
  EXPECT_EQ(json_of(report)["cases"][0]["shapes"], "u8[140737488355328]");
  EXPECT_THROW(
      time_case(job_of("none", "copy u8 0"), device_, team_, session, flusher, settings, [](const std::string&) {}),
      Error);
}

TEST(BenchTeam, WhatAMemberThrowsIsThrownOn) {
  Team team(3);
  for (unsigned culprit = 0; culprit < team.size(); ++culprit) {
    std::atomic<unsigned> done = 0;
    EXPECT_THROW(team.run([&](unsigned member) {
      if (member == culprit) throw std::bad_alloc();
      ++done;
    }),
                 std::bad_alloc);
    EXPECT_EQ(done, team.size() - 1);
  }
  std::atomic<unsigned> done = 0;
  team.run([&](unsigned) { ++done; });
  EXPECT_EQ(done, team.size());
}

TEST_F(BenchCompetition, ColdAndWarmAreToldApart) {
  add("ours", 0.2, Role::ours).log = &log_;
  add("late", 0.1).wrong_from = 12;  // right in the warm rounds, wrong by the end of the cold ones
  const auto both = results(CacheChoice::both);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].cache, Cache::warm);
  EXPECT_EQ(both[1].cache, Cache::cold);
  EXPECT_EQ(log_.find('-'),
            log_.rfind("oursours-") + 8);  // all warm runs and the cold warm-up, then the first cold one
  for (const CaseResult& r : both) {
    EXPECT_EQ(r.entries[0].rank, 1);
    EXPECT_EQ(r.entries[1].status, Status::wrong);
    EXPECT_FALSE(r.entries[1].call);
  }
  Report report;
  report.cases = both;
  const auto json = json_of(report)["cases"];
  EXPECT_EQ(json[0]["cache"], "warm");
  EXPECT_EQ(json[1]["cache"], "cold");
}

TEST_F(BenchCompetition, WhatIsLargerThanTheCacheIsMeasuredOnce) {
  for (CacheChoice choice : {CacheChoice::both, CacheChoice::cold, CacheChoice::warm}) {
    log_.clear();
    add("ours", 0.2, Role::ours).log = &log_;
    const auto one = results(choice, 4096);
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].cache, Cache::beyond);
    EXPECT_EQ(log_.find('-'), std::string::npos);
  }
}

TEST(BenchCache, TheFlusherWritesTwiceTheCache) {
  for (const DeviceInfo& info : devices()) {
    Team team(2);
    EXPECT_GE(last_level_cache(info), info.last_level_cache);
    EXPECT_GT(last_level_cache(info), 0u);
    CacheFlusher flusher(Device::open(info.spec()), team, std::size_t{1} << 20);
    EXPECT_EQ(flusher.written_bytes(), std::size_t{2} << 20);
    EXPECT_GT(flusher.flush(), 0);
    EXPECT_GT(flusher.flush(), 0);
  }
}

TEST_F(BenchCompetition, EverybodyOnThisMachineIsRight) {
  Session session;
  Settings settings;
  settings.rules = {0, 0, 0, 0.02, 6, 6};
  const char* const texts[] = {"transpose f32 67x45",
                               "rearrange u8 40x30x3 \"h w c -> c h w\"",
                               "rearrange u8 3x40x30 \"c h w -> h w c\"",
                               "permute u16 5x6x7 1,2,0",
                               "copy f64 9x8 in-strides=9,1 out-strides=11,1",
                               "relayout i8 2x64x5x7 NCHW NC/32HW32",
                               "transpose c128 31x17"};
  for (const DeviceInfo& info : devices())
    for (Strength strength : {Strength::full, Strength::indexed})
      for (const char* text : texts) {
        settings.strength = strength;
        const Device device = Device::open(info.spec());
        CacheFlusher flusher(device, team_, 1);  // smaller than the arrays: measured once
        const CaseResult r = time_case({text, harness::parse_case(text)}, device, team_, session, flusher, settings,
                                       [](const std::string&) {})
                                 .front();
        EXPECT_FALSE(r.reference.empty());
        EXPECT_EQ(r.entries.front().role, Role::ours);
        EXPECT_EQ(r.strength, strength);
        for (const Entry& entry : r.entries)
          EXPECT_TRUE(entry.status == Status::right || (entry.status == Status::absent && entry.role != Role::ours))
              << info.label() << ", " << text << ", " << entry.name << ": " << entry.reason;
      }
}

TEST(BenchSweep, EveryCombinationOnce) {
  const SweptTunable a = parse_sweep("a=1,2"), b = parse_sweep("b=7,8,9");
  const auto all = combinations({a, b}, {{"c", 5}});
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0], (Configuration{{"a", 1}, {"b", 7}, {"c", 5}}));
  EXPECT_EQ(all[5], (Configuration{{"a", 2}, {"b", 9}, {"c", 5}}));
  for (const char* bad : {"", "a", "=1", "a=", "a=1,", "a=1,x"}) EXPECT_THROW(parse_sweep(bad), Error) << bad;
}

TEST(BenchSweep, WhatIsRefusedSaysWhy) {
  Device device;
  try {
    device = Device::open("cpu");
  } catch (const Error&) {
    GTEST_SKIP() << "no CPU device";
  }
  Team team(2);
  Settings settings;
  settings.rules = {0, 0, 0, 0.02, 6, 6};
  std::vector<nlohmann::ordered_json> lines;
  harness::Case what = harness::parse_case("transpose f32 64x64 candidate=plain");
  CacheFlusher flusher(device, team, 1);
  sweep_case(
      {"small", what}, device, team, flusher, {parse_sweep("items=256,257")}, settings, [](const std::string&) {},
      [&](const nlohmann::ordered_json& line) { lines.push_back(line); });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["contestant"]["status"], "right");
  EXPECT_EQ(lines[0]["cache"], "beyond");
  EXPECT_EQ(lines[0]["values"]["items"], 256);
  EXPECT_EQ(lines[0]["copy"]["name"], "memcpy");
  EXPECT_NE(lines[1]["refused"].get<std::string>().find("257"), std::string::npos);
}

TEST(BenchWorker, AMissingPythonIsAReason) {
  setenv("AXISLOOM_PYTHON", "/nonexistent/python3", 1);
  EXPECT_THROW(Session().worker(), Error);
  unsetenv("AXISLOOM_PYTHON");
}

}  // namespace
}  // namespace axisloom::bench
