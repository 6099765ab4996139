// Finding libOpenCL and filling the table of its entry points.
#include "device/opencl/functions.hpp"

#include <cstdlib>

namespace axisloom::device::opencl {

namespace {

std::vector<std::string> candidates() {
  std::vector<std::string> files = {"libOpenCL.so.1", "libOpenCL.so"};
  for (const char* variable : {"CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME"}) {
    const char* root = std::getenv(variable);
    if (root && *root) {
      files.push_back(std::string(root) + "/lib/libOpenCL.so.1");
      files.push_back(std::string(root) + "/lib64/libOpenCL.so.1");
    }
  }
  files.push_back("/usr/local/cuda/lib64/libOpenCL.so.1");
  return files;
}

Library* load() {
  // Leaked: handles with static lifetime still release their objects while the process ends.
  auto* library = new Library{DynamicLibrary(candidates()), {}, {}};
  library->file.keep_loaded();
  if (!library->file) return library;
#define AXISLOOM_OPENCL_LOAD(name) library->file.require(#name, library->functions.name.function, library->missing);
  AXISLOOM_OPENCL_FUNCTIONS(AXISLOOM_OPENCL_LOAD)
#undef AXISLOOM_OPENCL_LOAD
  return library;
}

}  // namespace

Library& library() {
  static Library* const instance = load();
  return *instance;
}

}  // namespace axisloom::device::opencl
