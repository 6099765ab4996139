// Running a case on a device and looking at every byte that it did or should not have touched.
#pragma once

#include "harness/case.hpp"

#include <map>
#include <memory>

namespace axisloom::harness {

struct CheckSettings {
  Device device;
  /// The same with small buffers, by the largest; kept, since each has compiled programs of its own.
  std::shared_ptr<std::map<i64, Device>> small = std::make_shared<std::map<i64, Device>>();
  std::string profile;  // of the device, when it has one
  u64 seed = 1;
  std::string candidate;  // "" as the case says, "all" each in turn, else this one
  bool index_64 = false;  // force 64-bit offsets
  bool checked = false;   // the CHECKED prelude
  bool tight = false;     // no canaries: a checker of accesses must not take them for the array's own
  int repeat = 1;         // further runs, compared bit for bit with the first
  std::string keep;       // where to write the arrays as .npy: PREFIX-in1.npy, ..., PREFIX-out.npy; empty: nowhere
};

struct Outcome {
  enum Kind { passed, failed, refused } kind = Kind::passed;
  std::string candidate = {};  // that was forced; empty: as planned
  std::string message = {};    // why it failed or was refused
  std::string error = {};      // the kind of error that it failed with, without numbers and names; empty: by its result
};

/// With what a case is planned, before a candidate is forced.
PlanOptions plan_options_of(const Case& c, const CheckSettings& settings);

/// One outcome per candidate tried. Throws Error(device_lost) only.
std::vector<Outcome> run_case(const Case& c, const CheckSettings& settings);

}  // namespace axisloom::harness
