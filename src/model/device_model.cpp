// The figures of the model, and where those of a device are found.
#include "model/device_model.hpp"

#include "core/text.hpp"
#include "model/profile.hpp"
#include "model/store.hpp"

#include <algorithm>
#include <utility>

namespace axisloom::model {
namespace {

constexpr Figure all_figures[] = {
    {"copy_rate", "B/s", "of a large contiguous copy, read plus written", &DeviceModel::copy_rate, true},
    {"cached_rate", "B/s", "the same within the last-level cache", &DeviceModel::cached_rate, true},
    {"cache", "B", "of the last cache that is faster than memory", &DeviceModel::cache, true},
    {"near_cache", "B", "of the cache that the groups on a compute unit share", &DeviceModel::near_cache},
    {"sector", "B", "the least that memory moves", &DeviceModel::sector},
    {"launch", "s", "one launch of an empty kernel, call to completion", &DeviceModel::launch},
    {"latency", "s", "from a load to what depends on it", &DeviceModel::latency},
    {"access_1", "", "share of copy_rate that accesses of 1 byte an item reach", &DeviceModel::access_1},
    {"access_2", "", "of 2 bytes", &DeviceModel::access_2},
    {"access_4", "", "of 4 bytes", &DeviceModel::access_4},
    {"access_8", "", "of 8 bytes", &DeviceModel::access_8},
    {"f32_rate", "1/s", "operations of a compute unit, two for a multiplication with its addition",
     &DeviceModel::f32_rate},
    {"f64_rate", "1/s", "the same of f64", &DeviceModel::f64_rate},
    {"i32_rate", "1/s", "of 32-bit integers", &DeviceModel::i32_rate},
    {"i64_rate", "1/s", "of 64-bit integers", &DeviceModel::i64_rate},
    {"tensor_16_rate", "1/s", "of 16-bit floats on its tensor cores; 0: it has none", &DeviceModel::tensor_16_rate},
    {"tensor_64_rate", "1/s", "of f64 on its tensor cores; 0: they do not take it", &DeviceModel::tensor_64_rate},
    {"lanes", "items", "that take one instruction: a warp, or a CPU's vector of f32", &DeviceModel::lanes},
    {"banks", "", "of local memory, 4 bytes each", &DeviceModel::banks},
    {"core", "", "time of a CPU core's scalar loop; 1: a core of the Xeon that the candidates were measured on",
     &DeviceModel::core},
};

std::string maker_of(const DeviceInfo& device) {
  if (device.platform.find("NVIDIA") != device.platform.npos) return "nvidia";
  if (device.vendor.starts_with("Advanced Micro Devices")) return "amd";
  const std::string& name = device.vendor.empty() ? device.platform : device.vendor;
  const std::string word = core::lower_case(name.substr(0, name.find_first_of(" (,")));
  return word.empty() ? "unknown" : word;
}

/// The processor in what PoCL reports, "cpu-x86_64-pc-linux-gnu-skylake-avx512": what follows the host's triple.
std::string without_triple(const std::string& architecture) {
  constexpr std::string_view system = "-linux-";
  const size_t at = architecture.find(system);
  const size_t end = at == architecture.npos ? at : architecture.find('-', at + system.size());
  return end == architecture.npos ? architecture : architecture.substr(end + 1);
}

std::string architecture_of(const DeviceInfo& device) {
  if (!device.architecture.empty()) return core::lower_case(without_triple(device.architecture));
  // ROCm's OpenCL names a device by its architecture, "gfx942:sramecc+:xnack-".
  if (device.name.starts_with("gfx")) return device.name.substr(0, device.name.find(':'));
  return std::string(name(device.kind));
}

/// A device with fewer units than the one that was measured has less of what all of them share.
void take(const DeviceModel& from, bool scaled, DeviceModel& model) {
  const double smaller = scaled ? std::min(1.0, model.units() / from.units()) : 1;
  for (const Figure& figure : all_figures)
    if (from.*figure.place > 0) model.*figure.place = from.*figure.place * (figure.of_all_units ? smaller : 1);
}

const Profile* profile_for(const auto& is_right) {
  const std::span<const Profile> profiles = shipped_profiles();
  const auto at = std::ranges::find_if(profiles, is_right);
  return at == profiles.end() ? nullptr : &*at;
}

}  // namespace

std::span<const Figure> figures() {
  return all_figures;
}

std::string family(const DeviceInfo& device) {
  return maker_of(device) + " " + architecture_of(device);
}

DeviceModel model_of(const DeviceInfo& device) {
  return model_of(device, *user_store());
}

// Profiles of CPUs were measured through OpenCL drivers; a launch on the host is a call. A run of a plan of one group
// took a core of an EPYC 9005 0.2 to 0.4 us.
constexpr double host_launch = 0.3e-6;

DeviceModel model_of(const DeviceInfo& device, const Store& user) {
  DeviceModel model{device};
  const std::string wanted = family(device);
  const char* const generic = model.is_cpu() ? "generic-cpu" : "generic-gpu";
  if (const Profile* kind = profile_for([&](const Profile& one) { return one.name == generic; }))
    take(kind->model, false, model);
  if (device.last_level_cache > 0) model.cache = double(device.last_level_cache);
  model.source = generic;
  const Store::Found measured = user.find_figures(device.name, wanted);
  const Profile* const same = profile_for([&](const Profile& one) { return one.model.name == device.name; });
  const Profile* const kin = profile_for([&](const Profile& one) { return one.family == wanted; });
  const auto use = [&](const DeviceModel& from, std::string source, bool scaled = false) {
    take(from, scaled, model);
    model.source = std::move(source);
  };
  if (measured.device)
    use(*measured.device, "user's store");
  else if (same)
    use(same->model, same->name);
  else if (measured.family)
    use(*measured.family, "user's store, by family");
  else if (kin)
    use(kin->model, "family of " + kin->name, true);
  if (device::is_host(device)) model.launch = host_launch;
  return model;
}

}  // namespace axisloom::model
