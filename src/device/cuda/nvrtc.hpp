// Where NVRTC may lie on a machine, which of those found suits the driver, and what it can compile for.
#pragma once

#include "device/cuda/driver_api.hpp"
#include "device/cuda/nvrtc_api.hpp"
#include "device/device.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace axisloom::device::cuda {

/// One NVRTC library.
struct Nvrtc {
  NvrtcApi api;
  Version version = {};
  std::vector<int> architectures = {};  // that it compiles for, rising: 80 for sm_80

  const std::string& path() const { return api.library.path(); }
};

struct NvrtcSearch {
  std::vector<std::shared_ptr<const Nvrtc>> found;
  RuntimeStatus status;
};

/// Names for the loader, then existing files below CUDA_PATH, CUDA_HOME, /usr/local/cuda*, CONDA_PREFIX, VIRTUAL_ENV
/// and the python3 on PATH, in that order. Only absolute paths count, and none at all in a program with rights that its
/// user lacks.
std::vector<std::string> nvrtc_candidates();

/// Opens every candidate once; libraries that are the same file count once.
NvrtcSearch find_nvrtc(std::span<const std::string> candidates);

/// What this machine has; looked for once in a process.
const NvrtcSearch& installed_nvrtc();

/// The newest one; with a driver, the newest whose major version the driver knows. Null when there is none.
std::shared_ptr<const Nvrtc> suitable_nvrtc(const NvrtcSearch& search, std::optional<Version> driver);

/// The same, but throws Error(unsupported) naming both versions when every one is newer, or what to install when there
/// is none at all.
std::shared_ptr<const Nvrtc> choose_nvrtc(const NvrtcSearch& search, std::optional<Version> driver);

/// What to compile for on a card of that compute capability (90 for 9.0): "sm_90a", machine code, when NVRTC knows the
/// card; "compute_80", PTX that the driver translates, when the card is newer. Throws Error(unsupported) for older
/// cards.
std::string target_architecture(const Nvrtc& nvrtc, int capability);

}  // namespace axisloom::device::cuda
