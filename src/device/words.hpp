// Sentences with numbers in them.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

namespace axisloom::device {

/// The parts in one text, numbers as decimal digits.
template <typename... Parts>
std::string in_words(const Parts&... parts) {
  std::string text;
  const auto add = [&text]<typename Part>(const Part& part) {
    if constexpr (std::is_arithmetic_v<Part>)
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

}  // namespace axisloom::device
