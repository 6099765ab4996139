// One line per candidate, then the winner, then the cache, then the times.
#include "cli/report.hpp"

#include "bench/peers/peers.hpp"
#include "cli/messages.hpp"

#include "planner/configuration.hpp"

#include <chrono>

namespace axisloom::cli {

Table report_table(const PlanReport& report) {
  Table table({"op", "shapes", "device", "candidate", "configuration", "source", "index", "expected_seconds", "bytes",
               "workspace_bytes"});
  table.add({report.op, report.shapes, report.device, report.candidate, ops::to_string(report.configuration),
             report.configuration_source, report.index == IndexWidth::bits64 ? 64 : 32,
             seconds_cell(report.expected_seconds), bytes_cell(report.bytes_moved),
             bytes_cell(report.workspace_bytes)});
  return table;
}

void explain(const PlanReport& report, const jit::CacheStats& before) {
  say("{}: {} on {}", report.op, report.shapes, report.device);
  if (!report.model.empty()) say("  figures of the device: {}", report.model);
  for (const CandidateReport& candidate : report.candidates)
    if (candidate.accepted)
      say("  candidate {}: accepted, predicted {}", candidate.name, human_seconds(candidate.seconds));
    else
      say("  candidate {}: refused, {}", candidate.name, candidate.reason);
  say("  winner {}, {}-bit offsets, expected {} for {}", bench::configuration_text(report),
      report.index == IndexWidth::bits64 ? 64 : 32, human_seconds(report.expected_seconds),
      human_bytes(report.bytes_moved));
  for (const auto& step : report.steps) say("  step " + step);
  const jit::CacheStats now = jit::cache_stats();
  say("  programs: {} compiled, {} from disk, {} from memory", now.compiles - before.compiles,
      now.disk_hits - before.disk_hits, now.memory_hits - before.memory_hits);
}

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The first run plans, compiles and touches new memory; the speed is that of another, unless that would take long.
void tell_times(const PlanReport& report, double first, const std::function<void()>& run) {
  constexpr double long_run = 1;  // second
  const bool repeated = first < long_run;
  const double seconds = repeated ? seconds_of(run) : first;
  say("  measured {}{}: {:.2f} GB/s read and written", human_seconds(first),
      repeated ? " at first, then " + human_seconds(seconds) : "", double(report.bytes_moved) / seconds / 1e9);
}

}  // namespace axisloom::cli
