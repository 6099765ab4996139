// The small grammars of the command line: shapes, name=value pairs, and which argument is a length and which a file.
#pragma once

#include "core/integers.hpp"
#include "core/text.hpp"

#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axisloom::harness {

/// Words, names or lines.
using Texts = std::vector<std::string>;

/// Throws Error(usage): what to do instead, then what is wrong, as a format and its values.
template <class... Values>
[[noreturn]] void refuse(const std::string& remedy, fmt::format_string<Values...> message, Values&&... values) {
  throw Error(Errc::usage, fmt::format(message, std::forward<Values>(values)...), remedy);
}

/// What stands between the separators, each a single character; they must not outlive `text`.
std::vector<std::string_view> split(std::string_view text, std::string_view separators);

using axisloom::joined;

/// The text with something else in the place of each of these characters.
std::string replaced(std::string_view text, std::string_view characters, std::string_view by);

/// Adds a text, unless it is there.
void add_once(Texts& texts, const std::string& text);

/// The whole of `text` as a decimal number, or nothing.
std::optional<i64> parse_integer(std::string_view text);
/// The same, which throws Error(usage) instead.
i64 integer_of(std::string_view text);

/// "256x256", "256,256" or "scalar". Throws Error(usage).
Dims parse_shape(std::string_view text);
/// The text that parse_shape reads as this shape.
std::string shape_text(const Dims& shape);
/// "1,-9": numbers separated by commas, any sign. Throws Error(usage).
Dims parse_strides(std::string_view text);
/// A dtype by its name. Throws Error(usage) listing the names.
Dtype parse_dtype(std::string_view text);
/// "32", "64" or "auto". Throws Error(usage).
IndexWidth parse_index(std::string_view text);

/// "x=32" with a name of letters, digits and underscores and an integer value; nothing when it is something else.
std::optional<std::pair<std::string, i64>> parse_length(std::string_view text);
/// As parse_length, for --config: what does not fit throws Error(usage).
Configuration parse_configuration(const Texts& texts);

/// What follows an operation's arguments: lengths such as x=32, and files.
struct Rest {
  Lengths lengths;
  Texts files;
};
/// Where no lengths are taken every argument is a file; a file called "x=32" is spelt "./x=32". Throws
/// Error(usage) for a length that is no whole number.
Rest split_rest(const Texts& arguments, bool takes_lengths);

/// The argument as a POSIX shell must be given it.
std::string shell_quoted(std::string_view argument);

}  // namespace axisloom::harness
