// Names of files, and the environment of a dlopen.
#include "bench/peers/libraries.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace axisloom::bench {

Texts library_files(const char* variable, FileNames names) {
  Texts files(names.begin(), names.end());
  const char* const named = std::getenv(variable);
  if (named != nullptr && named[0] != '\0') files.emplace(files.begin(), named);
  return files;
}

Texts cuda_library_files(const char* variable, FileNames names) {
  Texts files = library_files(variable, {});
  for (const char* name : names) {
    files.emplace_back(name);
    if (const char* toolkit = std::getenv("CUDA_PATH")) files.push_back(concat(toolkit, "/lib64/", name));
    files.push_back(concat("/usr/local/cuda/lib64/", name));
    for (const char* version : {"13", "12"})  // where NVIDIA's packages for Debian put cuTENSOR
      files.push_back(fmt::format("/usr/lib/x86_64-linux-gnu/libcutensor/{}/{}", version, name));
  }
  return files;
}

Texts module_files(const char* variable, const char* name) {
  Texts files = library_files(variable, {});
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) files.push_back((program.parent_path() / name).string());
  return files;
}

std::string library_obstacle(const device::DynamicLibrary& library, const Texts& missing, const std::string& names,
                             const char* variable) {
  if (library) return library.path() + " lacks " + joined(missing, ", ");
  if (!library_files(variable, {}).empty()) return concat(variable, ": ", library.tried().front());
  return fmt::format("{} was not found; {} can name it", names, variable);
}

std::string alternatives(FileNames names) {
  std::string text;
  for (const std::filesystem::path name : names)
    text += text.empty() ? name.string() : " or " + name.extension().string();
  return text;
}

void Requirement::operator()(int code, const char* call) const {
  if (code != 0) throw Error(Errc::device, {.message = concat(library, " fails"), .call = call, .native = code});
}

std::string version_text(size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

void LoadingVariables::set(const char* name, const char* value) {
  if (std::getenv(name) != nullptr) return;
  setenv(name, value, 0);
  set_.push_back(name);
}

LoadingVariables::~LoadingVariables() {
  for (const char* name : set_) unsetenv(name);
}

}  // namespace axisloom::bench
