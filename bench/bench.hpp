// Timing a case: contestants are gathered, checked, measured in turns, and checked again.
#pragma once

#include "bench/engine.hpp"
#include "bench/suite.hpp"

namespace axisloom::bench {

class Session;
struct PeerEntry;

/// In which states of the cache a case is measured that fits into it.
enum class CacheChoice { cold, warm, both };
const char* name(CacheChoice choice) noexcept;

struct Settings {
  Rules rules;
  CacheChoice cache = CacheChoice::both;
  u64 seed = 1;
  Strength strength = Strength::automatic;
  bool every_candidate = false;  // beside the chosen candidate all others that take the job
  bool all_peers = true;
  Texts peers;  // by name, unless all take part
};

enum class Status { right, wrong, failed, absent };
const char* name(Status status) noexcept;

/// What became of one contestant. Times are of right ones only.
struct Entry {
  std::string name = {}, how = {};
  Role role = Role::peer;
  Status status = Status::right;
  std::string reason = {};  // why wrong, failed or absent
  std::optional<Summary> call = {}, device = {};
  Stop stop = Stop::time_up;
  double seconds = 0;                         // median by the result's clock
  Work rate = {};                             // bytes and arithmetic operations per second
  std::optional<double> share = {};           // of the rate of the reference in this run
  std::optional<double> share_of_floor = {};  // the floor's time over its own, where there is one
  int rank = 0;                               // among all that do the job and are right; 0: not ranked

  /// Its times by the clock that decides, where it has any.
  const std::optional<Summary>& by(Clock clock) const { return clock == Clock::device && device ? device : call; }
};

struct CaseResult {
  std::string label;
  std::string text;
  std::string op, shapes;
  Work work;         // bytes read plus written, and arithmetic operations
  i64 elements = 0;  // of the inputs, or of what is moved
  Limit limit = Limit::memory;
  Strength strength = Strength::automatic;
  Clock clock = Clock::call;
  Cache cache = Cache::warm;
  double checking = 0, measuring = 0;  // seconds; both states of the cache share one checking
  std::string reference;               // the contestant that shares refer to; empty when there is none
  Role reference_role = Role::copy;
  std::vector<Entry> entries;
};

using Progress = std::function<void(const std::string& what)>;

/// Whether --peers lets a contestant take part: Axisloom and the references always do.
bool takes_part(const PeerEntry& entry, const Settings& settings);

/// Checks, measures and checks again. Every contestant's result is judged twice, its place overwritten with different
/// bytes before each, so that an element that is never written is wrong at least once. One result for each state of the
/// cache that is measured: a single one when the arrays are larger than it.
std::vector<CaseResult> compete(Workload& workload, const std::string& label, const Contestants& contestants,
                                CacheFlusher& flusher, const Settings& settings, const Progress& progress);

/// One case with everybody who may take part. Where the case itself fails, its result says so: only Error(usage), of a
/// case that cannot be, and Error(device_lost) are thrown.
std::vector<CaseResult> time_case(const Job& job, const Device& device, Team& team, Session& session,
                                  CacheFlusher& flusher, const Settings& settings, const Progress& progress);

/// One case with Axisloom and the candidates of its own that it names, run and judged on two spoilt outputs; without
/// times, for devices whose times say nothing.
std::vector<Entry> check_case(const Job& job, const Device& device, Team& team, const Settings& settings,
                              const Progress& progress);

}  // namespace axisloom::bench
