// A shared library opened at run time: dlopen with a list of candidates and a record of what was tried.
#include "device/dynamic_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <utility>

namespace axisloom::device {

namespace {

std::string resolved_path(void* handle, const std::string& candidate) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name) return map->l_name;
  return candidate;
}

}  // namespace

DynamicLibrary::DynamicLibrary(std::span<const std::string> candidates) {
  for (const std::string& candidate : candidates) {
    if (candidate.find('/') != std::string::npos && !candidate.starts_with('/')) {
      tried_.push_back(candidate + ": not an absolute path, so not opened");
      continue;
    }
    // Never unloaded: a driver leaves registrations in libraries that stay (LLVM's options), and loading it again would
    // end the process.
    handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_) {
      path_ = resolved_path(handle_, candidate);
      tried_.push_back(candidate);
      return;
    }
    // The loader's text usually starts with the file's name already.
    const char* reason = dlerror();
    const std::string text = reason ? reason : "cannot be opened";
    tried_.push_back(text.starts_with(candidate) ? text : candidate + ": " + text);
  }
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ && !keep_) dlclose(handle_);
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      keep_(other.keep_),
      path_(std::move(other.path_)),
      tried_(std::move(other.tried_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(keep_, other.keep_);
  std::swap(path_, other.path_);
  std::swap(tried_, other.tried_);
  return *this;
}

void* DynamicLibrary::symbol(const char* name) const {
  return handle_ ? dlsym(handle_, name) : nullptr;
}

}  // namespace axisloom::device
