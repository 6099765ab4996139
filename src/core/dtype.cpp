// The element types: one table of their names and sizes.
#include <axisloom/array.hpp>
#include <axisloom/error.hpp>

namespace axisloom {
namespace {

struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  std::string_view numpy_name;
  std::size_t size;
};

constexpr std::array<DtypeRow, 15> table{{
    {Dtype::u8, "u8", "uint8", 1},
    {Dtype::i8, "i8", "int8", 1},
    {Dtype::boolean, "bool", "bool", 1},
    {Dtype::u16, "u16", "uint16", 2},
    {Dtype::i16, "i16", "int16", 2},
    {Dtype::f16, "f16", "float16", 2},
    {Dtype::bf16, "bf16", "bfloat16", 2},
    {Dtype::u32, "u32", "uint32", 4},
    {Dtype::i32, "i32", "int32", 4},
    {Dtype::f32, "f32", "float32", 4},
    {Dtype::u64, "u64", "uint64", 8},
    {Dtype::i64, "i64", "int64", 8},
    {Dtype::f64, "f64", "float64", 8},
    {Dtype::c64, "c64", "complex64", 8},
    {Dtype::c128, "c128", "complex128", 16},
}};

constexpr bool table_follows_enumeration() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].dtype) != i) return false;
  return true;
}
static_assert(table_follows_enumeration());

constexpr auto dtypes = [] {
  std::array<Dtype, table.size()> all{};
  for (std::size_t i = 0; i < table.size(); ++i) all[i] = table[i].dtype;
  return all;
}();

const DtypeRow& row(Dtype dtype) {
  const auto number = static_cast<std::size_t>(dtype);
  if (number >= table.size())
    throw Error(Errc::usage, "there is no dtype " + std::to_string(number), "use one of the enumeration's values");
  return table[number];
}

}  // namespace

std::span<const Dtype> all_dtypes() noexcept {
  return dtypes;
}

std::size_t size_of(Dtype dtype) {
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

}  // namespace axisloom
