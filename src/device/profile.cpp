// Reading profiles, and the device that answers with one.
#include "device/profile.hpp"

#include "device/forwarding.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace axisloom::device {
namespace {

using ProfileJson = nlohmann::json;

/// A figure or feature of DeviceInfo, under the name that it has there.
template <class Value>
struct Member {
  const char* name;
  Value DeviceInfo::*place;
};

constexpr std::array<Member<std::size_t>, 7> sizes{{{"max_group", &DeviceInfo::max_group},
                                                    {"local_memory", &DeviceInfo::local_memory},
                                                    {"local_memory_max", &DeviceInfo::local_memory_max},
                                                    {"global_memory", &DeviceInfo::global_memory},
                                                    {"max_allocation", &DeviceInfo::max_allocation},
                                                    {"base_alignment", &DeviceInfo::base_alignment},
                                                    {"last_level_cache", &DeviceInfo::last_level_cache}}};

constexpr std::array<Member<bool>, 6> features{{{"unified_memory", &DeviceInfo::unified_memory},
                                                {"f64", &DeviceInfo::f64},
                                                {"f16", &DeviceInfo::f16},
                                                {"atomics_64", &DeviceInfo::atomics_64},
                                                {"byte_stores", &DeviceInfo::byte_stores},
                                                {"device_scope_order", &DeviceInfo::device_scope_order}}};

constexpr std::array<std::pair<const char*, Kind>, 3> kinds{
    {{"cpu", Kind::cpu}, {"gpu", Kind::gpu}, {"other", Kind::other}}};

class ProfileReader {
 public:
  ProfileReader(std::string_view name, std::string_view text)
      : name_(name), json_(ProfileJson::parse(text, nullptr, /*allow_exceptions=*/false)) {
    if (!json_.is_object()) refuse("is not a JSON object");
  }

  Profile read() const {
    Profile profile{name_, {}};
    DeviceInfo& info = profile.info;
    info.name = text("name");
    info.vendor = text("vendor");
    info.architecture = text("architecture");
    info.kind = kind();
    info.compute_units = static_cast<unsigned>(number("compute_units"));
    for (const auto& [key, place] : sizes) info.*place = number(key);
    for (const auto& [key, place] : features) info.*place = flag(key);
    return profile;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Errc::usage, "the profile \"" + name_ + "\" " + why, "write it as tuning/devices/h200.json");
  }
  const ProfileJson& member(const ProfileJson& object, const char* key) const {
    const auto at = object.find(key);
    if (!object.is_object() || at == object.end()) refuse("lacks \"" + std::string(key) + "\"");
    return *at;
  }
  std::string text(const char* key) const {
    const ProfileJson& value = member(json_, key);
    if (!value.is_string()) refuse("has a \"" + std::string(key) + "\" that is no text");
    return value.get<std::string>();
  }
  Kind kind() const {
    const std::string word = text("kind");
    for (const auto& [known, kind] : kinds)
      if (word == known) return kind;
    refuse("is of no known kind: \"" + word + "\"");
  }
  /// The value of a figure whose source is named and explained.
  const ProfileJson& sourced(const char* group, const char* key) const {
    const ProfileJson& figure = member(member(json_, group), key);
    const ProfileJson& source = member(figure, "source");
    if (!source.is_string() || !member(json_, "sources").contains(source.get<std::string>()))
      refuse("does not say where \"" + std::string(key) + "\" comes from");
    return member(figure, "value");
  }
  std::size_t number(const char* key) const {
    const ProfileJson& value = sourced("limits", key);
    if (!value.is_number_unsigned()) refuse("has a \"" + std::string(key) + "\" that is no count");
    return value.get<std::size_t>();
  }
  bool flag(const char* key) const {
    const ProfileJson& value = sourced("features", key);
    if (!value.is_boolean()) refuse("has a \"" + std::string(key) + "\" that is neither true nor false");
    return value.get<bool>();
  }

  std::string name_;
  ProfileJson json_;
};

class ProfiledDevice : public ForwardingDevice {
 public:
  ProfiledDevice(std::shared_ptr<Device> real, const Profile& profile)
      : ForwardingDevice(std::move(real)), compiled_for_(real_->compiled_for()) {
    const DeviceInfo host = info_;
    info_ = profile.info;
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
    const auto require = [&](const char* what, std::size_t wanted, std::size_t granted) {
      if (wanted <= granted) return;
      throw Error(Errc::unsupported,
                  {.message = "the profile " + profile.name + " has " + what + " of " + std::to_string(wanted) +
                              ", this device grants " + std::to_string(granted),
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

std::shared_ptr<Device> profiled(std::shared_ptr<Device> real, const Profile& profile) {
  return std::make_shared<ProfiledDevice>(std::move(real), profile);
}

}  // namespace axisloom::device
