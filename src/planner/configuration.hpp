// Tunables, configurations, and where a configuration comes from. Knows no operation by name.
#pragma once

#include "core/integers.hpp"
#include "model/store.hpp"

#include <axisloom/device.hpp>
#include <axisloom/plan.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::ops {

/// One thing about a kernel that may be chosen.
struct Tunable {
  std::string_view name;
  i64 value;                // the candidate's own default
  std::vector<i64> values;  // all that are allowed, in ascending order
  std::string_view unit;    // "elements", "work-items", ""
  std::string_view why;     // what it changes, and the measurement behind the default
  bool range = false;       // everything between them is allowed as well

  bool allows(i64 wanted) const;
};

/// What most of them allow: `from`, twice as much, and so on up to `to`; and the same behind a 0.
std::vector<i64> doublings(i64 from, i64 to);
std::vector<i64> zero_or_doublings(i64 from, i64 to);

/// The tunable that is the size of a group; its own value is cut to what a device has.
inline constexpr std::string_view group_items = "items";

/// What is being configured. `problem` is exact ("4B 8192x8192 in 1,8192 out 8192,1"), `shape_class` coarser ("4B 2-d
/// large").
struct Key {
  std::string candidate;  // "rearrange/tile"
  std::string problem;
  std::string shape_class;
};

struct Found {
  Configuration values;  // every tunable has a value
  std::string source;    // "forced", "exact", "shape class", "device family" or "default"
};

/// Why a configuration cannot be used; empty when it can.
std::string fault_of(const Configuration& values, std::span<const Tunable> tunables);

/// First found wins: `forced`, the user's store, the shipped store, the tunables' own values. Throws Error(usage) for
/// an unknown tunable or a value that is not allowed. A bad line in a store is skipped and logged with file and line
/// number.
Found lookup(const Key& key, std::span<const Tunable> tunables, const DeviceInfo& device, const Configuration& forced,
             const model::Stores& stores);

/// What is wished for a tunable, or `otherwise` where 0 leaves it open.
inline i64 value_or(const Configuration& wish, const std::string& tunable, i64 otherwise) {
  const i64 value = wish.at(tunable);
  return value == 0 ? otherwise : value;
}

/// "tile_in=64 tile_out=64 layout=2"
std::string to_string(const Configuration& configuration);

}  // namespace axisloom::ops
