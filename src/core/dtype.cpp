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
  std::string_view python;  // the format of its buffers; empty: neither Python nor NumPy has the dtype
  size_t size;
  NumberKind kind;
  FloatFormat format = {};              // of a component
  std::optional<Dtype> component = {};  // where it is not the dtype itself
};

constexpr FloatFormat half{5, 10}, brain{8, 7}, single{8, 23}, twice{11, 52};

/// All that is to be known of an element type; who asks for its properties need not name it.
constexpr std::array<DtypeRow, 15> table{{
    {Dtype::u8, "u8", "uint8", "B", 1, unsigned_integer},
    {Dtype::i8, "i8", "int8", "b", 1, signed_integer},
    {Dtype::boolean, "bool", "bool", "?", 1, boolean},
    {Dtype::u16, "u16", "uint16", "H", 2, unsigned_integer},
    {Dtype::i16, "i16", "int16", "h", 2, signed_integer},
    {Dtype::f16, "f16", "float16", "e", 2, floating, half},
    {Dtype::bf16, "bf16", "bfloat16", "", 2, floating, brain},
    {Dtype::u32, "u32", "uint32", "I", 4, unsigned_integer},
    {Dtype::i32, "i32", "int32", "i", 4, signed_integer},
    {Dtype::f32, "f32", "float32", "f", 4, floating, single},
    {Dtype::u64, "u64", "uint64", "Q", 8, unsigned_integer},
    {Dtype::i64, "i64", "int64", "q", 8, signed_integer},
    {Dtype::f64, "f64", "float64", "d", 8, floating, twice},
    {Dtype::c64, "c64", "complex64", "Zf", 8, complex, single, Dtype::f32},
    {Dtype::c128, "c128", "complex128", "Zd", 16, complex, twice, Dtype::f64},
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

namespace {

/// 'f' of "<f4".
char numpy_kind(const DtypeRow& of) {
  constexpr std::string_view kinds = "buifc";  // as core::NumberKind
  return kinds[size_t(of.kind)];
}

/// The row, of a dtype that Python has a name for.
const DtypeRow& row_in_python(Dtype dtype) {
  const DtypeRow& found = row(dtype);
  if (found.python.empty())
    throw Error(Errc::dtype, concat("Python and NumPy have no ", found.name), "view it as u16, or convert it to f32");
  return found;
}

/// Takes the byte order off a text. Throws for one that is not the machine's, unless elements are single bytes.
char take_order(std::string_view& text, std::string_view orders, std::string_view whole) {
  if (text.empty() || orders.find(text.front()) == orders.npos) return 0;
  const char order = text.front();
  text.remove_prefix(1);
  const auto single = [&] { return text == "B" || text == "b" || text == "?" || text.ends_with('1'); };
  if ((order == '>' || order == '!') && !single())
    throw Error(Errc::dtype, concat("the elements of '", whole, "' have their bytes in the other order"),
                "convert the array to the machine's byte order");
  return order;
}

[[noreturn]] void throw_unknown(std::string_view text, const char* what) {
  throw Error(Errc::dtype, concat("there is no dtype for ", what, " '", text, "'"),
              "give bool, integers of 8 to 64 bits, floats of 16 to 64, or complex numbers of 64 or 128");
}

/// A code of C's long or size_t as that of the integer which it is: 'l' has 8 bytes here, and 4 in a standard layout.
std::string_view fixed_width(std::string_view code, bool standard) {
  if (code == "l") return standard || sizeof(long) == 4 ? "i" : "q";
  if (code == "L") return standard || sizeof(long) == 4 ? "I" : "Q";
  if (code == "n" && !standard) return "q";
  if (code == "N" && !standard) return "Q";
  return code;
}
static_assert(sizeof(size_t) == 8);

}  // namespace

std::string typestr(Dtype dtype) {
  const DtypeRow& found = row_in_python(dtype);
  return concat(found.size == 1 ? '|' : '<', numpy_kind(found), found.size);
}

Dtype dtype_of_typestr(std::string_view text) {
  std::string_view code = text;
  const char order = take_order(code, "<>=|", text);
  const auto dtype = core::numpy_dtype(code);
  if (!dtype || (order == '|' && size_of(*dtype) > 1)) throw_unknown(text, "NumPy's typestr");
  return *dtype;
}

std::string buffer_format(Dtype dtype) {
  return std::string(row_in_python(dtype).python);
}

Dtype dtype_of_buffer_format(std::string_view text) {
  std::string_view code = text;
  const char order = take_order(code, "@=<>!", text);
  const std::string_view fixed = fixed_width(code, order != 0 && order != '@');
  for (const DtypeRow& candidate : table)
    if (!fixed.empty() && candidate.python == fixed) return candidate.dtype;
  throw_unknown(text, "the buffer format");
}

namespace core {

std::optional<Dtype> numpy_dtype(std::string_view code) {
  for (const DtypeRow& candidate : table)
    if (!candidate.python.empty() && code == concat(numpy_kind(candidate), candidate.size)) return candidate.dtype;
  return std::nullopt;
}

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
