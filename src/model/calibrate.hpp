// Measuring a device's model.
#pragma once

#include "model/device_model.hpp"

#include <axisloom/device.hpp>

#include <filesystem>
#include <functional>

namespace axisloom::model {

struct CalibrateOptions {
  size_t largest = size_t{1} << 30;                  // bytes of an array; a CPU's are at most a quarter of it
  double seconds = 0.2;                              // that each kernel is run for
  std::function<void(const Figure&, double)> found;  // is told of each figure as it is measured; may be empty
};

/// The figures that any kernel shows: rates of copies, launch and latency, arithmetic, and of a CPU the time of its
/// scalar loop. Others are 0: cache sizes, sectors, banks and lanes are facts of the hardware; the rates of tensor
/// cores and the shares of narrow accesses, which depend on the kernel, are left to profiles. Throws as a launch does.
DeviceModel calibrate(const Device& device, const CalibrateOptions& options = {});

/// Writes a line for them to the user's store and returns its file. Throws Error(file).
std::filesystem::path remember(const DeviceModel& measured);

}  // namespace axisloom::model
