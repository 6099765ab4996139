// The printers.
#include "bench/report.hpp"

#include "bench/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace axisloom::bench {
namespace {

using Json = nlohmann::ordered_json;

/// To six digits: a file of noise is hard to read and to compare.
double rounded(double value) {
  if (value == 0) return 0;
  const double digits = 5 - std::floor(std::log10(std::abs(value)));
  const double scale = std::pow(10.0, std::abs(digits));  // a whole number, so that dividing by it rounds but once
  return digits < 0 ? std::round(value / scale) * scale : std::round(value * scale) / scale;
}

Json times_json(const Summary& summary) {
  return {{"median_ms", rounded(summary.median * 1e3)},
          {"low_ms", rounded(summary.low * 1e3)},
          {"high_ms", rounded(summary.high * 1e3)},
          {"samples", summary.samples}};
}

i64 integer(double count) {
  return i64(count);
}

std::string name_of(Strength strength) {
  return name(strength);
}

const Summary* deciding(const Entry& entry, Clock clock) {
  const auto& summary = clock == Clock::device && entry.device ? entry.device : entry.call;
  return summary ? &*summary : nullptr;
}

harness::Cell number(double value, const char* format) {
  return {rounded(value), fmt::format(fmt::runtime(format), value)};
}

const harness::Cell nothing{nullptr, ""};

std::vector<harness::Cell> row_of(const CaseResult& result, const Entry& entry) {
  std::vector<harness::Cell> row{result.label, name(result.cache), entry.name};
  const Summary* times = deciding(entry, result.clock);
  if (times == nullptr) {
    row.insert(row.end(), 8, nothing);
  } else {
    row.push_back(number(times->median * 1e3, "{:.3f}"));
    row.push_back(harness::Cell(rounded(times->width()), fmt::format("{:.1f}%", times->width() * 100)));
    row.push_back(entry.rate.bytes > 0 ? number(entry.rate.bytes / 1e9, "{:.1f}") : nothing);
    row.push_back(entry.rate.operations > 0 ? number(entry.rate.operations / 1e9, "{:.1f}") : nothing);
    row.push_back(entry.share ? harness::Cell(rounded(*entry.share), fmt::format("{:.1f}%", *entry.share * 100))
                              : nothing);
    row.push_back(number(entry.call->median * 1e3, "{:.3f}"));
    row.push_back(u64{times->samples});
    row.push_back(entry.rank > 0 ? harness::Cell(entry.rank) : nothing);
  }
  row.emplace_back(entry.status == Status::right ? name_of(result.strength) : name(entry.status));
  std::string note = entry.status == Status::right ? entry.how : entry.reason;
  if (times != nullptr && entry.stop == Stop::time_up) note = "time up; " + note;
  row.emplace_back(note);
  return row;
}

Json case_json(const CaseResult& result) {
  Json json{{"label", result.label},
            {"case", result.text},
            {"op", result.op},
            {"shapes", result.shapes},
            {"bytes", integer(result.work.bytes)},
            {"operations", integer(result.work.operations)},
            {"elements", result.elements},
            {"limit", name(result.limit)},
            {"check", name(result.strength)},
            {"clock", name(result.clock)},
            {"cache", name(result.cache)},
            {"checking_ms", rounded(result.checking * 1e3)},
            {"measuring_ms", rounded(result.measuring * 1e3)},
            {name(result.reference_role), result.reference}};
  json["contestants"] = Json::array();
  for (const Entry& entry : result.entries) json["contestants"].push_back(json_of(entry, result.reference_role));
  return json;
}

Json settings_json(const Report& report) {
  const Rules& rules = report.settings.rules;
  return {{"suite", report.suite},
          {"quick", report.quick},
          {"seed", report.settings.seed},
          {"cache", name(report.settings.cache)},
          {"cache_bytes", report.cache_bytes},
          {"min_seconds", rounded(rules.min_seconds)},
          {"max_seconds", rounded(rules.max_seconds)},
          {"warm_up_seconds", rounded(rules.warm_up_seconds)},
          {"width", rules.width},
          {"min_samples", rules.min_samples}};
}

/// Contestants that took part in some case, in the order of the first that has them.
std::vector<std::string> columns_of(const Json& cases) {
  std::vector<std::string> names;
  for (const Json& result : cases)
    for (const Json& entry : result.at("contestants")) {
      const auto& name = entry.at("name").get_ref<const std::string&>();
      const bool known = std::ranges::find(names, name) != names.end();
      if (entry.at("status") != "absent" && !known) names.push_back(name);
    }
  return names;
}

std::string rate_text(const Json& result, const Json* entry) {
  if (entry == nullptr || entry->at("status") == "absent") return "";
  if (entry->at("status") != "right") return text_at(*entry, "status");
  const char* const unit = is_arithmetic(result) ? "gflop_per_second" : "gb_per_second";
  if (!entry->contains(unit)) return "";
  const double value = number_at(*entry, unit);
  const std::string rate = fmt::format(fmt::runtime(value < 100 ? "{:.1f}" : "{:.0f}"), value);
  if (entry->at("role") != "ours") return rate;
  const auto share = share_of(*entry);
  return share ? fmt::format("**{}** ({:.0f}%)", rate, *share * 100) : rate;
}

/// "GB/s (read + written)" and "GFLOP/s", or both where the cases are of both kinds.
std::string title_of(const Json& cases) {
  const bool arithmetic = std::ranges::any_of(cases, is_arithmetic);
  const bool memory = !std::ranges::all_of(cases, is_arithmetic);
  if (arithmetic && memory) return "GFLOP/s, or GB/s where it says so";
  return arithmetic ? "GFLOP/s" : "GB/s (read + written)";
}

/// What is in brackets, in words.
std::string bracket_text(const Json& cases) {
  std::string text;
  for (const auto& [role, words] : {std::pair(Role::copy, "the copy"), std::pair(Role::read, "reading alone"),
                                    std::pair(Role::peak, "arithmetic alone")})
    if (std::ranges::any_of(cases,
                            [member = name(role)](const Json& c) { return c.contains(member) && c[member] != ""; }))
      text += (text.empty() ? "share of " : " or ") + std::string(words);
  return text;
}

std::string markdown_table(const Json& cases) {
  const std::vector<std::string> names = columns_of(cases);
  std::vector<std::string> titles{title_of(cases)};
  const bool mixed = titles.front().find("where") != std::string::npos;
  titles.insert(titles.end(), names.begin(), names.end());
  harness::Table table(titles);
  for (const Json& result : cases) {
    const char* const unit = mixed && !is_arithmetic(result) ? " (GB/s)" : "";
    std::vector<harness::Cell> row{label_of(result) + unit};
    for (const std::string& name : names) row.emplace_back(rate_text(result, find_contestant(result, name)));
    table.add(std::move(row));
  }
  return table.text(harness::Format::md);
}

/// What was measured on, as far as the document says.
std::string circumstances(const Json& document) {
  std::string text;
  for (const char* pointer : {"/environment/device/name", "/environment/host/cpu", "/environment/device/api_version",
                              "/before/card/driver_version", "/before/time"}) {
    const Json::json_pointer at(pointer);
    if (document.contains(at)) text += document[at].get<std::string>() + "; ";
  }
  return text;
}

}  // namespace

Json json_of(const Entry& entry, Role reference) {
  Json json{{"name", entry.name}, {"role", name(entry.role)}, {"status", name(entry.status)}};
  if (!entry.how.empty()) json["how"] = entry.how;
  if (!entry.reason.empty()) json["reason"] = entry.reason;
  if (!entry.call) return json;
  if (entry.device) json["device"] = times_json(*entry.device);
  json["call"] = times_json(*entry.call);
  if (entry.rate.bytes > 0) json["gb_per_second"] = rounded(entry.rate.bytes / 1e9);
  if (entry.rate.operations > 0) json["gflop_per_second"] = rounded(entry.rate.operations / 1e9);
  if (entry.share) json[share_key(reference)] = rounded(*entry.share);
  if (entry.rank > 0) json["rank"] = entry.rank;
  json["stopped"] = name(entry.stop);
  return json;
}

Json json_of(const Report& report) {
  Json json{{"schema", "axisloom-bench 1"},
            {"environment", report.environment},
            {"before", report.before},
            {"after", report.after},
            {"settings", settings_json(report)}};
  json["cases"] = Json::array();
  for (const CaseResult& result : report.cases) json["cases"].push_back(case_json(result));
  return json;
}

harness::Table table_of(std::span<const CaseResult> cases) {
  harness::Table table({"case", "cache", "contestant", "ms", "interval", "GB/s", "GFLOP/s", "share", "call_ms",
                        "samples", "rank", "check", "note"});
  for (const CaseResult& result : cases)
    for (const Entry& entry : result.entries)
      if (entry.status != Status::absent) table.add(row_of(result, entry));
  return table;
}

std::string markdown_of(const Json& document) {
  const Json& cases = document.at("cases");
  return fmt::format("{}\n{}in brackets: {} in the same run. Every result was checked.\n", markdown_table(cases),
                     circumstances(document), bracket_text(cases));
}

std::string text_of(const Report& report, harness::Format format) {
  switch (format) {
    case harness::Format::json:
      return harness::json_text(json_of(report));
    case harness::Format::md:
      return markdown_of(json_of(report));
    case harness::Format::table:
    case harness::Format::csv:
      break;
  }
  return table_of(report.cases).text(format);
}

}  // namespace axisloom::bench
