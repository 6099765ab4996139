// One line per candidate, then the winner, then the cache.
#include "cli/report.hpp"

#include "bench/peers/peers.hpp"
#include "cli/messages.hpp"

#include "planner/configuration.hpp"

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

}  // namespace axisloom::cli
