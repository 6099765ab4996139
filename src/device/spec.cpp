// The device grammar, and the choice of a device by it.
#include "core/text.hpp"
#include "device/device.hpp"
#include "device/registry.hpp"

#include <algorithm>

namespace axisloom {

std::string DeviceInfo::spec() const {
  return index < 0 || api == Api::host ? std::string(axisloom::name(api)) : concat(axisloom::name(api), ":", index);
}

std::string DeviceInfo::label() const {
  return spec() + " (" + name + ")";
}

namespace device {

Runtime& runtime_of(Api api) {
  switch (api) {
    case Api::opencl:
      return opencl_runtime();
    case Api::cuda:
      return cuda_runtime();
    case Api::host:
      return host_runtime();
  }
  throw Error(Errc::unsupported, concat("there is no runtime ", int(api)));
}

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw Error(Errc::usage, concat("device \"", text, "\" cannot be read: ", why),
              "write auto | cpu | gpu | cuda[:N] | opencl[:N] | opencl:NAME | host");
}

bool is_number(std::string_view text) {
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  return text.size() > sign && text.find_first_not_of("0123456789", sign) == text.npos;
}

bool matches(const Spec& spec, const DeviceInfo& info) {
  switch (spec.which) {
    case Spec::Which::automatic:
      return true;
    case Spec::Which::cpu:
      return info.kind == Kind::cpu;
    case Spec::Which::gpu:
      return info.kind == Kind::gpu;
    case Spec::Which::api:
      break;
  }
  if (info.api != spec.api) return false;
  if (spec.index) return info.index == *spec.index;
  const auto names_it = [&](const std::string& text) {
    return core::lower_case(text).find(core::lower_case(spec.name)) != text.npos;
  };
  return names_it(info.name) || names_it(info.platform);
}

// GPUs, the host, CPUs by their drivers, the rest; what lacks a compiler for the kernels that it needs comes last.
int preference(const DeviceInfo& info) {
  if (info.api == Api::host) return 1;
  const int kind = info.kind == Kind::gpu ? 0 : info.kind == Kind::cpu ? 2 : 3;
  return info.compiler.empty() ? kind + 4 : kind;
}

}  // namespace

Spec parse_spec(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string head = core::lower_case(std::string(text.substr(0, colon)));
  const bool has_tail = colon != text.npos;
  const std::string_view tail = has_tail ? text.substr(colon + 1) : std::string_view{};

  Spec spec;
  if (head == "auto" || head == "cpu" || head == "gpu") {
    if (has_tail) refuse(text, "nothing may follow \"" + head + "\"");
    spec.which = head == "auto" ? Spec::Which::automatic : head == "cpu" ? Spec::Which::cpu : Spec::Which::gpu;
    return spec;
  }
  const auto api = std::ranges::find(all_apis, head, [](Api one) { return axisloom::name(one); });
  if (api == std::end(all_apis)) refuse(text, "no such kind of device");
  spec.which = Spec::Which::api;
  spec.api = *api;
  if (!has_tail) return spec;
  if (tail.empty()) refuse(text, "nothing follows the colon");
  if (spec.api == Api::opencl && !is_number(tail)) {
    spec.name = tail;
    return spec;
  }
  spec.index = core::whole_number<int>(tail);
  if (spec.index.value_or(-1) < 0) refuse(text, concat("\"", tail, "\" is not a device number"));
  return spec;
}

bool is_automatic(std::string_view text) {
  return text.empty() || parse_spec(text).which == Spec::Which::automatic;
}

const DeviceInfo* select(const Spec& spec, std::span<const DeviceInfo> present) {
  const DeviceInfo* best = nullptr;
  for (const DeviceInfo& info : present) {
    if (!matches(spec, info)) continue;
    // An api, number or name asks for that order; auto, cpu and gpu leave the choice to us.
    if (spec.which == Spec::Which::api) return &info;
    if (!best || preference(info) < preference(*best)) best = &info;
  }
  return best;
}

}  // namespace device
}  // namespace axisloom
