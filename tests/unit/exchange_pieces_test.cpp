// Messages that are cut into pieces for rounds.
#include <axisloom/distributed.hpp>

#include <gtest/gtest.h>

#include "distributed/pieces.hpp"

#include "distributed_cases.hpp"

namespace axisloom::distributed {
namespace {

/// The elements that a transfer takes from the sender's array, in the order of its message.
std::vector<std::size_t> elements_of_message(const Redistribution& plan, const Transfer& transfer) {
  const View in = View::contiguous(Dtype::i64, plan.in_shape(transfer.from));
  std::vector<std::size_t> found(std::size_t(transfer.elements));
  for (const TransferCopy& copy : plan.pack(transfer, in))
    test::each(copy, [&](std::size_t from, std::size_t to) { found.at(to) = from; });
  return found;
}

TEST(ExchangePieces, TogetherTheyAreTheMessage) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    test::Drawer drawer(seed, 6);
    const test::DrawnCase drawn = drawer.draw();
    const test::DrawnJob job = test::job_of(drawn);
    const Redistribution plan(job.pattern, job.mesh, job.shape, job.lengths);
    for (const Transfer& whole : plan.sends(0))
      for (const std::int64_t rounds : {1, 2, 3, 7, 40}) {
        std::vector<std::size_t> together;
        for (std::int64_t round = 0; round < rounds; ++round) {
          const Transfer piece = piece_of(whole, round, rounds);
          ASSERT_LE(piece.elements, most_elements(whole.elements, rounds));
          for (const std::size_t element : elements_of_message(plan, piece)) together.push_back(element);
        }
        ASSERT_EQ(together, elements_of_message(plan, whole)) << to_string(job) << " in " << rounds << " rounds";
      }
  }
}

TEST(ExchangePieces, TheyBeginWhereRowsBegin) {
  const Redistribution plan("s@x h d -> s h@x d", Mesh("x=2"), {200, 6, 5});
  for (std::int64_t round = 0; round < 7; ++round) EXPECT_EQ(piece_of(plan.sends(0)[1], round, 7).boxes.size(), 1U);
}

TEST(ExchangePieces, MoreRoundsNeedNoMoreRoom) {
  for (std::int64_t elements = 1; elements < 200; ++elements)
    for (std::int64_t rounds = 1; rounds < 200; ++rounds)
      ASSERT_LE(most_elements(elements, rounds + 1), most_elements(elements, rounds)) << elements << " in " << rounds;
}

}  // namespace
}  // namespace axisloom::distributed
