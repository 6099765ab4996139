// Combinations, and the measurement of each.
#include "bench/sweep.hpp"

#include "bench/peers/peers.hpp"
#include "bench/report.hpp"
#include "harness/arguments.hpp"

#include "planner/configuration.hpp"

namespace axisloom::bench {
namespace {

/// Axisloom and the reference, where there is one; throws what the plan throws.
Contestants contestants_of(Workload& workload, const PlanOptions& options, Session& session) {
  Contestants list;
  list.push_back(make_ours(workload, "axisloom", options));
  for (const PeerEntry& peer : peer_table()) {
    if (!is_reference(peer.role) || list.size() > 1) continue;
    if (Offer offer = peer.offer(workload, session); offer.contestant) list.push_back(std::move(offer.contestant));
  }
  return list;
}

Document with_result(Document line, const CaseResult& result) {
  line["check"] = name(result.strength);
  line["cache"] = name(result.cache);
  line["contestant"] = json_of(result.entries.front(), result.reference_role);
  for (const Entry& entry : result.entries)
    if (is_reference(entry.role)) line[name(entry.role)] = json_of(entry, result.reference_role);
  return line;
}

}  // namespace

SweptTunable parse_sweep(const std::string& text) {
  const auto sides = split(text, "=");
  SweptTunable tunable{std::string(sides.front()), {}};
  bool sense = sides.size() == 2 && !tunable.name.empty();
  for (std::string_view part : split(sides.back(), ",")) {
    const auto value = parse_integer(part);
    sense = sense && value;
    tunable.values.push_back(value.value_or(0));
  }
  if (!sense)
    harness::refuse("write it as name=value,value, for example tile_in=32,64,128", "cannot read the sweep \"{}\"",
                    text);
  return tunable;
}

std::vector<Configuration> combinations(const std::vector<SweptTunable>& tunables, const Configuration& fixed) {
  std::vector<Configuration> all{fixed};
  for (const SweptTunable& tunable : tunables) {
    std::vector<Configuration> longer;
    for (const Configuration& shorter : all)
      for (i64 value : tunable.values) {
        longer.push_back(shorter);
        longer.back()[tunable.name] = value;
      }
    all = std::move(longer);
  }
  return all;
}

void sweep_case(const Job& job, const Device& device, Team& team, CacheFlusher& flusher,
                const std::vector<SweptTunable>& tunables, const Settings& settings, const Progress& progress,
                const std::function<void(const Document&)>& emit) {
  Workload workload(job.what, device, team, settings.seed, settings.strength);
  Session session;
  PlanOptions options = workload.options();
  for (const Configuration& configuration : combinations(tunables, workload.options().configuration)) {
    options.configuration = configuration;
    Document line{{"case", workload.text()},
                  {"candidate", options.candidate},
                  {"values", configuration},
                  {"bytes", i64(workload.work().bytes)}};
    const std::string label = job.label + " " + ops::to_string(configuration);
    try {
      for (const CaseResult& result :
           compete(workload, label, contestants_of(workload, options, session), flusher, settings, progress))
        emit(with_result(line, result));
    } catch (const Error& error) {
      if (error.code() == Errc::device_lost) throw;
      line["refused"] = error.parts().message;
      emit(line);
    }
  }
}

}  // namespace axisloom::bench
