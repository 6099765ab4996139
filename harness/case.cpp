// Reading cases.
#include "harness/case.hpp"

#include "harness/arguments.hpp"

#include "planner/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>

namespace axisloom::harness {
namespace {

constexpr std::array all_codes{Errc::usage,         Errc::overlap, Errc::unsupported, Errc::no_device, Errc::file,
                               Errc::out_of_memory, Errc::device,  Errc::device_lost, Errc::after_fork};

i64 number(const std::string& text) {
  const auto value = parse_integer(text);
  if (!value) throw Error(Errc::usage, fmt::format("\"{}\" is not a number", text));
  return *value;
}

Errc code_named(const std::string& text) {
  const auto* found = std::ranges::find_if(all_codes, [&](Errc code) { return name(code) == text; });
  if (found == all_codes.end()) throw Error(Errc::usage, fmt::format("there is no error \"{}\"", text));
  return *found;
}

void add_configuration(Case& c, const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) throw Error(Errc::usage, fmt::format("config=\"{}\" lacks a colon", text));
  c.options.configuration[text.substr(0, colon)] = number(text.substr(colon + 1));
}

using Setter = std::function<void(Case&, const std::string&)>;

const std::map<std::string, Setter, std::less<>>& setters() {
  static const std::map<std::string, Setter, std::less<>> all{
      {"align",
       [](Case& c, const std::string& v) {
         c.output.align = number(v);
         for (Placement& input : c.inputs) input.align = c.output.align;
       }},
      {"candidate", [](Case& c, const std::string& v) { c.options.candidate = v; }},
      {"config", add_configuration},
      {"index", [](Case& c, const std::string& v) { c.options.index = parse_index(v); }},
      {"expect", [](Case& c, const std::string& v) { c.expect = code_named(v); }},
      {"largest-buffer", [](Case& c, const std::string& v) { c.largest_buffer = number(v); }},
  };
  return all;
}

/// The array that "in-strides", "in2-align" or "out-offset" speaks of; null when the key is none of these.
Placement* placement_of(Case& c, std::string_view key) {
  const size_t dash = key.find('-');
  if (dash == std::string_view::npos) return nullptr;
  const std::string_view array = key.substr(0, dash);
  if (array == "out") return &c.output;
  if (!array.starts_with("in")) return nullptr;
  const auto ordinal = array == "in" ? std::optional<i64>(1) : parse_integer(array.substr(2));
  if (!ordinal) return nullptr;
  if (*ordinal < 1 || *ordinal > i64(c.inputs.size()))
    throw Error(Errc::usage, fmt::format("\"{}\" names an input that does not exist", key));
  return &c.inputs[size_t(*ordinal - 1)];
}

bool set_placement(Case& c, std::string_view key, const std::string& value) {
  Placement* const placement = placement_of(c, key);
  const std::string_view what = placement ? key.substr(key.find('-') + 1) : std::string_view();
  if (what == "strides")
    placement->strides = parse_strides(value);
  else if (what == "offset")
    placement->offset = number(value);
  else if (what == "align")
    placement->align = number(value);
  else
    return false;
  return true;
}

void set_value(Case& c, const ops::OpEntry& entry, const std::string& token) {
  const size_t equals = token.find('=');
  const std::string key = token.substr(0, equals);
  const std::string value = token.substr(equals + 1);
  if (set_placement(c, key, value)) return;
  const auto setter = setters().find(key);
  const bool option =
      std::ranges::any_of(entry.options, [&](const ops::Option& known) { return known.name == key && !known.length; });
  if (setter != setters().end())
    setter->second(c, value);
  else if (option)
    c.op.options.emplace_back(key, value);
  else
    c.op.lengths.emplace_back(key, number(value));
}

void set_arrays(Case& c, const std::string& dtypes, const std::string& shapes) {
  for (std::string_view shape : split(shapes, ",")) c.shapes.push_back(parse_shape(shape));
  for (std::string_view dtype : split(dtypes, ",")) c.dtypes.push_back(parse_dtype(dtype));
  c.inputs.resize(c.shapes.size());
  if (c.dtypes.size() == 1) c.dtypes.resize(c.shapes.size(), c.dtypes.front());
  if (c.dtypes.size() != c.shapes.size())
    throw Error(Errc::usage, fmt::format("{} dtypes for {} arrays", c.dtypes.size(), c.shapes.size()));
}

Case parse_tokens(const std::vector<std::string>& tokens, size_t at) {
  Case c;
  if (tokens.size() < at + 3) throw Error(Errc::usage, "a case needs an operation, a dtype and a shape");
  c.slow = at == 1;
  const ops::OpEntry& entry = ops::entry(tokens[at]);
  c.op.name = entry.name;
  set_arrays(c, tokens[at + 1], tokens[at + 2]);
  for (const std::string& token : std::vector(tokens.begin() + std::ptrdiff_t(at) + 3, tokens.end())) {
    if (token == "in-place")
      c.in_place = true;
    else if (token == "one-buffer")
      c.one_buffer = true;
    else if (token.starts_with("--"))
      c.op.options.emplace_back(token.substr(2), "");
    else if (c.op.arguments.size() < entry.arguments.size() && token.find('=') == std::string::npos)
      c.op.arguments.push_back(token);
    else if (token.find('=') != std::string::npos)
      set_value(c, entry, token);
    else
      throw Error(Errc::usage, fmt::format("{} has no place for \"{}\"", entry.name, token));
  }
  if (c.op.arguments.size() < entry.arguments.size())
    throw Error(Errc::usage, fmt::format("{} lacks its {}", entry.name, entry.arguments[c.op.arguments.size()].name));
  return c;
}

std::string text_of(const Placement& placement, const std::string& side) {
  std::string text;
  if (placement.strides) text += fmt::format(" {}-strides={}", side, fmt::join(*placement.strides, ","));
  if (placement.offset != 0) text += fmt::format(" {}-offset={}", side, placement.offset);
  if (placement.align != Placement().align) text += fmt::format(" {}-align={}", side, placement.align);
  return text;
}

std::string text_of_arrays(const Case& c) {
  std::vector<Dtype> dtypes = c.dtypes;
  if (std::equal(dtypes.begin() + 1, dtypes.end(), dtypes.begin())) dtypes.resize(1);
  return fmt::format("{} {}", joined(dtypes, ",", [](Dtype dtype) { return name(dtype); }),
                     joined(c.shapes, ",", shape_text));
}

std::string text_of_operation(const Operation& op) {
  std::string text;
  for (const std::string& argument : op.arguments)
    text += argument.find(' ') == std::string::npos ? " " + argument : " \"" + argument + "\"";
  for (const auto& [key, value] : op.lengths) text += fmt::format(" {}={}", key, value);
  for (const auto& [key, value] : op.options)
    text += value.empty() ? fmt::format(" --{}", key) : fmt::format(" {}={}", key, value);
  return text;
}

}  // namespace

std::string text_of(const Case& c) {
  std::string text = fmt::format("{} {}{}", c.op.name, text_of_arrays(c), text_of_operation(c.op));
  for (size_t i = 0; i < c.inputs.size(); ++i) text += text_of(c.inputs[i], i == 0 ? "in" : fmt::format("in{}", i + 1));
  text += text_of(c.output, "out");
  if (c.in_place) text += " in-place";
  if (c.one_buffer) text += " one-buffer";
  if (c.largest_buffer) text += fmt::format(" largest-buffer={}", *c.largest_buffer);
  if (!c.options.candidate.empty()) text += " candidate=" + c.options.candidate;
  for (const auto& [tunable, value] : c.options.configuration) text += fmt::format(" config={}:{}", tunable, value);
  if (c.options.index != IndexWidth::automatic)
    text += c.options.index == IndexWidth::bits64 ? " index=64" : " index=32";
  if (c.expect) text += fmt::format(" expect={}", name(*c.expect));
  return text;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  char quote = 0;
  bool inside = false;
  for (char c : line) {
    const bool opens = quote == 0 && (c == '"' || c == '\'');
    const bool blank = quote == 0 && (c == ' ' || c == '\t' || c == '\r');
    if (blank) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (opens)
      quote = c;
    else if (c == quote)
      quote = 0;
    else
      words.back() += c;
  }
  if (quote != 0) throw Error(Errc::usage, fmt::format("a quote is not closed in the case: {}", line));
  return words;
}

Case parse_case(std::string_view line) {
  const std::vector<std::string> tokens = words_of(line);
  const bool slow = !tokens.empty() && tokens.front() == "slow";
  try {
    Case c = parse_tokens(tokens, slow ? 1 : 0);
    c.text = slow ? std::string(line.substr(line.find("slow") + 5)) : std::string(line);
    return c;
  } catch (const Error& error) {
    const ErrorParts& parts = error.parts();
    throw Error(Errc::usage, fmt::format("cannot read the case {}: {}", shell_quoted(line), parts.message),
                parts.remedy);
  }
}

std::optional<RandomLine> parse_random(std::string_view line) {
  std::vector<std::string> words = words_of(line);
  RandomLine random;
  random.slow = !words.empty() && words.front() == "slow";
  if (random.slow) words.erase(words.begin());
  if (words.empty() || words.front() != "random") return std::nullopt;
  const auto count = words.size() > 1 ? parse_integer(words[1]) : std::nullopt;
  const auto seed = words.size() > 2 ? parse_length(words[2]) : std::nullopt;
  if (!count || *count < 0 || words.size() > 3 || (words.size() == 3 && (!seed || seed->first != "seed")))
    throw Error(Errc::usage, fmt::format("cannot read \"{}\"", line), "write it as: random 300 seed=7");
  random.count = *count;
  if (seed) random.seed = u64(seed->second);
  return random;
}

std::string_view without_comment(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  line = line.substr(0, line.find('#'));
  const size_t start = line.find_first_not_of(blanks);
  return start == std::string_view::npos ? std::string_view()
                                         : line.substr(start, line.find_last_not_of(blanks) - start + 1);
}

std::vector<std::string> read_case_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw Error(Errc::file, fmt::format("cannot open {}: {}", path, std::strerror(errno)), "name a file of cases");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (std::string_view text = without_comment(line); !text.empty()) lines.emplace_back(text);
  if (file.bad()) throw Error(Errc::file, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return lines;
}

}  // namespace axisloom::harness
