// How kernels store what a dtype has.
#pragma once

#include "core/number.hpp"

#include <string>

namespace axisloom::ops {

/// The dialect's type of an element in memory, or of a component of a complex one: bytes for bool, and the bits of
/// 16-bit floats.
inline std::string scalar_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::boolean:
      return "u8";
    case Dtype::f16:
    case Dtype::bf16:
      return "u16";
    default:
      return std::string(name(core::component_of(dtype)));
  }
}

}  // namespace axisloom::ops
