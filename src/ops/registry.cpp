// The one list of operations. A new op adds its folder and one line here.
#include "ops/registry.hpp"

#include "ops/einsum/einsum.hpp"
#include "ops/rearrange/rearrange.hpp"
#include "ops/reduce/reduce.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <string>

namespace axisloom::ops {

std::span<const OpEntry> registry() {
  static const std::vector<OpEntry> entries = [] {
    std::vector<OpEntry> list;
    for (std::span<const OpEntry> folder : {move_entries(), reduce_entries(), einsum_entries()})
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
