// Small questions about text. Not <cctype>: its answers depend on the locale.
#pragma once

#include "core/integers.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace axisloom {

/// The parts one after the other: text and characters as they are, numbers in decimal.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  const auto add = [&text]<class Part>(const Part& part) {
    if constexpr (std::is_arithmetic_v<Part> && !std::same_as<Part, char>)
      text += std::to_string(part);
    else
      text += part;
  };
  (add(parts), ...);
  return text;
}

/// The elements, or what `shown` makes of each, as concat writes them, with the separator between them.
template <class Range = std::vector<std::string>, class Shown = std::identity>
std::string joined(const Range& range, std::string_view separator, const Shown& shown = {}) {
  std::string text;
  std::string_view between;
  for (const auto& element : range) {
    text += concat(between, std::invoke(shown, element));
    between = separator;
  }
  return text;
}

/// "+3", "-3"; nothing for 0.
inline std::string offset_text(i64 offset) {
  return offset == 0 ? "" : concat(offset > 0 ? "+" : "", offset);
}

namespace core {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// In ASCII.
inline std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return text;
}

/// Takes the part before the first separator off a text, and the separator with it; all of it where there is none.
constexpr std::string_view take_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// The whole of a text as a decimal number, or nothing.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

/// Without the blanks around it.
constexpr std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// What stands between commas; one part, perhaps empty, where there are none.
inline std::vector<std::string_view> comma_separated(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size(); begin += parts.back().size() + 1)
    parts.push_back(text.substr(begin, text.find(',', begin) - begin));
  return parts;
}

}  // namespace core
}  // namespace axisloom
