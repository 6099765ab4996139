// The profiles of devices that travel inside the library, a file each in tuning/devices.
#pragma once

#include "device/profile.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace axisloom::tune {

/// "arc-a770", "h200", ...
std::vector<std::string> profile_names();

/// Throws Error(usage) that lists the names there are.
device::Profile profile_named(std::string_view name);

/// `real`, planned for as for the device of that profile.
Device profiled_device(const Device& real, std::string_view name);

}  // namespace axisloom::tune
