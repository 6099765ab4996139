// Expansion from left to right; a bound name is substituted in the rest of the line before that is expanded.
#include "harness/expand.hpp"

#include "core/checked.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace axisloom::harness {
namespace {

constexpr std::ptrdiff_t most_braces = 100;  // each is one call deeper

using Bindings = std::map<std::string, std::string, std::less<>>;

[[noreturn]] void refuse_brace(std::string_view brace) {
  refuse("write a list {a,b}, a range {1..70} or {1..9..2}, a named one {c=1..67}, or a use of it {c}, {c/32}",
         "cannot read {{{}}} in a case", brace);
}

i64 number(std::string_view text, std::string_view brace) {
  const auto value = parse_integer(text);
  if (!value) refuse_brace(brace);
  return *value;
}

void require_few(u64 cases, std::string_view text) {
  if (cases > most_cases_of_line)
    refuse("write fewer to a line", "\"{}\" stands for more than {} cases", text, most_cases_of_line);
}

Texts range(std::string_view text, std::string_view brace) {
  const size_t dots = text.find("..");
  const size_t step_dots = text.find("..", dots + 2);
  const i64 first = number(text.substr(0, dots), brace);
  const i64 last = number(text.substr(dots + 2, step_dots - dots - 2), brace);
  const i64 step = step_dots == std::string_view::npos ? 1 : number(text.substr(step_dots + 2), brace);
  if (step <= 0 || last < first) refuse_brace(brace);
  // Without a sign the distance of any two fits.
  const u64 distance = u64(last) - first;
  const u64 steps = distance / step;
  require_few(steps, brace);
  Texts values;
  for (u64 i = 0; i <= steps; ++i) values.push_back(std::to_string(i64(first + i * step)));
  return values;
}

Texts list(std::string_view text, std::string_view brace) {
  Texts values;
  for (const auto item : split(text, text.find(';') == std::string_view::npos ? "," : ";")) {
    if (item.find("..") == std::string_view::npos) {
      values.emplace_back(item);
    } else {
      for (auto& value : range(item, brace)) values.push_back(std::move(value));
    }
    require_few(values.size(), brace);
  }
  return values;
}

// "{c/32}" and the like, for a name bound further left; nothing when the brace begins with no such name.
std::optional<std::string> computed(std::string_view brace, const Bindings& bindings) {
  const size_t end = brace.find_first_of("/*+");
  const auto bound = bindings.find(brace.substr(0, end));
  if (bound == bindings.end()) return std::nullopt;
  if (end == std::string_view::npos) return bound->second;
  const i64 left = number(bound->second, brace);
  const std::string_view rest = brace.substr(end + 1);
  const auto other = bindings.find(rest);
  const i64 right = number(other == bindings.end() ? rest : other->second, brace);
  if (brace[end] == '/' && right <= 0) refuse_brace(brace);
  const i64 value = brace[end] == '/'   ? left / right + (left % right > 0 ? 1 : 0)
                    : brace[end] == '*' ? core::checked_mul(left, right, "a product in braces")
                                        : core::checked_add(left, right, "a sum in braces");
  return std::to_string(value);
}

// "c" of "c=1..67"; empty for a brace without a name.
std::string_view binding_name(std::string_view brace) {
  const size_t equals = brace.find('=');
  return equals == std::string_view::npos ? "" : brace.substr(0, equals);
}

void expand_into(const std::string& done, std::string_view rest, const Bindings& bindings, Texts& lines) {
  const size_t open = rest.find('{');
  if (open == std::string_view::npos) {
    lines.push_back(done + std::string(rest));
    require_few(lines.size(), lines.front());
    return;
  }
  const size_t close = rest.find('}', open);
  if (close == std::string_view::npos) refuse_brace(rest.substr(open + 1));
  const std::string before = done + std::string(rest.substr(0, open));
  const std::string_view brace = rest.substr(open + 1, close - open - 1);
  const std::string_view after = rest.substr(close + 1);
  if (const auto value = computed(brace, bindings)) return expand_into(before + *value, after, bindings, lines);
  const std::string_view name = binding_name(brace);
  for (const auto& value : list(name.empty() ? brace : brace.substr(name.size() + 1), brace)) {
    Bindings inner = bindings;
    if (!name.empty()) inner[std::string(name)] = value;
    expand_into(before + value, after, inner, lines);
  }
}

}  // namespace

Texts expand(std::string_view line) {
  if (std::ranges::count(line, '{') > most_braces)
    refuse("write several lines", "a line of more than {} braces", most_braces);
  Texts lines;
  expand_into("", line, {}, lines);
  if (!line.starts_with("with ")) return lines;
  for (std::string& expanded : lines) {
    const size_t end = expanded.find(": ");
    if (end == std::string::npos) refuse("write with {c=1..9}: and the case", "\"{}\" lacks a colon", line);
    expanded.erase(0, end + 2);
  }
  return lines;
}

}  // namespace axisloom::harness
