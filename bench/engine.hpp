// The measuring engine: contestants take turns within one process until the medians of all are known well enough.
#pragma once

#include "bench/contestant.hpp"
#include "bench/statistics.hpp"

namespace axisloom::bench {

/// Which of a run's times decides: that of the device where it has a clock of its own, else that of the call.
enum class Clock { call, device };
const char* name(Clock clock) noexcept;

struct Rules {
  double min_seconds = 0.5;      // of a contestant's own runs, also those that settle it, before its median is believed
  double max_seconds = 5;        // of its own runs, after which it stops in any case
  double warm_up_seconds = 0.1;  // of its own runs, before anything counts
  double width = 0.02;           // of the interval, as a share of the median
  size_t min_samples = 6;        // the fewest that give an interval of 95%
  size_t max_samples = 20000;
  double longest_run = 60;   // seconds; a contestant whose first run takes longer is left out
  double settling = 300e-6;  // of runs that do not count, with which a turn begins: oneDNN threads spin for 100 us

  static Rules with_min_seconds(double seconds) { return {seconds, 10 * seconds, 0.2 * seconds}; }
};

enum class Stop { converged, time_up };
const char* name(Stop stop) noexcept;

/// What a contestant showed. Failed ones have an error and no samples that count.
struct Measured {
  std::vector<Timing> samples;
  Stop stop = Stop::time_up;
  std::string error;
};

/// Empties the caches before a contestant's run and returns the seconds that it took.
using Flush = std::function<double(Contestant&)>;

/// Runs contestants in rounds, one run each, in an order that changes from round to round, so that each follows each
/// other equally often. Rounds go on until every contestant has converged or used up its time; one that has used up its
/// time sits out the rest, so that slow ones do not hold up the others. With the device's clock two kinds of contestant
/// first run once uncounted: who follows one of another process (a GPU that changes processes makes the first launch
/// late, by 0.15 ms on an H200), and who follows one that writes more than twice as much (an H200 takes 4.5 us to write
/// back what a copy left in its cache, which a sum that reads 1 GiB in 246 us would pay for). Where there is a `flush`,
/// it comes right before every run that counts; it is no part of the run's time, but of the time that a contestant uses
/// up. One measurement per contestant; a contestant that throws fails alone, but a lost device ends everything.
std::vector<Measured> measure(std::span<Contestant* const> contestants, const Rules& rules, Clock clock,
                              const Flush& flush = {}, const std::function<void(size_t round)>& progress = {});

/// Summary of one clock's samples; nothing when they lack it.
std::optional<Summary> summary(const Measured& measured, Clock clock);

}  // namespace axisloom::bench
