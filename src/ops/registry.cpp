// The entries of the folders that operations.inc lists.
#include "planner/registry.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <string>

namespace axisloom::ops {

#define OPERATION(folder) std::span<const OpEntry> folder##_entries();
#include "ops/operations.inc"
#undef OPERATION

std::span<const OpEntry> registry() {
  static const std::vector<OpEntry> entries = [] {
    std::vector<OpEntry> list;
    for (const std::span<const OpEntry> folder : {
#define OPERATION(folder) folder##_entries(),
#include "ops/operations.inc"
#undef OPERATION
         })
      list.insert(list.end(), folder.begin(), folder.end());
    return list;
  }();
  return entries;
}

const OpEntry& entry(std::string_view name) {
  const auto all = registry();
  const auto found = std::find_if(all.begin(), all.end(), [&](const OpEntry& e) { return e.name == name; });
  if (found != all.end()) return *found;
  std::string known;
  for (const OpEntry& e : all) known += (known.empty() ? "" : ", ") + std::string(e.name);
  throw Error(Errc::usage, "unknown operation '" + std::string(name) + "'", "use one of " + known);
}

}  // namespace axisloom::ops
