// Texts made by walking the parser, so that they cannot disagree with it: shell completions and the manual page.
#pragma once

#include "harness/arguments.hpp"

#include <CLI/CLI.hpp>

#include <array>

namespace axisloom::cli {

using namespace harness;
using CLI::App, CLI::Option;

/// Names of the groups of options that commands share: of the options that most have, and of those of operations. They
/// are described once.
inline constexpr const char* common_group = "Common options";
inline constexpr const char* file_group = "Options of files and results";
inline constexpr std::array shared_groups{common_group, file_group};

/// Completion script for "bash", "zsh" or "fish".
std::string completion_script(const App& app, std::string_view shell);
/// The manual page in troff, section 1.
std::string manual_page(const App& app);

/// Options of a command that can be typed, in order of definition.
std::vector<const Option*> typed_options(const App& command);
std::vector<const Option*> positionals(const App& command);
/// Whether an option is in such a group, or is --help.
bool is_shared(const Option& option);
/// The options of a group, of whichever command, each once.
std::vector<const Option*> options_of_group(const App& app, std::string_view group);
/// Direct subcommands in order of definition.
std::vector<const App*> subcommands(const App& command);

/// A command and what is typed to name it: "axisloom cache clear".
struct Command {
  std::string path;
  const App* app;
};
/// The program itself, then its subcommands, each before its own, in order of definition.
std::vector<Command> all_commands(const App& app);

/// "-o", "--output"; all spellings.
Texts spellings(const Option& option);
/// The words an option accepts, when it accepts only some ("a|b" as its type).
Texts choices(const Option& option);
/// Whether a value follows it.
bool takes_value(const Option& option);
/// Whether it may stand several times, an argument as the last one.
bool repeats(const Option& option);
/// Whether that value is a file or folder.
bool takes_path(const Option& option);

}  // namespace axisloom::cli
