// Compiled-in constants of a kernel as #define lines.
#include <algorithm>
#include <limits>

#include "core/integers.hpp"
#include "core/text.hpp"
#include "jit/jit.hpp"

namespace axisloom::jit {
namespace {

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return core::is_letter(c) || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || core::is_digit(c); });
}

/// A literal that means the same number wherever it is expanded; the lowest one cannot be written as a literal.
std::string literal(i64 value) {
  if (value >= 0) return std::to_string(value);
  const bool lowest = value == std::numeric_limits<i64>::min();
  return concat("(", lowest ? value + 1 : value, lowest ? "-1)" : ")");
}

auto place_of(auto& values, std::string_view name) {
  return std::ranges::lower_bound(values, name, {}, [](const auto& value) { return std::string_view(value.first); });
}

}  // namespace

Defines& Defines::set(std::string_view name, i64 value) {
  return set(name, literal(value));
}

Defines& Defines::set(std::string_view name, std::string_view token) {
  const auto refuse = [&](const std::string& before, const std::string& after) {
    throw Error(Errc::usage, concat(before, name, after));
  };
  if (!is_identifier(name)) refuse("\"", "\" cannot be the name of a kernel constant");
  if (token.find_first_of("\n\r\\") != token.npos)
    refuse("the value of the kernel constant ", " does not fit on one line");
  const auto at = place_of(values_, name);
  if (at == values_.end() || at->first != name)
    values_.emplace(at, name, token);
  else if (at->second != token)
    refuse("the kernel constant ", concat(" is ", at->second, " and cannot become ", token));
  return *this;
}

const std::string* Defines::find(std::string_view name) const {
  const auto at = place_of(values_, name);
  return at == values_.end() || at->first != name ? nullptr : &at->second;
}

std::string Defines::text() const {
  std::string text;
  for (const auto& [name, value] : values_) text += concat("#define ", name, " ", value, "\n");
  return text;
}

}  // namespace axisloom::jit
