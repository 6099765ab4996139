// Ratios of times, gathered by peer.
#include "bench/standings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench {
namespace {

/// Axisloom's rate over a peer's in one case.
struct Ratio {
  double value;
  std::string label;
};

struct Standing {
  std::string peer;
  std::vector<Ratio> ratios;
};

double median_of(const Document& result, const Document& contestant) {
  const Document* const times = times_of(result, contestant);
  return times != nullptr ? number_at(*times, "median_ms") : 0;
}

/// Of the peers of a document, in the order in which they come first.
std::vector<Standing> standings_of(const Document& document) {
  std::vector<Standing> standings;
  for (const Document& result : document.at("cases")) {
    const Document* const ours = find_contestant(result, "axisloom");
    if (ours == nullptr || ours->at("status") != "right") continue;
    const double seconds = median_of(result, *ours);
    for (const Document& entry : result.at("contestants")) {
      if (entry.at("role") != "peer" || entry.at("status") != "right" || seconds <= 0) continue;
      const std::string name = text_at(entry, "name");
      auto at = std::ranges::find(standings, name, &Standing::peer);
      if (at == standings.end()) at = standings.insert(at, {name, {}});
      at->ratios.push_back({median_of(result, entry) / seconds, label_of(result)});
    }
  }
  return standings;
}

}  // namespace

Table standings_of(std::span<const Document> documents) {
  Table table({"suite", "peer", "cases", "faster in", "median", "lowest", "where"});
  for (const Document& document : documents)
    for (Standing& standing : standings_of(document)) {
      std::vector<Ratio>& ratios = standing.ratios;
      std::ranges::stable_sort(ratios, {}, &Ratio::value);
      const auto behind = std::ranges::count_if(ratios, [](const Ratio& r) { return r.value < 1; });
      const auto text = [](const Ratio& ratio) { return fmt::format("{:.2f}", ratio.value); };
      table.add({text_at(document.at("settings"), "suite"), standing.peer, std::to_string(ratios.size()),
                 std::to_string(behind), text(ratios[ratios.size() / 2]), text(ratios.front()), ratios.front().label});
    }
  return table;
}

}  // namespace axisloom::bench
