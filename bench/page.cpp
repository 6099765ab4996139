// The page: what is drawn and tabled, and the frame around it.
#include "bench/page.hpp"

#include "bench/svg.hpp"

#include "jit/jit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench {
namespace {

Role role_of(const Document& contestant) {
  for (Role role : {Role::ours, Role::copy, Role::floor, Role::read, Role::peak})
    if (contestant.at("role") == name(role)) return role;
  return Role::peer;
}

/// Of a rate that belongs to a median time: its interval goes the other way.
Bar bar_of(const Document& result, const Document& contestant) {
  const Document& times = *times_of(result, contestant);
  const double rate = number_at(contestant, rate_key(result)), median = number_at(times, "median_ms");
  return {text_at(contestant, "name"), role_of(contestant), rate, rate * median / number_at(times, "high_ms"),
          rate * median / number_at(times, "low_ms")};
}

/// Axisloom's rate over that of the fastest library; nothing where one of them is missing.
std::optional<double> ratio_of(const Document& result) {
  double ours = 0, best = 0;
  for (const Document& contestant : result.at("contestants")) {
    if (!contestant.contains(rate_key(result)) || contestant.at("status") != "right") continue;
    const double rate = number_at(contestant, rate_key(result));
    if (contestant.at("name") == "axisloom") ours = rate;
    if (role_of(contestant) == Role::peer) best = std::max(best, rate);
  }
  return ours > 0 && best > 0 ? std::optional(ours / best) : std::nullopt;
}

/// What a case is looked for by.
std::string words_of_case(const Document& result) {
  return escaped_html(label_of(result) + " " + text_at(result, "case"));
}

std::string chart_of(const Document& result, const std::string& id) {
  BarChart chart{id, label_of(result), is_arithmetic(result) ? "GFLOP/s" : "GB/s", {}, {}};
  std::string out;
  for (const Document& contestant : result.at("contestants")) {
    if (contestant.contains(rate_key(result)) && times_of(result, contestant) != nullptr)
      chart.bars.push_back(bar_of(result, contestant));
    else if (contestant.at("status") == "WRONG" || contestant.at("status") == "failed")
      out += (out.empty() ? "" : ", ") + text_at(contestant, "name") + " " + text_at(contestant, "status");
  }
  const Document* const reference = reference_of(result);
  if (reference != nullptr && reference->contains(rate_key(result)))
    chart.ceiling = number_at(*reference, rate_key(result));
  const std::string note = out.empty() ? "" : fmt::format(" <strong>{}</strong>", escaped_html(out));
  const std::optional<double> ratio = ratio_of(result);
  return fmt::format("<figure data-case=\"{}\" data-ratio=\"{}\"><figcaption>{}{}</figcaption>\n{}</figure>\n",
                     words_of_case(result), ratio ? fmt::format("{:.4g}", *ratio) : "", escaped_html(chart.title), note,
                     chart.bars.empty() ? "" : svg_of(chart));
}

/// A cell of a number, which there need not be.
std::string cell(const std::string& number) {
  return number.empty() ? "<td></td>" : "<td class=\"n\">" + number + "</td>";
}

/// Empty where a contestant lacks the member.
std::string number_cell(const Document& contestant, const char* key) {
  return cell(contestant.contains(key) ? short_number(number_at(contestant, key)) : "");
}

std::string time_cells(const Document* times) {
  if (times == nullptr) return cell("") + cell("");
  const double median = number_at(*times, "median_ms");
  const double width = (number_at(*times, "high_ms") - number_at(*times, "low_ms")) / median;
  return cell(fmt::format("{:.3f}", median)) + cell(fmt::format("{:.1f}%", width * 100));
}

std::string table_row(const Document& result, const Document& contestant) {
  const bool right = contestant.at("status") == "right";
  const auto share = telling_share(result, contestant);
  return fmt::format("<tr class=\"{}\"><th scope=\"row\">{}</th>{}{}{}{}{}<td>{}</td><td class=\"how\">{}</td></tr>\n",
                     text_at(contestant, "role"), escaped_html(text_at(contestant, "name")),
                     time_cells(times_of(result, contestant)), number_cell(contestant, "gb_per_second"),
                     number_cell(contestant, "gflop_per_second"),
                     cell(share ? fmt::format("{:.1f}%", *share * 100) : ""),
                     cell(contestant.contains("rank") ? contestant.at("rank").dump() : ""),
                     escaped_html(text_at(right ? result : contestant, right ? "check" : "status")),
                     escaped_html(contestant.value(right ? "how" : "reason", "")));
}

/// The heads of columns; a # at the end is of numbers.
std::string heads(std::initializer_list<std::string_view> columns) {
  std::string text = "<thead><tr>";
  for (std::string_view column : columns) {
    const bool numbers = column.ends_with('#');
    if (numbers) column.remove_suffix(1);
    text += fmt::format("<th scope=\"col\"{}>{}</th>", numbers ? " class=\"n\"" : "", column);
  }
  return text + "</tr></thead>\n";
}

std::string table_of_cases(const Document& document, const std::string& caption) {
  std::string text = fmt::format(
      "<details open><summary>{0}</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\">\n<table>\n",
      escaped_html(caption));
  text += heads({"contestant", "ms#", "interval#", "GB/s#", "GFLOP/s#", "share#", "rank#", "check", "what was called"});
  for (const Document& result : document.at("cases")) {
    text +=
        fmt::format("<tbody data-case=\"{}\"><tr><th colspan=\"9\" scope=\"rowgroup\">{} <code>{}</code></th></tr>\n",
                    words_of_case(result), escaped_html(label_of(result)), escaped_html(text_at(result, "case")));
    for (const Document& contestant : result.at("contestants"))
      if (contestant.at("status") != "absent") text += table_row(result, contestant);
    text += "</tbody>\n";
  }
  return text + "</table></div></details>\n";
}

/// Those who could not take part in some case, and why.
std::string absent_of(const Document& document) {
  Texts lines;
  for (const Document& result : document.at("cases"))
    for (const Document& contestant : result.at("contestants")) {
      if (contestant.at("status") != "absent" || is_reference(role_of(contestant))) continue;
      add_once(lines, text_at(contestant, "name") + ": " + text_at(contestant, "reason"));
    }
  if (lines.empty()) return {};
  std::string text = "<details><summary>Who did not take part in some case, and why</summary><ul>\n";
  for (const std::string& line : lines) text += fmt::format("<li>{}</li>\n", escaped_html(line));
  return text + "</ul></details>\n";
}

std::string circumstances_of(const Document& document) {
  static constexpr std::pair<const char*, const char*> known[] = {{"suite", "/settings/suite"},
                                                                  {"begun", "/before/time"},
                                                                  {"ended", "/after/time"},
                                                                  {"host", "/environment/host/cpu"},
                                                                  {"system", "/environment/host/system"},
                                                                  {"device", "/environment/device/name"},
                                                                  {"API", "/environment/device/api_version"},
                                                                  {"driver", "/environment/device/driver"},
                                                                  {"clock of the card", "/before/card/clocks.sm"},
                                                                  {"axisloom", "/environment/axisloom"}};
  std::string text = "<dl>\n";
  for (const auto& [words, pointer] : known) {
    const Document::json_pointer at(pointer);
    const std::string value = document.contains(at) && document[at].is_string() ? document[at].get<std::string>() : "";
    if (!value.empty()) text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", words, escaped_html(value));
  }
  return text + "</dl>\n";
}

std::string section_of(const NamedDocument& named, size_t number) {
  const std::string suite = text_at(named.document.at("settings"), "suite");
  std::string text =
      fmt::format("<section aria-labelledby=\"d{0}\"><h3 id=\"d{0}\">Suite {1} <small>{2}</small></h3>\n", number,
                  escaped_html(suite), escaped_html(named.name));
  text += circumstances_of(named.document) + "<div class=\"charts\">\n";
  size_t chart = 0;
  for (const Document& result : named.document.at("cases"))
    text += chart_of(result, fmt::format("d{}c{}", number, chart++));
  return text + "</div>\n" + table_of_cases(named.document, "All results of the suite " + suite) +
         absent_of(named.document) + "</section>\n";
}

/// Everybody who is a point of some roofline, in the order in which they come, so that each looks the same in all.
Texts series_of(std::span<const NamedDocument> documents) {
  Texts names;
  for (const NamedDocument& named : documents)
    for (const Document& result : named.document.at("cases"))
      for (const Document& contestant : result.at("contestants"))
        if (contestant.contains("gflop_per_second") && !is_reference(role_of(contestant)))
          add_once(names, text_at(contestant, "name"));
  return names;
}

/// "FMA of f32" of "FMA of f32 in registers".
std::string arithmetic_of(const Document& peak) {
  const auto how = text_at(peak, "how");
  return how.substr(0, how.find(" in "));
}

/// The contestants of a case as points. What its references say of the device are ceilings: of memory only where no
/// cache held the arrays.
void add_case(const Document& result, Roofline& roofline) {
  auto& ceilings = roofline.ceilings;
  const double operations = result.value("operations", 0.0), bytes = number_at(result, "bytes");
  for (const Document& contestant : result.at("contestants")) {
    const Role role = role_of(contestant);
    const bool by_memory = role == Role::copy || role == Role::read;
    const char* const key = by_memory ? "gb_per_second" : "gflop_per_second";
    if (!contestant.contains(key)) continue;
    const double rate = number_at(contestant, key);
    if (is_reference(role)) {
      if (by_memory && cache_of(result) == "warm") continue;
      const std::string its_name = by_memory ? name(role) : arithmetic_of(contestant);
      auto ceiling = std::ranges::find(ceilings, its_name, &Roofline::Ceiling::name);
      if (ceiling == ceilings.end()) ceiling = ceilings.insert(ceiling, {its_name, 0, by_memory});
      ceiling->value = std::max(ceiling->value, rate);
    } else if (operations > 0 && bytes > 0) {
      roofline.points.push_back({text_at(contestant, "name"), label_of(result), operations / bytes, rate});
    }
  }
}

std::string table_of_points(const Roofline& roofline) {
  std::string text =
      "<details><summary>The figures of the roofline</summary>\n<div class=\"scroll\" tabindex=\"0\" "
      "role=\"region\" aria-label=\"The figures of the roofline\"><table>\n";
  text += heads({"case", "contestant", "operations per byte#", "GFLOP/s#"}) + "<tbody>\n";
  for (const auto& point : roofline.points)
    text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                        escaped_html(point.label), escaped_html(point.series), short_number(point.intensity),
                        short_number(point.gflops));
  return text + "</tbody></table></div></details>\n";
}

std::string roofline_of(std::span<const NamedDocument> documents, const std::string& device, size_t number) {
  Roofline roofline{concat("r", number), "Roofline of " + device, series_of(documents), {}, {}};
  for (const NamedDocument& named : documents)
    for (const Document& result : named.document.at("cases"))
      if (device_name(named.document) == device) add_case(result, roofline);
  if (roofline.points.empty())
    return "<p>No case here does arithmetic: its only ceiling is the reference of its own chart.</p>\n";
  return fmt::format(
      "<figure class=\"wide\"><figcaption>{}. Slopes: what copying and reading reach on arrays that no cache holds. "
      "Roofs: what arithmetic alone reaches. What only reads, or lies in a cache, may be above the slope of "
      "copying.</figcaption>\n{}</figure>\n{}",
      escaped_html(roofline.title), svg_of(roofline), table_of_points(roofline));
}

Texts devices_of(std::span<const NamedDocument> documents) {
  Texts names;
  for (const NamedDocument& named : documents) add_once(names, device_name(named.document));
  return names;
}

std::string contents_of(std::span<const NamedDocument> documents) {
  std::string text = "<nav aria-label=\"Contents\"><ul>\n";
  for (size_t i = 0; i < documents.size(); ++i)
    text += fmt::format("<li><a href=\"#d{}\">{}: {}</a></li>\n", i, escaped_html(device_name(documents[i].document)),
                        escaped_html(text_at(documents[i].document.at("settings"), "suite")));
  return text + "</ul></nav>\n";
}

constexpr const char* controls =
    "<form class=\"controls\" hidden onsubmit=\"return false\">\n<label>Find cases <input type=\"search\" "
    "placeholder=\"f32 1024 cold\"></label>\n<label>Order <select><option value=\"0\">as measured</option><option "
    "value=\"1\">slowest beside the best library first</option><option value=\"-1\">fastest beside it "
    "first</option></select></label>\n<output></output>\n<span><span class=\"key ours\">Axisloom</span> <span "
    "class=\"key "
    "peer\">others</span> <span class=\"key reference\">references</span></span>\n</form>\n";

constexpr const char* explanation =
    "<p>Rates of right results, each checked in the same run. Bars: <span class=\"key ours\">Axisloom</span>, "
    "<span class=\"key peer\">other libraries</span>, <span class=\"key reference\">references</span>, which do not do "
    "the job: "
    "the dashed line is the one that shares refer to. A thin line through the end of a bar is the 95% interval of the "
    "median. GB/s count bytes read plus bytes written.</p>\n";

}  // namespace

std::string page_of(std::span<const NamedDocument> documents) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>Axisloom: "
      "measurements</title>\n<style>\n{}</style>\n</head>\n"
      "<body>\n<header><h1>Axisloom: measurements</h1>\n{}{}</header>\n{}<main>\n",
      jit::embedded("bench/page.css"), explanation, contents_of(documents), controls);
  const Texts devices = devices_of(documents);
  for (size_t d = 0; d < devices.size(); ++d) {
    text += fmt::format("<section aria-labelledby=\"v{0}\"><h2 id=\"v{0}\">{1}</h2>\n", d, escaped_html(devices[d]));
    text += roofline_of(documents, devices[d], d);
    for (size_t i = 0; i < documents.size(); ++i)
      if (device_name(documents[i].document) == devices[d]) text += section_of(documents[i], i);
    text += "</section>\n";
  }
  return text + fmt::format("</main>\n<script>\n{}</script>\n</body>\n</html>\n", jit::embedded("bench/page.js"));
}

}  // namespace axisloom::bench
