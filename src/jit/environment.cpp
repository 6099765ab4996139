// Folders of the user by the XDG base directory specification.
#include "jit/environment.hpp"

#include "device/environment.hpp"

namespace axisloom::jit {

std::optional<std::filesystem::path> user_folder(const char* variable, const char* fallback) {
  using std::filesystem::path;
  if (const std::string base = device::environment_path(variable); !base.empty()) return path(base) / "axisloom";
  const std::string home = device::environment_path("HOME");
  if (home.empty()) return std::nullopt;
  return path(home) / fallback / "axisloom";
}

}  // namespace axisloom::jit
