// Choosing a configuration from the stores, checked against what the candidate allows.
#include "planner/configuration.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/text.hpp"
#include "device/device.hpp"
#include "model/device_model.hpp"

namespace axisloom::ops {
namespace {

using model::Measurement;

/// Why a configuration cannot be used; empty when it can.
std::string fault_of(const Configuration& values, std::span<const Tunable> tunables) {
  for (const auto& [name, value] : values) {
    const auto tunable = std::ranges::find(tunables, name, &Tunable::name);
    if (tunable == tunables.end()) return "there is no tunable \"" + name + "\"";
    if (!tunable->allows(value)) return concat(name, "=", value, " is not allowed");
  }
  return {};
}

/// What could have been said instead, for the caller who forced a configuration.
std::string allowed(std::span<const Tunable> tunables) {
  std::string text = tunables.empty() ? "this candidate has no tunables" : "allowed are";
  for (const Tunable& tunable : tunables) {
    text += &tunable == tunables.data() ? " " : "; ";
    text += concat(tunable.name, " in");
    if (tunable.range) {
      text += concat(" ", tunable.values.front(), " to ", tunable.values.back());
      continue;
    }
    for (const i64 value : tunable.values) text += concat(" ", value);
  }
  return text;
}

/// What a line has to say of device and problem; nothing matches where that is not known.
struct Match {
  const char* source;
  std::string model::Line::*device;
  const std::string& this_device;
  std::string Measurement::*problem;
  const std::string& this_problem;

  bool matches(const Measurement& line) const {
    return line.*device == this_device && line.*problem == this_problem && !this_device.empty() &&
           !this_problem.empty();
  }
};

bool is_usable(const Measurement& line, std::span<const Tunable> tunables) {
  const std::string fault = fault_of(line.values, tunables);
  if (!fault.empty() && !line.reported->test_and_set())
    device::log(line.place + " is skipped: " + fault + " for " + line.candidate);
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
  for (const auto& [problem, line] : fastest)
    if (last == nullptr || line > last) last = line;
  return last;
}

std::optional<Found> find_in(const model::Store& store, const Key& key, std::span<const Tunable> tunables,
                             const DeviceInfo& device) {
  if (store.measurements.empty()) return std::nullopt;
  const std::string family = model::family(device);
  const Match closest_first[] = {
      {"exact", &Measurement::device, device.name, &Measurement::problem, key.problem},
      {"shape class", &Measurement::device, device.name, &Measurement::shape_class, key.shape_class},
      {"device family", &Measurement::family, family, &Measurement::shape_class, key.shape_class}};
  for (const Match& match : closest_first) {
    std::vector<const Measurement*> lines;
    for (const Measurement& line : store.measurements)
      if (line.candidate == key.candidate && match.matches(line) && is_usable(line, tunables)) lines.push_back(&line);
    if (const Measurement* best = best_of(lines)) return Found{best->values, match.source};
  }
  return std::nullopt;
}

/// A tunable's own value; of a group's size the largest that the device has, where that is less.
i64 default_of(const Tunable& tunable, const DeviceInfo& device) {
  if (tunable.name != group_items || tunable.value <= i64(device.max_group)) return tunable.value;
  const auto beyond = std::ranges::upper_bound(tunable.values, i64(device.max_group));
  return beyond == tunable.values.begin() ? tunable.value : *std::prev(beyond);
}

}  // namespace

bool Tunable::allows(i64 wanted) const {
  if (range) return wanted >= values.front() && wanted <= values.back();
  return std::ranges::find(values, wanted) != values.end();
}

Found lookup(const Key& key, std::span<const Tunable> tunables, const DeviceInfo& device, const Configuration& forced,
             const model::Stores& stores) {
  if (const std::string fault = fault_of(forced, tunables); !fault.empty()) {
    throw Error(Errc::usage, "the configuration asked for does not fit " + key.candidate + ": " + fault,
                allowed(tunables));
  }
  std::optional<Found> stored = find_in(*stores.user, key, tunables, device);
  if (!stored) stored = find_in(*stores.shipped, key, tunables, device);
  Found found = std::move(stored).value_or(Found{{}, "default"});
  for (const Tunable& tunable : tunables)
    found.values.try_emplace(std::string(tunable.name), default_of(tunable, device));
  for (const auto& [name, value] : forced) found.values[name] = value;
  if (!forced.empty()) found.source = "forced";
  return found;
}

std::string to_string(const Configuration& configuration) {
  std::string text;
  for (const auto& [name, value] : configuration) text += concat(text.empty() ? "" : " ", name, "=", value);
  return text;
}

}  // namespace axisloom::ops
