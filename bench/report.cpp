// The printers.
#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace axisloom::bench {
namespace {

/// To six digits: a file of noise is hard to read and to compare.
double rounded(double value) {
  if (value == 0) return 0;
  const double digits = 5 - std::floor(std::log10(std::abs(value)));
  const double scale = std::pow(10.0, std::abs(digits));  // a whole number, so that dividing by it rounds but once
  return digits < 0 ? std::round(value / scale) * scale : std::round(value * scale) / scale;
}

Document times_json(const Summary& summary) {
  return {{"median_ms", rounded(summary.median * 1e3)},
          {"low_ms", rounded(summary.low * 1e3)},
          {"high_ms", rounded(summary.high * 1e3)},
          {"samples", summary.samples}};
}

/// With that many decimals, or more where fewer than three digits would say something.
Cell number(double value, int decimals) {
  constexpr int telling = 3, most = 9;
  const int needed = value > 0 ? telling - 1 - int(std::floor(std::log10(value))) : 0;
  return {rounded(value), fmt::format("{:.{}f}", value, std::clamp(needed, decimals, most))};
}

Cell percent(double share) {
  return {rounded(share), fmt::format("{:.1f}%", share * 100)};
}

const Cell nothing{nullptr, ""};

bool has_telling_shares(const CaseResult& result) {
  double largest = 0;
  for (const Entry& entry : result.entries) largest = std::max(largest, entry.share.value_or(0));
  return is_telling(result.reference_role, largest);
}

std::vector<Cell> row_of(const CaseResult& result, const Entry& entry) {
  std::vector<Cell> row{result.label, name(result.cache), entry.name};
  const std::optional<Summary>& times = entry.by(result.clock);
  if (times)
    row.insert(row.end(),
               {number(times->median * 1e3, 3), percent(times->width()),
                entry.rate.bytes > 0 ? number(entry.rate.bytes / 1e9, 1) : nothing,
                entry.rate.operations > 0 ? number(entry.rate.operations / 1e9, 1) : nothing,
                entry.share && has_telling_shares(result) ? percent(*entry.share) : nothing,
                number(entry.call->median * 1e3, 3), u64{times->samples}, entry.rank > 0 ? Cell(entry.rank) : nothing});
  else
    row.insert(row.end(), 8, nothing);
  const bool right = entry.status == Status::right;
  row.emplace_back(right ? name(result.strength) : name(entry.status));
  row.emplace_back((times && entry.stop == Stop::time_up ? "time up; " : "") + (right ? entry.how : entry.reason));
  return row;
}

Document settings_json(const Report& report) {
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
Texts columns_of(const Document& cases) {
  Texts names;
  for (const Document& result : cases)
    for (const Document& entry : result.at("contestants"))
      if (entry.at("status") != "absent") add_once(names, text_at(entry, "name"));
  return names;
}

/// Whether Axisloom or a library did the case at that rate; copies and peaks are no answers to it.
bool takes_part(const Document& entry) {
  return entry.at("status") == "right" && (entry.at("role") == "ours" || entry.at("role") == "peer");
}

/// The highest rate of those who take part.
double best_rate(const Document& result) {
  double best = 0;
  for (const Document& entry : result.at("contestants"))
    if (takes_part(entry) && entry.contains(rate_key(result)))
      best = std::max(best, number_at(entry, rate_key(result)));
  return best;
}

std::string rate_text(const Document& result, const Document* entry) {
  if (entry == nullptr || entry->at("status") == "absent") return "";
  if (entry->at("status") != "right") return text_at(*entry, "status");
  const char* const unit = rate_key(result);
  if (!entry->contains(unit)) return "";
  const double value = number_at(*entry, unit);
  std::string rate = fmt::format("{:.{}f}", value, value < 100 ? 1 : 0);
  if (takes_part(*entry) && value >= best_rate(result)) rate = "**" + rate + "**";
  if (entry->at("role") != "ours") return rate;
  const std::string of_floor = share_key(Role::floor);
  const auto share =
      entry->contains(of_floor) ? std::optional(number_at(*entry, of_floor.c_str())) : telling_share(result, *entry);
  return share ? fmt::format("{} ({:.0f}%)", rate, *share * 100) : rate;
}

/// What is in brackets, in words.
std::string bracket_text(const Document& cases) {
  std::string text;
  for (const auto& [role, words] : {std::pair(Role::copy, "the copy"), std::pair(Role::read, "reading alone"),
                                    std::pair(Role::peak, "arithmetic alone")})
    if (std::ranges::any_of(cases, [member = name(role)](const Document& c) { return !c.value(member, "").empty(); }))
      text += (text.empty() ? "share of " : " or ") + std::string(words);
  return text;
}

std::string markdown_table(const Document& cases) {
  const bool arithmetic = std::ranges::any_of(cases, is_arithmetic);
  const bool mixed = arithmetic && !std::ranges::all_of(cases, is_arithmetic);
  const Texts names = columns_of(cases);
  Texts titles{mixed ? "GFLOP/s, or GB/s where it says so" : arithmetic ? "GFLOP/s" : "GB/s (read + written)"};
  titles.insert(titles.end(), names.begin(), names.end());
  Table table(titles);
  for (const Document& result : cases) {
    const char* const unit = mixed && !is_arithmetic(result) ? " (GB/s)" : "";
    std::vector<Cell> row{label_of(result) + unit};
    for (const std::string& name : names) row.emplace_back(rate_text(result, find_contestant(result, name)));
    table.add(std::move(row));
  }
  return table.text(Format::md);
}

/// What was measured on, as far as the document says.
std::string circumstances(const Document& document) {
  std::string text;
  for (const char* pointer : {"/environment/device/name", "/environment/host/cpu", "/environment/device/api_version",
                              "/before/card/driver_version", "/before/time"}) {
    const Document::json_pointer at(pointer);
    if (document.contains(at)) text += document[at].get<std::string>() + "; ";
  }
  return text;
}

}  // namespace

Document json_of(const Entry& entry, Role reference) {
  Document json{{"name", entry.name}, {"role", name(entry.role)}, {"status", name(entry.status)}};
  if (!entry.how.empty()) json["how"] = entry.how;
  if (!entry.reason.empty()) json["reason"] = entry.reason;
  if (!entry.call) return json;
  if (entry.device) json["device"] = times_json(*entry.device);
  json["call"] = times_json(*entry.call);
  if (entry.rate.bytes > 0) json["gb_per_second"] = rounded(entry.rate.bytes / 1e9);
  if (entry.rate.operations > 0) json["gflop_per_second"] = rounded(entry.rate.operations / 1e9);
  if (entry.share) json[share_key(reference)] = rounded(*entry.share);
  if (entry.share_of_floor) json[share_key(Role::floor)] = rounded(*entry.share_of_floor);
  if (entry.rank > 0) json["rank"] = entry.rank;
  json["stopped"] = name(entry.stop);
  return json;
}

Document json_of(const CaseResult& result) {
  Document json{{"label", result.label},
                {"case", result.text},
                {"op", result.op},
                {"shapes", result.shapes},
                {"bytes", i64(result.work.bytes)},
                {"operations", i64(result.work.operations)},
                {"elements", result.elements},
                {"limit", name(result.limit)},
                {"check", name(result.strength)},
                {"clock", name(result.clock)},
                {"cache", name(result.cache)},
                {"checking_ms", rounded(result.checking * 1e3)},
                {"measuring_ms", rounded(result.measuring * 1e3)},
                {name(result.reference_role), result.reference}};
  json["contestants"] = Document::array();
  for (const Entry& entry : result.entries) json["contestants"].push_back(json_of(entry, result.reference_role));
  return json;
}

Document json_of(const Report& report) {
  Document json{{"schema", "axisloom-bench 1"},
                {"environment", report.environment},
                {"before", report.before},
                {"after", report.after},
                {"settings", settings_json(report)}};
  json["cases"] = Document::array();
  for (const CaseResult& result : report.cases) json["cases"].push_back(json_of(result));
  return json;
}

Table table_of(std::span<const CaseResult> cases) {
  Table table({"case", "cache", "contestant", "ms", "interval", "GB/s", "GFLOP/s", "share", "call_ms", "samples",
               "rank", "check", "note"});
  for (const CaseResult& result : cases)
    for (const Entry& entry : result.entries)
      if (entry.status != Status::absent) table.add(row_of(result, entry));
  return table;
}

std::string markdown_of(const Document& document) {
  const Document& cases = document.at("cases");
  return fmt::format("{}\n{}in brackets: {} in the same run. Every result was checked.\n", markdown_table(cases),
                     circumstances(document), bracket_text(cases));
}

std::string text_of(const Report& report, Format format) {
  if (format == Format::json) return json_text(json_of(report));
  return format == Format::md ? markdown_of(json_of(report)) : table_of(report.cases).text(format);
}

}  // namespace axisloom::bench
