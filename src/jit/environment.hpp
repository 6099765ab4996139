// What the environment says about folders of the user.
#pragma once

#include <filesystem>
#include <optional>

namespace axisloom::jit {

/// Whether the process was started with rights that its caller lacks (set-user-ID and its like): what the caller's
/// environment names is then not to be believed.
bool with_rights_of_another();

/// $variable/axisloom, else $HOME/fallback/axisloom, as the XDG base directory specification has it: a value that is
/// not an absolute path counts as unset. Empty when neither is known, or not to be believed.
std::optional<std::filesystem::path> user_folder(const char* variable, const char* fallback);

}  // namespace axisloom::jit
