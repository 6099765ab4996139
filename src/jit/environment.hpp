// What the environment says about folders of the user.
#pragma once

#include <filesystem>
#include <optional>

namespace axisloom::jit {

/// $variable/axisloom, else $HOME/fallback/axisloom, as the XDG base directory specification has it: a value that is
/// not an absolute path counts as unset. Empty when neither is known, or to be believed
/// (device::environment).
std::optional<std::filesystem::path> user_folder(const char* variable, const char* fallback);

}  // namespace axisloom::jit
