// Plans of distributed arrays by hand: shapes, who sends what, which copy does, messages, strides and what is refused.
#include <axisloom/call.hpp>
#include <axisloom/distributed.hpp>
#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace axisloom::distributed {
namespace {

std::vector<Dims> in_shapes(const Redistribution& plan) {
  std::vector<Dims> shapes;
  for (int rank = 0; rank < plan.mesh().ranks(); ++rank) shapes.push_back(plan.in_shape(rank));
  return shapes;
}

/// "from>to:elements" of everything that a rank sends.
std::string sent(const Redistribution& plan, int rank) {
  std::string text;
  for (const Transfer& transfer : plan.sends(rank)) {
    text += text.empty() ? "" : " ";
    text += std::to_string(transfer.from) + ">" + std::to_string(transfer.to) + ":" + std::to_string(transfer.elements);
  }
  return text;
}

std::string received(const Redistribution& plan, int rank) {
  std::string text;
  for (const Transfer& transfer : plan.receives(rank)) {
    text += text.empty() ? "" : " ";
    text += std::to_string(transfer.from) + ">" + std::to_string(transfer.to) + ":" + std::to_string(transfer.elements);
  }
  return text;
}

std::size_t most_boxes(const Redistribution& plan) {
  std::size_t most = 0;
  for (int rank = 0; rank < plan.mesh().ranks(); ++rank)
    for (const Transfer& transfer : plan.sends(rank)) most = std::max(most, transfer.boxes.size());
  return most;
}

using Shapes = std::vector<Dims>;

TEST(DistributedPlan, LocalShapes) {
  EXPECT_EQ(in_shapes({"a@x b -> a b", Mesh("x=4"), {6, 2}}), (Shapes{{2, 2}, {2, 2}, {2, 2}, {0, 2}}));
  EXPECT_EQ(in_shapes({"a@x:balanced -> a", Mesh("x=4"), {6}}), (Shapes{{2}, {2}, {1}, {1}}));
  EXPECT_EQ(in_shapes({"a@x:2 -> a", Mesh("x=2"), {7}}), (Shapes{{4}, {3}}));
  EXPECT_EQ(in_shapes({"a@(x y) -> a", Mesh("x=2 y=2"), {7}}), (Shapes{{2}, {2}, {2}, {1}}));
  EXPECT_EQ(in_shapes({"a@(y x) -> a", Mesh("x=2 y=2"), {7}}), (Shapes{{2}, {2}, {2}, {1}}));
  EXPECT_EQ(in_shapes({"a@(y x) -> a", Mesh("x=2 y=2"), {5}}), (Shapes{{2}, {1}, {2}, {0}}));
  // Chunks of 5 and 4, these in chunks of 3 and 2.
  EXPECT_EQ(in_shapes({"a@x@y -> a", Mesh("x=2 y=2"), {9}}), (Shapes{{3}, {2}, {2}, {2}}));
  EXPECT_EQ(in_shapes({"a@y b@x -> a b", Mesh("x=2 y=2"), {3, 5}}), (Shapes{{2, 3}, {1, 3}, {2, 2}, {1, 2}}));
  EXPECT_EQ(in_shapes({"(h w)@x -> h w", Mesh("x=2"), {15}, {{"h", 3}}}), (Shapes{{8}, {7}}));
  EXPECT_EQ(in_shapes({"(h@x w) -> h w", Mesh("x=2"), {15}, {{"h", 3}}}), (Shapes{{10}, {5}}));
  EXPECT_EQ(in_shapes({"(h w@x) -> h w", Mesh("x=2"), {15}, {{"h", 3}}}), (Shapes{{9}, {6}}));
  EXPECT_EQ(in_shapes({"a +x -> a", Mesh("x=2"), {3}}), (Shapes{{3}, {3}}));
}

TEST(DistributedPlan, AnExchangeIsOneBoxForEachPair) {
  const Redistribution plan("s@x h -> s h@x", Mesh("x=2"), {4, 6});
  EXPECT_EQ(plan.out_shape(), (Dims{4, 6}));
  EXPECT_EQ(plan.addends(), 1);
  EXPECT_EQ(sent(plan, 0), "0>0:6 0>1:6");
  EXPECT_EQ(received(plan, 0), "0>0:6 1>0:6");
  EXPECT_EQ(most_boxes(plan), 1u);
  const Transfer there = plan.sends(0)[1];
  EXPECT_EQ(there.boxes[0].from, (Dims{0, 3}));
  EXPECT_EQ(there.boxes[0].to, (Dims{0, 0}));
  EXPECT_EQ(there.boxes[0].loops, (std::vector<TransferLoop>{{2, 0, 1, 0, 1}, {3, 1, 1, 1, 1}}));
}

TEST(DistributedPlan, LoopsStandInTheOrderOfTheOutput) {
  const Redistribution plan("a b@x c -> (c a) b@x", Mesh("x=2"), {3, 4, 5});
  ASSERT_EQ(sent(plan, 1), "1>1:30");
  EXPECT_EQ(plan.sends(1)[0].boxes[0].loops,
            (std::vector<TransferLoop>{{5, 2, 1, 0, 3}, {3, 0, 1, 0, 1}, {2, 1, 1, 1, 1}}));
}

TEST(DistributedPlan, ACutWithinAComposedAxisMakesHeadRowsAndTail) {
  // Rank 1 holds elements 8 to 14 of 3 rows of 5: the end of row 1 and row 2.
  const Redistribution plan("(h w)@x -> w h", Mesh("x=2"), {15}, {{"h", 3}});
  ASSERT_EQ(sent(plan, 1), "1>0:7 1>1:7");
  const Transfer transfer = plan.sends(1)[0];
  ASSERT_EQ(transfer.boxes.size(), 2u);
  EXPECT_EQ(transfer.boxes[0].from, (Dims{2}));
  EXPECT_EQ(transfer.boxes[0].to, (Dims{0, 2}));
  EXPECT_EQ(transfer.boxes[0].loops, (std::vector<TransferLoop>{{5, 0, 1, 0, 1}}));
  EXPECT_EQ(transfer.boxes[1].from, (Dims{0}));
  EXPECT_EQ(transfer.boxes[1].to, (Dims{3, 1}));
  EXPECT_EQ(transfer.boxes[1].loops, (std::vector<TransferLoop>{{2, 0, 1, 0, 1}}));
}

TEST(DistributedPlan, AComposedAxisThatStaysWholeIsOneBox) {
  EXPECT_EQ(most_boxes({"(h w)@x c -> c (h w)@x", Mesh("x=4"), {35, 3}, {{"h", 5}}}), 1u);
  // Of the two pieces of rows and three of columns, that ranks have, four meet.
  EXPECT_EQ(most_boxes({"(h w)@x c -> c (w h)@x", Mesh("x=4"), {35, 3}, {{"h", 5}}}), 4u);
}

TEST(DistributedPlan, ADealtAxisIsOneMoreLoop) {
  const Redistribution plan("a@x:2 -> a", Mesh("x=2"), {10});
  ASSERT_EQ(sent(plan, 0), "0>0:6 0>1:6");
  const Transfer transfer = plan.sends(0)[1];
  ASSERT_EQ(transfer.boxes.size(), 1u);
  EXPECT_EQ(transfer.boxes[0].loops, (std::vector<TransferLoop>{{3, 0, 2, 0, 4}, {2, 0, 1, 0, 1}}));
  // One more element is a block that is cut short.
  const Redistribution longer("a@x:2 -> a", Mesh("x=2"), {11});
  ASSERT_EQ(longer.sends(1)[0].boxes.size(), 2u);
  EXPECT_EQ(longer.sends(1)[0].boxes[1].to, (Dims{10}));
  // Chunks of whole blocks; such that cut a block at one end; and the second half, which begins in a block and whose
  // last block is short.
  EXPECT_EQ(most_boxes({"a@x:64 -> a@x", Mesh("x=8"), {1'000'000'000}}), 1u);
  EXPECT_EQ(most_boxes({"a@x:64 -> a@x", Mesh("x=8"), {1'000'000'001}}), 2u);
  EXPECT_EQ(most_boxes({"a@x:64 -> a@x", Mesh("x=2"), {100'000'001}}), 3u);
}

TEST(DistributedPlan, CutsOfCuts) {
  // x deals 2, y cuts what is left: rank (0, 1) has 6 of the places {0 1 4 5 8 9} from 3 on.
  const Redistribution plan("a@x:2@y -> a", Mesh("x=2 y=2"), {12});
  EXPECT_EQ(plan.in_shape(1), (Dims{3}));
  const Transfer transfer = plan.sends(1)[0];
  ASSERT_EQ(transfer.elements, 3);
  std::vector<std::int64_t> to;
  for (const TransferBox& box : transfer.boxes) to.push_back(box.to[0]);
  EXPECT_EQ(to, (std::vector<std::int64_t>{5, 8}));
}

TEST(DistributedPlan, TheReceiverItselfSendsWhatItHas) {
  const Redistribution plan("a -> a@x", Mesh("x=4"), {8});
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(sent(plan, rank), std::to_string(rank) + ">" + std::to_string(rank) + ":2");
  EXPECT_EQ(plan.largest_load(Dtype::f32).messages_sent, 0);
}

TEST(DistributedPlan, ACopyWithTheReceiversOwnCoordinatesSends) {
  // Copies along y are alike for all receivers, so messages stay where y is the same.
  const Redistribution plan("s@x h -> s h@x", Mesh("y=2 x=2"), {4, 4});
  EXPECT_EQ(received(plan, 0), "0>0:4 1>0:4");
  EXPECT_EQ(received(plan, 3), "2>3:4 3>3:4");
  const Redistribution other_axis("s@x h -> s h@y", Mesh("x=2 y=2"), {4, 4});
  EXPECT_EQ(received(other_axis, 0), "0>0:4 2>0:4");
  EXPECT_EQ(received(other_axis, 3), "1>3:4 3>3:4");
}

TEST(DistributedPlan, CopiesTakeTurnsWhereCoordinatesNeedDifferentParts) {
  // Ranks with y=1 need only what ranks with x=1 have: own coordinates would make one of the four send all three.
  const Redistribution plan("s@x -> s@(y x)", Mesh("x=4 y=4"), {64});
  EXPECT_EQ(plan.largest_load(Dtype::f32).messages_sent, 1);
  EXPECT_EQ(plan.largest_load(Dtype::f32).bytes_sent, 4 * 4);
  EXPECT_EQ(received(plan, 5), "5>5:4");  // x=1, y=1 has it itself
  EXPECT_EQ(received(plan, 9), "6>9:4");  // x=2, y=1: the copy that is as many steps further as x is from that part
  const Redistribution turned("s@x -> s@y", Mesh("x=4 y=4"), {64});
  EXPECT_EQ(turned.largest_load(Dtype::f32).messages_sent, 1);
  EXPECT_EQ(turned.largest_load(Dtype::f32).bytes_sent, 16 * 4);
  EXPECT_EQ(turned.largest_load(Dtype::f32).bytes_received, 16 * 4);
}

TEST(DistributedPlan, AddendsComeFromEveryRankThatHoldsThem) {
  const Redistribution plan("m n +x -> m@x n", Mesh("x=3"), {6, 2});
  EXPECT_EQ(plan.addends(), 3);
  EXPECT_EQ(sent(plan, 1), "1>0:4 1>1:4 1>2:4");
  EXPECT_EQ(received(plan, 2), "0>2:4 1>2:4 2>2:4");
  // Every rank along y has the same addends, so one of them is enough.
  const Redistribution copies("m n +x -> m n", Mesh("x=2 y=2"), {2, 2});
  EXPECT_EQ(copies.addends(), 2);
  EXPECT_EQ(received(copies, 1), "1>1:4 3>1:4");
  EXPECT_EQ(Redistribution("m +x +y -> m", Mesh("x=2 y=3"), {1}).addends(), 6);
  EXPECT_EQ(Redistribution("m +x -> m", Mesh("x=1"), {1}).addends(), 1);
}

TEST(DistributedPlan, AddendsMayStayAddends) {
  const Redistribution plan("m n +x +y -> m n +x", Mesh("x=2 y=2"), {2, 3});
  EXPECT_EQ(plan.addends(), 2);
  EXPECT_EQ(received(plan, 2), "2>2:6 3>2:6");
  const Redistribution all("m@y n +x -> m n@y +x", Mesh("x=2 y=2"), {2, 2});
  EXPECT_EQ(all.addends(), 1);
  EXPECT_EQ(received(all, 3), "2>3:1 3>3:1");
}

TEST(DistributedPlan, NewAxesAreRepeatedByTheReceiver) {
  const Redistribution plan("a@x -> a c", Mesh("x=2"), {4}, {{"c", 3}});
  EXPECT_EQ(sent(plan, 0), "0>0:2 0>1:2");
  const Transfer transfer = plan.sends(0)[1];
  const View in = View::contiguous(Dtype::f32, {2}), out = View::contiguous(Dtype::f32, {4, 3});
  ASSERT_EQ(plan.pack(transfer, in).size(), 1u);
  EXPECT_EQ(plan.pack(transfer, in)[0].to.count(), 2);
  ASSERT_EQ(plan.unpack(transfer, out).size(), 1u);
  EXPECT_EQ(plan.unpack(transfer, out)[0].from.strides, (Dims{1, 0}));
  EXPECT_EQ(plan.unpack(transfer, out)[0].to.shape, (Dims{2, 3}));
  const Redistribution cut("a@x -> a c@x", Mesh("x=2"), {4}, {{"c", 3}});
  EXPECT_EQ(cut.out_shape(1), (Dims{4, 1}));
  EXPECT_EQ(sent(cut, 0), "0>0:2 0>1:2");
  const Redistribution merged("a@x -> a (c d)", Mesh("x=2"), {4}, {{"c", 3}, {"d", 2}});
  EXPECT_EQ(merged.sends(0)[0].boxes[0].loops, (std::vector<TransferLoop>{{2, 0, 1, 0, 1}, {6, -1, 0, 1, 1}}));
  EXPECT_TRUE(Redistribution("a@x -> a c", Mesh("x=2"), {4}, {{"c", 0}}).sends(0).empty());
}

TEST(DistributedPlan, EmptyArraysAndPartsAndNoAxes) {
  const Redistribution empty("a@x b -> b a@x", Mesh("x=2"), {0, 3});
  EXPECT_EQ(empty.out_shape(1), (Dims{3, 0}));
  EXPECT_TRUE(empty.sends(0).empty());
  EXPECT_TRUE(empty.receives(1).empty());
  EXPECT_EQ(empty.largest_load(Dtype::f64).bytes_sent, 0);
  const Redistribution few("a@x -> a@(y x)", Mesh("x=4 y=1"), {1});
  EXPECT_EQ(sent(few, 0), "0>0:1");
  EXPECT_TRUE(few.sends(3).empty());
  const Redistribution scalar("->", Mesh("x=2"), {});
  EXPECT_EQ(sent(scalar, 1), "1>1:1");
  const View one = View::contiguous(Dtype::u8, {});
  ASSERT_EQ(scalar.direct(scalar.sends(1)[0], one, one).size(), 1u);
  EXPECT_EQ(scalar.direct(scalar.sends(1)[0], one, one)[0].from.count(), 1);
  const Redistribution unit("a@x b -> (a b)@x", Mesh("x=2"), {1, 1});
  EXPECT_EQ(sent(unit, 0), "0>0:1");
  EXPECT_EQ(sent(unit, 1), "");
}

TEST(DistributedPlan, HugeExtentsAreRefusedOrRight) {
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_THROW(Redistribution("a@x b -> (a b)", Mesh("x=2"), {large, large}), Error);
  EXPECT_THROW(Redistribution("a@x b -> b a@x", Mesh("x=2"), {large, large}), Error);
  EXPECT_THROW(Redistribution("a -> a b c@x", Mesh("x=2"), {large}, {{"b", large}, {"c", large}}), Error);
  // 366,503,875,925 blocks of 3, and one element.
  const Redistribution plan("a@x:3 b -> b a@x:balanced", Mesh("x=2"), {large, 1 << 22});
  EXPECT_EQ(plan.in_shape(0)[0], 3 * 183'251'937'963);
  EXPECT_EQ(plan.in_shape(1)[0], 3 * 183'251'937'962 + 1);
  EXPECT_EQ(plan.out_shape(1)[1], large / 2);
  EXPECT_GT(plan.largest_load(Dtype::u8).bytes_sent, std::int64_t{1} << 59);
  EXPECT_THROW(plan.largest_load(Dtype::c128), Error);
}

TEST(DistributedPlan, TooManyBoxesAreRefused) {
  const Redistribution plan("a@x:1000003 -> a@x:999983", Mesh("x=2"), {std::int64_t{1} << 50});
  try {
    plan.sends(0);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported);
    EXPECT_EQ(error.parts().message, "cuts make more than 65536 parts");
    EXPECT_EQ(error.parts().op, "rearrange \"a@x:1000003 -> a@x:999983\" over the mesh \"x=2\"");
  }
}

TEST(DistributedPlan, ViewsMayHaveAnyStrides) {
  const Redistribution plan("a b@x -> b a@x", Mesh("x=2"), {4, 6});
  const Transfer transfer = plan.sends(1)[0];
  const View in{.dtype = Dtype::f32, .shape = {4, 3}, .strides = {1, 4}, .offset = 7};
  const View out{.dtype = Dtype::f32, .shape = {6, 2}, .strides = {5, 2}, .offset = 1, .align = 4};
  const std::vector<TransferCopy> direct = plan.direct(transfer, in, out);
  ASSERT_EQ(direct.size(), 1u);
  EXPECT_EQ(direct[0].from, (View{Dtype::f32, {3, 2}, {4, 1}, 7, 256}));
  EXPECT_EQ(direct[0].to, (View{Dtype::f32, {3, 2}, {5, 2}, 16, 4}));
  // In the message a row of the output follows the other; it begins at element 10 of its buffer.
  const std::vector<TransferCopy> unpack = plan.unpack(transfer, out, 10);
  ASSERT_EQ(unpack.size(), 1u);
  EXPECT_EQ(unpack[0].from, (View{Dtype::f32, {3, 2}, {2, 1}, 10, 256}));
  EXPECT_EQ(unpack[0].to, direct[0].to);
  EXPECT_EQ(plan.pack(transfer, in, 10)[0].to, unpack[0].from);
}

TEST(DistributedPlan, ViewsOfOtherShapesOrDtypesAreRefused) {
  const Redistribution plan("a b@x -> b a@x", Mesh("x=2"), {4, 6});
  const Transfer transfer = plan.sends(1)[0];
  const View in = View::contiguous(Dtype::f32, {4, 3}), out = View::contiguous(Dtype::f32, {6, 2});
  try {
    plan.pack(transfer, out);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().message, "the local input of rank 1 has the shape [4,3], the view f32[6,2]");
    EXPECT_EQ(error.parts().op, "rearrange \"a b@x -> b a@x\" over the mesh \"x=2\"");
    EXPECT_EQ(error.parts().remedy, "give a view of that shape");
  }
  EXPECT_THROW(plan.unpack(transfer, in), Error);
  EXPECT_THROW(plan.direct(transfer, in, in), Error);
  EXPECT_THROW(plan.direct(transfer, in, View::contiguous(Dtype::i32, {6, 2})), Error);
}

TEST(DistributedPlan, MoreLoopsThanAViewHasAxesAreSeveralCopies) {
  // 18 axes of 2 in reverse order, none of which merge.
  std::string left = "(", right = "(";
  Lengths lengths;
  for (char name = 'a'; name < 'a' + 18; ++name) {
    left += std::string(1, name) + " ";
    right = std::string(1, name) + " " + right.substr(1);
    right.insert(0, "(");
    lengths.emplace_back(std::string(1, name), 2);
  }
  const Redistribution plan(left + ") -> " + right + ")", Mesh("x=1"), {1 << 18}, lengths);
  const Transfer transfer = plan.sends(0)[0];
  const View view = View::contiguous(Dtype::u8, {1 << 18});
  const std::vector<TransferCopy> copies = plan.direct(transfer, view, view);
  EXPECT_EQ(copies.size(), 4u);
  std::int64_t elements = 0;
  for (const TransferCopy& copy : copies) elements += copy.from.count();
  EXPECT_EQ(elements, 1 << 18);
}

TEST(DistributedPlan, LoadsAreTheLargestOfAnyRank) {
  // Chunks of 2, 2 and 1 rows of 4 become 2, 2 and 0 columns: rank 0 sends 2 x 2, rank 2 sends 1 x 4.
  const Redistribution plan("a@x b -> a b@x", Mesh("x=3"), {5, 4});
  EXPECT_EQ(sent(plan, 2), "2>0:2 2>1:2");
  const TransferLoad load = plan.largest_load(Dtype::u16);
  EXPECT_EQ(load.bytes_sent, 4 * 2);
  EXPECT_EQ(load.bytes_received, 6 * 2);
  EXPECT_EQ(load.messages_sent, 2);
  EXPECT_EQ(load.messages_received, 2);
}

TEST(DistributedPlan, TheExampleOfTheDocumentation) {
  // Four ranks in one process: array[rank][i] becomes result[rank][i].
  std::vector<std::vector<float>> array(4, std::vector<float>(2 * 16)), result(4, std::vector<float>(8 * 4));
  for (std::size_t rank = 0; rank < 4; ++rank) std::iota(array[rank].begin(), array[rank].end(), float(rank * 2 * 16));
  std::map<std::pair<int, int>, std::vector<float>> messages;

  axisloom::Redistribution plan("s@x h -> s h@x", axisloom::Mesh("x=4"), {8, 16});

  for (int rank = 0; rank < 4; ++rank) {
    axisloom::View in = axisloom::View::contiguous(axisloom::Dtype::f32, plan.in_shape(rank));  // [2,16]
    for (const axisloom::Transfer& transfer : plan.sends(rank)) {
      std::vector<float>& message = messages[{rank, transfer.to}];
      message.resize(transfer.elements);
      for (const axisloom::TransferCopy& copy : plan.pack(transfer, in))
        axisloom::run_into({copy.to, message.data()}, axisloom::copy(), {{copy.from, array[rank].data()}});
    }
  }
  for (int rank = 0; rank < 4; ++rank) {
    axisloom::View out = axisloom::View::contiguous(axisloom::Dtype::f32, plan.out_shape(rank));  // [8,4]
    for (const axisloom::Transfer& transfer : plan.receives(rank)) {
      std::vector<float>& message = messages[{transfer.from, rank}];
      for (const axisloom::TransferCopy& copy : plan.unpack(transfer, out))
        axisloom::run_into({copy.to, result[rank].data()}, axisloom::copy(), {{copy.from, message.data()}});
    }
  }

  for (int rank = 0; rank < 4; ++rank)
    for (int s = 0; s < 8; ++s)
      for (int h = 0; h < 4; ++h) EXPECT_EQ(result[rank][s * 4 + h], float(s * 16 + rank * 4 + h));
}

}  // namespace
}  // namespace axisloom::distributed
