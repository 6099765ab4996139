// Small questions about text. Not <cctype>: its answers depend on the locale.
#pragma once

#include "core/integers.hpp"

#include <algorithm>
#include <concepts>
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

inline std::string joined(const std::vector<std::string>& texts, const char* separator) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : separator) + text;
  return all;
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
