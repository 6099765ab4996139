// The small grammars of the command line.
#include "harness/arguments.hpp"

#include <axisloom/error.hpp>

#include <gtest/gtest.h>

namespace axisloom::harness {
namespace {

TEST(HarnessArguments, PartsBetweenSeparatorsMayBeEmpty) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("2,0,1", ","), (Parts{"2", "0", "1"}));
  EXPECT_EQ(split(",a;", ",;"), (Parts{"", "a", ""}));
  EXPECT_EQ(split("", ","), Parts{""});
}

TEST(HarnessArguments, ShapesAreWrittenAsTheyAreRead) {
  for (const char* text : {"scalar", "0", "256x3x1"}) EXPECT_EQ(shape_text(parse_shape(text)), text);
}

TEST(HarnessArguments, IntegersAreReadWholeOrNotAtAll) {
  EXPECT_EQ(parse_integer("-42"), -42);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* bad : {"", "1 ", " 1", "1x", "0x10", "9223372036854775808", "+1", "1.0"})
    EXPECT_EQ(parse_integer(bad), std::nullopt) << bad;
}

TEST(HarnessArguments, ShapesTakeEitherSeparatorAndScalar) {
  EXPECT_EQ(parse_shape("256x3"), (Dims{256, 3}));
  EXPECT_EQ(parse_shape("256,3"), (Dims{256, 3}));
  EXPECT_EQ(parse_shape("0"), (Dims{0}));
  EXPECT_EQ(parse_shape("scalar"), Dims{});
  for (const char* bad : {"", "3x", "x3", "3x-1", "3 x 4", "axb"}) EXPECT_THROW(parse_shape(bad), Error) << bad;
  EXPECT_THROW(parse_shape("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1"), Error);  // 17 axes
}

TEST(HarnessArguments, StridesMayBeNegative) {
  EXPECT_EQ(parse_strides("-9,0,1"), (Dims{-9, 0, 1}));
  EXPECT_THROW(parse_strides("1x2"), Error);
}

TEST(HarnessArguments, LengthsAreNamesWithIntegers) {
  const auto length = parse_length("h2=-3");
  ASSERT_TRUE(length);
  EXPECT_EQ(length->first, "h2");
  EXPECT_EQ(length->second, -3);
  for (const char* other : {"in.npy", "=3", "x=", "x=3.npy", "2x=3", "./x=3", "a b=3"})
    EXPECT_FALSE(parse_length(other)) << other;
}

TEST(HarnessArguments, WhatIsNotALengthIsAFile) {
  const Rest rest = split_rest({"x=32", "in.npy", "y=2"}, true);
  EXPECT_EQ(rest.lengths, (Lengths{{"x", 32}, {"y", 2}}));
  EXPECT_EQ(rest.files, std::vector<std::string>{"in.npy"});
  EXPECT_EQ(split_rest({"x=32"}, false).files, std::vector<std::string>{"x=32"});
}

TEST(HarnessArguments, ConfigurationsThatCannotBeReadAreNamed) {
  EXPECT_EQ(parse_configuration({"tile=32", "pad=1"}), (Configuration{{"pad", 1}, {"tile", 32}}));
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"tile:64"}, "tile:64"}, {{"tile=64", "pad=1", "tile=32"}, "tile twice"}};
  for (const auto& [texts, named] : refused) {
    try {
      parse_configuration(texts);
      ADD_FAILURE() << named << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(error.parts().message.find(named), std::string::npos);
      EXPECT_FALSE(error.parts().remedy.empty());
    }
  }
}

TEST(HarnessArguments, DtypesAndIndexWidthsListWhatIsKnown) {
  EXPECT_EQ(parse_dtype("float32"), Dtype::f32);
  EXPECT_EQ(parse_index("64"), IndexWidth::bits64);
  EXPECT_EQ(parse_index("auto"), IndexWidth::automatic);
  EXPECT_THROW(parse_index("16"), Error);
  try {
    parse_dtype("float33");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::usage);
    for (Dtype dtype : all_dtypes()) EXPECT_NE(error.parts().remedy.find(name(dtype)), std::string::npos);
  }
}

TEST(HarnessArguments, QuotingProtectsFromTheShell) {
  EXPECT_EQ(shell_quoted("opencl:0"), "opencl:0");
  EXPECT_EQ(shell_quoted("h w -> w h"), "'h w -> w h'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("$HOME"), "'$HOME'");
}

}  // namespace
}  // namespace axisloom::harness
