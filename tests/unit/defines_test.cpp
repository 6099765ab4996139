// Compiled-in constants: order, spelling of numbers, and what is refused.
#include <gtest/gtest.h>

#include <limits>

#include "jit/jit.hpp"

namespace axisloom::jit {
namespace {

TEST(Defines, AreSortedAndOneALine) {
  Defines defines;
  defines.set("TILE", 64).set("ELEMENT", "u32x4").set("AXES", 0);
  EXPECT_EQ(defines.text(), "#define AXES 0\n#define ELEMENT u32x4\n#define TILE 64\n");
  EXPECT_EQ(Defines().text(), "");
}

TEST(Defines, NegativeNumbersKeepTheirMeaningInAnExpression) {
  Defines defines;
  defines.set("A", -1).set("B", std::numeric_limits<std::int64_t>::max());
  defines.set("C", std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(defines.text(), "#define A (-1)\n#define B 9223372036854775807\n#define C (-9223372036854775807-1)\n");
}

TEST(Defines, TheSameValueAgainIsNoConflict) {
  Defines defines;
  defines.set("TILE", 64).set("TILE", 64).set("TILE", "64");
  EXPECT_EQ(defines, Defines().set("TILE", 64));
  EXPECT_NE(defines, Defines().set("TILE", 32));
}

TEST(Defines, AnotherValueIsRefusedByName) {
  Defines defines;
  defines.set("TILE", 64);
  try {
    defines.set("TILE", 32);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::usage);
    EXPECT_NE(std::string(error.what()).find("TILE is 64 and cannot become 32"), std::string::npos) << error.what();
  }
  EXPECT_EQ(defines.text(), "#define TILE 64\n");
}

TEST(Defines, WhatIsNoIdentifierOrNoLineIsRefused) {
  Defines defines;
  for (const char* name : {"", "1A", "A B", "A(x)", "A-B", "A\n"}) EXPECT_THROW(defines.set(name, 1), Error) << name;
  EXPECT_THROW(defines.set("A", "1\n#define B 2"), Error);
  EXPECT_THROW(defines.set("A", "1 \\"), Error);
  EXPECT_EQ(defines.text(), "");
  EXPECT_NO_THROW(defines.set("_a9", "unsigned int"));
}

}  // namespace
}  // namespace axisloom::jit
