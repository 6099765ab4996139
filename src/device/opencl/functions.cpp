// Finding libOpenCL and filling the table of its entry points.
#include "device/opencl/functions.hpp"

#include "device/environment.hpp"

namespace axisloom::device::opencl {

std::vector<std::string> library_candidates() {
  std::vector<std::string> files = {"libOpenCL.so.1", "libOpenCL.so"};
  for (const char* variable : {"CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME"}) {
    const std::string root = environment_path(variable);
    if (root.empty()) continue;
    files.push_back(root + "/lib/libOpenCL.so.1");
    files.push_back(root + "/lib64/libOpenCL.so.1");
  }
  files.emplace_back("/usr/local/cuda/lib64/libOpenCL.so.1");
  return files;
}

Functions& cl() {
  // Leaked: handles with static lifetime still release their objects while the process ends.
  static Functions& table = *new Functions{{DynamicLibrary(library_candidates())}};
  return table;
}

}  // namespace axisloom::device::opencl
