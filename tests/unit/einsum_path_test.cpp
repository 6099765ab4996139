// The order of products, the placing of what lies between them, and promotion of dtypes: host code alone.
#include "ops/einsum/path.hpp"
#include "ops/einsum/promotion.hpp"
#include "ops/einsum/schedule.hpp"

#include <gtest/gtest.h>

#include <random>

namespace axisloom::ops {
namespace {

Contraction problem_of(std::string_view pattern, const std::vector<Dims>& shapes, Dtype dtype = Dtype::f32) {
  const Operation op{"einsum", {std::string(pattern)}};
  std::vector<View> views;
  for (const Dims& shape : shapes) views.push_back(View::contiguous(dtype, shape));
  views.push_back(contraction_result(op, views));
  return contraction_of(op, views);
}

TEST(EinsumPath, MultipliesAChainFromItsCheapEnd) {
  const Contraction vector_last = problem_of("a b, b c, c d, d -> a", {{100, 100}, {100, 100}, {100, 100}, {100}});
  EXPECT_EQ(contraction_path(vector_last), (std::vector<PathStep>{{2, 3}, {1, 4}, {0, 5}}));
  const Contraction vector_first = problem_of("a, a b, b c -> c", {{100}, {100, 100}, {100, 100}});
  EXPECT_EQ(contraction_path(vector_first), (std::vector<PathStep>{{0, 1}, {3, 2}}));
}

TEST(EinsumPath, OfOneOperandIsEmpty) {
  EXPECT_TRUE(contraction_path(problem_of("a b -> b", {{3, 4}})).empty());
}

// Every order of multiplying, each with its cost.
double cheapest(const Contraction& problem, std::vector<int> open, std::vector<PathStep>& path, int next) {
  if (open.size() == 1) return path_cost(problem, path);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < open.size(); ++i)
    for (std::size_t k = i + 1; k < open.size(); ++k) {
      std::vector<int> rest = open;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      rest.push_back(next);
      path.push_back({open[i], open[k]});
      best = std::min(best, cheapest(problem, rest, path, next + 1));
      path.pop_back();
    }
  return best;
}

TEST(EinsumPath, IsAsCheapAsTheCheapestOfAll) {
  std::mt19937 engine(7);
  const auto draw = [&](int count) { return static_cast<int>(engine() % static_cast<unsigned>(count)); };
  for (int round = 0; round < 60; ++round) {
    const int operands = 2 + draw(4), axes = 2 + draw(4);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < axes; ++i) lengths.push_back(2 + draw(60));
    std::string pattern;
    std::vector<Dims> shapes;
    for (int o = 0; o < operands; ++o) {
      pattern += o == 0 ? "" : ",";
      Dims& shape = shapes.emplace_back();
      for (int i = 0; i < axes; ++i)
        if (draw(2) == 0) pattern += static_cast<char>('a' + i), shape.push_back(lengths[static_cast<std::size_t>(i)]);
    }
    const Contraction problem = problem_of(pattern, shapes);
    std::vector<int> all;
    for (int o = 0; o < operands; ++o) all.push_back(o);
    std::vector<PathStep> path;
    const double best = cheapest(problem, all, path, operands);
    EXPECT_NEAR(path_cost(problem, contraction_path(problem)), best, 1e-9 * best) << pattern;
  }
}

TEST(EinsumPath, OfManyOperandsMultipliesEachOnce) {
  std::string pattern;
  std::vector<Dims> shapes;
  for (int i = 0; i < 20; ++i) {
    pattern += std::string(i == 0 ? "" : ",") + static_cast<char>('a' + i) + static_cast<char>('b' + i);
    shapes.push_back({4, 4});
  }
  const Contraction problem = problem_of(pattern, shapes);
  const std::vector<PathStep> path = contraction_path(problem);
  ASSERT_EQ(path.size(), 19u);
  std::vector<int> used(39);
  for (const PathStep& step : path) {
    ++used[static_cast<std::size_t>(step.left)];
    ++used[static_cast<std::size_t>(step.right)];
  }
  for (std::size_t i = 0; i < 38; ++i) EXPECT_EQ(used[i], 1) << i;
  // Neighbours first: no product has more than three axes.
  EXPECT_LE(path_operations(problem, path), 19 * 2 * 64.0);
}

/// The axes of the output and of the operands that are not in a set.
AxisSet axes_left(const Contraction& problem, const std::vector<bool>& in_set) {
  AxisSet left = problem.out.axes;
  for (std::size_t i = 0; i < problem.operands.size(); ++i)
    if (!in_set[i]) left |= problem.operands[i].axes;
  return left;
}

/// The pair that shrinks the arrays most, found by looking at all of them at every step.
std::vector<PathStep> slow_greedy_path(const Contraction& problem) {
  struct Open {
    std::vector<bool> members;
    AxisSet axes;
  };
  const auto bytes = [&](AxisSet axes) { return 4 * static_cast<double>(problem.points(axes)); };
  const std::size_t count = problem.operands.size();
  std::vector<Open> arrays;
  std::vector<int> open;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<bool> alone(count);
    alone[i] = true;
    arrays.push_back({alone, problem.operands[i].axes & axes_left(problem, alone)});
    open.push_back(static_cast<int>(i));
  }
  const auto joined = [&](int left, int right) {
    Open both = arrays[static_cast<std::size_t>(left)];
    const Open& other = arrays[static_cast<std::size_t>(right)];
    for (std::size_t i = 0; i < count; ++i) both.members[i] = both.members[i] || other.members[i];
    both.axes = (both.axes | other.axes) & axes_left(problem, both.members);
    return both;
  };
  std::vector<PathStep> path;
  while (open.size() > 1) {
    PathStep best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < open.size(); ++i)
      for (std::size_t k = i + 1; k < open.size(); ++k) {
        const double growth = bytes(joined(open[i], open[k]).axes) -
                              bytes(arrays[static_cast<std::size_t>(open[i])].axes) -
                              bytes(arrays[static_cast<std::size_t>(open[k])].axes);
        if (growth < least) least = growth, best = {open[i], open[k]};
      }
    path.push_back(best);
    std::erase_if(open, [&](int number) { return number == best.left || number == best.right; });
    open.push_back(static_cast<int>(arrays.size()));
    arrays.push_back(joined(best.left, best.right));
  }
  return path;
}

TEST(EinsumPath, OfManyOperandsTakesThePairThatShrinksMost) {
  std::mt19937 engine(5);
  const auto draw = [&](int count) { return static_cast<int>(engine() % static_cast<unsigned>(count)); };
  for (int round = 0; round < 40; ++round) {
    const int operands = 9 + draw(8), axes = 3 + draw(9);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < axes; ++i) lengths.push_back(2 + draw(4));
    std::string pattern;
    std::vector<Dims> shapes;
    for (int o = 0; o < operands; ++o) {
      pattern += o == 0 ? "" : ",";
      Dims& shape = shapes.emplace_back();
      for (int i = 0; i < axes; ++i)
        if (draw(3) == 0) pattern += static_cast<char>('a' + i), shape.push_back(lengths[static_cast<std::size_t>(i)]);
    }
    const Contraction problem = problem_of(pattern, shapes);
    EXPECT_EQ(contraction_path(problem), slow_greedy_path(problem)) << pattern;
  }
}

TEST(EinsumPath, OfTheMostThatAreSearchedIsNeverDearerThanTheGreedyOne) {
  std::mt19937 engine(3);
  const auto draw = [&](int count) { return static_cast<int>(engine() % static_cast<unsigned>(count)); };
  int cheaper = 0;
  for (int round = 0; round < 20; ++round) {
    std::string pattern;
    std::vector<Dims> shapes;
    for (std::size_t o = 0; o < most_searched; ++o) {
      pattern += o == 0 ? "" : ",";
      Dims& shape = shapes.emplace_back();
      for (int i = 0; i < 8; ++i)
        if (draw(3) == 0) pattern += static_cast<char>('a' + i), shape.push_back(2 + i);
    }
    const Contraction problem = problem_of(pattern, shapes);
    const double searched = path_cost(problem, contraction_path(problem));
    const double greedy = path_cost(problem, slow_greedy_path(problem));
    EXPECT_LE(searched, greedy * (1 + 1e-9)) << pattern;
    if (searched < 0.99 * greedy) ++cheaper;
  }
  EXPECT_GT(cheaper, 0);
}

// As many as there may be, over which neither all orders nor all pairs of each step could be looked at.
TEST(EinsumPath, OfAllOperandsIsFound) {
  std::string pattern;
  std::vector<Dims> shapes;
  for (std::size_t i = 0; i < most_einsum_operands; ++i) {
    const std::size_t from = i % 50, to = (i * 7 + 1) % 50;
    pattern += std::string(i == 0 ? "" : ", ") + "n" + std::to_string(from) + " m" + std::to_string(to % 13);
    shapes.push_back({2, 3});
  }
  const Contraction problem = problem_of(pattern + " -> n0 m0", shapes);
  EXPECT_EQ(contraction_path(problem).size(), most_einsum_operands - 1);
  EXPECT_GT(path_operations(problem, contraction_path(problem)), 0);
  shapes.push_back({2, 3});
  try {
    problem_of(pattern + ", n0 m0 -> n0 m0", shapes);
    ADD_FAILURE() << "one more was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported);
    EXPECT_NE(std::string(error.what()).find("1025 were given"), std::string::npos) << error.what();
  }
}

TEST(EinsumPath, CountsOperations) {
  const Contraction matrices = problem_of("i k, k j -> i j", {{10, 20}, {20, 30}});
  EXPECT_EQ(path_operations(matrices, contraction_path(matrices)), 2 * 10 * 20 * 30.0);
  const Contraction alone = problem_of("i k, k j x -> i j", {{10, 20}, {20, 30, 7}});
  EXPECT_EQ(path_operations(alone, contraction_path(alone)), 2 * 10 * 20 * 30.0 + 20 * 30 * 7);
  Contraction complex = alone;
  for (Term& operand : complex.operands) operand.dtype = Dtype::c64;
  EXPECT_EQ(path_operations(complex, contraction_path(complex)), 8 * 10 * 20 * 30.0 + 2 * 20 * 30 * 7);
}

TEST(EinsumWorkspace, ReusesMemoryOfWhatIsDone) {
  const std::vector<Lifetime> blocks{{1000, 0, 1}, {500, 1, 2}, {1000, 2, 3}, {0, 0, 3}};
  const std::vector<std::int64_t> begins = place_blocks(blocks);
  EXPECT_EQ(begins[0], begins[2]);
  EXPECT_EQ(begins[1], 1024);
  for (const std::int64_t begin : begins) EXPECT_EQ(begin % static_cast<std::int64_t>(workspace_alignment), 0);
}

TEST(EinsumWorkspace, KeepsApartWhatLivesTogether) {
  std::mt19937 engine(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> blocks;
    for (int i = 0; i < 12; ++i) {
      const int first = static_cast<int>(engine() % 8), last = first + static_cast<int>(engine() % 4);
      blocks.push_back({static_cast<std::int64_t>(engine() % 5000), first, last});
    }
    const std::vector<std::int64_t> begins = place_blocks(blocks);
    for (std::size_t a = 0; a < blocks.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        const bool together = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
        const bool apart = begins[a] + blocks[a].bytes <= begins[b] || begins[b] + blocks[b].bytes <= begins[a];
        EXPECT_TRUE(!together || apart || blocks[a].bytes == 0 || blocks[b].bytes == 0);
      }
  }
}

// Rows and columns in the order of the enumeration, as numpy.promote_types of NumPy 2.4 has it; and bf16, which NumPy
// lacks and which is to integers what f16 is.
TEST(EinsumPromotion, IsNumPysAndGivesBf16APlace) {
  constexpr std::string_view table[] = {
      "u8 i16 u8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 c64 c128",                 // u8
      "i16 i8 i8 i32 i16 f16 bf16 i64 i32 f32 f64 i64 f64 c64 c128",                 // i8
      "u8 i8 bool u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 c64 c128",                // bool
      "u16 i32 u16 u16 i32 f32 f32 u32 i32 f32 u64 i64 f64 c64 c128",                // u16
      "i16 i16 i16 i32 i16 f32 f32 i64 i32 f32 f64 i64 f64 c64 c128",                // i16
      "f16 f16 f16 f32 f32 f16 f32 f64 f64 f32 f64 f64 f64 c64 c128",                // f16
      "bf16 bf16 bf16 f32 f32 f32 bf16 f64 f64 f32 f64 f64 f64 c64 c128",            // bf16
      "u32 i64 u32 u32 i64 f64 f64 u32 i64 f64 u64 i64 f64 c128 c128",               // u32
      "i32 i32 i32 i32 i32 f64 f64 i64 i32 f64 f64 i64 f64 c128 c128",               // i32
      "f32 f32 f32 f32 f32 f32 f32 f64 f64 f32 f64 f64 f64 c64 c128",                // f32
      "u64 f64 u64 u64 f64 f64 f64 u64 f64 f64 u64 f64 f64 c128 c128",               // u64
      "i64 i64 i64 i64 i64 f64 f64 i64 i64 f64 f64 i64 f64 c128 c128",               // i64
      "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128",               // f64
      "c64 c64 c64 c64 c64 c64 c64 c128 c128 c64 c128 c128 c128 c64 c128",           // c64
      "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",  // c128
  };
  for (const Dtype a : all_dtypes()) {
    std::string row;
    for (const Dtype b : all_dtypes()) row += std::string(row.empty() ? "" : " ") + std::string(name(promoted(a, b)));
    EXPECT_EQ(row, table[static_cast<std::size_t>(a)]) << name(a);
  }
}

// A product has the promoted dtype, but for products of bytes, bools among them, whose sums would wrap.
TEST(EinsumPromotion, OfBytesIsI32) {
  for (const Dtype a : all_dtypes()) {
    for (const Dtype b : all_dtypes()) {
      const bool bytes = size_of(a) == 1 && size_of(b) == 1 && (a != Dtype::boolean || b != Dtype::boolean);
      const std::vector<View> views{View::contiguous(a, {2}), View::contiguous(b, {2})};
      EXPECT_EQ(result_view(dot(), views).dtype, bytes ? Dtype::i32 : promoted(a, b)) << name(a) << " " << name(b);
    }
  }
  const View mask = View::contiguous(Dtype::boolean, {2}), byte = View::contiguous(Dtype::u8, {2});
  EXPECT_EQ(result_view(einsum("i, i, i ->"), std::vector{mask, byte, mask}).dtype, Dtype::i32);
  EXPECT_EQ(result_view(einsum("i, i, i ->"), std::vector{mask, mask, mask}).dtype, Dtype::boolean);
  EXPECT_EQ(result_view(dot({{"out-dtype", "u8"}}), std::vector{mask, byte}).dtype, Dtype::u8);
}

}  // namespace
}  // namespace axisloom::ops
