// The element types: one table.
#include "core/number.hpp"
#include "core/text.hpp"

#include <axisloom/array.hpp>
#include <axisloom/error.hpp>

#include <algorithm>

namespace axisloom {
namespace {

using core::FloatFormat;
using core::NumberKind;
using enum NumberKind;

struct DtypeRow {
  Dtype dtype;
  std::string_view name, numpy_name;
  size_t size;
  NumberKind kind;
  FloatFormat format = {};              // of a component
  std::optional<Dtype> component = {};  // where it is not the dtype itself
};

constexpr FloatFormat half{5, 10}, brain{8, 7}, single{8, 23}, twice{11, 52};

/// All that is to be known of an element type; who asks for its properties need not name it.
constexpr std::array<DtypeRow, 15> table{{
    {Dtype::u8, "u8", "uint8", 1, unsigned_integer},
    {Dtype::i8, "i8", "int8", 1, signed_integer},
    {Dtype::boolean, "bool", "bool", 1, boolean},
    {Dtype::u16, "u16", "uint16", 2, unsigned_integer},
    {Dtype::i16, "i16", "int16", 2, signed_integer},
    {Dtype::f16, "f16", "float16", 2, floating, half},
    {Dtype::bf16, "bf16", "bfloat16", 2, floating, brain},
    {Dtype::u32, "u32", "uint32", 4, unsigned_integer},
    {Dtype::i32, "i32", "int32", 4, signed_integer},
    {Dtype::f32, "f32", "float32", 4, floating, single},
    {Dtype::u64, "u64", "uint64", 8, unsigned_integer},
    {Dtype::i64, "i64", "int64", 8, signed_integer},
    {Dtype::f64, "f64", "float64", 8, floating, twice},
    {Dtype::c64, "c64", "complex64", 8, complex, single, Dtype::f32},
    {Dtype::c128, "c128", "complex128", 16, complex, twice, Dtype::f64},
}};

constexpr bool table_follows_enumeration() {
  for (size_t i = 0; i < table.size(); ++i)
    if (size_t(table[i].dtype) != i) return false;
  return true;
}
static_assert(table_follows_enumeration());

constexpr auto dtypes = [] {
  std::array<Dtype, table.size()> all{};
  for (size_t i = 0; i < table.size(); ++i) all[i] = table[i].dtype;
  return all;
}();

const DtypeRow& row(Dtype dtype) {
  const auto number = size_t(dtype);
  if (number >= table.size())
    throw Error(Errc::dtype, concat("there is no dtype ", number), "use one of the enumeration's values");
  return table[number];
}

}  // namespace

std::span<const Dtype> all_dtypes() noexcept {
  return dtypes;
}

size_t size_of(Dtype dtype) {
  return row(dtype).size;
}

std::string_view name(Dtype dtype) {
  return row(dtype).name;
}

std::optional<Dtype> dtype_of(std::string_view name) noexcept {
  for (const DtypeRow& candidate : table)
    if (name == candidate.name || name == candidate.numpy_name) return candidate.dtype;
  return std::nullopt;
}

namespace core {
namespace {

/// These ask nothing of their caller: what is no dtype is refused before, by whoever takes it from outside.
const DtypeRow& known(Dtype dtype) noexcept {
  return table[std::min(size_t(dtype), table.size() - 1)];
}

}  // namespace

NumberKind kind_of(Dtype dtype) noexcept {
  return known(dtype).kind;
}

Dtype component_of(Dtype dtype) noexcept {
  return known(dtype).component.value_or(dtype);
}

const FloatFormat* float_format(Dtype dtype) noexcept {
  const FloatFormat& format = known(dtype).format;
  return format.fraction_bits != 0 ? &format : nullptr;
}

}  // namespace core
}  // namespace axisloom
