// Runs a C++ compiler as a process of its own, and loads what it made.
#include "device/host/compile.hpp"

#include "core/folder.hpp"
#include "core/system_file.hpp"
#include "core/text.hpp"
#include "device/environment.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

extern char** environ;

namespace axisloom::device::host {

namespace {

constexpr const char* variable = "AXISLOOM_HOST_COMPILER";
constexpr const char* entry_symbol = "axl_machine_kernel";  // as src/jit/full_text.cpp calls it

/// A folder for one compilation.
class WorkFolder : core::NotCopied {
 public:
  WorkFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "axisloom-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      throw Error(Errc::file, concat("cannot make a folder like ", pattern, ": ", core::system_message()),
                  "set TMPDIR to a folder that can be written to");
    path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// For a compiler's -march.
std::string architecture_of(Isa isa) {
#ifdef __aarch64__
  return isa == best_isa() ? "native" : "armv8-a";
#else
  return isa == best_isa() ? "native" : level(isa);
#endif
}

std::vector<std::string> arguments_of(const std::string& compiler, const BuildRequest& request, Isa isa) {
  std::vector<std::string> arguments = {compiler, "-x", "c++", "-std=c++20", "-shared", "-fPIC", "-w"};
  const bool clang = compiler.find("clang") != compiler.npos;
  for (const char* const option : {AXISLOOM_HOST_OPTIONS}) arguments.emplace_back(option);
  if (!clang) arguments.emplace_back("-fno-tree-loop-distribute-patterns");
  const bool has_dots = isa == Isa::v4_vnni || isa == Isa::v4_bf16;
  arguments.push_back("-march=" + architecture_of(has_dots && isa != best_isa() ? Isa::v4 : isa));
  if (has_dots) arguments.emplace_back("-mavx512vnni");
  arguments.insert(arguments.end(), request.options.begin(), request.options.end());
  return arguments;
}

/// Its exit status; what it says goes into a file.
int run(const std::vector<std::string>& arguments, const std::string& output) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT, S_IRUSR | S_IWUSR);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failure = posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw Error(Errc::device, concat("cannot run ", arguments[0], ": ", core::system_message(failure)),
                concat("let ", variable, " name a C++ compiler"));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::string machine_compiler() {
  const std::string compiler = environment(variable);
  if (compiler.empty() || (compiler.starts_with('/') && access(compiler.c_str(), X_OK) == 0)) return compiler;
  throw Error(Errc::usage, concat(variable, " is \"", compiler, "\", which is no absolute path of a program"),
              "let it name g++ or clang++ like /usr/bin/g++, or do not set it");
}

std::string compiler_identity(const std::string& compiler) {
  struct stat file = {};
  stat(compiler.c_str(), &file);
  return concat(compiler, " ", i64(file.st_size), " ", i64(file.st_mtime), " ", core::field("/proc/cpuinfo", "flags"));
}

std::vector<std::byte> compile(const std::string& compiler, const BuildRequest& request, Isa isa) {
  const WorkFolder folder;
  const std::string source = folder.file("kernel.cpp"), object = folder.file("kernel.so"), log = folder.file("log");
  std::ofstream(source) << request.source;
  std::vector<std::string> arguments = arguments_of(compiler, request, isa);
  arguments.insert(arguments.end(), {"-o", object, source});
  const int status = run(arguments, log);
  const std::string made = text_of(object);
  if (status != 0 || made.empty())
    throw Error(Errc::device, concat(compiler, " cannot compile kernel ", request.name, ":\n", text_of(log)));
  const auto bytes = std::as_bytes(std::span(made));
  return {bytes.begin(), bytes.end()};
}

LoadedKernel::LoadedKernel(std::span<const std::byte> object) {
  // The loader knows libraries by their paths, and takes one for another that was loaded by the same: so this one has
  // never been one before.
  const WorkFolder folder;
  const std::string path = folder.file("kernel.so");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(object.data()), std::streamsize(object.size()));
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_) entry_ = reinterpret_cast<Entry>(dlsym(handle_, entry_symbol));
}

LoadedKernel::~LoadedKernel() {
  if (handle_) dlclose(handle_);
}

}  // namespace axisloom::device::host
