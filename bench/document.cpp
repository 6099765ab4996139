// Reading documents, and what readers ask of them.
#include "bench/document.hpp"

#include "bench/schema.hpp"

#include "io/file.hpp"
#include "jit/jit.hpp"

#include <algorithm>

namespace axisloom::bench {
namespace {

constexpr std::array reference_roles{Role::copy, Role::read, Role::peak};

}  // namespace

std::optional<std::string> fault_of(const Document& document) {
  static const Document schema = Document::parse(jit::embedded("docs/bench.schema.json"));
  return violation(schema, document);
}

Document parse_document(const std::string& path) {
  constexpr size_t limit = size_t{64} << 20;  // bytes: eighty times the longest of docs/results
  Document document = Document::parse(io::InputFile(path).text(limit), nullptr, false);
  if (document.is_discarded())
    throw Error(Errc::file, io::printable(path) + " is not complete JSON", "give a file written with --format json");
  return document;
}

Document load_document(const std::string& path) {
  Document document = parse_document(path);
  if (const auto fault = fault_of(document))
    throw Error(Errc::file, io::printable(path) + " is not a document of axisloom bench: " + *fault,
                "give a file written by axisloom bench --format json");
  return document;
}

std::string device_name(const Document& document) {
  const Document& device = document.at("environment").at("device");
  const auto spec = text_at(device, "spec");
  return fmt::format("{} ({})", text_at(device, "name"), spec.substr(0, spec.find(':')));
}

std::string cache_of(const Document& result) {
  return result.value("cache", "");
}

std::string label_of(const Document& result) {
  const std::string cache = cache_of(result);
  const auto label = text_at(result, "label");
  return cache == "warm" || cache == "cold" ? label + ", " + cache : label;
}

bool is_arithmetic(const Document& result) {
  return result.value("limit", "") == "arithmetic";
}

const char* rate_key(const Document& result) {
  return is_arithmetic(result) ? "gflop_per_second" : "gb_per_second";
}

std::string text_at(const Document& document, std::string_view name) {
  return document.at(name).get<std::string>();
}

double number_at(const Document& document, std::string_view name) {
  return document.at(name).get<double>();
}

const Document* find_contestant(const Document& result, std::string_view name) {
  for (const Document& entry : result.at("contestants"))
    if (entry.at("name") == name) return &entry;
  return nullptr;
}

const Document* reference_of(const Document& result) {
  for (Role role : reference_roles)
    if (const std::string its_name = result.value(name(role), ""); !its_name.empty())
      return find_contestant(result, its_name);
  return nullptr;
}

std::string share_key(Role reference) {
  return std::string("share_of_") + name(reference);
}

std::optional<double> share_of(const Document& contestant) {
  for (Role role : reference_roles)
    if (contestant.contains(share_key(role))) return number_at(contestant, share_key(role));
  return std::nullopt;
}

bool is_telling(Role reference, double largest_share) {
  // What somebody beats so clearly is no limit: its runs are so short that it spends them on waking threads, or it does
  // without instructions that somebody has. Copies and reads may be beaten by better ones: on arrays that no cache
  // holds the largest share that was measured is 2.1. Arithmetic alone is never slower than with its loads and stores,
  // but for a processor's clock.
  constexpr double most_of_memory = 3, most_of_peak = 1.25;
  return largest_share <= (reference == Role::peak ? most_of_peak : most_of_memory);
}

std::optional<double> telling_share(const Document& result, const Document& contestant) {
  double largest = 0;
  for (const Document& entry : result.at("contestants")) largest = std::max(largest, share_of(entry).value_or(0));
  const Role reference = contestant.contains(share_key(Role::peak)) ? Role::peak : Role::copy;
  return is_telling(reference, largest) ? share_of(contestant) : std::nullopt;
}

const Document* times_of(const Document& result, const Document& contestant) {
  if (result.at("clock") == "device" && contestant.contains("device")) return &contestant.at("device");
  return contestant.contains("call") ? &contestant.at("call") : nullptr;
}

}  // namespace axisloom::bench
