// From contestants to a result: judged, measured, judged, ranked.
#include "bench/bench.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench {
namespace {

constexpr std::byte first_spoil{0x55}, second_spoil{0xAA};

/// Runs a contestant once on a spoilt output and judges it; false when it is out.
bool survives(Contestant& contestant, std::byte spoil, Entry& entry) {
  try {
    contestant.spoil(spoil);
    contestant.run();
    const Mistakes mistakes = contestant.judge();
    if (mistakes.count == 0) return true;
    entry.status = Status::wrong;
    entry.reason = to_string(mistakes);
  } catch (const Error& error) {
    if (error.code() == Errc::device_lost) throw;
    entry.status = Status::failed;
    entry.reason = error.what();
  }
  return false;
}

Entry entry_of(const Contestant& contestant) {
  Entry entry;
  entry.name = contestant.name();
  entry.how = contestant.how();
  entry.role = contestant.role();
  return entry;
}

Entry missing_entry(const PeerEntry& peer, Status status, std::string reason) {
  Entry entry;
  entry.name = peer.name;
  entry.role = peer.role;
  entry.status = status;
  entry.reason = std::move(reason);
  return entry;
}

void write_down(Entry& entry, const Measured& measured, Clock clock, std::int64_t bytes) {
  if (!measured.error.empty()) {
    entry.status = Status::failed;
    entry.reason = measured.error;
    return;
  }
  entry.call = summary(measured, Clock::call);
  entry.device = summary(measured, Clock::device);
  entry.stop = measured.stop;
  entry.seconds = (clock == Clock::device && entry.device ? entry.device : entry.call)->median;
  entry.bytes_per_second = static_cast<double>(bytes) / entry.seconds;
}

void forget_times(Entry& entry) {
  entry.call = entry.device = std::nullopt;
  entry.seconds = entry.bytes_per_second = 0;
}

bool timed(const Entry& entry) {
  return entry.status == Status::right && entry.call;
}

void compare(CaseResult& result) {
  const Entry* copy = nullptr;
  std::vector<Entry*> order;
  for (Entry& entry : result.entries) {
    if (!timed(entry)) continue;
    if (entry.role == Role::copy && copy == nullptr) copy = &entry;
    if (entry.role != Role::copy) order.push_back(&entry);
  }
  std::stable_sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) { return a->seconds < b->seconds; });
  for (std::size_t place = 0; place < order.size(); ++place) order[place]->rank = static_cast<int>(place) + 1;
  if (copy == nullptr) return;
  result.copy = copy->name;
  for (Entry& entry : result.entries)
    if (timed(entry)) entry.share = entry.bytes_per_second / copy->bytes_per_second;
}

std::int64_t bytes_of(const Contestant& contestant) {
  return contestant.expected().bytes_moved();
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

bool takes_part(const PeerEntry& entry, const Settings& settings) {
  if (entry.role != Role::peer || settings.all_peers) return true;
  return std::find(settings.peers.begin(), settings.peers.end(), entry.name) != settings.peers.end();
}

CaseResult compete(Workload& workload, const std::string& label, std::vector<std::unique_ptr<Contestant>> contestants,
                   const Settings& settings, const Progress& progress) {
  CaseResult result;
  result.label = label;
  result.text = workload.text();
  result.op = to_string(workload.op());
  result.shapes = to_string(workload.in()) + " -> " + to_string(workload.out());
  result.bytes = workload.bytes_moved();
  result.elements = workload.move().count();
  result.strength = workload.strength();
  result.clock = workload.device().info().kind == Kind::cpu ? Clock::call : Clock::device;

  std::vector<Contestant*> running;
  std::vector<std::size_t> place;  // of a running contestant among the entries
  for (const auto& contestant : contestants) {
    progress(fmt::format("{}: checking {}", label, contestant->name()));
    result.entries.push_back(entry_of(*contestant));
    if (!survives(*contestant, first_spoil, result.entries.back())) continue;
    running.push_back(contestant.get());
    place.push_back(result.entries.size() - 1);
  }
  const auto measured = measure(running, settings.rules, result.clock,
                                [&](std::size_t round) { progress(fmt::format("{}: round {}", label, round + 1)); });
  for (std::size_t i = 0; i < running.size(); ++i) {
    Entry& entry = result.entries[place[i]];
    progress(fmt::format("{}: checking {} again", label, entry.name));
    write_down(entry, measured[i], result.clock, bytes_of(*running[i]));
    if (entry.status == Status::right && !survives(*running[i], second_spoil, entry)) forget_times(entry);
  }
  compare(result);
  return result;
}

CaseResult time_case(const Job& job, const Device& device, Team& team, Session& session, const Settings& settings,
                     const Progress& progress) {
  progress(fmt::format("{}: preparing", job.label));
  Workload workload(job.what, device, team, settings.seed, settings.strength);
  std::vector<std::unique_ptr<Contestant>> contestants;
  std::vector<Entry> missing;
  for (const PeerEntry& peer : peer_table()) {
    if (!takes_part(peer, settings)) continue;
    Offer offer;
    Status otherwise = Status::absent;
    try {
      offer = peer.offer(workload, session);
    } catch (const Error& error) {
      if (error.code() == Errc::device_lost) throw;
      otherwise = Status::failed;
      offer.reason = error.what();
    }
    if (offer.contestant)
      contestants.push_back(std::move(offer.contestant));
    else
      missing.push_back(missing_entry(peer, otherwise, offer.reason));
  }
  CaseResult result = compete(workload, job.label, std::move(contestants), settings, progress);
  result.entries.insert(result.entries.end(), missing.begin(), missing.end());
  return result;
}

}  // namespace axisloom::bench
