// Patterns of einsum: its two spellings, diagonals, broadcasting, and messages that point at the fault.
#include "core/pattern.hpp"

#include <gtest/gtest.h>

namespace axisloom::core {
namespace {

BoundPattern bound(std::string_view pattern, const std::vector<Dims>& shapes, const Lengths& lengths = {}) {
  return core::bind(parse_einsum(pattern, shapes), shapes, lengths, OneSided::left, Broadcast::yes);
}

std::string shape_of(std::string_view pattern, const std::vector<Dims>& shapes, const Lengths& lengths = {}) {
  return to_string(output_shape(bound(pattern, shapes, lengths)));
}

std::string message_of(std::string_view pattern, const std::vector<Dims>& shapes, const Lengths& lengths = {}) {
  try {
    bound(pattern, shapes, lengths);
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == Errc::pattern || error.code() == Errc::shape);
    EXPECT_FALSE(error.parts().remedy.empty());
    return error.parts().message;
  }
  return "accepted";
}

TEST(EinsumPattern, IsSpelledInTwoWays) {
  const std::vector<Dims> shapes{{2, 3}, {3, 5}};
  for (const char* pattern :
       {"i k, k j -> i j", "ik,kj->ij", "ik, kj -> ij", " ik ,kj", "row inner, inner col -> row col",
        "... k, k j -> ... j", "...k,kj->...j", "ik,...kj->...ij"})
    EXPECT_EQ(shape_of(pattern, shapes), "[2,5]") << pattern;
}

TEST(EinsumPattern, LettersOfOneAxisAreAName) {
  EXPECT_EQ(shape_of("row, row ->", {{4}, {4}}), "[]");
  EXPECT_EQ(shape_of("row,col->row", {{4}, {5}}), "[4]");
  EXPECT_EQ(shape_of("abc,abc->", {{2, 3, 4}, {2, 3, 4}}), "[]");
  EXPECT_EQ(shape_of("i,j->ij", {{2}, {3}}), "[2,3]");
  EXPECT_EQ(shape_of("ab cd, cd -> ab", {{2, 3}, {3}}), "[2]");
  // One operand that can only be letters makes letters of all.
  EXPECT_EQ(message_of("row,ro->r", {{4}, {4, 4}}),
            "the pattern has 3 axes, but the array has 1: [4]\n  row,ro->r\n  ^");
}

TEST(EinsumPattern, ImpliesTheResultAsNumPyDoes) {
  EXPECT_EQ(shape_of("ba", {{2, 3}}), "[3,2]");
  EXPECT_EQ(shape_of("bA", {{2, 3}}), "[3,2]");
  EXPECT_EQ(shape_of("ab", {{2, 3}}), "[2,3]");
  EXPECT_EQ(shape_of("ii", {{3, 3}}), "[]");
  EXPECT_EQ(shape_of("i,i", {{3}, {3}}), "[]");
  EXPECT_EQ(shape_of("ij,j", {{2, 3}, {3}}), "[2]");
  EXPECT_EQ(shape_of("z...,y...", {{2, 5}, {3, 4, 5}}), "[4,5,3,2]");
  EXPECT_EQ(shape_of("i,j", {{2}, {3}}), "[2,3]");
  EXPECT_EQ(shape_of("i k, k j", {{2, 3}, {3, 5}}), "[2,5]") << "blanks say nothing";
  EXPECT_EQ(shape_of("... b a", {{4, 2, 3}}), "[4,3,2]");
  EXPECT_NE(message_of("(i k), k j", {{6}, {3, 5}}).find("no '->'"), std::string::npos);
}

TEST(EinsumPattern, AnEllipsisOnTheRightAloneStandsForNoAxes) {
  EXPECT_EQ(shape_of("i->...i", {{4}}), "[4]");
  EXPECT_EQ(shape_of("ik,kj->...ij", {{2, 3}, {3, 5}}), "[2,5]");
  EXPECT_EQ(shape_of("i k, k j -> ... i j", {{2, 3}, {3, 5}}), "[2,5]");
  EXPECT_NE(message_of("k->...i", {{4}}).find("does not appear on the left"), std::string::npos);
}

TEST(EinsumPattern, TakesGivenLengthsAsTheyAre) {
  EXPECT_EQ(shape_of("a 3 -> a", {{2, 3}}), "[2]");
  EXPECT_EQ(message_of("a 3 -> a", {{2, 1}}),
            "the array has length 1 here, but the pattern and the given lengths say 3\n  a 3 -> a\n    ^");
  EXPECT_EQ(message_of("a b -> a", {{2, 1}}, {{"b", 3}}),
            "the array has length 1 here, but the pattern and the given lengths say 3\n  a b -> a\n    ^");
  EXPECT_NE(message_of("i k, k j -> i j", {{2, 1}, {3, 5}}, {{"k", 3}}), "accepted");
  EXPECT_EQ(shape_of("i k, k j -> i j", {{2, 3}, {3, 5}}, {{"k", 3}}), "[2,5]");
}

TEST(EinsumPattern, BroadcastsLengthsOfOne) {
  EXPECT_EQ(shape_of("i k, k j -> i j", {{2, 1}, {3, 5}}), "[2,5]");
  EXPECT_EQ(shape_of("i, i -> i", {{1}, {4}}), "[4]");
  EXPECT_EQ(shape_of("i, i -> i", {{1}, {0}}), "[0]");
  EXPECT_EQ(shape_of("... i, ... i -> ...", {{7, 1, 2}, {3, 2}}), "[7,3]");
  EXPECT_EQ(shape_of("..., ... -> ...", {{}, {3, 2}}), "[3,2]");
  EXPECT_EQ(message_of("i, i -> i", {{2}, {3}}),
            "the axis 'i' has length 3 here, and 2 elsewhere\n  i, i -> i\n     ^");
  EXPECT_EQ(message_of("..., ... -> ...", {{2}, {3}}),
            "an axis of the ellipsis has length 3 here, and 2 elsewhere\n  ..., ... -> ...\n       ^");
  // A length that was given is meant.
  EXPECT_NE(message_of("i, i -> i", {{2}, {2}}, {{"i", 1}}), "accepted");
}

TEST(EinsumPattern, TakesDiagonals) {
  EXPECT_EQ(shape_of("i i -> i", {{3, 3}}), "[3]");
  EXPECT_EQ(shape_of("iji->j", {{3, 4, 3}}), "[4]");
  EXPECT_EQ(shape_of("i i, i -> i", {{1, 1}, {5}}), "[5]");
  EXPECT_EQ(message_of("i i -> i", {{3, 4}}), "the axis 'i' has length 4 here, and 3 elsewhere\n  i i -> i\n    ^");
  EXPECT_EQ(message_of("ii->i", {{1, 3}}), "the axis 'i' has length 3 here, and 1 before\n  ii->i\n   ^");
  const BoundPattern diagonal = bound("i j i -> i j", {{3, 4, 3}});
  EXPECT_EQ(elementary_strides(diagonal, diagonal.inputs[0], {12, 3, 1}), (std::vector<std::int64_t>{13, 3}));
}

TEST(EinsumPattern, SplitsAndMergesAxes) {
  EXPECT_EQ(shape_of("(a b) c, c d -> b (d a)", {{6, 4}, {4, 5}}, {{"a", 3}}), "[2,15]");
  EXPECT_EQ(shape_of("a 1, a () -> 1 a", {{3, 1}, {3, 1}}), "[1,3]");
  EXPECT_EQ(shape_of("a 3 -> a", {{2, 3}}), "[2]");
  EXPECT_NE(message_of("(a b), a -> b", {{6}, {4}}), "accepted");
}

TEST(EinsumPattern, PointsAtTheFault) {
  const std::vector<Dims> shapes{{2, 3}, {3, 5}};
  EXPECT_EQ(message_of("ik,jk->ij", shapes), "the axis 'k' has length 5 here, and 3 elsewhere\n  ik,jk->ij\n      ^");
  EXPECT_EQ(message_of("ik,kj->im", shapes), "the axis 'm' does not appear on the left\n  ik,kj->im\n          ^");
  EXPECT_EQ(message_of("ik,kj->ii", shapes), "the name 'i' appears twice on one side\n  ik,kj->ii\n          ^");
  EXPECT_EQ(message_of("ik,k..j", shapes),
            "dots are allowed only in an ellipsis '...' that is separated by spaces\n  ik,k..j\n      ^^");
  EXPECT_EQ(message_of("ik,kjl->ij", shapes),
            "the pattern has 3 axes, but the array has 2: [3,5]\n  ik,kjl->ij\n     ^");
  EXPECT_EQ(message_of("...k,kj->j", shapes),
            "the ellipsis stands for 1 axes, but not on the right\n  ...k,kj->j\n  ^^^");
  EXPECT_EQ(message_of("ik->ki", shapes), "the pattern is for 1 arrays, but 2 given\n  ik->ki");
  EXPECT_EQ(message_of("i k, k j -> i -> j", shapes),
            "the pattern has a second '->'\n  i k, k j -> i -> j\n                ^^");
  EXPECT_EQ(message_of("i-k,kj->ij", shapes),
            "the pattern has a character that is not allowed there\n  i-k,kj->ij\n   ^");
}

TEST(EinsumPattern, CountsItsOperands) {
  EXPECT_EQ(count_operands("->"), 1);
  EXPECT_EQ(count_operands("i k, k j, -> i j"), 3);
}

}  // namespace
}  // namespace axisloom::core
