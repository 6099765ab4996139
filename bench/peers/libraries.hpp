// Where the libraries of peers are looked for, and what they read while they are loaded.
#pragma once

#include "core/not_copied.hpp"
#include "device/dynamic_library.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace axisloom::bench {

/// Files to try: the one that the environment variable names, if it does, then `names` as the loader finds them.
std::vector<std::string> library_files(const char* variable, std::initializer_list<const char*> names);
/// The same, with the folders of the CUDA toolkit and of NVIDIA's packages behind each name.
std::vector<std::string> cuda_library_files(const char* variable, std::initializer_list<const char*> names);

/// Why a library that was opened from such files cannot be used: "libdnnl.so.3 or libdnnl.so.2 was not found; ...".
std::string library_obstacle(const device::DynamicLibrary& library, const std::vector<std::string>& missing,
                             const std::string& names, const char* variable);

/// A library with the entry points that are used, and why it cannot be used; empty when it can.
template <class Api>
struct OpenedLibrary {
  device::DynamicLibrary library;
  Api api{};
  std::string obstacle;
};

/// Opens the first of `files`, for the rest of the process, and binds its entry points: bind(opened, missing) adds the
/// names of those that the library lacks. `names` and `variable` are for the obstacle.
template <class Opened, class Bind>
const Opened& open_library(const std::vector<std::string>& files, const std::string& names, const char* variable,
                           const Bind& bind) {
  auto* opened = new Opened;
  opened->library = device::DynamicLibrary(files);
  std::vector<std::string> missing;
  bind(*opened, missing);
  if (!missing.empty()) opened->obstacle = library_obstacle(opened->library, missing, names, variable);
  return *opened;
}

/// "13.1.2" of the number 130102, which is how NVIDIA's libraries say it.
std::string version_text(size_t version);

/// Environment variables for as long as this lives: libraries read theirs when they are loaded, and other processes are
/// to know nothing of it. What the user has set stays.
class LoadingVariables : core::NotCopied {
 public:
  LoadingVariables() = default;
  ~LoadingVariables();

  void set(const char* name, const char* value);

 private:
  std::vector<const char*> set_;
};

}  // namespace axisloom::bench
