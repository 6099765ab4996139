// What a measurement was made on: enough to judge, years later, whether another one may be compared with it.
#pragma once

#include <axisloom/device.hpp>

#include <nlohmann/json.hpp>

namespace axisloom::bench {

/// What stays the same while the program runs: program, host, device, driver.
nlohmann::ordered_json environment(const Device& device);
/// What changes: time, load, and, on an NVIDIA card, clocks, temperature and power, as nvidia-smi tells them.
nlohmann::ordered_json conditions(const Device& device);
/// The time alone, for a document that more is to come to.
nlohmann::ordered_json moment();

}  // namespace axisloom::bench
