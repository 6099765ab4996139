// Reads /proc, /sys and nvidia-smi; what cannot be found is left out.
#include "bench/environment.hpp"

#include "core/system_file.hpp"
#include "device/host/system.hpp"
#include "harness/arguments.hpp"

#include <axisloom/version.hpp>

#include <sys/utsname.h>

#include <fmt/chrono.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <sstream>

namespace axisloom::bench {
namespace {

using core::field;
using core::first_line;

void set_if_known(Json& to, const char* name, const std::string& value) {
  if (!value.empty()) to[name] = value;
}

Json host() {
  Json json;
  set_if_known(json, "cpu", field("/proc/cpuinfo", "model name"));
  json["threads"] = device::host::processors();
  set_if_known(json, "memory", field("/proc/meminfo", "MemTotal"));
  set_if_known(json, "last_level_cache", first_line("/sys/devices/system/cpu/cpu0/cache/index3/size"));
  set_if_known(json, "governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  set_if_known(json, "transparent_hugepages", first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  utsname system{};
  if (uname(&system) == 0) json["system"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  return json;
}

/// What nvidia-smi says of one card, without its line end; empty when it cannot be asked.
std::string ask_nvidia_smi(int card, const std::string& fields) {
  const std::string command =
      fmt::format("nvidia-smi -i {} --query-gpu={} --format=csv,noheader 2> /dev/null", card, fields);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 512> text{};
  if (!pipe || std::fgets(text.data(), text.size(), pipe.get()) == nullptr) return {};
  const std::string line = text.data();
  return line.substr(0, line.find('\n'));
}

bool is_nvidia_card(const DeviceInfo& info) {
  return info.kind == Kind::gpu && info.vendor.find("NVIDIA") != std::string::npos;
}

/// The card's number among NVIDIA's: OpenCL counts other vendors' devices too.
int card_number(const DeviceInfo& info) {
  return std::ranges::count_if(devices(), [&](const DeviceInfo& other) {
    return other.api == info.api && other.index < info.index && is_nvidia_card(other);
  });
}

}  // namespace

Json environment(const Device& device) {
  const DeviceInfo& info = device.info();
  return {{"axisloom", version()},
          {"built_with", __VERSION__},
          {"host", host()},
          {"device",
           {{"spec", info.spec()},
            {"name", info.name},
            {"vendor", info.vendor},
            {"platform", info.platform},
            {"driver", info.driver},
            {"api_version", info.api_version},
            {"compiler", info.compiler},
            {"architecture", info.architecture},
            {"compute_units", info.compute_units},
            {"global_memory", info.global_memory},
            {"max_allocation", info.max_allocation},
            {"last_level_cache", info.last_level_cache}}}};
}

Json moment() {
  return {{"time", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))}};
}

Json conditions(const Device& device) {
  Json json = moment();
  set_if_known(json, "load", first_line("/proc/loadavg"));
  set_if_known(json, "cpu_mhz", field("/proc/cpuinfo", "cpu MHz"));
  const DeviceInfo& info = device.info();
  if (!is_nvidia_card(info)) return json;
  static constexpr std::array names{"clocks.sm", "clocks.mem", "temperature.gpu", "power.draw", "driver_version"};
  std::istringstream values(ask_nvidia_smi(card_number(info), joined(names, ",")));
  for (const char* name : names) {
    std::string value;
    if (std::getline(values >> std::ws, value, ',')) json["card"][name] = value;
  }
  return json;
}

}  // namespace axisloom::bench
