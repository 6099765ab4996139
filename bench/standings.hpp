// How Axisloom stands against each other library, suite by suite.
#pragma once

#include "bench/document.hpp"
#include "harness/table.hpp"

namespace axisloom::bench {

/// A row per suite and peer with a right result in some case: the number of such cases, how many of them the peer was
/// faster in, the median and the lowest ratio of Axisloom's rate to the peer's, and the case with the lowest. Times are
/// by the clock that decides a case.
Table standings_of(std::span<const Document> documents);

}  // namespace axisloom::bench
