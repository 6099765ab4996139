// Element types: sizes, and names in both spellings.
#include <gtest/gtest.h>

#include <set>
#include <string>

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
