// Case lines: expansion, parsing, and the random ones.
#include "check/case.hpp"
#include "check/expand.hpp"
#include "check/random.hpp"

#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace axisloom::cli {
namespace {

using Lines = std::vector<std::string>;

TEST(CliExpand, ListsRangesAndProducts) {
  EXPECT_EQ(expand("copy u8 5"), Lines{"copy u8 5"});
  EXPECT_EQ(expand("{a,b}x{1..2}"), (Lines{"ax1", "ax2", "bx1", "bx2"}));
  EXPECT_EQ(expand("{1..9..4}"), (Lines{"1", "5", "9"}));
  EXPECT_EQ(expand("{1,31..33,70}"), (Lines{"1", "31", "32", "33", "70"}));
  EXPECT_EQ(expand("{2,0,1;1,0}"), (Lines{"2,0,1", "1,0"}));
}

TEST(CliExpand, NamesAreFollowedToTheRight) {
  EXPECT_EQ(expand("{n=3,4}x{n}"), (Lines{"3x3", "4x4"}));
  EXPECT_EQ(expand("{c=31..33} {c/32} {c*2} {c+1}"), (Lines{"31 1 62 32", "32 1 64 33", "33 2 66 34"}));
  EXPECT_EQ(expand("{a=1,2}{b=5,6}{a}{b}"), (Lines{"1515", "1616", "2525", "2626"}));
}

TEST(CliExpand, WithOnlyGivesNames) {
  EXPECT_EQ(expand("with {c=7,9} {x=4}: a {c/x} {c}"), (Lines{"a 2 7", "a 3 9"}));
  EXPECT_THROW(expand("with {c=7,9} a {c}"), Error);
}

TEST(CliExpand, WhatCannotBeReadIsRefused) {
  for (const char* bad : {"{1..", "{3..1}", "{1..a}", "{1..9..0}", "{n=1..2}{n/0}", "{n=a}{n*2}"})
    EXPECT_THROW(expand(bad), Error) << bad;
}

TEST(CliCase, WordsKeepQuotesTogether) {
  EXPECT_EQ(words_of("rearrange f32 2x3 \"h w -> w h\"  x=3"), (Lines{"rearrange", "f32", "2x3", "h w -> w h", "x=3"}));
  EXPECT_EQ(words_of("a '' b"), (Lines{"a", "", "b"}));
  EXPECT_THROW(words_of("a \"b"), Error);
}

TEST(CliCase, EverythingThatCanBeSaid) {
  const Case c = parse_case(
      "slow rearrange f32 6x4 \"(a b) c -> b a c\" a=2 in-strides=-8,1 out-strides=1,2,8 in-offset=3 out-offset=5 "
      "align=4 "
      "out-align=16 candidate=tile config=pad:1 index=64");
  EXPECT_TRUE(c.slow);
  EXPECT_TRUE(c.text.starts_with("rearrange f32"));
  EXPECT_EQ(c.op.name, "rearrange");
  EXPECT_EQ(c.op.words, Lines{"(a b) c -> b a c"});
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

TEST(CliCase, FlagsAndExpectedErrors) {
  const Case c = parse_case("transpose u8 16x16 in-place expect=overlap");
  EXPECT_TRUE(c.in_place);
  EXPECT_EQ(c.expect, Errc::overlap);
  EXPECT_FALSE(c.slow);
}

TEST(CliCase, FaultsNameTheCase) {
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

TEST(CliCase, RandomLines) {
  EXPECT_FALSE(parse_random("transpose u8 3x4"));
  EXPECT_EQ(parse_random("random 300")->count, 300);
  EXPECT_EQ(parse_random("random 5 seed=7")->seed, 7u);
  EXPECT_TRUE(parse_random("slow random 5")->slow);
  for (const char* bad : {"random", "random x", "random -1", "random 5 speed=7", "random 5 seed=7 8"})
    EXPECT_THROW(parse_random(bad), Error) << bad;
}

TEST(CliRandom, IsTheSameForTheSameSeedOnly) {
  EXPECT_EQ(random_case(7, 3), random_case(7, 3));
  EXPECT_NE(random_case(7, 3), random_case(7, 4));
  EXPECT_NE(random_case(7, 3), random_case(8, 3));
}

TEST(CliRandom, MatchesThePublishedSequence) {
  Random random(1234567);  // reference output of SplitMix64 for this seed
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
}

TEST(CliRandom, CasesAreReadableAndCoverEverything) {
  std::set<std::string> ops;
  std::set<std::size_t> sizes;
  std::map<std::string, int> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string line = random_case(1, i);
    const Case c = parse_case(line);
    const View input = View::contiguous(c.dtypes.front(), c.shapes.front());
    const View output = result_view(c.op, std::span(&input, 1));
    ASSERT_LE(output.count(), 1 << 20) << line;
    ops.insert(c.op.name);
    sizes.insert(size_of(c.dtypes.front()));
    for (const char* part : {"in-strides=", "out-strides=", "in-offset=", "in-align=1 ", "out-align="})
      if ((line + " ").find(part) != std::string::npos) ++seen[part];
    if (c.inputs.front().strides) {
      const Dims& strides = *c.inputs.front().strides;
      if (std::any_of(strides.begin(), strides.end(), [](auto s) { return s < 0; })) ++seen["negative"];
      if (std::any_of(strides.begin(), strides.end(), [](auto s) { return s == 0; })) ++seen["broadcast"];
    }
    if (input.count() == 0) ++seen["empty"];
  }
  EXPECT_EQ(ops.size(), 9u);
  EXPECT_EQ(sizes, (std::set<std::size_t>{1, 2, 4, 8, 16}));
  for (const char* part :
       {"in-strides=", "out-strides=", "in-offset=", "in-align=1 ", "out-align=", "negative", "broadcast", "empty"})
    EXPECT_GE(seen[part], 10) << part;
}

}  // namespace
}  // namespace axisloom::cli
