// Where the libraries of peers are looked for, and what they read while they are loaded.
#pragma once

#include "bench/peers/peers.hpp"

#include "core/not_copied.hpp"
#include "device/dynamic_library.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace axisloom::bench {

using FileNames = std::initializer_list<const char*>;
using LibraryFiles = Texts(const char* variable, FileNames names);
/// Files to try: the one that the environment variable names, if it does, then `names` as the loader finds them.
LibraryFiles library_files;
/// The same, with the folders of the CUDA toolkit and of NVIDIA's packages behind each name.
LibraryFiles cuda_library_files;

/// A module of ours: the file that the environment variable names, if it does, then that of this name beside the
/// program.
Texts module_files(const char* variable, const char* name);

/// What a module exports under this name, for the rest of the process; null where there is no such module.
template <class Exported>
Exported* from_module(const char* variable, const char* file, const char* name) {
  Exported* exported = nullptr;
  device::DynamicLibrary(module_files(variable, file)).find(name, exported);
  return exported;
}

/// Why a library that was opened from such files cannot be used: "libdnnl.so.3 or .2 was not found; ...".
std::string library_obstacle(const device::DynamicLibrary& library, const Texts& missing, const std::string& names,
                             const char* variable);
/// "libdnnl.so.3 or .2".
std::string alternatives(FileNames names);

/// A library with the entry points that are used.
template <class Api>
struct OpenedLibrary {
  device::DynamicLibrary library;
  Api api{};
  Texts missing{};
  std::string obstacle{};  // why it cannot be used; empty when it can

  template <class Function>
  void require(const std::string& name, Function*& function) {
    library.require(name.c_str(), function, missing);
  }
  /// Refuses where there is an obstacle.
  const Api& functions() const {
    if (!obstacle.empty()) refuse(obstacle);
    return api;
  }
};

/// Opens the first of a library's files, for the rest of the process, and binds its entry points: bind(opened) requires
/// them.
template <class Api, class Bind>
OpenedLibrary<Api> open_library(LibraryFiles& files, const char* variable, FileNames names, const Bind& bind) {
  OpenedLibrary<Api> opened{device::DynamicLibrary(files(variable, names))};
  bind(opened);
  if (!opened.missing.empty())
    opened.obstacle = library_obstacle(opened.library, opened.missing, alternatives(names), variable);
  return opened;
}

/// require(code, call) throws Error(device) where a call did not answer 0: "cuBLAS fails".
struct Requirement {
  const char* library;
  void operator()(int code, const char* call) const;
};

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
