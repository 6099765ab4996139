// How an error's parts become one message, and what each code means to the command line.
#include "core/text.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace axisloom {
namespace {

std::string circumstances(const ErrorParts& parts) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!parts.shapes.empty()) add(parts.shapes);
  if (!parts.device.empty()) add("on " + parts.device);
  if (!parts.call.empty()) add(parts.call + " failed" + (parts.native ? concat(" with ", parts.native) : ""));
  return text;
}

// A message of several lines (a pattern with a caret below it) must not be continued on its last line.
std::string compose(const ErrorParts& parts) {
  const bool multi_line = parts.message.find('\n') != parts.message.npos;
  std::string text = parts.op.empty() ? "" : parts.op + ": ";
  text += parts.message;
  if (const std::string details = circumstances(parts); !details.empty())
    text += multi_line ? "\n(" + details + ")" : " (" + details + ")";
  if (!parts.remedy.empty()) text += (multi_line ? "\n" : "; ") + parts.remedy;
  return text;
}

struct CodeRow {
  std::string_view name;
  int exit_code;
};

/// In the order of the enumeration, and behind it what stands for all that is not of it.
constexpr CodeRow code_rows[] = {{"usage", 2},      {"shape", 2},         {"dtype", 2},       {"axis", 2},
                                 {"pattern", 2},    {"overlap", 2},       {"unsupported", 5}, {"no_device", 3},
                                 {"file", 4},       {"out_of_memory", 5}, {"device", 5},      {"device_lost", 5},
                                 {"after_fork", 5}, {"unknown", 5}};
static_assert(size_t(Errc::after_fork) + 2 == std::size(code_rows));

const CodeRow& row(Errc code) {
  return code_rows[std::min(size_t(code), std::size(code_rows) - 1)];
}

}  // namespace

std::string_view name(Errc code) noexcept {
  return row(code).name;
}

int exit_code(Errc code) noexcept {
  return row(code).exit_code;
}

Error::Error(Errc code, ErrorParts parts) : std::runtime_error(compose(parts)), code_(code), parts_(std::move(parts)) {}

Error::Error(Errc code, std::string message, std::string remedy)
    : Error(code, ErrorParts{.message = std::move(message), .remedy = std::move(remedy)}) {}

Error Error::with(const ErrorParts& context) const {
  ErrorParts merged = parts_;
  for (const auto part : {&ErrorParts::message, &ErrorParts::op, &ErrorParts::shapes, &ErrorParts::device,
                          &ErrorParts::call, &ErrorParts::remedy})
    if ((merged.*part).empty()) merged.*part = context.*part;
  if (merged.native == 0) merged.native = context.native;
  return Error(code_, std::move(merged));
}

}  // namespace axisloom
