// A set of the values of a small enum.
#pragma once

#include "core/integers.hpp"

#include <initializer_list>

namespace axisloom::core {

template <class Enum>
class EnumSet {
 public:
  constexpr EnumSet(std::initializer_list<Enum> members) {
    for (const Enum member : members) bits_ |= bit(member);
  }
  static constexpr EnumSet all() { return EnumSet(~u32{0}); }
  constexpr bool contains(Enum value) const { return (bits_ & bit(value)) != 0; }

 private:
  constexpr explicit EnumSet(u32 bits) : bits_(bits) {}
  static constexpr u32 bit(Enum value) { return u32{1} << unsigned(value); }

  u32 bits_ = 0;
};

}  // namespace axisloom::core
