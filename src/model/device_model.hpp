// A device as predictions know it: what its driver says of it, and how fast it is.
#pragma once

#include <axisloom/device.hpp>

#include <span>
#include <string>
#include <string_view>

namespace axisloom::model {

struct Store;

/// All that predictions know of hardware. figures() says what each member means.
struct DeviceModel : DeviceInfo {
  double copy_rate = 0, cached_rate = 0;
  double cache = 0, near_cache = 0, sector = 0;
  double launch = 0, latency = 0;
  double access_1 = 0, access_2 = 0, access_4 = 0, access_8 = 0;
  double f32_rate = 0, f64_rate = 0, i32_rate = 0, i64_rate = 0, tensor_16_rate = 0, tensor_64_rate = 0;
  double lanes = 0, banks = 0, core = 0;
  std::string source = {};  // of the figures: "user's store", "h200", "family of h200", "generic-gpu"

  bool is_cpu() const { return kind == Kind::cpu; }
  double units() const { return compute_units == 0 ? 1 : compute_units; }
  /// Time in which all cores of this CPU do what one core of the Xeon does in `seconds`.
  double on_cores(double seconds) const { return seconds * core / units(); }
};

/// A figure of the model, under the name that profiles and stores give it.
struct Figure {
  std::string_view name, unit, meaning;
  double DeviceModel::*place;
  bool of_all_units = false;  // a device of the family with fewer compute units has less of it
};
std::span<const Figure> figures();

/// What devices that share measurements are called: "nvidia sm_90" (through OpenCL and CUDA alike),
/// "genuineintel skylake-avx512", "intel gpu". Lower case.
std::string family(const DeviceInfo& device);

/// The model of a device. The closest source counts: the user's store for the device, the profile of its name, the
/// store for its family, a profile of its family, the profile for its kind; figures that one lacks are those of its
/// kind.
DeviceModel model_of(const DeviceInfo& device, const Store& user);
DeviceModel model_of(const DeviceInfo& device);  // with the user's store as it is now

}  // namespace axisloom::model
