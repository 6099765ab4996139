// Ratios with intervals, and verdicts by them.
#include "bench/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace axisloom::bench {
namespace {

Estimate estimate_of(const Document& times) {
  return {number_at(times, "median_ms") * 1e-3, number_at(times, "low_ms") * 1e-3, number_at(times, "high_ms") * 1e-3};
}

/// Axisloom's figures in a case.
struct Figures {
  Estimate seconds;
  std::optional<Estimate> in_references;  // its time by the reference's
  std::optional<double> share;
};

/// Nothing when it has no right result.
std::optional<Figures> figures_of(const Document& result) {
  const Document* const ours = find_contestant(result, "axisloom");
  const Document* const times = ours == nullptr ? nullptr : times_of(result, *ours);
  if (times == nullptr) return std::nullopt;
  Figures figures{estimate_of(*times), std::nullopt, share_of(*ours)};
  const Document* const reference = reference_of(result);
  const Document* const its_times = reference == nullptr ? nullptr : times_of(result, *reference);
  if (its_times != nullptr && figures.share) figures.in_references = quotient(figures.seconds, estimate_of(*its_times));
  return figures;
}

const Document* find_case(const Document& document, const Document& like) {
  const std::string wanted = cache_of(like);
  for (const Document& result : document.at("cases")) {
    const std::string cache = cache_of(result);
    // Documents from before warm and cold were told apart were measured without emptying the cache.
    const bool same_cache =
        cache == wanted || (cache.empty() && wanted != "cold") || (wanted.empty() && cache != "cold");
    if (same_cache && result.at("case") == like.at("case")) return &result;
  }
  return nullptr;
}

Change change_of(const Document* before, const Document& after, double threshold) {
  Change change{label_of(after), text_at(after, "case")};
  const auto old_figures = before == nullptr ? std::nullopt : figures_of(*before), new_figures = figures_of(after);
  const auto of_share = [](const std::optional<Figures>& figures) { return !figures || figures->in_references; };
  change.of_share = after.at("clock") == "call" && of_share(old_figures) && of_share(new_figures);
  const auto shown = [&](const Figures& figures) { return change.of_share ? *figures.share : figures.seconds.median; };
  if (old_figures) change.before = shown(*old_figures);
  if (new_figures) change.after = shown(*new_figures);
  change.verdict = new_figures ? Verdict::added : Verdict::broken;
  if (!old_figures || !new_figures) return change;
  change.ratio = change.of_share ? quotient(*new_figures->in_references, *old_figures->in_references)
                                 : quotient(new_figures->seconds, old_figures->seconds);
  change.verdict = judged(*change.ratio, threshold);
  return change;
}

Cell figure(const std::optional<double>& value, bool of_share) {
  if (!value) return {nullptr, ""};
  return of_share ? Cell(*value, fmt::format("{:.1f}%", *value * 100)) : seconds_cell(*value);
}

Cell factor(const std::optional<Estimate>& ratio, double Estimate::*which) {
  if (!ratio) return {nullptr, ""};
  const double value = (*ratio).*which;
  return {value, fmt::format("{:.3f}", value)};
}

/// "3 FASTER, 40 SAME".
std::string tally(const Comparison& comparison) {
  std::string text;
  for (int v = 0; v <= int(Verdict::broken); ++v) {
    const auto verdict = Verdict(v);
    const auto count = std::ranges::count(comparison.changes, verdict, &Change::verdict);
    if (count > 0) text += concat(text.empty() ? "" : ", ", count, " ", name(verdict));
  }
  return text.empty() ? "no cases" : text;
}

}  // namespace

const char* name(Verdict verdict) noexcept {
  return std::array{"FASTER", "SLOWER", "SAME", "UNCLEAR", "MISSING", "NEW", "BROKEN"}[size_t(verdict)];
}

Estimate quotient(const Estimate& above, const Estimate& below) {
  const auto distance = [](double a, double b) { return std::log(a / b); };
  const double down = std::hypot(distance(above.median, above.low), distance(below.high, below.median));
  const double up = std::hypot(distance(above.high, above.median), distance(below.median, below.low));
  const double ratio = above.median / below.median;
  return {ratio, ratio * std::exp(-down), ratio * std::exp(up)};
}

Verdict judged(const Estimate& ratio, double threshold) {
  const double most = 1 + threshold, least = 1 / most;
  if (ratio.low >= least && ratio.high <= most) return Verdict::same;
  if (ratio.median > most && ratio.low > 1) return Verdict::slower;
  if (ratio.median < least && ratio.high < 1) return Verdict::faster;
  return Verdict::unclear;
}

bool Comparison::regression() const noexcept {
  return std::ranges::any_of(changes, [](const Change& change) {
    return change.verdict == Verdict::slower || change.verdict == Verdict::broken;
  });
}

Comparison compared(const Document& before, const Document& after, double threshold) {
  Comparison comparison{device_name(before), device_name(after), threshold, {}};
  for (const Document& result : after.at("cases"))
    comparison.changes.push_back(change_of(find_case(before, result), result, threshold));
  for (const Document& result : before.at("cases"))
    if (find_case(after, result) == nullptr)
      comparison.changes.push_back({label_of(result), text_at(result, "case"), Verdict::missing});
  return comparison;
}

std::string text_of(const Comparison& comparison, Format format) {
  Table table({"case", "verdict", "by", "before", "after", "time_ratio", "low", "high"});
  for (const Change& change : comparison.changes)
    table.add({change.label, name(change.verdict),
               !change.before && !change.after ? ""
               : change.of_share               ? "share"
                                               : "seconds",
               figure(change.before, change.of_share), figure(change.after, change.of_share),
               factor(change.ratio, &Estimate::median), factor(change.ratio, &Estimate::low),
               factor(change.ratio, &Estimate::high)});
  const bool for_people = format == Format::table || format == Format::md;
  return for_people ? fmt::format("{}\n{}; threshold {:g}%\n", table.text(format), tally(comparison),
                                  comparison.threshold * 100)
                    : table.text(format);
}

}  // namespace axisloom::bench
