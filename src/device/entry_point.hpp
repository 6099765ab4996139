// The functions of a library that is opened at run time.
#pragma once

#include "device/dynamic_library.hpp"

namespace axisloom::device {

/// What the tables of entry points derive from.
struct EntryTable {
  DynamicLibrary library = {};
  std::vector<std::string> missing = {};  // functions that it lacks and that cannot be done without
};

/// A function with the name that errors give it; `function` is null where the library has none.
template <typename Signature>
struct EntryPoint {
  const char* name;
  Signature* function;

  EntryPoint(const char* name, EntryTable& table, bool required = true) : name(name) {
    if (!table.library.find(name, function) && required) table.missing.emplace_back(name);
  }

  explicit operator bool() const noexcept { return function != nullptr; }
  auto operator()(auto&&... args) const { return function(args...); }
};

}  // namespace axisloom::device
