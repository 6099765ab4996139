// Stored documents: what axisloom bench --format json wrote, read again and held against the schema.
#pragma once

#include "bench/contestant.hpp"

#include <nlohmann/json.hpp>

namespace axisloom::bench {

using Document = nlohmann::ordered_json;

/// Any JSON. Throws Error(file), naming the file, when it is none.
Document parse_document(const std::string& path);
/// Throws Error(file), naming the file and the field, when the file is no document of the bench or a damaged one.
Document load_document(const std::string& path);
/// What is wrong with a document, with the place of the fault: "/cases/3/clock: is none of ..."; nothing when it is
/// right.
std::optional<std::string> fault_of(const Document& document);

/// "NVIDIA H200 (cuda)": the device of a document, which is another one through another API.
std::string device_name(const Document& document);
/// The case's label; of one that was measured in a state of the cache, with that state.
std::string label_of(const Document& result);
/// "warm", "cold" or "beyond"; empty in documents from before these were told apart.
std::string cache_of(const Document& result);
/// Documents from before there was arithmetic do not say what limits a case.
bool is_arithmetic(const Document& result);
/// The name of the member with the rate that counts.
const char* rate_key(const Document& result);
/// A member that is there.
std::string text_at(const Document& document, std::string_view name);
double number_at(const Document& document, std::string_view name);
/// The contestant of a case by its name, or null.
const Document* find_contestant(const Document& result, std::string_view name);
/// The contestant that shares refer to, or null.
const Document* reference_of(const Document& result);
/// The name of the member with the share of a reference.
std::string share_key(Role reference);
std::optional<double> share_of(const Document& contestant);
/// Whether the shares of a case say something, the largest being this.
bool is_telling(Role reference, double largest_share);
/// A share to be shown to people; nothing where those of the case say nothing.
std::optional<double> telling_share(const Document& result, const Document& contestant);
/// Median and interval by the clock that decides, "median_ms", "low_ms" and "high_ms"; null when it has no times.
const Document* times_of(const Document& result, const Document& contestant);

}  // namespace axisloom::bench
