// What is known of PoCL beyond OpenCL: it keeps the programs that it compiles in files, and is lost without. Where it
// cannot make its folder it shows no device; where a file cannot be written it ends the process.
#pragma once

#include <axisloom/device.hpp>

#include <string>
#include <string_view>

namespace axisloom::device::opencl {

inline constexpr std::string_view pocl_platform = "Portable Computing Language";

/// The folder, by PoCL's own rules.
std::string pocl_folder();

/// Why PoCL cannot keep programs there, after making the folder as PoCL does; empty when it can.
std::string pocl_folder_fault();
inline constexpr const char* pocl_folder_remedy =
    "set POCL_CACHE_DIR to a folder that can be written to and has room, or HOME or XDG_CACHE_HOME, below which PoCL "
    "makes its own";

/// Throws Error(device) while the device is PoCL's and its folder has a fault.
void require_pocl_folder(const DeviceInfo& device, const std::string& task);

}  // namespace axisloom::device::opencl
