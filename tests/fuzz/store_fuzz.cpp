// Any text as a store of measurements: each line is taken, or logged and skipped.
#include <cstdlib>
#include <string_view>

#include "model/store.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  axisloom::model::Store store;
  store.add("fuzz.jsonl", std::string_view(reinterpret_cast<const char*>(data), size));
  for (const axisloom::model::Measurement& measurement : store.measurements)
    if (measurement.candidate.empty() || !(measurement.seconds >= 0)) std::abort();
  for (const axisloom::model::FiguresLine& line : store.figures)
    for (const axisloom::model::Figure& figure : axisloom::model::figures())
      if (!(line.model.*figure.place >= 0)) std::abort();
  return 0;
}
