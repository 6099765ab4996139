// Words of a command line that no command takes, and what may have been meant.
#pragma once

#include "cli/generated_text.hpp"

namespace axisloom::cli {

/// The innermost command that was named.
const App& chosen_command(const App& app);
/// What is typed to name a command: "axisloom cache clear".
std::string path_of(const App& command);

/// Throws Error(usage) about the first word that no command takes, if there is one.
void refuse_unknown_word(const App& app);
/// Throws Error(usage): `above` has no command of that name.
[[noreturn]] void refuse_command(const App& above, const std::string& word);
/// Throws Error(usage): the command has no such option.
[[noreturn]] void refuse_option(const App& command, const std::string& name);

}  // namespace axisloom::cli
