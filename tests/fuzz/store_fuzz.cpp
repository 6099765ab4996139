// Any text as a store of measurements: each line is taken, or logged and skipped.
#include <cstdlib>
#include <string_view>

#include "tune/store.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  axisloom::tune::Store store;
  store.add("fuzz.jsonl", std::string_view(reinterpret_cast<const char*>(data), size));
  for (const axisloom::tune::Measurement& measurement : store.measurements)
    if (measurement.candidate.empty() || !(measurement.seconds >= 0)) std::abort();
  for (const axisloom::tune::RatesLine& rates : store.rates)
    if (!(rates.copy > 0 || rates.cached > 0 || rates.launch > 0)) std::abort();
  return 0;
}
