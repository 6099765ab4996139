// Checked calls: every OpenCL call goes through here and fails as an Error that names the call and the code.
#pragma once

#include "core/text.hpp"
#include "device/device.hpp"
#include "device/opencl/functions.hpp"

namespace axisloom::device::opencl {

/// "CL_INVALID_VALUE"; "unknown code" for one that is in no header.
std::string_view code_name(cl_int code) noexcept;
/// What a code means to the caller; the same code means different things from different calls.
Errc classify(std::string_view call, cl_int code) noexcept;
/// The error for a failed call; `parts` may bring a message, to which call and code are added, and a remedy.
Error call_error(const char* call, cl_int code, ErrorParts parts = {});

void check(const auto& entry, cl_int code) {
  if (code != CL_SUCCESS) throw call_error(entry.name, code);
}

/// Calls a function that returns its status.
void call(const auto& entry, const auto&... args) {
  require_same_process();
  check(entry, entry(args...));
}

/// Calls a function that returns a new object, and its status through the last argument.
auto create(const auto& entry, const auto&... args) {
  require_same_process();
  cl_int code = CL_SUCCESS;
  auto object = entry(args..., &code);
  check(entry, code);
  return object;
}

/// One value from a clGet...Info function; `from` are the arguments before the size.
template <typename Value>
Value query(const auto& entry, const auto&... from) {
  Value value{};
  call(entry, from..., sizeof(Value), &value, nullptr);
  return value;
}

/// As query, for what older devices do not know.
template <typename Value>
Value query_or(Value fallback, const auto& entry, const auto&... from) {
  require_same_process();
  Value value{};
  const cl_int code = entry(from..., sizeof(Value), &value, nullptr);
  return code == CL_SUCCESS ? value : fallback;
}

/// A list of values from a clGet...Info function.
template <typename Value>
std::vector<Value> query_list(const auto& entry, const auto&... from) {
  size_t bytes = 0;
  call(entry, from..., size_t{0}, nullptr, &bytes);
  std::vector<Value> values(bytes / sizeof(Value));
  if (!values.empty()) call(entry, from..., values.size() * sizeof(Value), values.data(), nullptr);
  return values;
}

/// Text from a clGet...Info function, without the closing zero and surrounding spaces.
std::string query_text(const auto& entry, const auto&... from) {
  const std::vector<char> chars = query_list<char>(entry, from...);
  std::string text(chars.begin(), chars.end());
  text.erase(std::min(text.find('\0'), text.size()));
  text.erase(text.find_last_not_of(" \t\n") + 1);
  text.erase(0, std::min(text.find_first_not_of(" \t\n"), text.size()));
  return text;
}

}  // namespace axisloom::device::opencl
