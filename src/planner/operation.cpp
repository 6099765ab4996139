// Operations as values, and their text as it would be typed.
#include <axisloom/ops.hpp>

#include "core/text.hpp"

#include <algorithm>

namespace axisloom {
namespace {

// Quoted unless a shell would pass it on as it is.
std::string quoted(const std::string& word) {
  static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:=";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  return '"' + word + '"';
}

}  // namespace

std::string to_string(const Operation& op) {
  std::string text = op.name;
  for (const std::string& word : op.arguments) text += ' ' + quoted(word);
  for (const auto& [name, length] : op.lengths) text += concat(' ', name, '=', length);
  for (const auto& [name, value] : op.options) text += " --" + name + (value.empty() ? "" : ' ' + quoted(value));
  return text;
}

std::optional<std::string_view> Operation::option(std::string_view option_name) const {
  const auto found = std::ranges::find(options, option_name, &Options::value_type::first);
  if (found == options.end()) return std::nullopt;
  return found->second;
}

}  // namespace axisloom
