// Element types: sizes, and names in both spellings.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <axisloom/array.hpp>
#include <axisloom/error.hpp>

namespace axisloom {
namespace {

TEST(DtypeNames, GoThereAndBack) {
  std::set<std::string_view> names;
  for (const Dtype dtype : all_dtypes()) {
    EXPECT_EQ(dtype_of(name(dtype)), dtype);
    names.insert(name(dtype));
  }
  EXPECT_EQ(names.size(), 15u);
  EXPECT_EQ(all_dtypes().size(), 15u);
  EXPECT_EQ(all_dtypes().back(), Dtype::c128);
}

TEST(DtypeNames, AcceptTheLongOnes) {
  EXPECT_EQ(dtype_of("float32"), Dtype::f32);
  EXPECT_EQ(dtype_of("uint8"), Dtype::u8);
  EXPECT_EQ(dtype_of("bfloat16"), Dtype::bf16);
  EXPECT_EQ(dtype_of("complex64"), Dtype::c64);
  EXPECT_EQ(dtype_of("bool"), Dtype::boolean);
}

TEST(DtypeNames, AreNumPysAndPythonsToo) {
  const std::vector<std::tuple<Dtype, const char*, const char*>> rows = {
      {Dtype::boolean, "|b1", "?"}, {Dtype::u8, "|u1", "B"},    {Dtype::i8, "|i1", "b"},  {Dtype::u16, "<u2", "H"},
      {Dtype::i16, "<i2", "h"},     {Dtype::f16, "<f2", "e"},   {Dtype::u32, "<u4", "I"}, {Dtype::i32, "<i4", "i"},
      {Dtype::f32, "<f4", "f"},     {Dtype::u64, "<u8", "Q"},   {Dtype::i64, "<i8", "q"}, {Dtype::f64, "<f8", "d"},
      {Dtype::c64, "<c8", "Zf"},    {Dtype::c128, "<c16", "Zd"}};
  EXPECT_EQ(rows.size() + 1, all_dtypes().size());
  for (const auto& [dtype, numpy, python] : rows) {
    EXPECT_EQ(typestr(dtype), numpy);
    EXPECT_EQ(buffer_format(dtype), python);
    EXPECT_EQ(dtype_of_typestr(numpy), dtype) << numpy;
    EXPECT_EQ(dtype_of_typestr(std::string("=") + (numpy + 1)), dtype) << numpy;
    EXPECT_EQ(dtype_of_typestr(numpy + 1), dtype) << numpy;
    for (const char* order : {"", "@", "=", "<"})
      EXPECT_EQ(dtype_of_buffer_format(std::string(order) + python), dtype) << order << python;
  }
}

TEST(DtypeNames, FollowTheWidthOfCsLong) {
  EXPECT_EQ(dtype_of_buffer_format("l"), sizeof(long) == 8 ? Dtype::i64 : Dtype::i32);
  EXPECT_EQ(dtype_of_buffer_format("@L"), sizeof(long) == 8 ? Dtype::u64 : Dtype::u32);
  EXPECT_EQ(dtype_of_buffer_format("<l"), Dtype::i32);
  EXPECT_EQ(dtype_of_buffer_format("=L"), Dtype::u32);
  EXPECT_EQ(dtype_of_buffer_format("n"), Dtype::i64);
  EXPECT_EQ(dtype_of_buffer_format("N"), Dtype::u64);
}

/// What an error of that code says.
template <class Body>
std::string refusal(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::dtype) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

TEST(DtypeNames, RefuseTheOtherByteOrderByName) {
  for (const char* text : {">f4", ">c16", ">u2"})
    EXPECT_NE(refusal([&] { dtype_of_typestr(text); }).find("other order"), std::string::npos) << text;
  for (const char* text : {">f", "!H", ">Zd"})
    EXPECT_NE(refusal([&] { dtype_of_buffer_format(text); }).find("other order"), std::string::npos) << text;
  EXPECT_EQ(dtype_of_typestr(">u1"), Dtype::u8);
  EXPECT_EQ(dtype_of_buffer_format("!B"), Dtype::u8);
}

TEST(DtypeNames, RefuseWhatIsNoDtypeHere) {
  for (const char* text : {"", "<", "f4 ", "<f3", "<f16", "<U4", "|V2", "|f4", "<M8[ns]", "|O", "f04", "<<f4", "b2"})
    EXPECT_NE(refusal([&] { dtype_of_typestr(text); }).find("no dtype"), std::string::npos) << text;
  for (const char* text : {"", "<", "c", "s", "Zg", "g", "2f", "ff", "<n", "Z", "T{f:x:}", "x"})
    EXPECT_NE(refusal([&] { dtype_of_buffer_format(text); }).find("no dtype"), std::string::npos) << text;
  for (const auto write : {typestr, buffer_format})
    EXPECT_NE(refusal([&] { write(Dtype::bf16); }).find("bf16"), std::string::npos);
}

TEST(DtypeNames, RefuseOthers) {
  for (const char* name : {"", "f", "F32", "float", "f32 ", "float128", "object"}) EXPECT_FALSE(dtype_of(name)) << name;
}

TEST(DtypeNames, AreThoseOfTheEnumerationOnly) {
  for (const int number : {15, 16, 200, 255}) {
    const auto none = static_cast<Dtype>(number);
    for (const auto asks : {+[](Dtype dtype) { name(dtype); }, +[](Dtype dtype) { size_of(dtype); }}) {
      try {
        asks(none);
        ADD_FAILURE() << number;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::dtype);
        EXPECT_EQ(error.parts().message, "there is no dtype " + std::to_string(number));
      }
    }
    View view = View::contiguous(none, {2, 3});
    EXPECT_EQ(to_string(view), "dtype " + std::to_string(number) + "[2,3]");
    EXPECT_THROW(validate(view, "input"), Error);
  }
}

// The digits of a short name are the bits of an element.
TEST(DtypeSizes, FollowFromTheNames) {
  for (const Dtype dtype : all_dtypes()) {
    const std::string_view text = name(dtype);
    const std::size_t digits = text.find_first_of("0123456789");
    const std::size_t bits = digits == std::string_view::npos ? 8 : std::stoul(std::string(text.substr(digits)));
    EXPECT_EQ(size_of(dtype) * 8, bits) << text;
  }
}

}  // namespace
}  // namespace axisloom
