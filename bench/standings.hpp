// How Axisloom stands against each other library, suite by suite.
#pragma once

#include "bench/document.hpp"
#include "harness/table.hpp"

namespace axisloom::bench {

/// Axisloom's rate over a peer's in one case.
struct Ratio {
  double value;
  std::string label;
};

/// Against one peer, over all cases in which both are right; lowest first.
struct Standing {
  std::string suite;
  std::string peer;
  std::vector<Ratio> ratios;

  double median() const { return ratios[ratios.size() / 2].value; }
};
/// By suite and peer, in the order in which they come first. Times are by the clock that decides a case.
std::vector<Standing> standings(std::span<const Document> documents);
/// The same by library, of whose ways to do a case ("torch" makes a new array, "torch-out" does not) the fastest
/// counts.
std::vector<Standing> standings_by_library(std::span<const Document> documents);

/// A row per suite and peer: the number of cases, how many of them the peer was faster in, the median and the lowest
/// ratio, and the case with the lowest.
Table standings_of(std::span<const Document> documents);

/// Medians by library as an SVG of bars: one file, no script, no network, colours for light and dark.
std::string standings_chart(std::span<const Document> documents);

}  // namespace axisloom::bench
