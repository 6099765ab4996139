// Texts made by walking the parser, so that they cannot disagree with it: shell completions and the manual page.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace axisloom::cli {

/// Name of the group of options that every command has.
inline constexpr const char* common_group = "Common options";

/// Completion script for "bash", "zsh" or "fish".
std::string completion_script(const CLI::App& app, std::string_view shell);
/// The manual page in troff, section 1.
std::string manual_page(const CLI::App& app);

/// Options of a command that can be typed, in order of definition.
std::vector<const CLI::Option*> typed_options(const CLI::App& command);
std::vector<const CLI::Option*> positionals(const CLI::App& command);
/// Direct subcommands in order of definition.
std::vector<const CLI::App*> subcommands(const CLI::App& command);
/// "-o", "--output"; all spellings.
std::vector<std::string> spellings(const CLI::Option& option);
/// The words an option accepts, when it accepts only some ("a|b" as its type).
std::vector<std::string> choices(const CLI::Option& option);
/// Whether a value follows it.
bool takes_value(const CLI::Option& option);
/// Whether that value is a file or folder.
bool takes_path(const CLI::Option& option);

}  // namespace axisloom::cli
