// How an error's parts become one message, and what each code means to the command line.
#include "core/text.hpp"

#include <axisloom/error.hpp>

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
  const bool multi_line = parts.message.find('\n') != std::string::npos;
  std::string text = parts.op.empty() ? "" : parts.op + ": ";
  text += parts.message;
  if (const std::string details = circumstances(parts); !details.empty())
    text += multi_line ? "\n(" + details + ")" : " (" + details + ")";
  if (!parts.remedy.empty()) text += (multi_line ? "\n" : "; ") + parts.remedy;
  return text;
}

}  // namespace

std::string_view name(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case usage:
      return "usage";
    case overlap:
      return "overlap";
    case unsupported:
      return "unsupported";
    case no_device:
      return "no_device";
    case file:
      return "file";
    case out_of_memory:
      return "out_of_memory";
    case device:
      return "device";
    case device_lost:
      return "device_lost";
    case after_fork:
      return "after_fork";
  }
  return "unknown";
}

int exit_code(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case usage:
    case overlap:
      return 2;
    case no_device:
      return 3;
    case file:
      return 4;
    case unsupported:
    case out_of_memory:
    case device:
    case device_lost:
    case after_fork:
      return 5;
  }
  return 5;
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
