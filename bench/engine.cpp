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
  for (const Timing& timing : measured.samples) values.push_back(seconds(timing, clock));
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
class Runner {
 public:
  Runner(Contestant& contestant, const Rules& rules, Clock clock, const Flush& flush)
      : contestant_(contestant), rules_(rules), clock_(clock), flush_(flush) {}

  void warm_up() {
    for (size_t runs = 0; alive() && runs < rules_.max_samples; ++runs) {
      const auto timing = run();
      if (!timing) return;
      if (timing->call > rules_.longest_run) {
        measured_.error = fmt::format("took {:.0f} s for one run", timing->call);
        return;
      }
      spent_ += timing->call;
      if (spent_ >= rules_.warm_up_seconds) break;
    }
    spent_ = 0;
  }
  bool takes_turns() const { return alive() && !exhausted(); }
  void take_turn(const Runner* before) {
    if (before != nullptr && clock_ == Clock::device && unsettled_by(before->contestant_)) run();
    const auto timing = alive() ? run_counted() : std::nullopt;
    if (!timing) return;
    measured_.samples.push_back(*timing);
    spent_ += timing->call;
    // Sorting all samples after each of thousands of runs would itself take the machine's time.
    const size_t n = measured_.samples.size();
    if (n < 64 || n % (n / 32) == 0) converged_ = converged();
  }
  bool satisfied() const { return !alive() || converged_ || exhausted(); }

  Measured take() {
    measured_.stop = alive() && converged() ? Stop::converged : Stop::time_up;
    return std::move(measured_);
  }

 private:
  bool alive() const { return measured_.error.empty(); }
  bool unsettled_by(const Contestant& before) const {
    return before.elsewhere() != contestant_.elsewhere() || before.written() > 2 * contestant_.written();
  }
  bool exhausted() const {
    const size_t n = measured_.samples.size();
    return n >= rules_.min_samples && (spent_ >= rules_.max_seconds || n >= rules_.max_samples);
  }
  bool converged() const {
    const size_t n = measured_.samples.size();
    if (n < rules_.min_samples || (spent_ < rules_.min_seconds && n < rules_.max_samples)) return false;
    return summarise(times(measured_, clock_)).width() <= rules_.width;
  }
  std::optional<Timing> run() {
    return guarded([&] { return contestant_.run(); });
  }
  std::optional<Timing> run_counted() {
    return guarded([&] {
      if (flush_) spent_ += flush_(contestant_);
      return contestant_.run();
    });
  }
  template <class Function>
  std::optional<Timing> guarded(const Function& function) {
    std::optional<Timing> timing;
    if (const auto failure = failure_of([&] { timing = function(); })) measured_ = {{}, Stop::time_up, *failure};
    return timing;
  }

  Contestant& contestant_;
  const Rules& rules_;
  Clock clock_;
  const Flush& flush_;
  double spent_ = 0;
  bool converged_ = false;
  Measured measured_;
};

}  // namespace

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const char* name(Role role) noexcept {
  switch (role) {
    case Role::ours:
      return "ours";
    case Role::copy:
      return "copy";
    case Role::read:
      return "read";
    case Role::peak:
      return "peak";
    case Role::peer:
      break;
  }
  return "peer";
}
bool is_reference(Role role) noexcept {
  return role == Role::copy || role == Role::read || role == Role::peak;
}
const char* name(Clock clock) noexcept {
  return clock == Clock::device ? "device" : "call";
}
const char* name(Stop stop) noexcept {
  return stop == Stop::converged ? "converged" : "time up";
}

double seconds(const Timing& timing, Clock clock) noexcept {
  return clock == Clock::device ? timing.device.value_or(timing.call) : timing.call;
}

std::vector<Measured> measure(std::span<Contestant* const> contestants, const Rules& rules, Clock clock,
                              const Flush& flush, const std::function<void(size_t)>& progress) {
  std::vector<Runner> runners;
  for (Contestant* contestant : contestants) runners.emplace_back(*contestant, rules, clock, flush);
  for (Runner& runner : runners) runner.warm_up();
  const auto satisfied = [](const Runner& runner) { return runner.satisfied(); };
  const Runner* before = runners.empty() ? nullptr : &runners.back();
  for (size_t round = 0; !std::ranges::all_of(runners, satisfied); ++round) {
    if (progress) progress(round);
    for (size_t turn = 0; turn < runners.size(); ++turn) {
      Runner& runner = runners[whose_turn(round, turn, runners.size())];
      if (!runner.takes_turns()) continue;
      runner.take_turn(before);
      before = &runner;
    }
  }
  std::vector<Measured> all;
  for (Runner& runner : runners) all.push_back(runner.take());
  return all;
}

std::optional<Summary> summary(const Measured& measured, Clock clock) {
  const auto lacks_device = [](const Timing& timing) { return !timing.device; };
  if (measured.samples.empty()) return std::nullopt;
  if (clock == Clock::device && std::ranges::any_of(measured.samples, lacks_device)) return std::nullopt;
  return summarise(times(measured, clock));
}

}  // namespace axisloom::bench
