// Reading profiles, finding the shipped ones, and the device that answers with one.
#include "model/profile.hpp"

#include "core/flat_json.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"
#include "device/forwarding.hpp"
#include "jit/jit.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace axisloom::model {
namespace {

/// A figure or feature of DeviceInfo, under the name that it has there.
template <class Value>
struct Member {
  const char* name;
  Value DeviceInfo::*place;
};

constexpr Member<size_t> sizes[] = {{"max_group", &DeviceInfo::max_group},
                                    {"local_memory", &DeviceInfo::local_memory},
                                    {"local_memory_max", &DeviceInfo::local_memory_max},
                                    {"global_memory", &DeviceInfo::global_memory},
                                    {"max_allocation", &DeviceInfo::max_allocation},
                                    {"base_alignment", &DeviceInfo::base_alignment},
                                    {"last_level_cache", &DeviceInfo::last_level_cache}};

constexpr Member<bool> features[] = {{"unified_memory", &DeviceInfo::unified_memory},
                                     {"f64", &DeviceInfo::f64},
                                     {"f16", &DeviceInfo::f16},
                                     {"atomics_64", &DeviceInfo::atomics_64},
                                     {"byte_stores", &DeviceInfo::byte_stores},
                                     {"device_scope_order", &DeviceInfo::device_scope_order}};

constexpr std::string_view folder = "tuning/devices/", ending = ".json", generic = "generic-";

class ProfileReader {
 public:
  ProfileReader(std::string_view name, std::string_view text) : name_(name) {
    try {
      values_ = core::flat_json(text);
    } catch (const std::invalid_argument& unreadable) {
      refuse(concat("is ", unreadable.what()));
    }
  }

  Profile read() const {
    Profile profile{name_, {}, {}};
    DeviceModel& model = profile.model;
    model.kind = kind();
    if (!name_.starts_with(generic)) read_device(model);
    for (const Figure& figure : figures())
      if (values_.contains(concat("model.", figure.name))) model.*figure.place = positive(figure.name);
    if (!name_.starts_with(generic)) profile.family = family(model);
    return profile;
  }

 private:
  void read_device(DeviceInfo& info) const {
    info.name = get<std::string>("name");
    info.vendor = get<std::string>("vendor");
    info.architecture = get<std::string>("architecture");
    info.compute_units = unsigned(sourced<i64>("limits", "compute_units"));
    for (const auto& [key, place] : sizes) info.*place = size_t(sourced<i64>("limits", key));
    for (const auto& [key, place] : features) info.*place = sourced<bool>("features", key);
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Errc::usage, "the profile \"" + name_ + "\" " + why, "write it as tuning/devices/h200.json");
  }
  const core::JsonValue& at(const std::string& path) const {
    const auto found = values_.find(path);
    if (found == values_.end()) refuse("lacks \"" + path + "\"");
    return found->second;
  }
  template <class Value>
  Value get(const std::string& path) const {
    const auto* const value = std::get_if<Value>(&at(path));
    if (!value) refuse("has a \"" + path + "\" of another type");
    return *value;
  }
  Kind kind() const {
    const std::string word = get<std::string>("kind");
    for (const Kind kind : {Kind::cpu, Kind::gpu, Kind::other})
      if (word == name(kind)) return kind;
    refuse("is of no known kind: \"" + word + "\"");
  }
  /// The path of a value whose source is named and explained.
  std::string explained(std::string_view group, std::string_view key) const {
    const std::string path = concat(group, ".", key);
    if (!values_.contains("sources." + get<std::string>(path + ".source")))
      refuse("does not say where \"" + path + "\" comes from");
    return path + ".value";
  }
  template <class Value>
  Value sourced(std::string_view group, std::string_view key) const {
    const Value value = get<Value>(explained(group, key));
    if constexpr (std::is_same_v<Value, i64>)
      if (value < 0) refuse(concat("has a negative \"", key, "\""));
    return value;
  }
  double positive(std::string_view figure) const {
    const std::string path = explained("model", figure);
    const auto* const whole = std::get_if<i64>(&at(path));
    const double value = whole ? double(*whole) : get<double>(path);
    if (!(value > 0)) refuse("has a \"" + path + "\" that is not positive");
    return value;
  }

  std::string name_;
  core::FlatJson values_;
};

class ProfiledDevice : public device::ForwardingDevice {
 public:
  ProfiledDevice(device::SharedDevice real, const Profile& profile)
      : ForwardingDevice(std::move(real)), compiled_for_(real_->compiled_for()) {
    const DeviceInfo host = info_;
    info_ = profile.model;
    info_.api = host.api;
    info_.index = host.index;
    info_.driver = host.driver;
    info_.api_version = host.api_version;
    info_.compiler = host.compiler;
    info_.platform = "profile " + profile.name;
    info_.base_alignment = std::min(info_.base_alignment, host.base_alignment);
    for (const auto& [name, feature] : features) {
      info_.*feature = info_.*feature && host.*feature;
      compiled_for_.*feature = info_.*feature;
    }
    require_room(host, profile);
  }
  const DeviceInfo& compiled_for() const noexcept override { return compiled_for_; }

 private:
  void require_room(const DeviceInfo& host, const Profile& profile) const {
    const auto require = [&](const char* what, size_t wanted, size_t granted) {
      if (wanted <= granted) return;
      throw Error(Errc::unsupported, {.message = concat("the profile ", profile.name, " has ", what, " of ", wanted,
                                                        ", this device grants ", granted),
                                      .device = host.label(),
                                      .remedy = "run the profile on another device, PoCL's for one"});
    };
    require("groups", info_.max_group, host.max_group);
    require("local memory", info_.local_memory_max, host.local_memory_max);
  }

  DeviceInfo compiled_for_;  // the real device, less what the profile lacks
};

}  // namespace

Profile parse_profile(std::string_view name, std::string_view json) {
  return ProfileReader(name, json).read();
}

std::span<const Profile> shipped_profiles() {
  static const std::vector<Profile> profiles = [] {
    std::vector<Profile> list;
    for (std::string_view file : jit::embedded_files()) {
      if (!file.starts_with(folder) || !file.ends_with(ending)) continue;
      const std::string_view name = file.substr(folder.size(), file.size() - folder.size() - ending.size());
      list.push_back(parse_profile(name, jit::embedded(file)));
    }
    return list;
  }();
  return profiles;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const Profile& profile : shipped_profiles())
    if (!profile.name.starts_with(generic)) names.push_back(profile.name);
  return names;
}

const Profile& profile_named(std::string_view name) {
  const std::span<const Profile> known = shipped_profiles();
  const auto found = std::ranges::find(known, name, &Profile::name);
  if (found != known.end()) return *found;
  throw Error(Errc::usage, concat("there is no profile \"", name, "\""),
              "use one of " + joined(known, ", ", &Profile::name));
}

device::SharedDevice profiled(device::SharedDevice real, const Profile& profile) {
  return std::make_shared<ProfiledDevice>(std::move(real), profile);
}

Device profiled_device(const Device& real, std::string_view name) {
  return Device(profiled(real.impl(), profile_named(name)));
}

}  // namespace axisloom::model
