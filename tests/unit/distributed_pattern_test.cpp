// The notation of distributed arrays: what is parsed, and the messages for what is not.
#include <axisloom/distributed.hpp>
#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include "core/pattern.hpp"

namespace axisloom::distributed {
namespace {

using core::Cut;
using core::Cuts;
using core::Deal;

ErrorParts refusal(const std::string& pattern, const std::string& mesh, const Dims& shape,
                   const Lengths& lengths = {}) {
  try {
    Redistribution(pattern, Mesh(mesh), shape, lengths);
  } catch (const Error& error) {
    return error.parts();
  }
  ADD_FAILURE() << pattern << " is accepted";
  return {};
}

std::string message(const std::string& pattern, const Dims& shape = {4, 6}, const std::string& mesh = "x=2 y=3") {
  return refusal(pattern, mesh, shape).message;
}

std::string mesh_message(const std::string& text) {
  try {
    Mesh mesh(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::usage);
    EXPECT_EQ(error.parts().remedy, "write names and numbers of ranks, as in \"x=2 y=3\"");
    return error.parts().message;
  }
  ADD_FAILURE() << text << " is accepted";
  return {};
}

Cut over(const std::string& name, int column, Deal deal = Deal::chunks, std::int64_t block = 0) {
  return {.over = {{name, column}}, .deal = deal, .block = block};
}

TEST(DistributedPattern, CutsOfAxes) {
  const core::Pattern pattern = core::parse_distributed("b s@x h@x2:balanced d@y_1:64 -> b");
  const auto& left = pattern.inputs[0].groups;
  ASSERT_EQ(left.size(), 4u);
  EXPECT_EQ(left[0].axes[0].cuts, Cuts{});
  EXPECT_EQ(left[1].axes[0].cuts, (Cuts{over("x", 4)}));
  EXPECT_EQ(left[2].axes[0].cuts, (Cuts{over("x2", 8, Deal::balanced)}));
  EXPECT_EQ(left[3].axes[0].cuts, (Cuts{over("y_1", 22, Deal::cyclic, 64)}));
  EXPECT_EQ(left[3].axes[0].name, "d");
}

TEST(DistributedPattern, CutsOfComposedAxesAndTheirParts) {
  const core::Pattern pattern = core::parse_distributed("(h w)@x (c@(y z):2 d)  (e)@u@v:balanced ->");
  const auto& left = pattern.inputs[0].groups;
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left[0].cuts, (Cuts{over("x", 6)}));
  EXPECT_EQ(left[1].cuts, Cuts{});
  EXPECT_EQ(left[1].axes[0].cuts, (Cuts{{.over = {{"y", 12}, {"z", 14}}, .deal = Deal::cyclic, .block = 2}}));
  EXPECT_EQ(left[1].axes[1].cuts, Cuts{});
  EXPECT_EQ(left[2].cuts, (Cuts{over("u", 27), over("v", 29, Deal::balanced)}));
}

TEST(DistributedPattern, Addends) {
  const core::Pattern pattern = core::parse_distributed("m n +x +y -> m@x n");
  EXPECT_EQ(pattern.inputs[0].addends, (std::vector<core::MeshName>{{"x", 5}, {"y", 8}}));
  EXPECT_TRUE(pattern.output.addends.empty());
}

TEST(DistributedPattern, OtherOperationsKnowNoCuts) {
  EXPECT_THROW(core::parse("a@x -> a"), Error);
  EXPECT_THROW(core::parse("a +x -> a"), Error);
}

TEST(DistributedPattern, NamesOfAxesAndOfTheMeshAreApart) {
  const Redistribution plan("x@y y -> x y@x", Mesh("x=2 y=3"), {6, 4});
  EXPECT_EQ(plan.in_shape(0), (Dims{2, 4}));
  EXPECT_EQ(plan.out_shape(0), (Dims{6, 2}));
}

TEST(DistributedPattern, CaretsStandBelowWhatCannotBeRead) {
  EXPECT_EQ(message("a@x b@x -> a b"), "the mesh axis 'x' appears twice on one side\n  a@x b@x -> a b\n        ^");
  EXPECT_EQ(message("a@(x x) b -> a b"), "the mesh axis 'x' appears twice on one side\n  a@(x x) b -> a b\n       ^");
  EXPECT_EQ(message("a@x b +x -> a b"), "the mesh axis 'x' appears twice on one side\n  a@x b +x -> a b\n         ^");
  EXPECT_EQ(message("a@ b -> a b"), "the name of a mesh axis is missing here\n  a@ b -> a b\n    ^");
  EXPECT_EQ(message("a@2 b -> a b"), "the name of a mesh axis is missing here\n  a@2 b -> a b\n    ^");
  EXPECT_EQ(message("a b + -> a b"), "the name of a mesh axis is missing here\n  a b + -> a b\n       ^");
  EXPECT_EQ(message("a@(x y b -> a b"), "the parenthesis is never closed\n  a@(x y b -> a b\n    ^");
  EXPECT_EQ(message("a@() b -> a b"), "the cut names no mesh axis\n  a@() b -> a b\n    ^^");
  EXPECT_EQ(message("a@x:some b -> a b"), "this is no way to cut an axis\n  a@x:some b -> a b\n      ^^^^");
  EXPECT_EQ(message("a@x:0 b -> a b"), "this is no way to cut an axis\n  a@x:0 b -> a b\n      ^");
  EXPECT_EQ(message("a@x: b -> a b"), "this is no way to cut an axis\n  a@x: b -> a b\n      ^");
  EXPECT_EQ(message("a @x b -> a b"), "the cut stands behind no axis\n  a @x b -> a b\n    ^");
  EXPECT_EQ(message("a b 1@x -> a b", {4, 6, 1}), "what stands before '@' has no name\n  a b 1@x -> a b\n      ^");
  EXPECT_EQ(message("...@x -> ..."), "what stands before '@' has no name\n  ...@x -> ...\n  ^^^");
  EXPECT_EQ(message("a b ()@x -> a b", {4, 6, 1}),
            "there is no axis in the parenthesis to cut\n  a b ()@x -> a b\n        ^");
  EXPECT_EQ(message("(a +x) b -> a b"), "'+' stands in a parenthesis\n  (a +x) b -> a b\n     ^");
  EXPECT_EQ(message("a +x b -> a b"), "an axis stands behind '+'\n  a +x b -> a b\n       ^");
  EXPECT_EQ(message("a +x (b) -> a b"), "an axis stands behind '+'\n  a +x (b) -> a b\n       ^");
}

TEST(DistributedPattern, CaretsStandBelowWhatDoesNotGoTogether) {
  EXPECT_EQ(message("a@z b -> a b"), "the mesh \"x=2 y=3\" has no axis 'z'\n  a@z b -> a b\n    ^");
  EXPECT_EQ(message("a b -> a b@(x z)"), "the mesh \"x=2 y=3\" has no axis 'z'\n  a b -> a b@(x z)\n                ^");
  EXPECT_EQ(message("a b -> (a b@x)@y"),
            "the axis 'b' is cut, and so is the composed axis that it is part of\n  a b -> (a b@x)@y\n            ^");
  EXPECT_EQ(message("a b +y -> a b +y +x"),
            "there are no addends along 'x' on the left\n  a b +y -> a b +y +x\n                   ^^");
  EXPECT_EQ(message("a@x b, c -> a b"), "one array is rearranged, the pattern names 2\n  a@x b, c -> a b\n       ^");
  EXPECT_EQ(message("a@x b -> a"), "the axis 'b' does not appear on the right\n  a@x b -> a\n      ^");
  EXPECT_EQ(message("a@x b -> a b@y c"), "the new axis 'c' has no length\n  a@x b -> a b@y c\n                 ^");
  EXPECT_EQ(message("a@x b -> a b", {4, 6, 2}),
            "the pattern has 2 axes, but the array has 3: [4,6,2]\n  a@x b -> a b\n  ^");
}

TEST(DistributedPattern, ErrorsNamePatternMeshShapeAndRemedy) {
  const ErrorParts parts = refusal("(a b)@x c -> a b c", "x=2", {5, 6}, {{"a", 2}});
  EXPECT_EQ(parts.message,
            "the array has length 5 here, which cannot be divided into parts of 2\n  (a b)@x c -> a b c\n  ^");
  EXPECT_EQ(parts.op, "rearrange \"(a b)@x c -> a b c\" over the mesh \"x=2\"");
  EXPECT_EQ(parts.shapes, "[5,6]");
  EXPECT_EQ(parts.remedy, "give lengths that divide that of the array");
}

TEST(DistributedPattern, Meshes) {
  const Mesh mesh("x=2  long_name2=3");
  EXPECT_EQ(to_string(mesh), "x=2 long_name2=3");
  EXPECT_EQ(mesh.ranks(), 6);
  EXPECT_EQ(mesh.coordinates(4), (std::vector<int>{1, 1}));
  EXPECT_EQ(mesh.rank_at(std::vector<int>{1, 1}), 4);
  EXPECT_EQ(Mesh("").ranks(), 1);
  EXPECT_EQ(mesh_message("x=2 3=y"), "this is no axis of a mesh\n  x=2 3=y\n      ^^^");
  EXPECT_EQ(mesh_message("x=2 y=0"), "the mesh axis 'y' has no positive number of ranks\n  x=2 y=0\n      ^^^");
  EXPECT_EQ(mesh_message("x"), "the mesh axis 'x' has no positive number of ranks\n  x\n  ^");
  EXPECT_EQ(mesh_message("x=2 x=3"), "the mesh axis 'x' stands twice\n  x=2 x=3\n      ^^^");
  EXPECT_EQ(mesh_message("x=65536 y=65536"),
            "the mesh has more than 2^31 - 1 ranks\n  x=65536 y=65536\n          ^^^^^^^");
}

TEST(DistributedPattern, RanksThatAreNotThereAreRefused) {
  const Mesh mesh("x=2 y=3");
  const std::vector<int> outside{0, 3}, short_one{0};
  EXPECT_THROW(mesh.coordinates(6), Error);
  EXPECT_THROW(mesh.coordinates(-1), Error);
  EXPECT_THROW(mesh.rank_at(outside), Error);
  EXPECT_THROW(mesh.rank_at(short_one), Error);
  const Redistribution plan("a@x -> a", mesh, {0});
  EXPECT_THROW(plan.sends(6), Error);
  EXPECT_THROW(plan.receives(-1), Error);
  try {
    plan.in_shape(6);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().message, "the mesh \"x=2 y=3\" has no rank 6");
    EXPECT_EQ(error.parts().op, "rearrange \"a@x -> a\" over the mesh \"x=2 y=3\"");
    EXPECT_EQ(error.parts().remedy, "give a rank from 0 to 5");
  }
}

}  // namespace
}  // namespace axisloom::distributed
