// Patterns: einops' verdicts and results as a table, the text of messages, several operands, and strides of split axes.
#include <gtest/gtest.h>

#include <sstream>

#include "core/pattern.hpp"

namespace axisloom::core {
namespace {

struct EinopsCase {
  const char* op;
  const char* shape;
  const char* pattern;
  const char* lengths;
  const char* result;  // shape, or "refused"
  std::int64_t hash;   // of the elements in order, where element i of the input is i
};

constexpr EinopsCase einops_cases[] = {
#include "einops_cases.inc"
};

Dims dims_of(const char* text) {
  Dims dims;
  std::istringstream words(text);
  for (std::int64_t extent; words >> extent;) dims.push_back(extent);
  return dims;
}

Lengths lengths_of(const char* text) {
  Lengths lengths;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    lengths.emplace_back(word.substr(0, equals), std::stoll(word.substr(equals + 1)));
  }
  return lengths;
}

OneSided allowed_by(std::string_view op) {
  if (op == "repeat") return OneSided::right;
  return op == "reduce" ? OneSided::left : OneSided::none;
}

/// Calls visit(output offset, input offset) for every index of the elementary axes.
template <class Visit>
void for_each_index(const BoundPattern& bound, const Dims& shape, const Visit& visit) {
  const auto in = elementary_strides(bound, bound.inputs[0], contiguous_strides(shape));
  const auto out = elementary_strides(bound, bound.output, contiguous_strides(output_shape(bound)));
  const auto walk = [&](const auto& self, std::size_t axis, std::int64_t to, std::int64_t from) -> void {
    if (axis == bound.axes.size()) return visit(to, from);
    for (std::int64_t i = 0; i < bound.axes[axis].extent; ++i)
      self(self, axis + 1, to + i * out[axis], from + i * in[axis]);
  };
  walk(walk, 0, 0, 0);
}

std::int64_t hash_of(const std::vector<std::int64_t>& values) {
  std::int64_t hash = 0;
  for (const std::int64_t value : values) hash = (hash * 31 + value + 1) % 1000000007;
  return hash;
}

std::string message_of(std::string_view pattern, const Dims& shape, const Lengths& lengths,
                       OneSided allowed = OneSided::none) {
  try {
    bind(parse(pattern), {&shape, 1}, lengths, allowed);
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == Errc::pattern || error.code() == Errc::shape);
    return error.parts().message;
  }
  return "accepted";
}

TEST(Pattern, AgreesWithEinops) {
  for (const EinopsCase& row : einops_cases) {
    SCOPED_TRACE(std::string(row.op) + " '" + row.pattern + "' [" + row.shape + "] " + row.lengths);
    const Dims shape = dims_of(row.shape);
    std::string result = "refused";
    std::int64_t hash = 0;
    try {
      const BoundPattern bound = bind(parse(row.pattern), {&shape, 1}, lengths_of(row.lengths), allowed_by(row.op));
      result = to_string(output_shape(bound));
      std::vector<std::int64_t> output(static_cast<std::size_t>(element_count(output_shape(bound))), 0);
      for_each_index(bound, shape,
                     [&output](std::int64_t to, std::int64_t from) { output[static_cast<std::size_t>(to)] += from; });
      hash = hash_of(output);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == Errc::pattern || error.code() == Errc::shape);
      EXPECT_NE(error.parts().message.find("\n  "), std::string::npos);
    }
    EXPECT_EQ(result, row.result);
    EXPECT_EQ(hash, row.hash);
  }
}

TEST(Pattern, ParsesGroups) {
  const Pattern pattern = parse("n (c x) ... 1 -> (x ... n) 2 c");
  ASSERT_EQ(pattern.inputs.size(), 1u);
  const auto& left = pattern.inputs[0].groups;
  ASSERT_EQ(left.size(), 4u);
  EXPECT_EQ(left[0].axes, (std::vector<Axis>{{"n", -1, 0}}));
  EXPECT_FALSE(left[0].composed);
  EXPECT_EQ(left[1].axes, (std::vector<Axis>{{"c", -1, 3}, {"x", -1, 5}}));
  EXPECT_TRUE(left[1].composed);
  EXPECT_TRUE(left[2].ellipsis);
  EXPECT_TRUE(left[3].axes.empty());
  const auto& right = pattern.output.groups;
  ASSERT_EQ(right.size(), 3u);
  EXPECT_TRUE(right[0].ellipsis && right[0].composed);
  EXPECT_EQ(right[0].at, 1u);
  EXPECT_EQ(right[1].axes, (std::vector<Axis>{{"", 2, 27}}));
}

TEST(Pattern, CaretStandsBelowTheFault) {
  EXPECT_EQ(message_of("h (w -> w h", {2, 3}, {}), "the parenthesis is never closed\n  h (w -> w h\n    ^");
  EXPECT_EQ(message_of("h w -> w h bad_", {2, 3}, {}),
            "a name cannot start or end with an underscore\n  h w -> w h bad_\n             ^^^^");
  EXPECT_EQ(message_of("h\tw -> w h", {2, 3}, {}),
            "the pattern has a character that is not allowed there\n  h w -> w h\n   ^");
  EXPECT_EQ(message_of("h w -> w h c", {2, 3}, {}),
            "the axis 'c' does not appear on the left\n  h w -> w h c\n             ^");
  EXPECT_EQ(message_of("h (w x) -> w x h", {2, 3}, {{"x", 2}}),
            "the array has length 3 here, which cannot be divided into parts of 2\n  h (w x) -> w x h\n    ^");
  EXPECT_EQ(message_of("h 1 -> h", {2, 3}, {}),
            "the array has length 3 here, but the pattern and the given lengths say 1\n  h 1 -> h\n    ^");
  EXPECT_EQ(message_of("h (w x) -> w x h", {2, 3}, {}),
            "a composed axis has more than one unknown length\n  h (w x) -> w x h\n     ^");
  EXPECT_EQ(message_of("... h -> h ...", {}, {}),
            "the pattern has 1 or more axes, but the array has 0: []\n  ... h -> h ...\n  ^");
  EXPECT_EQ(message_of("h w -> w h", {2, 3}, {{"x", 2}}),
            "the pattern has no axis 'x', but a length is given for it\n  h w -> w h");
}

TEST(Pattern, RefusesParenthesesWithinParentheses) {
  for (const char* pattern : {"((a b) -> a b", "(a (b c)) -> a b c", "a b -> ((a b)"})
    EXPECT_NE(message_of(pattern, {6}, {{"a", 2}}).find("parentheses cannot be nested"), std::string::npos) << pattern;
}

TEST(Pattern, RefusesNonAsciiNames) {
  EXPECT_THROW(parse("\xce\xb1 b -> b \xce\xb1"), Error);
}

TEST(Pattern, RefusesALengthGivenTwice) {
  EXPECT_NE(message_of("(h w) -> h w", {6}, {{"h", 2}, {"h", 2}}).find("twice"), std::string::npos);
}

TEST(Pattern, NamesOfTheEllipsisCannotBeGivenLengths) {
  EXPECT_NE(message_of("... -> ...", {6}, {{"..0", 6}}).find("no axis '..0'"), std::string::npos);
}

TEST(Pattern, BindsSeveralOperands) {
  const Dims shapes[] = {{2, 3}, {3, 5}};
  const BoundPattern bound = bind(parse("i k, k j -> i j"), shapes, {}, OneSided::left);
  EXPECT_EQ(output_shape(bound), (Dims{2, 5}));
  ASSERT_EQ(bound.axes.size(), 3u);
  EXPECT_EQ(bound.axes[1].name, "k");
  EXPECT_EQ(bound.removed, std::vector<int>{1});
  EXPECT_TRUE(bound.added.empty());
  EXPECT_EQ(bound.inputs[1], (std::vector<std::vector<int>>{{1}, {2}}));
}

TEST(Pattern, LearnsALengthFromAnotherOperand) {
  const Dims shapes[] = {{6}, {2}};
  EXPECT_EQ(output_shape(bind(parse("(a b), a -> b"), shapes, {}, OneSided::left)), (Dims{3}));
}

TEST(Pattern, RefusesOperandsThatDisagree) {
  const Dims extents[] = {{2, 3}, {4, 5}};
  EXPECT_THROW(bind(parse("i k, k j -> i j"), extents, {}, OneSided::left), Error);
  const Dims ranks[] = {{2, 3}, {2, 3, 4}};
  EXPECT_THROW(bind(parse("..., ... -> ..."), ranks, {}, OneSided::left), Error);
  const Dims one[] = {{2, 3}};
  EXPECT_THROW(bind(parse("i k, k j -> i j"), one, {}, OneSided::left), Error);
  EXPECT_THROW(parse("a (b, c) -> a"), Error);
  EXPECT_THROW(parse("a, b -> a, b"), Error);
}

TEST(Pattern, ListsAddedAndRemovedAxes) {
  const Dims shape{2, 3};
  EXPECT_EQ(bind(parse("h w -> h 4 w c"), {&shape, 1}, {{"c", 2}}, OneSided::right).added, (std::vector<int>{2, 3}));
  EXPECT_EQ(bind(parse("h 3 -> h"), {&shape, 1}, {}, OneSided::left).removed, std::vector<int>{1});
}

TEST(Pattern, SplitsStridesOfAnySign) {
  const Dims shape{6, 4};
  const BoundPattern bound = bind(parse("(a b) c -> c b a"), {&shape, 1}, {{"b", 3}}, OneSided::none);
  EXPECT_EQ(elementary_strides(bound, bound.inputs[0], {-8, 0}), (std::vector<std::int64_t>{-24, -8, 0}));
  EXPECT_THROW(elementary_strides(bound, bound.inputs[0], {std::int64_t{1} << 62, 1}), Error);
  EXPECT_THROW(elementary_strides(bound, bound.inputs[0], {1}), Error);
}

TEST(Pattern, RefusesMoreAxesThanAnArrayCanHave) {
  const Dims shape = Dims::filled(max_rank, 1);
  EXPECT_THROW(output_shape(bind(parse("... -> ... 1"), {&shape, 1}, {}, OneSided::none)), Error);
}

// So many that looking through all of them for each would not end.
TEST(Pattern, TakesAnyNumberOfNames) {
  constexpr int count = 200000;
  std::string names, turned;
  Lengths lengths;
  for (int i = 0; i < count; ++i) {
    names += "n" + std::to_string(i) + " ";
    turned += "n" + std::to_string(count - 1 - i) + " ";
    if (i > 0) lengths.emplace_back("n" + std::to_string(i), 1);
  }
  const Dims shape{5};
  const Pattern pattern = parse("(" + names + ") -> (" + turned + ")");
  const BoundPattern bound = bind(pattern, {&shape, 1}, lengths, OneSided::none);
  EXPECT_EQ(bound.axes.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(bound.axes[0].extent, 5);
  EXPECT_EQ(output_shape(bound), Dims{5});
}

// Each length follows from the one after it.
TEST(Pattern, LearnsLengthsFromTheLastOperandToTheFirst) {
  constexpr int operands = 3000;
  std::string text;
  for (int i = 0; i < operands; ++i)
    text += std::string(i == 0 ? "" : ", ") + "(n" + std::to_string(i) + " n" + std::to_string(i + 1) + ")";
  const std::vector<Dims> shapes(operands, Dims{4});
  const Pattern pattern = parse_einsum(text + " -> n0", shapes);
  const BoundPattern bound =
      bind(pattern, shapes, {{"n" + std::to_string(operands), 2}}, OneSided::left, Broadcast::yes);
  EXPECT_EQ(output_shape(bound), Dims{2});
}

TEST(Pattern, RefusesExtentsThatOverflow) {
  const Dims shape{2};
  const Lengths lengths{{"b", std::int64_t{1} << 62}};
  EXPECT_THROW(output_shape(bind(parse("a -> (a b)"), {&shape, 1}, lengths, OneSided::right)), Error);
}

}  // namespace
}  // namespace axisloom::core
