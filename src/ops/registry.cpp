// The entries of the folders that operations.inc lists.
#include "planner/registry.hpp"
#include "core/text.hpp"

#include <axisloom/error.hpp>

#include <algorithm>

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
  const auto found = std::ranges::find(all, name, &OpEntry::name);
  if (found != all.end()) return *found;
  throw Error(Errc::usage, concat("unknown operation '", name, "'"), "use one of " + joined(all, ", ", &OpEntry::name));
}

}  // namespace axisloom::ops
