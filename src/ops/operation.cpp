// Operations as values: the factories of the moves, and their text as it would be typed.
#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>

#include <algorithm>

namespace axisloom {
namespace {

// Quoted unless a shell would pass it on as it is.
std::string quoted(const std::string& word) {
  static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:=";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  return '"' + word + '"';
}

}  // namespace

std::string to_string(const Operation& op) {
  std::string text = op.name;
  for (const std::string& word : op.words) text += ' ' + quoted(word);
  for (const auto& [name, length] : op.lengths) text += ' ' + name + '=' + std::to_string(length);
  for (const auto& [name, value] : op.options) text += " --" + name + (value.empty() ? "" : ' ' + quoted(value));
  return text;
}

std::optional<std::string_view> Operation::option(std::string_view option_name) const {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.first == option_name; });
  if (found == options.end()) return std::nullopt;
  return found->second;
}

Operation rearrange(std::string_view pattern, const Lengths& lengths) {
  return {"rearrange", {std::string(pattern)}, lengths};
}

Operation repeat(std::string_view pattern, const Lengths& lengths) {
  return {"repeat", {std::string(pattern)}, lengths};
}

Operation copy() {
  return {"copy"};
}

Operation transpose() {
  return {"transpose"};
}

Operation permute(std::span<const int> axes) {
  std::string word;
  for (const int axis : axes) word += (word.empty() ? "" : ",") + std::to_string(axis);
  return {"permute", {std::move(word)}};
}

Operation relayout(std::string_view from, std::string_view to, std::int64_t channels) {
  if (channels < 0)
    throw Error(Errc::usage, {.message = "the number of channels is given as " + std::to_string(channels),
                              .op = "relayout",
                              .remedy = "give the true number of channels, or 0 for all"});
  Operation op{"relayout", {std::string(from), std::string(to)}};
  if (channels != 0) op.lengths.emplace_back("channels", channels);
  return op;
}

Operation reduce(std::string_view name, std::string_view pattern, const Options& options, const Lengths& lengths) {
  return {"reduce", {std::string(name), std::string(pattern)}, lengths, options};
}

Operation reduction(std::string_view name, const Options& options) {
  return {std::string(name), {}, {}, options};
}

Operation einsum(std::string_view pattern, const Options& options, const Lengths& lengths) {
  return {"einsum", {std::string(pattern)}, lengths, options};
}

Operation matmul(const Options& options) {
  return {"matmul", {}, {}, options};
}

Operation dot(const Options& options) {
  return {"dot", {}, {}, options};
}

}  // namespace axisloom
