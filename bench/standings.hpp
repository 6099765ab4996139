// How Axisloom stands against each other library, suite by suite.
#pragma once

#include "bench/document.hpp"

#include "table.hpp"

#include <span>

namespace axisloom::bench {

/// A row per suite and peer that was right in some case: in how many, in how many of those it was faster than Axisloom,
/// Axisloom's rate over the peer's in the middle of them and in the worst, and which that is. By the clock that decides
/// a case.
cli::Table standings_of(std::span<const Document> documents);

}  // namespace axisloom::bench
