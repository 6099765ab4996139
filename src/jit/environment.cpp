// Folders of the user by the XDG base directory specification.
#include "jit/environment.hpp"

#include "device/environment.hpp"

namespace axisloom::jit {

std::optional<std::filesystem::path> user_folder(const char* variable, const char* fallback) {
  const std::filesystem::path base = device::environment_path(variable), home = device::environment_path("HOME");
  if (!base.empty()) return base / "axisloom";
  if (!home.empty()) return home / fallback / "axisloom";
  return std::nullopt;
}

}  // namespace axisloom::jit
