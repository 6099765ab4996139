// Choosing a configuration from the stores, checked against what the candidate allows.
#include "tune/configuration.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "device/device.hpp"
#include "tune/store.hpp"

namespace axisloom::tune {
namespace {

/// How a line can match, the closest first.
enum class Match { exact, shape_class, device_family };
constexpr std::array<std::pair<Match, const char*>, 3> matches = {
    {{Match::exact, "exact"}, {Match::shape_class, "shape class"}, {Match::device_family, "device family"}}};

// What a device gets before it is measured: enough to tell a launch from a pass over memory, since candidates are
// compared on the same device. Bytes per second count reads plus writes.
constexpr double cpu_copy = 4e10;    // two cores with AVX-512 copied 1 GiB arrays at 28 to 52 GB/s
constexpr double cpu_cached = 2e11;  // and 1 MiB arrays at 195 GB/s
constexpr double cpu_launch = 2e-5;  // PoCL hands a launch to a thread and is waited for
constexpr double gpu_copy = 3e11;    // a card of the middle range
constexpr double gpu_launch = 5e-6;  // queue to completion on discrete cards

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string maker_of(const DeviceInfo& device) {
  if (device.platform.find("NVIDIA") != std::string::npos) return "nvidia";
  if (device.platform.find("Portable Computing Language") != std::string::npos) return "pocl";
  if (device.vendor.starts_with("Advanced Micro Devices")) return "amd";
  const std::string& name = device.vendor.empty() ? device.platform : device.vendor;
  const std::string word = lower_case(name.substr(0, name.find_first_of(" (,")));
  return word.empty() ? "unknown" : word;
}

/// The processor in what PoCL reports, "cpu-x86_64-pc-linux-gnu-skylake-avx512": what follows the host's triple.
std::string without_triple(const std::string& architecture) {
  constexpr std::string_view system = "-linux-";
  const std::size_t at = architecture.find(system);
  const std::size_t end = at == std::string::npos ? at : architecture.find('-', at + system.size());
  return end == std::string::npos ? architecture : architecture.substr(end + 1);
}

const char* word_for(Kind kind) {
  switch (kind) {
    case Kind::cpu:
      return "cpu";
    case Kind::gpu:
      return "gpu";
    case Kind::other:
      break;
  }
  return "device";
}

const Tunable* find(std::span<const Tunable> tunables, std::string_view name) {
  const auto at = std::ranges::find(tunables, name, &Tunable::name);
  return at == tunables.end() ? nullptr : &*at;
}

/// Why a configuration cannot be used; empty when it can.
std::string fault_of(const Configuration& values, std::span<const Tunable> tunables) {
  for (const auto& [name, value] : values) {
    const Tunable* tunable = find(tunables, name);
    if (tunable == nullptr) return "there is no tunable \"" + name + "\"";
    if (std::ranges::find(tunable->values, value) != tunable->values.end()) continue;
    return name + "=" + std::to_string(value) + " is not allowed";
  }
  return {};
}

/// What could have been said instead, for the caller who forced a configuration.
std::string allowed(std::span<const Tunable> tunables) {
  std::string text = tunables.empty() ? "this candidate has no tunables" : "allowed are";
  for (const Tunable& tunable : tunables) {
    text += &tunable == tunables.data() ? " " : "; ";
    text += std::string(tunable.name) + " in";
    for (const std::int64_t value : tunable.values) text += " " + std::to_string(value);
  }
  return text;
}

bool same(const std::string& wanted, const std::string& found) {
  return !wanted.empty() && wanted == found;
}

bool is_match(const Measurement& line, Match match, const Key& key, const DeviceInfo& device,
              const std::string& device_family) {
  if (line.candidate != key.candidate) return false;
  switch (match) {
    case Match::exact:
      return same(device.name, line.device) && same(key.problem, line.problem);
    case Match::shape_class:
      return same(device.name, line.device) && same(key.shape_class, line.shape_class);
    case Match::device_family:
      return same(device_family, line.family) && same(key.shape_class, line.shape_class);
  }
  return false;
}

bool is_usable(const Measurement& line, std::span<const Tunable> tunables) {
  const std::string fault = fault_of(line.values, tunables);
  if (!fault.empty() && !line.reported->test_and_set()) {
    device::log(line.place + " is skipped: " + fault + " for " + line.candidate);
  }
  return fault.empty();
}

/// The fastest line of each problem, ties to the later one; of several problems, whose times cannot be compared, the
/// one whose line comes last.
const Measurement* best_of(const std::vector<const Measurement*>& lines) {
  std::map<std::string_view, const Measurement*> fastest;
  for (const Measurement* line : lines) {
    const Measurement*& best = fastest[line->problem];
    if (best == nullptr || line->seconds <= best->seconds) best = line;
  }
  const Measurement* last = nullptr;
  for (const auto& [problem, line] : fastest) {
    if (last == nullptr || line > last) last = line;
  }
  return last;
}

std::optional<Found> find_in(const Store& store, const Key& key, std::span<const Tunable> tunables,
                             const DeviceInfo& device) {
  const std::string device_family = family(device);
  for (const auto& [match, source] : matches) {
    std::vector<const Measurement*> lines;
    for (const Measurement& line : store.measurements) {
      if (is_match(line, match, key, device, device_family) && is_usable(line, tunables)) lines.push_back(&line);
    }
    if (const Measurement* best = best_of(lines)) return Found{best->values, source};
  }
  return std::nullopt;
}

std::optional<Rates> rates_in(const Store& store, const DeviceInfo& device) {
  const auto last = [&store](auto is_match, const char* source) -> std::optional<Rates> {
    const auto at = std::ranges::find_if(store.rates.rbegin(), store.rates.rend(), is_match);
    if (at == store.rates.rend()) return std::nullopt;
    return Rates{at->copy, at->cached, at->launch, source};
  };
  if (auto found = last([&](const RatesLine& line) { return same(device.name, line.device); }, "device")) return found;
  return last([wanted = family(device)](const RatesLine& line) { return same(wanted, line.family); }, "device family");
}

}  // namespace

std::string family(const DeviceInfo& device) {
  return maker_of(device) + " " +
         (device.architecture.empty() ? word_for(device.kind) : lower_case(without_triple(device.architecture)));
}

Found lookup(const Key& key, std::span<const Tunable> tunables, const DeviceInfo& device, const Configuration& forced) {
  if (const std::string fault = fault_of(forced, tunables); !fault.empty()) {
    throw Error(Errc::usage, "the configuration asked for does not fit " + key.candidate + ": " + fault,
                allowed(tunables));
  }
  Found found;
  if (auto user = find_in(*user_store(), key, tunables, device))
    found = std::move(*user);
  else if (auto shipped = find_in(*shipped_store(), key, tunables, device))
    found = std::move(*shipped);
  else
    found.source = "default";

  for (const Tunable& tunable : tunables) found.values.try_emplace(std::string(tunable.name), tunable.value);
  for (const auto& [name, value] : forced) found.values[name] = value;
  if (!forced.empty()) found.source = "forced";
  return found;
}

std::string to_string(const Configuration& configuration) {
  std::string text;
  for (const auto& [name, value] : configuration)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

Rates rates(const DeviceInfo& device) {
  if (auto found = rates_in(*user_store(), device)) return *found;
  if (auto found = rates_in(*shipped_store(), device)) return *found;
  if (device.kind == Kind::cpu) return {cpu_copy, cpu_cached, cpu_launch, "kind"};
  return {gpu_copy, gpu_copy, gpu_launch, "kind"};
}

}  // namespace axisloom::tune
