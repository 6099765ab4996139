// Tunables, configurations, and where a configuration comes from. Knows no operation by name.
#pragma once

#include <axisloom/device.hpp>
#include <axisloom/plan.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::tune {

/// One thing about a kernel that may be chosen.
struct Tunable {
  std::string_view name;
  std::int64_t value;                // the candidate's own default
  std::vector<std::int64_t> values;  // all that are allowed, in ascending order
  std::string_view unit;             // "elements", "work-items", ""
  std::string_view why;              // what it changes, and the measurement behind the default
};

/// What is being configured. `problem` is exact ("4B 8192x8192 in 1,8192 out 8192,1"), `shape_class` coarser ("4B 2-d
/// large").
struct Key {
  std::string candidate;  // "rearrange/tile"
  std::string problem;
  std::string shape_class;
};

struct Found {
  Configuration values;  // every tunable has a value
  std::string source;    // "forced", "exact", "shape class", "device family" or "default"
};

/// What devices that share tuned values are called: "nvidia sm_90" (through OpenCL and CUDA alike),
/// "pocl skylake-avx512", "intel gpu". Lower case.
std::string family(const DeviceInfo& device);

/// First found wins: `forced`, the user's store, the shipped store, the tunables' own values. Throws Error(usage) for
/// an unknown tunable or a value that is not allowed. A bad line in a store is skipped and logged with file and line
/// number.
Found lookup(const Key& key, std::span<const Tunable> tunables, const DeviceInfo& device, const Configuration& forced);

/// "tile_in=64 tile_out=64 layout=2"
std::string to_string(const Configuration& configuration);

/// Measured rates of a device, from the same stores ("rates" lines), else those of its kind.
struct Rates {
  double copy_bytes_per_second;    // read plus written, large contiguous copy
  double cached_bytes_per_second;  // the same within the last-level cache
  double launch_seconds;           // one launch of an empty kernel, call to completion
  std::string source;              // "device", "device family" or "kind"
};
Rates rates(const DeviceInfo& device);

}  // namespace axisloom::tune
