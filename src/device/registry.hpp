// Choosing a device from those there are; apart from the registry so that it can be tested without hardware.
#pragma once

#include "device/device.hpp"

namespace axisloom::device {

/// The device that a specification names among `present` (CUDA first, the host last), or null when there is none.
const DeviceInfo* select(const Spec& spec, std::span<const DeviceInfo> present);

}  // namespace axisloom::device
