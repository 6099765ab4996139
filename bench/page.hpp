// Documents as one HTML page that needs nothing else: tables, bar charts, rooflines.
#pragma once

#include "bench/document.hpp"

namespace axisloom::bench {

struct NamedDocument {
  std::string name;  // of its file
  Document document;
};
/// A section for each device with its roofline, in it one for each of its documents with a table and a chart per case.
std::string page_of(std::span<const NamedDocument> documents);

}  // namespace axisloom::bench
