// Opening devices for the program, which may do what a library may not: arrange its own environment for drivers, and
// say what has happened when one of them ends the process.
#pragma once

#include <axisloom/device.hpp>

namespace axisloom::cli {

/// As Device::open and axisloom::devices, once all is arranged.
Device open_device(const std::string& spec);
std::vector<DeviceInfo> all_devices();

/// Before any other use of a runtime; open_device and all_devices call it. PoCL gets a folder of the program's own, and
/// from now on an exit that the program did not choose ends in exit code 5, with a line that says so.
void arrange_drivers();
/// What they have kept for the next process is not to be used.
void distrust_drivers();
/// The last call of main.
void leave_drivers() noexcept;

}  // namespace axisloom::cli
