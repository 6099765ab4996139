// Axisloom at every combination of a candidate's tunables, each in turns with the reference: what the tuning store is
// made from.
#pragma once

#include "bench/bench.hpp"
#include "bench/document.hpp"

namespace axisloom::bench {

/// One tunable and the values to try.
struct SweptTunable {
  std::string name;
  std::vector<i64> values;
};
/// "tile_in=32,64,128". Throws Error(usage).
SweptTunable parse_sweep(const std::string& text);

/// Every combination, the last tunable changing fastest, each on top of `fixed`.
std::vector<Configuration> combinations(const std::vector<SweptTunable>& tunables, const Configuration& fixed);

/// Times a case at each combination. `emit` receives one JSON object per combination and state of the cache: with
/// "contestant" and "copy" (or "read", "peak") as in the bench document, or with "refused" and the reason.
void sweep_case(const Job& job, const Device& device, Team& team, CacheFlusher& flusher,
                const std::vector<SweptTunable>& tunables, const Settings& settings, const Progress& progress,
                const std::function<void(const Document&)>& emit);

}  // namespace axisloom::bench
