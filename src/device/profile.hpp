// Profiles: a device by its figures, without the device. Plans are made as for it, and their kernels run on another.
#pragma once

#include "device/device.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace axisloom::device {

struct Profile {
  std::string name;  // "h200": the file's name without its ending
  DeviceInfo info;   // without what only a driver says: api, index, versions
};

/// Reads a profile: name, vendor, kind and architecture; `limits` and `features`, a {"value":, "source":} for each
/// member of DeviceInfo; and `sources`, what the words after "source" stand for. Other members are not looked at, so
/// that later readers find room for theirs. Throws Error(usage) that names what is missing or wrong.
Profile parse_profile(std::string_view name, std::string_view json);

/// A device that plans are made for as for the profile's, and whose kernels are compiled for `real` and run there. It
/// claims no feature that `real` lacks. Kernels that are written for one vendor's instructions refuse: its platform is
/// "profile NAME". Throws Error(unsupported) where `real` grants smaller groups or less local memory.
std::shared_ptr<Device> profiled(std::shared_ptr<Device> real, const Profile& profile);

}  // namespace axisloom::device
