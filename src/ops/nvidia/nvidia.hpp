// What variants for NVIDIA's cards ask about a device.
#pragma once

#include "device/device.hpp"

#include <charconv>
#include <string>
#include <string_view>

namespace axisloom::ops {

/// 90 of "sm_90"; 0 of anything else, but 90 of the host, which plays such a card for kernels that are asked for by
/// name.
inline int compute_capability(const DeviceInfo& device) {
  if (device::is_host(device)) return 90;
  constexpr std::string_view prefix = "sm_";
  const std::string_view text = device.architecture;
  int capability = 0;
  if (text.starts_with(prefix)) std::from_chars(text.data() + prefix.size(), text.data() + text.size(), capability);
  return capability;
}

/// Whether kernels may use what CUDA and NVIDIA's OpenCL share: a profile's device runs elsewhere, where only the host
/// plays it.
inline bool has_warps(const DeviceInfo& device) {
  return device.platform == "NVIDIA CUDA" || (device.api == Api::host && compute_capability(device) > 0);
}

/// A device as refusals name it: "sm_80", or that it is none of NVIDIA's.
inline std::string card_name(const DeviceInfo& device) {
  return device.architecture.empty() ? "no NVIDIA card" : device.architecture;
}

}  // namespace axisloom::ops
