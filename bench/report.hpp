// Results as text: a table for people, CSV, a table for a README, and JSON with everything in it.
#pragma once

#include "bench/bench.hpp"
#include "bench/document.hpp"
#include "harness/table.hpp"

namespace axisloom::bench {

/// A run of the program: the cases of one device.
struct Report {
  Document environment = Document::object();
  Document before = environment, after = environment;  // conditions
  Settings settings;
  std::string suite;
  bool quick = false;      // only the suite's quick cases
  size_t cache_bytes = 0;  // what cold and warm refer to
  std::vector<CaseResult> cases;
};

std::string text_of(const Report& report, Format format);

/// One contestant of a case, as it stands in the JSON document and in sweeps.
Document json_of(const Entry& entry, Role reference);
Document json_of(const CaseResult& result);
Document json_of(const Report& report);

/// A row per contestant of every case.
Table table_of(std::span<const CaseResult> cases);
/// From a document as json_of makes it: a row per case and a column per contestant, in GB/s or GFLOP/s, whichever
/// limits the case; of Axisloom's with its share of the reference.
std::string markdown_of(const Document& document);

}  // namespace axisloom::bench
