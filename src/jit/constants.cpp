// Reading the declarations of kernel constants, and holding what the host sets against them.
#include "jit/constants.hpp"

#include <algorithm>
#include <array>

#include "core/text.hpp"

namespace axisloom::jit {
namespace {

using core::trimmed;

/// What stands in the brackets of "word(...)"; empty where `text` is no such thing.
std::optional<std::string_view> arguments_of(std::string_view text, std::string_view word) {
  if (!text.starts_with(word) || !text.ends_with(')')) return std::nullopt;
  text = text.substr(word.size(), text.size() - word.size() - 1);
  if (!text.starts_with('(')) return std::nullopt;
  return text.substr(1);
}

/// The words of "A B C".
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text.substr(words.back().size())))
    words.push_back(text.substr(0, text.find(' ')));
  return words;
}

bool is_whole(std::string_view token) {
  return !token.empty() && std::ranges::all_of(token, core::is_digit);
}

/// A scalar of the dialect, "u8" ... "f64", or a packet of them, "u8x16".
bool is_type(std::string_view token) {
  static constexpr std::array scalars = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"};
  static constexpr std::array lanes = {"2", "3", "4", "8", "16"};
  const size_t x = token.find('x');
  return std::ranges::count(scalars, token.substr(0, x)) > 0 &&
         (x == token.npos || std::ranges::count(lanes, token.substr(x + 1)) > 0);
}

struct Kind {
  std::string_view name, meaning;
  bool (*holds)(std::string_view token);
};
constexpr Kind kinds[] = {
    {"flag", "0 or 1", [](std::string_view token) { return token == "0" || token == "1"; }},
    {"count", "a number from 0 on", is_whole},
    {"size", "a number from 1 on", [](std::string_view token) { return is_whole(token) && !token.starts_with('0'); }},
    {"number", "a whole number",
     [](std::string_view token) { return is_whole(token) || (token.starts_with("(-") && token.ends_with(')')); }},
    {"type", "a type of the dialect", is_type},
};

const Kind* simple_kind(std::string_view name) {
  const Kind* const at = std::ranges::find(kinds, name, &Kind::name);
  return at == std::end(kinds) ? nullptr : at;
}

bool is_kind(std::string_view kind) {
  return arguments_of(kind, "one_of") || arguments_of(kind, "like") || simple_kind(kind) != nullptr;
}

bool holds(std::string_view kind, std::string_view token) {
  if (const auto words = arguments_of(kind, "one_of")) return std::ranges::count(words_of(*words), token) > 0;
  return simple_kind(kind)->holds(token);
}

std::string meaning(std::string_view kind) {
  const auto words = arguments_of(kind, "one_of");
  return words ? concat("one of ", *words) : std::string(simple_kind(kind)->meaning);
}

std::string place(const Constant& constant) {
  return concat(constant.file, ", line ", constant.line);
}

/// The host and the kernel disagree.
[[noreturn]] void refuse(const std::string& kernel_file, const std::string& problem, const Constant* constant) {
  std::string hint = "only what a line CONSTANT(NAME, KIND) declares is set";
  if (constant != nullptr) hint = "it is declared in " + place(*constant) + ", as " + meaning(constant->kind);
  throw Error(Errc::usage, "the kernel " + kernel_file + " " + problem, hint);
}

/// Words of a one_of stand for their positions; numbers among them are what they are.
void number_words(const Constant& constant, Defines& defines) {
  const auto words = words_of(arguments_of(constant.kind, "one_of").value_or(""));
  for (size_t i = 0; i < words.size(); ++i)
    if (!is_whole(words[i])) defines.set(words[i], i64(i));
}

}  // namespace

std::optional<Constant> declared_on(std::string_view text, const std::string& file, size_t line) {
  const bool setting = text.starts_with("SETTING(");
  if (!setting && !text.starts_with("CONSTANT(")) return std::nullopt;
  const std::string_view word = text.substr(0, text.find('('));
  Constant constant{{}, {}, {}, file, line, setting};
  const auto arguments = arguments_of(trimmed(text.substr(0, text.find("//"))), word);
  const size_t first = arguments.value_or("").find(',');
  if (!arguments || first == arguments->npos)
    throw Error(Errc::file,
                concat(place(constant), " is neither ", word, "(NAME, KIND) nor ", word, "(NAME, KIND, DEFAULT)"));
  const size_t second = arguments->find(',', first + 1);
  constant.name = arguments->substr(0, first);
  constant.kind = trimmed(arguments->substr(first + 1, second - first - 1));
  if (second != arguments->npos) constant.otherwise = trimmed(arguments->substr(second + 1));
  if (!is_kind(constant.kind))
    throw Error(Errc::file, concat(place(constant), ": \"", constant.kind, "\" is no kind of constant"),
                "flag, count, size, number, type, one_of(A B ...) or like(NAME)");
  if (setting && constant.kind == "type")
    throw Error(Errc::file, place(constant) + ": a setting is a number, not a type");
  return constant;
}

void sort_and_resolve(std::vector<Constant>& declared) {
  std::ranges::sort(declared, {}, &Constant::name);
  const auto twice = std::ranges::adjacent_find(declared, {}, &Constant::name);
  if (twice != declared.end())
    throw Error(Errc::file, concat(place(twice[0]), ", and ", place(twice[1]), ", both declare ", twice->name));
  for (Constant& constant : declared) {
    const auto model = arguments_of(constant.kind, "like");
    if (!model) continue;
    const auto at = std::ranges::lower_bound(declared, *model, {}, &Constant::name);
    if (at == declared.end() || at->name != *model || at->kind.starts_with("like("))
      throw Error(Errc::file, concat(place(constant), ": no constant ", *model, " has a kind of its own"));
    constant.kind = at->kind;
  }
}

i32 number_of(const Constant& setting, std::string_view value) {
  const auto words = words_of(arguments_of(setting.kind, "one_of").value_or(""));
  const auto word = std::ranges::find(words, value);
  if (word != words.end() && !is_whole(value)) return i32(word - words.begin());
  if (value.starts_with('(')) value = value.substr(1, value.size() - 2);
  return *core::whole_number<i32>(value);
}

Defines complete(const std::vector<Constant>& declared, const Defines& set, const std::string& kernel_file, bool open) {
  for (const auto& [name, value] : set.values())
    if (!std::ranges::binary_search(declared, std::string_view(name), {}, &Constant::name))
      refuse(kernel_file, "does not declare the constant " + name + ", which is set to " + value, nullptr);
  Defines all = set;
  for (const Constant& constant : declared) {
    const std::string name(constant.name);
    const std::string* const given = set.find(name);
    if (open && constant.setting && !given) {
      number_words(constant, all);
      continue;
    }
    if (!given && !constant.otherwise)
      refuse(kernel_file, "needs the constant " + name + ", which is not set", &constant);
    const std::string value(given ? *given : *constant.otherwise);
    if (!holds(constant.kind, value))
      refuse(kernel_file, "cannot have " + value + " as the constant " + name, &constant);
    all.set(name, value);
    number_words(constant, all);
  }
  return all;
}

}  // namespace axisloom::jit
