// From contestants to a result: judged, measured, judged, ranked.
#include "bench/bench.hpp"

#include "bench/failure.hpp"
#include "bench/peers/peers.hpp"
#include "harness/arguments.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench {
namespace {

constexpr std::byte first_spoil{0x55}, second_spoil{0xAA};

/// Runs a contestant once on a spoilt output and judges it, whose time is added to `checking`; false when it is out.
bool survives(Contestant& contestant, std::byte spoil, Entry& entry, double& checking) {
  Mistakes mistakes;
  const auto failure = failure_of([&] {
    contestant.spoil(spoil);
    contestant.run();
    const double start = now();
    mistakes = contestant.judge();
    checking += now() - start;
  });
  if (!failure && mistakes.count == 0) return true;
  entry.status = failure ? Status::failed : Status::wrong;
  entry.reason = failure ? *failure : to_string(mistakes);
  return false;
}

Entry entry_of(const Contestant& contestant) {
  return {.name = contestant.name(), .how = contestant.how(), .role = contestant.role()};
}

Entry missing_entry(std::string_view name, Role role, Status status, std::string reason) {
  return {.name = std::string(name), .role = role, .status = status, .reason = std::move(reason)};
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
  entry.seconds = (clock == Clock::device && entry.device ? entry.device : entry.call)->median;
  entry.rate = {work.bytes / entry.seconds, work.operations / entry.seconds};
}

void forget_times(Entry& entry) {
  entry.call = entry.device = std::nullopt;
  entry.seconds = 0;
  entry.rate = {};
}

bool timed(const Entry& entry) {
  return entry.status == Status::right && entry.call;
}

double rate(const Entry& entry, Limit limit) {
  return limit == Limit::arithmetic ? entry.rate.operations : entry.rate.bytes;
}

void compare(CaseResult& result) {
  const Entry* reference = nullptr;
  std::vector<Entry*> order;
  for (Entry& entry : result.entries) {
    if (!timed(entry)) continue;
    if (!is_reference(entry.role))
      order.push_back(&entry);
    else if (reference == nullptr)
      reference = &entry;
  }
  std::ranges::stable_sort(order, [](const Entry* a, const Entry* b) { return a->seconds < b->seconds; });
  for (size_t place = 0; place < order.size(); ++place) order[place]->rank = int(place) + 1;
  if (reference == nullptr) return;
  result.reference = reference->name;
  result.reference_role = reference->role;
  for (Entry& entry : result.entries)
    if (timed(entry)) entry.share = rate(entry, result.limit) / rate(*reference, result.limit);
}

std::string shapes_of(const Workload& workload) {
  const auto text_of = [](const View& view) { return to_string(view); };
  return harness::joined(workload.views().first(workload.inputs()), ", ", text_of) + " -> " + to_string(workload.out());
}

i64 elements_of(const Workload& workload) {
  if (workload.move()) return workload.move()->count();
  i64 count = 0;
  for (size_t i = 0; i < workload.inputs(); ++i) count += workload.in(i).count();
  return count;
}

Clock clock_of(const Device& device) {
  return device.info().kind == Kind::cpu ? Clock::call : Clock::device;
}

CaseResult described(const Workload& workload, const std::string& label) {
  CaseResult result;
  result.label = label;
  result.text = workload.text();
  result.op = to_string(workload.op());
  result.shapes = shapes_of(workload);
  result.work = workload.work();
  result.elements = elements_of(workload);
  result.limit = workload.limit();
  result.strength = workload.strength();
  result.clock = clock_of(workload.device());
  return result;
}

std::vector<Cache> caches_of(const Workload& workload, const CacheFlusher& flusher, CacheChoice choice) {
  size_t bytes = 0;
  for (const Buffer& buffer : workload.buffers()) bytes += buffer.bytes();
  if (bytes > flusher.cache_bytes()) return {Cache::beyond};
  if (choice == CacheChoice::cold) return {Cache::cold};
  if (choice == CacheChoice::warm) return {Cache::warm};
  return {Cache::warm, Cache::cold};
}

/// The last word on a contestant that was right before: it counts for all that was measured in between.
void check_again(Contestant& contestant, size_t place, std::vector<CaseResult>& results, double& checking) {
  const auto ran = [&](const CaseResult& result) { return result.entries[place].status == Status::right; };
  Entry verdict;
  if (std::ranges::none_of(results, ran)) return;
  if (survives(contestant, second_spoil, verdict, checking)) return;
  for (CaseResult& result : results) {
    Entry& entry = result.entries[place];
    if (entry.status != Status::right) continue;
    entry.status = verdict.status;
    entry.reason = verdict.reason;
    forget_times(entry);
  }
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
void add_others_of_ours(const std::vector<Variant>& others, Workload& workload,
                        std::vector<std::unique_ptr<Contestant>>& contestants, std::vector<Entry>& missing) {
  for (const auto& [its_name, options] : others) try {
      contestants.push_back(make_ours(workload, "axisloom:" + its_name, options));
    } catch (const Error& error) {
      if (error.code() == Errc::device_lost) throw;
      missing.push_back(missing_entry("axisloom:" + its_name, Role::ours, Status::absent, error.parts().message));
    }
}

}  // namespace

const char* name(Status status) noexcept {
  switch (status) {
    case Status::right:
      return "right";
    case Status::wrong:
      return "WRONG";
    case Status::failed:
      return "failed";
    case Status::absent:
      break;
  }
  return "absent";
}

const char* name(CacheChoice choice) noexcept {
  switch (choice) {
    case CacheChoice::cold:
      return "cold";
    case CacheChoice::warm:
      return "warm";
    case CacheChoice::both:
      break;
  }
  return "both";
}

bool takes_part(const PeerEntry& entry, const Settings& settings) {
  if (entry.role != Role::peer || settings.all_peers) return true;
  return std::ranges::find(settings.peers, entry.name) != settings.peers.end();
}

std::vector<CaseResult> compete(Workload& workload, const std::string& label,
                                const std::vector<std::unique_ptr<Contestant>>& contestants, CacheFlusher& flusher,
                                const Settings& settings, const Progress& progress) {
  CaseResult checked = described(workload, label);
  std::vector<Contestant*> running;
  std::vector<size_t> place;  // of a running contestant among the entries
  for (const auto& contestant : contestants) {
    progress(fmt::format("{}: checking {}", label, contestant->name()));
    checked.entries.push_back(entry_of(*contestant));
    if (!survives(*contestant, first_spoil, checked.entries.back(), checked.checking)) continue;
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
    progress(fmt::format("{}: checking {} again", label, running[i]->name()));
    check_again(*running[i], place[i], results, checked.checking);
  }
  for (CaseResult& result : results) {
    result.checking = checked.checking;
    compare(result);
  }
  return results;
}

namespace {

std::vector<CaseResult> timed_case(const Job& job, const Device& device, Team& team, Session& session,
                                   CacheFlusher& flusher, const Settings& settings, const Progress& progress) {
  Workload workload(job.what, device, team, settings.seed, settings.strength);
  std::vector<std::unique_ptr<Contestant>> contestants;
  std::vector<Entry> missing;
  for (const PeerEntry& peer : peer_table()) {
    if (!takes_part(peer, settings)) continue;
    Offer offer;
    const auto failure = failure_of([&] { offer = peer.offer(workload, session); });
    if (offer.contestant)
      contestants.push_back(std::move(offer.contestant));
    else
      missing.push_back(missing_entry(peer.name, peer.role, failure ? Status::failed : Status::absent,
                                      failure.value_or(offer.reason)));
    if (peer.role == Role::ours)
      add_others_of_ours(settings.every_candidate ? every_other(workload) : job.also, workload, contestants, missing);
  }
  auto results = compete(workload, job.label, contestants, flusher, settings, progress);
  for (CaseResult& result : results) result.entries.insert(result.entries.end(), missing.begin(), missing.end());
  return results;
}

/// A case that nobody could be given: its arrays do not fit, say.
CaseResult failed_case(const Job& job, const Device& device, std::string reason) {
  CaseResult result;
  result.label = job.label;
  result.text = job.what.text;
  result.op = to_string(job.what.op);
  for (size_t i = 0; i < job.what.shapes.size(); ++i)
    result.shapes += (i == 0 ? "" : ", ") + to_string(View::contiguous(job.what.dtypes[i], job.what.shapes[i]));
  result.clock = clock_of(device);
  result.entries.push_back(missing_entry("axisloom", Role::ours, Status::failed, std::move(reason)));
  return result;
}

}  // namespace

std::vector<CaseResult> time_case(const Job& job, const Device& device, Team& team, Session& session,
                                  CacheFlusher& flusher, const Settings& settings, const Progress& progress) {
  progress(fmt::format("{}: preparing", job.label));
  std::vector<CaseResult> results;
  const auto failure =
      failure_of([&] { results = timed_case(job, device, team, session, flusher, settings, progress); },
                 {Errc::device_lost, Errc::usage});
  if (failure) results = {failed_case(job, device, *failure)};
  return results;
}

std::vector<Entry> check_case(const Job& job, const Device& device, Team& team, const Settings& settings,
                              const Progress& progress) {
  progress(fmt::format("{}: preparing", job.label));
  Workload workload(job.what, device, team, settings.seed, settings.strength);
  std::vector<std::unique_ptr<Contestant>> contestants;
  std::vector<Entry> entries, missing;
  contestants.push_back(make_ours(workload, "axisloom", workload.options()));
  add_others_of_ours(job.also, workload, contestants, missing);
  double checking = 0;
  for (const auto& contestant : contestants) {
    progress(fmt::format("{}: checking {}", job.label, contestant->name()));
    entries.push_back(entry_of(*contestant));
    if (survives(*contestant, first_spoil, entries.back(), checking))
      survives(*contestant, second_spoil, entries.back(), checking);
  }
  entries.insert(entries.end(), missing.begin(), missing.end());
  return entries;
}

}  // namespace axisloom::bench
