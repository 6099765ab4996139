// What variants for NVIDIA's cards ask about a device.
#pragma once

#include <axisloom/device.hpp>

#include <charconv>
#include <string>
#include <string_view>

namespace axisloom::ops {

/// 90 of "sm_90"; 0 of anything else.
inline int compute_capability(const DeviceInfo& device) {
  constexpr std::string_view prefix = "sm_";
  const std::string_view text = device.architecture;
  int capability = 0;
  if (text.starts_with(prefix)) std::from_chars(text.data() + prefix.size(), text.data() + text.size(), capability);
  return capability;
}

/// A device as refusals name it: "sm_80", or that it is none of NVIDIA's.
inline std::string card_name(const DeviceInfo& device) {
  return device.architecture.empty() ? "no NVIDIA card" : device.architecture;
}

}  // namespace axisloom::ops
