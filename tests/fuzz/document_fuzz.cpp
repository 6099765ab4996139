// Any text as a document of the bench: refused by name, or one that every reader of documents can use.
#include "input_in_memory.hpp"

#include "bench/comparison.hpp"
#include "bench/page.hpp"
#include "bench/report.hpp"
#include "bench/standings.hpp"

#include <axisloom/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axisloom;
  const fuzz::InputInMemory input(data, size);
  try {
    const bench::Document document = bench::load_document(input.path());
    constexpr double threshold = 0.02;
    bench::compared(document, document, threshold);
    bench::markdown_of(document);
    bench::standings_of(std::span(&document, 1));
    const bench::NamedDocument named{"fuzz", document};
    bench::page_of(std::span(&named, 1));
  } catch (const Error& error) {
    if (error.code() != Errc::file) throw;
  }
  return 0;
}
