// A shared library opened at run time: dlopen with a list of candidates and a record of what was tried.
#include "device/dynamic_library.hpp"

#include <dlfcn.h>
#include <link.h>

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
    if (candidate.find('/') != candidate.npos && !candidate.starts_with('/')) {
      tried_.push_back(candidate + ": not an absolute path, so not opened");
      continue;
    }
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

void* DynamicLibrary::symbol(const char* name) const {
  return handle_ ? dlsym(handle_, name) : nullptr;
}

}  // namespace axisloom::device
