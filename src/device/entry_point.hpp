// One function of a library that is opened at run time.
#pragma once

namespace axisloom::device {

/// A function with the name that errors give it; `function` is null where the library has none.
template <typename Signature>
struct EntryPoint {
  const char* name;
  Signature* function = nullptr;

  explicit operator bool() const noexcept { return function != nullptr; }
  auto operator()(auto&&... args) const { return function(args...); }
};

}  // namespace axisloom::device
