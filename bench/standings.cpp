// Ratios of times, gathered by peer.
#include "bench/standings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench {
namespace {

double median_of(const Document& result, const Document& contestant) {
  const Document* const times = times_of(result, contestant);
  return times != nullptr ? number_at(*times, "median_ms") : 0;
}

/// The peers of a case by a name that several may share: of those the fastest, in the order in which they come first.
std::vector<std::pair<std::string, double>> times_by(const Document& result, auto&& name_of) {
  std::vector<std::pair<std::string, double>> times;
  for (const Document& entry : result.at("contestants")) {
    if (entry.at("role") != "peer" || entry.at("status") != "right") continue;
    const std::string name = name_of(text_at(entry, "name"));
    const double time = median_of(result, entry);
    const auto at = std::ranges::find(times, name, &std::pair<std::string, double>::first);
    if (at == times.end())
      times.emplace_back(name, time);
    else
      at->second = std::min(at->second, time);
  }
  return times;
}

std::vector<Standing> standings_by(std::span<const Document> documents, auto&& name_of) {
  std::vector<Standing> standings;
  const auto of = [&](const std::string& suite, const std::string& peer) -> Standing& {
    const auto at = std::ranges::find_if(
        standings, [&](const Standing& standing) { return standing.suite == suite && standing.peer == peer; });
    return at != standings.end() ? *at : standings.emplace_back(Standing{suite, peer, {}});
  };
  for (const Document& document : documents)
    for (const Document& result : document.at("cases")) {
      const Document* const ours = find_contestant(result, "axisloom");
      if (ours == nullptr || ours->at("status") != "right") continue;
      const double own = median_of(result, *ours);
      if (own <= 0) continue;
      for (const auto& [name, time] : times_by(result, name_of))
        of(text_at(document.at("settings"), "suite"), name).ratios.push_back({time / own, label_of(result)});
    }
  for (Standing& standing : standings) std::ranges::stable_sort(standing.ratios, {}, &Ratio::value);
  return standings;
}

}  // namespace

std::vector<Standing> standings(std::span<const Document> documents) {
  return standings_by(documents, [](const std::string& name) { return name; });
}

std::vector<Standing> standings_by_library(std::span<const Document> documents) {
  return standings_by(documents, [](const std::string& name) { return name.substr(0, name.find('-')); });
}

Table standings_of(std::span<const Document> documents) {
  Table table({"suite", "peer", "cases", "faster in", "median", "lowest", "where"});
  for (const Standing& standing : standings(documents)) {
    const auto behind = std::ranges::count_if(standing.ratios, [](const Ratio& ratio) { return ratio.value < 1; });
    const auto text = [](double ratio) { return fmt::format("{:.2f}", ratio); };
    const Ratio& lowest = standing.ratios.front();
    table.add({standing.suite, standing.peer, std::to_string(standing.ratios.size()), std::to_string(behind),
               text(standing.median()), text(lowest.value), lowest.label});
  }
  return table;
}

}  // namespace axisloom::bench
