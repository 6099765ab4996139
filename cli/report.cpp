// One line per candidate, then the winner, then the cache.
#include "cli/report.hpp"

#include "cli/messages.hpp"

#include "planner/configuration.hpp"

#include <fmt/format.h>

namespace axisloom::cli {

std::string configuration_text(const PlanReport& report) {
  const std::string values = ops::to_string(report.configuration);
  if (values.empty()) return report.candidate;
  return fmt::format("{} ({}; {})", report.candidate, values, report.configuration_source);
}

harness::Table report_table(const PlanReport& report) {
  harness::Table table({"op", "shapes", "device", "candidate", "configuration", "source", "index", "expected_seconds",
                        "bytes", "workspace_bytes"});
  table.add({report.op, report.shapes, report.device, report.candidate, ops::to_string(report.configuration),
             report.configuration_source, report.index == IndexWidth::bits64 ? 64 : 32,
             harness::seconds_cell(report.expected_seconds), harness::bytes_cell(u64(report.bytes_moved)),
             harness::bytes_cell(report.workspace_bytes)});
  return table;
}

void Explanation::tell(const PlanReport& report) const {
  say(fmt::format("{}: {} on {}", report.op, report.shapes, report.device));
  if (!report.model.empty()) say(fmt::format("  figures of the device: {}", report.model));
  for (const CandidateReport& candidate : report.candidates)
    say(candidate.accepted ? fmt::format("  candidate {}: accepted, predicted {}", candidate.name,
                                         harness::human_seconds(candidate.seconds))
                           : fmt::format("  candidate {}: refused, {}", candidate.name, candidate.reason));
  say(fmt::format("  winner {}, {}-bit offsets, expected {} for {}", configuration_text(report),
                  report.index == IndexWidth::bits64 ? 64 : 32, harness::human_seconds(report.expected_seconds),
                  harness::human_bytes(u64(report.bytes_moved))));
  for (const std::string& step : report.steps) say("  step " + step);
  const jit::CacheStats now = jit::cache_stats();
  say(fmt::format("  programs: {} compiled, {} from disk, {} from memory", now.compiles - before_.compiles,
                  now.disk_hits - before_.disk_hits, now.memory_hits - before_.memory_hits));
}

}  // namespace axisloom::cli
