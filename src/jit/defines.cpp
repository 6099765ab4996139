// Compiled-in constants of a kernel as #define lines.
#include <cctype>
#include <limits>

#include "core/integers.hpp"
#include "jit/jit.hpp"

namespace axisloom::jit {
namespace {

bool is_identifier(const std::string& name) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (name.empty() || !letter(name.front())) return false;
  for (const char c : name) {
    if (!letter(c) && std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
}

/// A literal that means the same number wherever it is expanded; the lowest one cannot be written as a literal.
std::string literal(i64 value) {
  if (value >= 0) return std::to_string(value);
  if (value == std::numeric_limits<i64>::min()) return "(" + std::to_string(value + 1) + "-1)";
  return "(" + std::to_string(value) + ")";
}

}  // namespace

Defines& Defines::set(const std::string& name, i64 value) {
  return set(name, literal(value));
}

Defines& Defines::set(const std::string& name, const std::string& token) {
  if (!is_identifier(name)) throw Error(Errc::usage, "\"" + name + "\" cannot be the name of a kernel constant");
  if (token.find_first_of("\n\r\\") != std::string::npos) {
    throw Error(Errc::usage, "the value of the kernel constant " + name + " does not fit on one line");
  }
  const auto [at, inserted] = values_.emplace(name, token);
  if (!inserted && at->second != token) {
    throw Error(Errc::usage, "the kernel constant " + name + " is " + at->second + " and cannot become " + token);
  }
  return *this;
}

std::string Defines::text() const {
  std::string text;
  for (const auto& [name, value] : values_) text.append("#define ").append(name).append(" ").append(value).append("\n");
  return text;
}

}  // namespace axisloom::jit
