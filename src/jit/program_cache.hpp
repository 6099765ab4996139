// The cache behind `obtain`, for any source text.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace axisloom::jit {

/// As obtain(device, Specialisation), for a text that is already put together. `items`: the required group size.
std::shared_ptr<device::Program> obtain(device::Device& device, const device::BuildRequest& request, unsigned items);

}  // namespace axisloom::jit
