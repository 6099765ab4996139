// Text from outside (names, patterns, what files hold) on its way into a message: nothing in it may steer a terminal.
#pragma once

#include <string>
#include <string_view>

namespace axisloom::io {

/// The same text with \xHH for every byte that a terminal would not just show: control characters, line ends among
/// them, marks that turn the direction of writing, and bytes that are no UTF-8.
std::string printable(std::string_view text);
/// The same for text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);
/// The same within quotes, cut after 60 characters; backslashes and what is not ASCII become \xHH too.
std::string in_quotes(std::string_view text);

}  // namespace axisloom::io
