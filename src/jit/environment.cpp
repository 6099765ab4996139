// Folders of the user by the XDG base directory specification.
#include "jit/environment.hpp"

#include <sys/auxv.h>

#include <cstdlib>

namespace axisloom::jit {
namespace {

std::optional<std::filesystem::path> absolute_path(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || value[0] != '/' || with_rights_of_another()) return std::nullopt;
  return std::filesystem::path(value);
}

}  // namespace

bool with_rights_of_another() {
  return ::getauxval(AT_SECURE) != 0;
}

std::optional<std::filesystem::path> user_folder(const char* variable, const char* fallback) {
  if (const auto base = absolute_path(variable)) return *base / "axisloom";
  if (const auto home = absolute_path("HOME")) return *home / fallback / "axisloom";
  return std::nullopt;
}

}  // namespace axisloom::jit
