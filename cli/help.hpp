// What --help prints.
#pragma once

#include "cli/app.hpp"

namespace axisloom::cli {

/// How help texts are made: options that many commands take are only named there, but for those of the program itself.
std::shared_ptr<CLI::FormatterBase> help_formatter();
/// Prints such a text.
void print_help(const std::string& text);

}  // namespace axisloom::cli
