// Case lines: expansion, parsing, and the random ones.
#include "harness/case.hpp"
#include "harness/expand.hpp"
#include "harness/random.hpp"
#include "harness/random_case.hpp"

#include "planner/registry.hpp"

#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace axisloom::harness {
namespace {

using Lines = std::vector<std::string>;

TEST(HarnessExpand, ListsRangesAndProducts) {
  EXPECT_EQ(expand("copy u8 5"), Lines{"copy u8 5"});
  EXPECT_EQ(expand("{a,b}x{1..2}"), (Lines{"ax1", "ax2", "bx1", "bx2"}));
  EXPECT_EQ(expand("{1..9..4}"), (Lines{"1", "5", "9"}));
  EXPECT_EQ(expand("{1,31..33,70}"), (Lines{"1", "31", "32", "33", "70"}));
  EXPECT_EQ(expand("{2,0,1;1,0}"), (Lines{"2,0,1", "1,0"}));
}

TEST(HarnessExpand, NamesAreFollowedToTheRight) {
  EXPECT_EQ(expand("{n=3,4}x{n}"), (Lines{"3x3", "4x4"}));
  EXPECT_EQ(expand("{c=31..33} {c/32} {c*2} {c+1}"), (Lines{"31 1 62 32", "32 1 64 33", "33 2 66 34"}));
  EXPECT_EQ(expand("{a=1,2}{b=5,6}{a}{b}"), (Lines{"1515", "1616", "2525", "2626"}));
}

TEST(HarnessExpand, WithOnlyGivesNames) {
  EXPECT_EQ(expand("with {c=7,9} {x=4}: a {c/x} {c}"), (Lines{"a 2 7", "a 3 9"}));
  EXPECT_THROW(expand("with {c=7,9} a {c}"), Error);
}

TEST(HarnessExpand, WhatCannotBeReadIsRefused) {
  for (const char* bad : {"{", "copy u8 {5", "{1..", "{3..1}", "{1..a}", "{1..9..0}", "{n=1..2}{n/0}", "{n=a}{n*2}"})
    EXPECT_THROW(expand(bad), Error) << bad;
}

TEST(HarnessExpand, RangesEndAtTheLargestNumbers) {
  EXPECT_EQ(expand("{9223372036854775806..9223372036854775807}"),
            (Lines{"9223372036854775806", "9223372036854775807"}));
  EXPECT_EQ(expand("{-9223372036854775808..9223372036854775807..9223372036854775807}"),
            (Lines{"-9223372036854775808", "-1", "9223372036854775806"}));
  EXPECT_THROW(expand("{c=9223372036854775807} {c*2}"), Error);
  EXPECT_THROW(expand("{c=9223372036854775807} {c+1}"), Error);
  EXPECT_EQ(expand("{c=9223372036854775807} {c/2}"), Lines{"9223372036854775807 4611686018427387904"});
}

TEST(HarnessExpand, ALineStandsForSoManyCasesOnly) {
  for (const std::string& many :
       {std::string("{0..9223372036854775807}"), std::string("{1..2000}{1..2000}"), "a" + std::string(20000, '{')})
    try {
      expand(many);
      ADD_FAILURE() << many.substr(0, 40);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::usage);
      EXPECT_NE(error.parts().message.find("more than"), std::string::npos) << error.what();
    }
}

TEST(HarnessCase, WordsKeepQuotesTogether) {
  EXPECT_EQ(words_of("rearrange f32 2x3 \"h w -> w h\"  x=3"), (Lines{"rearrange", "f32", "2x3", "h w -> w h", "x=3"}));
  EXPECT_EQ(words_of("a '' b"), (Lines{"a", "", "b"}));
  EXPECT_THROW(words_of("a \"b"), Error);
}

TEST(HarnessCase, EverythingThatCanBeSaid) {
  const Case c = parse_case(
      "slow rearrange f32 6x4 \"(a b) c -> b a c\" a=2 in-strides=-8,1 out-strides=1,2,8 in-offset=3 out-offset=5 "
      "align=4 "
      "out-align=16 candidate=tile config=pad:1 index=64");
  EXPECT_TRUE(c.slow);
  EXPECT_TRUE(c.text.starts_with("rearrange f32"));
  EXPECT_EQ(c.op.name, "rearrange");
  EXPECT_EQ(c.op.arguments, Lines{"(a b) c -> b a c"});
  EXPECT_EQ(c.op.lengths, (Lengths{{"a", 2}}));
  EXPECT_EQ(c.dtypes.front(), Dtype::f32);
  EXPECT_EQ(c.shapes.front(), (Dims{6, 4}));
  EXPECT_EQ(c.inputs.front().strides, (Dims{-8, 1}));
  EXPECT_EQ(c.output.strides, (Dims{1, 2, 8}));
  EXPECT_EQ(c.inputs.front().offset, 3);
  EXPECT_EQ(c.output.offset, 5);
  EXPECT_EQ(c.inputs.front().align, 4);
  EXPECT_EQ(c.output.align, 16);
  EXPECT_EQ(c.options.candidate, "tile");
  EXPECT_EQ(c.options.configuration, (Configuration{{"pad", 1}}));
  EXPECT_EQ(c.options.index, IndexWidth::bits64);
}

TEST(HarnessCase, FlagsAndExpectedErrors) {
  const Case c = parse_case("transpose u8 16x16 in-place expect=overlap");
  EXPECT_TRUE(c.in_place);
  EXPECT_EQ(c.expect, Errc::overlap);
  EXPECT_FALSE(c.slow);
}

TEST(HarnessCase, FaultsNameTheCase) {
  for (const char* bad : {"transpose", "transpose u9 3x4", "transpose u8 3xx4", "permute u8 3x4", "copy u8 3 extra",
                          "copy u8 3 align=x", "copy u8 3 expect=nothing", "frobnicate u8 3"}) {
    try {
      parse_case(bad);
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::usage);
      EXPECT_NE(error.parts().message.find(bad), std::string::npos) << error.what();
    }
  }
}

TEST(HarnessCase, RandomLines) {
  EXPECT_FALSE(parse_random("transpose u8 3x4"));
  EXPECT_EQ(parse_random("random 300")->count, 300);
  EXPECT_EQ(parse_random("random 5 seed=7")->seed, 7u);
  EXPECT_TRUE(parse_random("slow random 5")->slow);
  for (const char* bad : {"random", "random x", "random -1", "random 5 speed=7", "random 5 seed=7 8"})
    EXPECT_THROW(parse_random(bad), Error) << bad;
}

TEST(HarnessCase, TheTextOfACaseReadsAsTheSameCase) {
  for (const char* line :
       {"rearrange f32 6x4 \"(a b) c -> b a c\" a=2 in-strides=-8,1 in-offset=3 out-strides=1,2,8 out-align=16 "
        "candidate=tile config=pad:1 index=64",
        "transpose u8 16x16 in-place", "sum i32 3x4 axes=0 --keepdims one-buffer",
        "einsum f32,f64 3x4,4x5 ik,kj->ij alpha=0.5 in2-strides=0,1 largest-buffer=4096",
        "copy u8 scalar expect=overlap"})
    EXPECT_EQ(text_of(parse_case(line)), line);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(text_of(parse_case(random_case(3, i))), random_case(3, i));
}

TEST(HarnessRandom, IsTheSameForTheSameSeedOnly) {
  EXPECT_EQ(random_case(7, 3), random_case(7, 3));
  EXPECT_NE(random_case(7, 3), random_case(7, 4));
  EXPECT_NE(random_case(7, 3), random_case(8, 3));
}

TEST(HarnessRandom, MatchesThePublishedSequence) {
  Random random(1234567);  // reference output of SplitMix64 for this seed
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
}

// A new operation, option or dtype is drawn, or this fails.
TEST(HarnessRandom, TwoThousandCasesNameEverythingThatTheRegistryHas) {
  std::set<std::string> operations, dtypes, options;
  for (int i = 0; i < 2000; ++i) {
    const Case c = parse_case(random_case(1, i));
    operations.insert(c.op.name);
    for (Dtype dtype : c.dtypes) dtypes.insert(std::string(name(dtype)));
    for (const auto& [option, value] : c.op.options) options.insert(c.op.name + " " + option);
    for (const auto& [option, length] : c.op.lengths) options.insert(c.op.name + " " + option);
  }
  for (const ops::OpEntry& entry : ops::registry()) {
    EXPECT_TRUE(operations.contains(std::string(entry.name))) << entry.name;
    for (const ops::Option& option : entry.options)
      EXPECT_TRUE(options.contains(fmt::format("{} {}", entry.name, option.name))) << entry.name << " " << option.name;
  }
  for (Dtype dtype : all_dtypes()) EXPECT_TRUE(dtypes.contains(std::string(name(dtype)))) << name(dtype);
}

TEST(HarnessRandom, ArraysLieInEveryWay) {
  std::map<std::string, int> seen;
  for (int i = 0; i < 2000; ++i) {
    const std::string line = random_case(1, i) + " ";
    const Case c = parse_case(line);
    for (const char* part : {"in-strides=", "in2-strides=", "in5-", "out-strides=", "in-offset=", "in-align=1 ",
                             "out-align=", "in-place ", "one-buffer ", "largest-buffer=", "expect=", "...", "(", ","})
      if (line.find(part) != std::string::npos) ++seen[part];
    if (c.shapes.size() >= 8) ++seen["eight operands"];
    if (std::set(c.dtypes.begin(), c.dtypes.end()).size() > 1) ++seen["mixed dtypes"];
    for (std::size_t k = 0; k < c.shapes.size(); ++k) {
      ASSERT_LE(element_count(c.shapes[k]), 1 << 20) << line;
      for (const std::int64_t extent : c.shapes[k]) {
        if (extent == 0) ++seen["empty"];
        if (extent == 1) ++seen["one"];
      }
      for (const std::int64_t stride : c.inputs[k].strides.value_or(Dims{})) {
        if (stride < 0) ++seen["negative"];
        if (stride == 0) ++seen["broadcast"];
        if (stride % 2 != 0) ++seen["odd"];
      }
    }
  }
  for (const char* part : {"in-strides=", "in2-strides=",
                           "in5-",        "out-strides=",
                           "in-offset=",  "in-align=1 ",
                           "out-align=",  "in-place ",
                           "one-buffer ", "largest-buffer=",
                           "expect=",     "...",
                           "(",           ",",
                           "negative",    "broadcast",
                           "odd",         "empty",
                           "one",         "eight operands",
                           "mixed dtypes"})
    EXPECT_GE(seen[part], 10) << part;
}

}  // namespace
}  // namespace axisloom::harness
