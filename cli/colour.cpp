// Codes of ECMA-48. NO_COLOR is that of no-color.org: any value but an empty one.
#include "cli/colour.hpp"

#include <unistd.h>

#include <cstdlib>

namespace axisloom::cli {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool is_coloured(int stream) {
  return isatty(stream) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::string painted(std::string_view text, Colour colour) {
  return std::string(colour == Colour::red ? "\x1b[1;31m" : "\x1b[1m").append(text) + "\x1b[0m";
}

std::string painted_label(std::string_view text, Colour colour) {
  const size_t end = text.find(':') + 1;  // 0: there is none
  return end == 0 ? std::string(text) : painted(text.substr(0, end), colour).append(text.substr(end));
}

}  // namespace axisloom::cli
