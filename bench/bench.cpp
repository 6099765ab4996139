// From contestants to a result: judged, measured, judged, ranked.
#include "bench/bench.hpp"

#include "bench/failure.hpp"
#include "bench/peers/peers.hpp"
#include "harness/draft.hpp"

#include <algorithm>

namespace axisloom::bench {
namespace {

constexpr std::byte first_spoil{0x55}, second_spoil{0xAA};

/// What becomes of a contestant that runs once on a spoilt output; the time of judging it is added to `checking`.
Entry verdict_on(Contestant& contestant, std::byte spoil, double& checking) {
  Entry entry{.name = contestant.name(), .how = contestant.how(), .role = contestant.role()};
  Mistakes mistakes;
  const auto failure = failure_of([&] {
    contestant.spoil(spoil);
    contestant.run();
    const double start = now();
    mistakes = contestant.judge();
    checking += now() - start;
  });
  if (failure || mistakes.count > 0) {
    entry.status = failure ? Status::failed : Status::wrong;
    entry.reason = failure ? *failure : to_string(mistakes);
  }
  return entry;
}

void write_down(Entry& entry, const Measured& measured, Clock clock, const Work& work) {
  if (!measured.error.empty()) {
    entry.status = Status::failed;
    entry.reason = measured.error;
    return;
  }
  entry.call = summary(measured, Clock::call);
  entry.device = summary(measured, Clock::device);
  entry.stop = measured.stop;
  entry.seconds = entry.by(clock)->median;
  entry.rate = {work.bytes / entry.seconds, work.operations / entry.seconds};
}

void compare(CaseResult& result) {
  const Entry* reference = nullptr;
  std::vector<Entry*> order;
  for (Entry& entry : result.entries) {
    if (!entry.call) continue;
    if (!is_reference(entry.role))
      order.push_back(&entry);
    else if (reference == nullptr)
      reference = &entry;
  }
  std::ranges::stable_sort(order, {}, &Entry::seconds);
  int rank = 0;
  for (Entry* entry : order) entry->rank = ++rank;
  if (reference == nullptr) return;
  result.reference = reference->name;
  result.reference_role = reference->role;
  const auto rate = result.limit == Limit::arithmetic ? &Work::operations : &Work::bytes;
  for (Entry& entry : result.entries)
    if (entry.call) entry.share = entry.rate.*rate / reference->rate.*rate;
  const auto floor = std::ranges::find(result.entries, Role::floor, &Entry::role);
  if (floor == result.entries.end() || !floor->call) return;
  for (Entry& entry : result.entries)
    if (entry.call) entry.share_of_floor = floor->seconds / entry.seconds;
}

Clock clock_of(const Device& device) {
  return device.info().kind == Kind::cpu ? Clock::call : Clock::device;
}

std::string view_text(const View& view) {
  return to_string(view);
}

CaseResult described(const Workload& workload, const std::string& label) {
  const std::span<const View> inputs = workload.views().first(workload.inputs());
  CaseResult result;
  result.label = label;
  result.text = workload.text();
  result.op = to_string(workload.op());
  result.shapes = joined(inputs, ", ", view_text) + " -> " + view_text(workload.out());
  result.work = workload.work();
  for (const View& view : inputs) result.elements += view.count();
  if (workload.move()) result.elements = workload.move()->count();
  result.limit = workload.limit();
  result.strength = workload.strength();
  result.clock = clock_of(workload.device());
  return result;
}

std::vector<Cache> caches_of(const Workload& workload, const CacheFlusher& flusher, CacheChoice choice) {
  size_t bytes = 0;
  for (const Buffer& buffer : workload.buffers()) bytes += buffer.bytes();
  if (bytes > flusher.cache_bytes()) return {Cache::beyond};
  if (choice == CacheChoice::both) return {Cache::warm, Cache::cold};
  return {choice == CacheChoice::cold ? Cache::cold : Cache::warm};
}

/// The last word on a contestant that was right before: it counts for all that was measured in between.
void check_again(Contestant& contestant, size_t place, std::vector<CaseResult>& results, double& checking) {
  const auto ran = [&](const CaseResult& result) { return result.entries[place].status == Status::right; };
  if (std::ranges::none_of(results, ran)) return;
  const Entry verdict = verdict_on(contestant, second_spoil, checking);
  if (verdict.status == Status::right) return;
  for (CaseResult& result : results)
    if (ran(result)) result.entries[place] = verdict;
}

/// The candidates that take the job beside the one that is chosen, but for those that would take very much longer.
std::vector<Variant> every_other(Workload& workload) {
  constexpr double hopeless = 16;  // times the prediction of the chosen one: no error of a prediction is as large
  const PlanReport report = plan(workload.op(), workload.views(), workload.device(), workload.options()).report();
  std::vector<Variant> others;
  for (const CandidateReport& candidate : report.candidates) {
    if (!candidate.accepted || candidate.name == report.candidate) continue;
    if (candidate.seconds > hopeless * report.expected_seconds) continue;
    others.push_back({candidate.name, workload.options()});
    others.back().options.candidate = candidate.name;
  }
  return others;
}

/// Axisloom with other candidates beside the one that is chosen.
void add_others_of_ours(const std::vector<Variant>& others, Workload& workload, Contestants& contestants,
                        std::vector<Entry>& missing) {
  for (const auto& [its_name, options] : others) try {
      contestants.push_back(make_ours(workload, "axisloom:" + its_name, options));
    } catch (const Error& error) {
      if (error.code() == Errc::device_lost) throw;
      missing.push_back({.name = "axisloom:" + its_name,
                         .role = Role::ours,
                         .status = Status::absent,
                         .reason = error.parts().message});
    }
}

}  // namespace

const char* name(Status status) noexcept {
  return std::array{"right", "WRONG", "failed", "absent"}[size_t(status)];
}

const char* name(CacheChoice choice) noexcept {
  return std::array{"cold", "warm", "both"}[size_t(choice)];
}

bool takes_part(const PeerEntry& entry, const Settings& settings) {
  if (entry.role != Role::peer || settings.all_peers) return true;
  return std::ranges::count(settings.peers, entry.name) > 0;
}

std::vector<CaseResult> compete(Workload& workload, const std::string& label, const Contestants& contestants,
                                CacheFlusher& flusher, const Settings& settings, const Progress& progress) {
  CaseResult checked = described(workload, label);
  std::vector<Contestant*> running;
  std::vector<size_t> place;  // of a running contestant among the entries
  for (const auto& contestant : contestants) {
    progress(label + ": checking " + contestant->name());
    checked.entries.push_back(verdict_on(*contestant, first_spoil, checked.checking));
    if (checked.entries.back().status != Status::right) continue;
    running.push_back(contestant.get());
    place.push_back(checked.entries.size() - 1);
  }
  std::vector<CaseResult> results;
  for (Cache cache : caches_of(workload, flusher, settings.cache)) {
    CaseResult& result = results.emplace_back(checked);
    result.cache = cache;
    const Flush flush = cache == Cache::cold ? Flush([&](Contestant& c) { return c.flush_cache(flusher); }) : Flush();
    const auto tell = [&](size_t round) { progress(fmt::format("{}: {}, round {}", label, name(cache), round + 1)); };
    const double start = now();
    const auto measured = measure(running, settings.rules, result.clock, flush, tell);
    result.measuring = now() - start;
    for (size_t i = 0; i < running.size(); ++i)
      write_down(result.entries[place[i]], measured[i], result.clock, running[i]->work());
  }
  for (size_t i = 0; i < running.size(); ++i) {
    progress(label + ": checking " + running[i]->name() + " again");
    check_again(*running[i], place[i], results, checked.checking);
  }
  for (CaseResult& result : results) {
    result.checking = checked.checking;
    compare(result);
  }
  return results;
}

namespace {

/// Everybody who may take part in a case; what became of the others goes to `missing`.
Contestants everybody(const Job& job, Workload& workload, Session& session, const Settings& settings,
                      std::vector<Entry>& missing) {
  Contestants contestants;
  for (const PeerEntry& peer : peer_table()) {
    if (!takes_part(peer, settings)) continue;
    Offer offer;
    const auto failure = failure_of([&] { offer = peer.offer(workload, session); });
    if (offer.contestant)
      contestants.push_back(std::move(offer.contestant));
    else
      missing.push_back({.name = std::string(peer.name),
                         .role = peer.role,
                         .status = failure ? Status::failed : Status::absent,
                         .reason = failure.value_or(offer.reason)});
    if (peer.role == Role::ours)
      add_others_of_ours(settings.every_candidate ? every_other(workload) : job.also, workload, contestants, missing);
  }
  return contestants;
}

/// A case that nobody could be given: its arrays do not fit, say.
CaseResult failed_case(const Job& job, const Device& device, std::string reason) {
  CaseResult result;
  result.label = job.label;
  result.text = job.what.text;
  result.op = to_string(job.what.op);
  result.shapes = joined(contiguous_views(job.what), ", ", view_text);
  result.clock = clock_of(device);
  result.entries.push_back(
      {.name = "axisloom", .role = Role::ours, .status = Status::failed, .reason = std::move(reason)});
  return result;
}

}  // namespace

std::vector<CaseResult> time_case(const Job& job, const Device& device, Team& team, Session& session,
                                  CacheFlusher& flusher, const Settings& settings, const Progress& progress) {
  progress(job.label + ": preparing");
  std::vector<CaseResult> results;
  const auto time = [&] {
    Workload workload(job.what, device, team, settings.seed, settings.strength);
    std::vector<Entry> missing;
    const Contestants contestants = everybody(job, workload, session, settings, missing);
    results = compete(workload, job.label, contestants, flusher, settings, progress);
    for (CaseResult& result : results) result.entries.insert(result.entries.end(), missing.begin(), missing.end());
  };
  if (const auto failure = failure_of(time, {Errc::device_lost, Errc::usage}))
    results = {failed_case(job, device, *failure)};
  return results;
}

std::vector<Entry> check_case(const Job& job, const Device& device, Team& team, const Settings& settings,
                              const Progress& progress) {
  progress(job.label + ": preparing");
  Workload workload(job.what, device, team, settings.seed, settings.strength);
  Contestants contestants;
  std::vector<Entry> entries, missing;
  contestants.push_back(make_ours(workload, "axisloom", workload.options()));
  add_others_of_ours(job.also, workload, contestants, missing);
  double checking = 0;
  for (const auto& contestant : contestants) {
    progress(job.label + ": checking " + contestant->name());
    Entry& entry = entries.emplace_back(verdict_on(*contestant, first_spoil, checking));
    if (entry.status == Status::right) entry = verdict_on(*contestant, second_spoil, checking);
  }
  entries.insert(entries.end(), missing.begin(), missing.end());
  return entries;
}

}  // namespace axisloom::bench
