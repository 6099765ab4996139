// Where the libraries of peers are looked for, and what they read while they are loaded.
#pragma once

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

/// "13.1.2" of the number 130102, which is how NVIDIA's libraries say it.
std::string version_text(std::size_t version);

/// Environment variables for as long as this lives: libraries read theirs when they are loaded, and other processes are
/// to know nothing of it. What the user has set stays.
class LoadingVariables {
 public:
  LoadingVariables() = default;
  ~LoadingVariables();
  LoadingVariables(const LoadingVariables&) = delete;
  LoadingVariables& operator=(const LoadingVariables&) = delete;

  void set(const char* name, const char* value);

 private:
  std::vector<const char*> set_;
};

}  // namespace axisloom::bench
