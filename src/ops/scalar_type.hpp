// How kernels store what a dtype has.
#pragma once

#include "core/number.hpp"

#include <cctype>
#include <string>

namespace axisloom::ops {

/// The dialect's type of an element in memory, or of a component of a complex one: bytes for bool, and the bits of
/// 16-bit floats.
inline std::string scalar_type(Dtype dtype) {
  if (dtype == Dtype::boolean) return "u8";
  if (core::is_small_float(dtype)) return "u" + std::to_string(8 * size_of(dtype));
  return std::string(name(core::component_of(dtype)));
}

/// "_BF16": the end of the names that kernels have for a dtype's forms.
inline std::string form_suffix(Dtype dtype) {
  std::string text = "_" + std::string(name(dtype));
  for (char& letter : text) letter = char(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

}  // namespace axisloom::ops
