// The ladder's document, and everything that is made from it: tables, bars in a terminal, a chart as SVG.
#pragma once

#include "bench/ladder/ladder.hpp"
#include "harness/table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace axisloom::bench::ladder {

/// What a document is made of besides its lessons: objects as bench/environment.hpp makes them.
struct Surroundings {
  Json environment, before, after;
};
/// Schema "axisloom-ladder 1", see docs/ladder.md. `lessons`: what climb() returned.
Json document(std::string_view ladder, const Surroundings& surroundings, const Settings& settings, Json lessons);

/// A line of a view: a rung, the reference or a peer. Rates are in `Climbed::unit`; nothing where it has no times.
struct Row {
  enum class Kind { rung, reference, peer } kind = Kind::rung;
  std::string name, state, note, sentence, comparison;
  std::optional<double> milliseconds, gb_per_second, gflop_per_second, rate, share, speed_up;
};
struct Climbed {
  std::string title, case_text, check, clock, unit, reference;
  std::vector<Row> rows = {};
};
struct Picture {
  std::string ladder, device, time;
  std::vector<Climbed> lessons = {};
};
/// Throws Error(file) when the document is none of a ladder.
Picture picture_of(const Json& document);

/// As a table with bars and sentences, as markdown, or as one CSV table; JSON is the document itself.
std::string text_of(const Json& document, Format format);
/// Horizontal bars by lesson, the reference as a line; complete in itself, in light and dark.
std::string svg_of(const Json& document);

/// "12.3", "0.123": three digits or more.
std::string short_number(double value);

}  // namespace axisloom::bench::ladder
