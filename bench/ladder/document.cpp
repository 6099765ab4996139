// The document, written and read.
#include "bench/document.hpp"
#include "bench/ladder/views.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

namespace axisloom::bench::ladder {
namespace {

constexpr const char* schema = "axisloom-ladder 1";

std::optional<double> number_if_any(const Json& json, const std::string& key) {
  return json.contains(key) ? std::optional(number_at(json, key)) : std::nullopt;
}

/// "tile access=4 items=256" where a rung forces something, else what Axisloom says of itself.
std::string kernel_of(const Json& rung) {
  std::string text = rung.value("candidate", "");
  if (text.empty()) return rung.value("how", "");
  for (const auto& [name, value] : rung.at("configuration").items())
    text += fmt::format(" {}={}", name, value.get<i64>());
  return text;
}

std::string note_of(const Json& entry, const std::string& usual_case) {
  const std::string state = text_at(entry, "status");
  if (state != "right") return (state == "absent" ? "refused" : state) + ": " + entry.value("reason", "");
  std::string note = entry.contains("candidate") ? kernel_of(entry) : entry.value("how", "");
  const std::string its_case = entry.value("case", "");
  if (!its_case.empty() && its_case != usual_case) note += "; the case is " + its_case;
  if (entry.value("stopped", "") == "time up") note = "time up; " + note;
  return note;
}

/// "Here 1.83 times as fast as naive."
std::string comparison_of(const Json& rung) {
  if (!rung.contains("speed_up")) return {};
  const double speed_up = number_at(rung, "speed_up");
  const std::string over = text_at(rung, "over"), effect = text_at(rung, "effect");
  if (effect == "unclear") return fmt::format("Here no clear difference to {}.", over);
  if (effect == "faster") return fmt::format("Here {:.2f} times as fast as {}.", speed_up, over);
  return fmt::format("Here slower: {:.2f} times the speed of {}.", speed_up, over);
}

Row row_of(const Json& entry, const Json& lesson, Row::Kind kind) {
  Row row;
  row.kind = kind;
  row.name = text_at(entry, "name");
  row.state = text_at(entry, "status");
  row.note = note_of(entry, text_at(lesson, "case"));
  row.sentence = entry.value("sentence", "");
  row.comparison = comparison_of(entry);
  const Json* const times = times_of(lesson, entry);
  if (times == nullptr) return row;
  row.milliseconds = number_at(*times, "median_ms");
  row.gb_per_second = number_if_any(entry, "gb_per_second");
  row.gflop_per_second = number_if_any(entry, "gflop_per_second");
  row.rate = lesson.at("limit") == "arithmetic" ? row.gflop_per_second : row.gb_per_second;
  row.share = share_of(entry);
  row.speed_up = number_if_any(entry, "speed_up");
  return row;
}

Climbed climbed_of(const Json& lesson) {
  Climbed climbed{.title = text_at(lesson, "title"),
                  .case_text = text_at(lesson, "case"),
                  .check = text_at(lesson, "check"),
                  .clock = text_at(lesson, "clock"),
                  .unit = lesson.at("limit") == "arithmetic" ? "GFLOP/s" : "GB/s",
                  .reference = text_at(lesson, "yardstick")};
  for (const Json& rung : lesson.at("rungs")) climbed.rows.push_back(row_of(rung, lesson, Row::Kind::rung));
  for (const Json& entry : lesson.at("beside")) {
    const bool reference = entry.at("name") == climbed.reference;
    if (entry.at("status") != "absent")
      climbed.rows.push_back(row_of(entry, lesson, reference ? Row::Kind::reference : Row::Kind::peer));
  }
  return climbed;
}

}  // namespace

Json document(std::string_view ladder, const Surroundings& surroundings, const Settings& settings, Json lessons) {
  return {{"schema", schema},
          {"ladder", ladder},
          {"environment", surroundings.environment},
          {"before", surroundings.before},
          {"after", surroundings.after},
          {"settings", {{"seed", settings.seed}, {"min_seconds", settings.rules.min_seconds}}},
          {"lessons", std::move(lessons)}};
}

Picture picture_of(const Json& document) try {
  if (!document.is_object() || !document.contains("schema") || document.at("schema") != schema)
    throw Error(Errc::file, "this is not a document of axisloom ladder", "give a file written by axisloom ladder");
  Picture picture{.ladder = text_at(document, "ladder"),
                  .device = text_at(document.at("environment").at("device"), "name"),
                  .time = text_at(document.at("before"), "time")};
  for (const Json& lesson : document.at("lessons")) picture.lessons.push_back(climbed_of(lesson));
  return picture;
} catch (const Json::exception& exception) {
  const std::string_view what = exception.what();  // "[json.exception.NAME.NUMBER] what is wrong"
  throw Error(Errc::file, concat("this is not a document of axisloom ladder: ", what.substr(what.find(' ') + 1)),
              "give a file written by axisloom ladder --format json");
}

}  // namespace axisloom::bench::ladder
