// Reading cases.
#include "harness/case.hpp"

#include "planner/registry.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace axisloom::harness {
namespace {

Errc code_named(const std::string& text) {
  for (int code = 0; code <= int(Errc::after_fork); ++code)
    if (name(Errc(code)) == text) return Errc(code);
  refuse("", "there is no error \"{}\"", text);
}

void add_configuration(Case& c, const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) refuse("", "config=\"{}\" lacks a colon", text);
  c.options.configuration[text.substr(0, colon)] = integer_of(text.substr(colon + 1));
}

/// The array that "in-strides", "in2-align" or "out-offset" speaks of; null when the key is none of these.
Placement* placement_of(Case& c, std::string_view key) {
  const size_t dash = key.find('-');
  if (dash == std::string_view::npos) return nullptr;
  const std::string_view array = key.substr(0, dash);
  if (array == "out") return &c.output;
  if (!array.starts_with("in")) return nullptr;
  const auto ordinal = parse_integer(array == "in" ? "1" : array.substr(2));
  if (!ordinal) return nullptr;
  if (*ordinal < 1 || *ordinal > i64(c.inputs.size())) refuse("", "\"{}\" names an input that does not exist", key);
  return &c.inputs[*ordinal - 1];
}

bool set_placement(Case& c, std::string_view key, const std::string& value) {
  Placement* const placement = placement_of(c, key);
  const std::string_view what = placement ? key.substr(key.find('-') + 1) : "";
  if (what == "strides")
    placement->strides = parse_strides(value);
  else if (what == "offset")
    placement->offset = integer_of(value);
  else if (what == "align")
    placement->align = integer_of(value);
  else
    return false;
  return true;
}

void set_value(Case& c, const ops::OpEntry& entry, const std::string& token) {
  const size_t equals = token.find('=');
  const std::string key = token.substr(0, equals), value = token.substr(equals + 1);
  const auto is_option = [&](const ops::Option& known) { return known.name == key && !known.length; };
  if (set_placement(c, key, value)) return;
  if (key == "align") {
    c.output.align = integer_of(value);
    for (Placement& input : c.inputs) input.align = c.output.align;
  } else if (key == "candidate") {
    c.options.candidate = value;
  } else if (key == "config") {
    add_configuration(c, value);
  } else if (key == "index") {
    c.options.index = parse_index(value);
  } else if (key == "expect") {
    c.expect = code_named(value);
  } else if (key == "largest-buffer") {
    c.largest_buffer = integer_of(value);
  } else if (std::ranges::any_of(entry.options, is_option)) {
    c.op.options.emplace_back(key, value);
  } else {
    c.op.lengths.emplace_back(key, integer_of(value));
  }
}

void set_arrays(Case& c, std::string_view dtypes, std::string_view shapes) {
  for (const auto shape : split(shapes, ",")) c.shapes.push_back(parse_shape(shape));
  for (const auto dtype : split(dtypes, ",")) c.dtypes.push_back(parse_dtype(dtype));
  c.inputs.resize(c.shapes.size());
  if (c.dtypes.size() == 1) c.dtypes.resize(c.shapes.size(), c.dtypes.front());
  if (c.dtypes.size() != c.shapes.size()) refuse("", "{} dtypes for {} arrays", c.dtypes.size(), c.shapes.size());
}

Case parse_words(std::span<const std::string> words) {
  if (words.size() < 3) refuse("", "a case needs an operation, a dtype and a shape");
  const ops::OpEntry& entry = ops::entry(words[0]);
  Case c;
  c.op.name = entry.name;
  set_arrays(c, words[1], words[2]);
  for (const auto& word : words.subspan(3)) {
    const bool has_value = word.find('=') != std::string::npos;
    if (word == "in-place")
      c.in_place = true;
    else if (word == "one-buffer")
      c.one_buffer = true;
    else if (word.starts_with("--"))
      c.op.options.emplace_back(word.substr(2), "");
    else if (has_value)
      set_value(c, entry, word);
    else if (c.op.arguments.size() < entry.arguments.size())
      c.op.arguments.push_back(word);
    else
      refuse("", "{} has no place for \"{}\"", entry.name, word);
  }
  if (c.op.arguments.size() < entry.arguments.size())
    refuse("", "{} lacks its {}", entry.name, entry.arguments[c.op.arguments.size()].name);
  return c;
}

/// Takes "slow" from the front of a line's words; whether it was there.
bool take_slow(Texts& words) {
  const bool slow = !words.empty() && words.front() == "slow";
  if (slow) words.erase(words.begin());
  return slow;
}

std::string text_of(const Placement& placement, const std::string& side) {
  std::string text;
  if (placement.strides) text += fmt::format(" {}-strides={}", side, joined(*placement.strides, ","));
  if (placement.offset != 0) text += fmt::format(" {}-offset={}", side, placement.offset);
  if (placement.align != Placement().align) text += fmt::format(" {}-align={}", side, placement.align);
  return text;
}

std::string text_of_arrays(const Case& c) {
  std::vector<Dtype> dtypes = c.dtypes;
  if (std::equal(dtypes.begin() + 1, dtypes.end(), dtypes.begin())) dtypes.resize(1);
  return joined(dtypes, ",", [](Dtype dtype) { return name(dtype); }) + " " + joined(c.shapes, ",", shape_text);
}

std::string text_of_operation(const Operation& op) {
  std::string text;
  for (const auto& argument : op.arguments)
    text += argument.find(' ') == std::string::npos ? " " + argument : " \"" + argument + "\"";
  for (const auto& [key, value] : op.lengths) text += fmt::format(" {}={}", key, value);
  for (const auto& [key, value] : op.options) text += value.empty() ? " --" + key : fmt::format(" {}={}", key, value);
  return text;
}

}  // namespace

std::string text_of(const Case& c) {
  std::string text = c.op.name + " " + text_of_arrays(c) + text_of_operation(c.op);
  for (size_t i = 0; i < c.inputs.size(); ++i) text += text_of(c.inputs[i], i == 0 ? "in" : concat("in", i + 1));
  text += text_of(c.output, "out");
  if (c.in_place) text += " in-place";
  if (c.one_buffer) text += " one-buffer";
  if (c.largest_buffer) text += concat(" largest-buffer=", *c.largest_buffer);
  if (!c.options.candidate.empty()) text += " candidate=" + c.options.candidate;
  for (const auto& [tunable, value] : c.options.configuration) text += fmt::format(" config={}:{}", tunable, value);
  if (c.options.index != IndexWidth::automatic)
    text += c.options.index == IndexWidth::bits64 ? " index=64" : " index=32";
  if (c.expect) text += concat(" expect=", name(*c.expect));
  return text;
}

Texts words_of(std::string_view line) {
  Texts words;
  char quote = 0;
  bool inside = false;
  for (char c : line) {
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\r')) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else
      words.back() += c;
  }
  if (quote != 0) refuse("", "a quote is not closed in the case: {}", line);
  return words;
}

Case parse_case(std::string_view line) {
  Texts words = words_of(line);
  const bool slow = take_slow(words);
  try {
    Case c = parse_words(words);
    c.slow = slow;
    c.text = slow ? line.substr(line.find("slow") + 5) : line;
    return c;
  } catch (const Error& error) {
    const ErrorParts& parts = error.parts();
    refuse(parts.remedy, "cannot read the case {}: {}", shell_quoted(line), parts.message);
  }
}

std::optional<RandomLine> parse_random(std::string_view line) {
  Texts words = words_of(line);
  RandomLine random;
  random.slow = take_slow(words);
  if (words.empty() || words.front() != "random") return std::nullopt;
  const auto count = words.size() > 1 ? parse_integer(words[1]) : std::nullopt;
  const auto seed = words.size() > 2 ? parse_length(words[2]) : std::nullopt;
  if (!count || *count < 0 || words.size() > 3 || (words.size() == 3 && (!seed || seed->first != "seed")))
    refuse("write it as: random 300 seed=7", "cannot read \"{}\"", line);
  random.count = *count;
  if (seed) random.seed = seed->second;
  return random;
}

std::string_view without_comment(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  line = line.substr(0, line.find('#'));
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  return line.substr(0, line.find_last_not_of(blanks) + 1);
}

Texts read_case_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw Error(Errc::file, fmt::format("cannot open {}: {}", path, std::strerror(errno)), "name a file of cases");
  Texts lines;
  for (std::string line; std::getline(file, line);)
    if (std::string_view text = without_comment(line); !text.empty()) lines.emplace_back(text);
  if (file.bad()) throw Error(Errc::file, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return lines;
}

}  // namespace axisloom::harness
