// Profiles: devices by their figures, without the device. Predictions follow them, and plans can be made as for them
// while their kernels run on another device.
#pragma once

#include "device/device.hpp"
#include "model/device_model.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::model {

struct Profile {
  std::string name;    // "h200": the file's name without its ending
  DeviceModel model;   // without what only a driver says: api, index, versions
  std::string family;  // empty for a generic one
};

/// Reads a profile: name, vendor, kind and architecture; `limits` and `features`, a {"value":, "source":} for each
/// member of DeviceInfo; `model`, the same for figures of DeviceModel, as many as are known; and `sources`, what the
/// words after "source" stand for. Other members are not looked at, so that later readers find room for theirs.
/// A profile "generic-..." has figures alone: what a device of its kind gets that nobody measured. Throws Error(usage)
/// that names what is missing or wrong.
Profile parse_profile(std::string_view name, std::string_view json);

/// The profiles that travel inside the library, a file each in tuning/devices, by name.
std::span<const Profile> shipped_profiles();

/// Those of devices: "arc-a770", "h200", ... but not the generic ones.
std::vector<std::string> profile_names();
/// Throws Error(usage) that lists the names there are.
const Profile& profile_named(std::string_view name);

/// A device that plans are made for as for the profile's, and whose kernels are compiled for `real` and run there. It
/// claims no feature that `real` lacks. Kernels that are written for one vendor's instructions refuse: its platform is
/// "profile NAME". Throws Error(unsupported) where `real` grants smaller groups or less local memory.
device::SharedDevice profiled(device::SharedDevice real, const Profile& profile);
Device profiled_device(const Device& real, std::string_view name);

}  // namespace axisloom::model
