// Messages that are cut into pieces for rounds, and copies as steps of a run.
#include <axisloom/distributed.hpp>
#include <axisloom/host_array.hpp>

#include <gtest/gtest.h>

#include "distributed/pieces.hpp"
#include "distributed/steps.hpp"

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

TEST(ExchangeSteps, SmallTransposesOfALargeRunStorePastTheCaches) {
  const Device host = Device::open("host");
  const View from{.dtype = Dtype::f64, .shape = {64, 64}, .strides = {1, 64}};
  const View to = View::contiguous(Dtype::f64, {64, 64});
  Array input(Dtype::f64, {64, 64}), output(Dtype::f64, {64, 64});
  const std::span<double> in(static_cast<double*>(input.data()), 64 * 64),
      out(static_cast<double*>(output.data()), 64 * 64);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = double(i);
  for (const double bytes : {1e5, 1e9}) {
    const Step step = StepMaker(host, bytes).step(copy(), from, 0, to, 0);
    EXPECT_EQ(step.plan.report().configuration.at("stream_mib") == 0, bytes > 1e6);
    std::ranges::fill(out, -1);
    run(step, {}, {.host = static_cast<std::byte*>(input.data())}, {.host = static_cast<std::byte*>(output.data())});
    for (std::size_t i = 0; i < 64; ++i)
      for (std::size_t k = 0; k < 64; ++k) ASSERT_EQ(out[i * 64 + k], in[k * 64 + i]);
  }
}

}  // namespace
}  // namespace axisloom::distributed
