// What a measurement was made on: enough to judge, years later, whether another one may be compared with it.
#pragma once

#include "harness/table.hpp"

#include <axisloom/device.hpp>

namespace axisloom::bench {

using namespace harness;

/// What stays the same while the program runs: program, host, device, driver.
Json environment(const Device& device);
/// What changes: time, load, and, on an NVIDIA card, clocks, temperature and power, as nvidia-smi tells them.
Json conditions(const Device& device);
/// The time alone, for a document that more is to come to.
Json moment();

}  // namespace axisloom::bench
