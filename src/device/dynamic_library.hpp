// A shared library opened at run time, so that one binary runs on machines with any of the runtimes or none.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace axisloom::device {

/// Opens the first file of a list that loads, and remembers what it tried. It stays loaded for the rest of the process:
/// drivers run threads and exit handlers of their own, and leave registrations in libraries that stay (LLVM's options),
/// so that loading them again would end the process.
class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  /// `candidates`: file names (searched for by the loader) or absolute paths, best first. A relative path would open
  /// whatever lies in the folder that the program happens to run in, so it is refused.
  explicit DynamicLibrary(std::span<const std::string> candidates);

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// Path of the file that was opened, as the loader resolved it; empty when none was.
  const std::string& path() const noexcept { return path_; }
  /// Each candidate looked at, in order; those that failed carry the loader's reason: "libcuda.so.1: cannot open ...".
  const std::vector<std::string>& tried() const noexcept { return tried_; }

  /// The function of that name, cast to the type of `function`; false when the library has none.
  bool find(const char* name, auto*& function) const {
    function = reinterpret_cast<decltype(+function)>(symbol(name));
    return function != nullptr;
  }
  /// As find, for functions that cannot be done without: their names are collected in `missing`.
  void require(const char* name, auto*& function, std::vector<std::string>& missing) const {
    if (!find(name, function)) missing.emplace_back(name);
  }

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string path_;
  std::vector<std::string> tried_;
};

}  // namespace axisloom::device
