// Reading variables by secure_getenv, which looks at the rights that the process was started with.
#include "device/environment.hpp"

#include <sys/auxv.h>

#include <cstdlib>

namespace axisloom::device {

std::string environment(const char* name) {
  const char* const value = secure_getenv(name);
  return value ? value : "";
}

std::string environment_path(const char* name) {
  std::string path = environment(name);
  if (!path.starts_with('/')) path.clear();
  return path;
}

bool with_rights_of_another() {
  return ::getauxval(AT_SECURE) != 0;
}

}  // namespace axisloom::device
