// Small questions about text. Not <cctype>: its answers depend on the locale.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace axisloom::core {

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

}  // namespace axisloom::core
