// Parsing by std::from_chars: no locale, no exceptions of its own, and every leftover character is noticed.
#include "harness/arguments.hpp"

#include "core/text.hpp"

#include <charconv>

namespace axisloom::harness {
namespace {

bool is_alphanumeric(char c) {
  return core::is_letter(c) || core::is_digit(c);
}

bool is_name(std::string_view text) {
  const auto word = [](char c) { return is_alphanumeric(c) || c == '_'; };
  return !text.empty() && !core::is_digit(text.front()) && std::ranges::all_of(text, word);
}

Dims parse_numbers(std::string_view text, std::string_view separators, const char* what, const char* example) {
  Dims numbers;
  for (const auto part : split(text, separators)) {
    const auto number = parse_integer(part);
    if (!number) refuse(concat("write it as ", example), "cannot read the {} \"{}\"", what, text);
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  while (true) {
    const size_t end = text.find_first_of(separators, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string replaced(std::string_view text, std::string_view characters, std::string_view by) {
  return joined(split(text, characters), by);
}

void add_once(Texts& texts, const std::string& text) {
  if (std::ranges::count(texts, text) == 0) texts.push_back(text);
}

std::optional<i64> parse_integer(std::string_view text) {
  i64 value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end != text.end()) return std::nullopt;
  return value;
}

i64 integer_of(std::string_view text) {
  if (const auto value = parse_integer(text)) return *value;
  refuse("", "\"{}\" is not a number", text);
}

Dims parse_shape(std::string_view text) {
  if (text == "scalar") return {};
  Dims shape = parse_numbers(text, "x,", "shape", "256x256, or as scalar for a single element");
  if (std::ranges::any_of(shape, [](i64 extent) { return extent < 0; }))
    refuse("give extents of 0 or more", "the shape \"{}\" has a negative extent", text);
  return shape;
}

std::string shape_text(const Dims& shape) {
  return shape.empty() ? "scalar" : joined(shape, "x");
}

Dims parse_strides(std::string_view text) {
  return parse_numbers(text, ",", "strides", "1,-256 (in elements)");
}

Dtype parse_dtype(std::string_view text) {
  if (const auto dtype = dtype_of(text)) return *dtype;
  refuse("one of " + joined(all_dtypes(), ", ", [](Dtype dtype) { return name(dtype); }), "there is no dtype \"{}\"",
         text);
}

IndexWidth parse_index(std::string_view text) {
  if (text == "32") return IndexWidth::bits32;
  if (text == "64") return IndexWidth::bits64;
  if (text == "auto" || text.empty()) return IndexWidth::automatic;
  refuse("one of 32, 64, auto", "there is no index width \"{}\"", text);
}

std::optional<std::pair<std::string, i64>> parse_length(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('='));
  if (name.size() == text.size() || !is_name(name)) return std::nullopt;
  const auto value = parse_integer(text.substr(name.size() + 1));
  if (!value) return std::nullopt;
  return std::pair{std::string(name), *value};
}

Configuration parse_configuration(const Texts& texts) {
  Configuration configuration;
  for (const auto& text : texts) {
    const auto pair = parse_length(text);
    if (!pair) refuse("write it as name=number, for example tile_in=64", "cannot read the configuration \"{}\"", text);
    if (!configuration.emplace(*pair).second) refuse("give it once", "--config gives {} twice", pair->first);
  }
  return configuration;
}

Rest split_rest(const Texts& arguments, bool takes_lengths) {
  Rest rest;
  for (const auto& argument : arguments) {
    const auto length = takes_lengths ? parse_length(argument) : std::nullopt;
    const std::string_view name = std::string_view(argument).substr(0, argument.find('='));
    if (takes_lengths && !length && name.size() < argument.size() && is_name(name))
      refuse(fmt::format("write it as {}=7, or as ./{} if it is a file", name, argument),
             "\"{}\" gives an axis no whole number as its length", argument);
    if (length)
      rest.lengths.push_back(*length);
    else
      rest.files.push_back(argument);
  }
  return rest;
}

std::string shell_quoted(std::string_view argument) {
  const auto plain = [](char c) {
    return is_alphanumeric(c) || std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!argument.empty() && std::ranges::all_of(argument, plain)) return std::string(argument);
  return "'" + replaced(argument, "'", "'\\''") + "'";
}

}  // namespace axisloom::harness
