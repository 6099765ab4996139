// Rounds, and when they end.
#include "bench/engine.hpp"

#include "bench/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace axisloom::bench {
namespace {

std::vector<double> times(const Measured& measured, Clock clock) {
  std::vector<double> values;
  for (const Timing& timing : measured.samples)
    values.push_back(clock == Clock::device ? timing.device.value_or(timing.call) : timing.call);
  return values;
}

/// Who has a turn of a round, of n contestants. Within any n rounds, of an odd number any 2 n that begin with an even
/// multiple of n, each follows each other equally often: what one leaves behind in the caches burdens all alike.
/// E. J. Williams, "Experimental designs balanced for the estimation of residual effects of treatments", Australian
/// Journal of Scientific Research A 2, 1949.
size_t whose_turn(size_t round, size_t turn, size_t n) {
  const bool backwards = n % 2 == 1 && round / n % 2 == 1;
  if (backwards) turn = n - 1 - turn;
  const size_t zigzag = turn % 2 == 1 ? (turn + 1) / 2 : n - turn / 2;
  return (zigzag + round) % n;
}

/// One contestant on its way through the rounds.
struct Runner {
  Contestant& contestant;
  const Rules& rules;
  Clock clock;
  const Flush& flush;
  double spent = 0;
  bool settled = false;
  Measured measured = {};

  void warm_up() {
    for (size_t runs = 0; runs < rules.max_samples; ++runs) {
      const auto timing = run();
      if (!timing) return;
      if (timing->call > rules.longest_run) {
        measured.error = fmt::format("took {:.0f} s for one run", timing->call);
        return;
      }
      spent += timing->call;
      if (spent >= rules.warm_up_seconds) break;
    }
    spent = 0;
  }
  bool takes_turns() const { return alive() && !exhausted(); }
  void take_turn(const Contestant& before) {
    if (clock == Clock::device &&
        (before.elsewhere() != contestant.elsewhere() || before.written() > 2 * contestant.written()))
      run();
    if (clock == Clock::call && !flush && rules.settling > 0) settle();
    const auto timing = alive() ? run(flush) : std::nullopt;
    if (!timing) return;
    measured.samples.push_back(*timing);
    spent += timing->call;
    // Sorting all samples after each of thousands of runs would itself take the machine's time.
    const size_t n = measured.samples.size();
    if (n < 64 || n % (n / 32) == 0) settled = converged();
  }
  /// Threads of the contestant before may wait awake for a while, on cores that this one needs, and its own may sleep.
  /// So a turn begins with calls that do not count, until the former sleep and the latter are awake.
  void settle() {
    constexpr double long_call = 10e-3;  // seconds, to which that makes no difference
    if (!measured.samples.empty() && measured.samples.back().call > long_call) return;
    const double begin = now();
    do {
      run();
    } while (alive() && now() < begin + rules.settling);
    spent += now() - begin;  // most of what calls of a microsecond take
  }
  bool satisfied() const { return !alive() || settled || exhausted(); }

  Measured take() {
    measured.stop = alive() && converged() ? Stop::converged : Stop::time_up;
    return std::move(measured);
  }

  bool alive() const { return measured.error.empty(); }
  bool exhausted() const {
    const size_t n = measured.samples.size();
    return n >= rules.min_samples && (spent >= rules.max_seconds || n >= rules.max_samples);
  }
  bool converged() const {
    const size_t n = measured.samples.size();
    if (n < rules.min_samples || (spent < rules.min_seconds && n < rules.max_samples)) return false;
    return summarise(times(measured, clock)).width() <= rules.width;
  }
  /// Nothing where it fails, and then the error is kept.
  std::optional<Timing> run(const Flush& first = {}) {
    std::optional<Timing> timing;
    const auto failure = failure_of([&] {
      if (first) spent += first(contestant);
      timing = contestant.run();
    });
    if (failure) measured = {{}, Stop::time_up, *failure};
    return timing;
  }
};

}  // namespace

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const char* name(Role role) noexcept {
  return std::array{"ours", "copy", "floor", "read", "peak", "peer"}[size_t(role)];
}
bool is_reference(Role role) noexcept {
  return role != Role::ours && role != Role::peer;
}
const char* name(Clock clock) noexcept {
  return clock == Clock::device ? "device" : "call";
}
const char* name(Stop stop) noexcept {
  return stop == Stop::converged ? "converged" : "time up";
}

std::vector<Measured> measure(std::span<Contestant* const> contestants, const Rules& rules, Clock clock,
                              const Flush& flush, const std::function<void(size_t)>& progress) {
  std::vector<Runner> runners;
  for (Contestant* contestant : contestants) runners.push_back({*contestant, rules, clock, flush});
  for (Runner& runner : runners) runner.warm_up();
  const Contestant* before = runners.empty() ? nullptr : contestants.back();
  for (size_t round = 0; !std::ranges::all_of(runners, &Runner::satisfied); ++round) {
    if (progress) progress(round);
    for (size_t turn = 0; turn < runners.size(); ++turn) {
      Runner& runner = runners[whose_turn(round, turn, runners.size())];
      if (!runner.takes_turns()) continue;
      runner.take_turn(*before);
      before = &runner.contestant;
    }
  }
  std::vector<Measured> all;
  for (Runner& runner : runners) all.push_back(runner.take());
  return all;
}

std::optional<Summary> summary(const Measured& measured, Clock clock) {
  const auto lacks_device = [](const Timing& timing) { return !timing.device; };
  if (measured.samples.empty() || (clock == Clock::device && std::ranges::any_of(measured.samples, lacks_device)))
    return std::nullopt;
  return summarise(times(measured, clock));
}

}  // namespace axisloom::bench
