// The cache behind `obtain`, for any source text.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/device.hpp"

namespace axisloom::jit {

/// What is done with a program that was compiled here before it is stored and handed out; nothing when empty.
using Finish = std::function<void(device::Program&)>;

/// As obtain(device, Specialisation, LaunchForm), for a text that is already put together. `variant` tells apart
/// programs of one text that are finished differently.
std::shared_ptr<device::Program> obtain(device::Device& device, const device::BuildRequest& request,
                                        const std::string& variant, const Finish& finish = {});

}  // namespace axisloom::jit
