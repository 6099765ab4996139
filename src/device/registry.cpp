// The devices of this process: enumeration over the runtimes, and one shared open device for each piece of hardware.
#include "device/registry.hpp"

#include "core/text.hpp"
#include "device/environment.hpp"
#include "device/process.hpp"

#include <map>

namespace axisloom {

namespace device {

namespace {

std::vector<DeviceInfo> enumerate() {
  const Starting alone;
  std::vector<DeviceInfo> all;
  for (const Api api : all_apis) {
    for (DeviceInfo& info : runtime_of(api).devices()) all.push_back(std::move(info));
  }
  return all;
}

// What each runtime that was asked looked for, and what each advises.
[[noreturn]] void refuse_none(std::string_view text, const Spec& spec, std::span<const DeviceInfo> present) {
  ErrorParts parts;
  parts.message = is_automatic(text) ? "there is no device" : concat("there is no device \"", text, "\"");
  if (!present.empty()) {
    parts.message += "; present:";
    for (const DeviceInfo& info : present) parts.message += " " + info.label();
    parts.remedy = "name one of these";
  }
  for (const Api api : all_apis) {
    if (spec.which == Spec::Which::api && spec.api != api) continue;
    for (const RuntimeStatus& status : runtime_of(api).status()) {
      if (status.remedy.empty()) continue;
      parts.message += "; " + status.name + ": looked for " + joined(status.tried, ", ");
      parts.remedy += (parts.remedy.empty() ? "" : "; or ") + status.remedy;
    }
  }
  throw Error(Errc::no_device, std::move(parts));
}

// Never destroyed: drivers take themselves down at exit, in an order that is not ours to know.
std::map<std::pair<Api, int>, SharedDevice>& open_devices() {
  static auto* const devices = new std::map<std::pair<Api, int>, SharedDevice>;
  return *devices;
}

SharedDevice open_shared(Api api, int index) {
  const Starting alone;
  SharedDevice& device = open_devices()[{api, index}];
  if (!device || device->lost()) {
    device = runtime_of(api).open(index);
    device->stays_open = true;
  }
  return device;
}

// AXISLOOM_DEVICE stands in for "auto" and "" only; what the caller names is what the caller gets.
std::string effective_text(std::string_view text) {
  if (!is_automatic(text)) return std::string(text);
  std::string variable = environment("AXISLOOM_DEVICE");
  if (variable.empty()) return "auto";
  try {
    parse_spec(variable);
  } catch (const Error& error) {
    throw Error(error.code(), "environment variable AXISLOOM_DEVICE: " + error.parts().message, error.parts().remedy);
  }
  return variable;
}

}  // namespace

SharedDevice open(std::string_view text) {
  const std::string effective = effective_text(text);
  const Spec spec = parse_spec(effective);
  // The host needs no driver, so none is looked for; and it works where drivers do not, after a fork.
  if (spec.which == Spec::Which::cpu || (spec.which == Spec::Which::api && spec.api == Api::host))
    return host_runtime().open(spec.index.value_or(0));
  const std::vector<DeviceInfo> present = enumerate();
  const DeviceInfo* chosen = select(spec, present);
  if (!chosen) refuse_none(effective, spec, present);
  return open_shared(chosen->api, chosen->index);
}

}  // namespace device

std::vector<DeviceInfo> devices() {
  return device::enumerate();
}

}  // namespace axisloom
