// Exchanges between four ranks of MPI. Every rank runs every test; what fails on any of them fails the run.
#include <axisloom/call.hpp>
#include <axisloom/error.hpp>
#include <axisloom/mpi.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstring>
#include <iostream>
#include <optional>

#include "exchange_run.hpp"

namespace axisloom::mpi {
namespace {

using test::DrawnRun;
using test::ExchangeRun;

std::shared_ptr<Communicator> world;

/// Runs drawn cases on as many ranks as each has, while the others wait; returns how many took each path.
std::map<ExchangePath, int> run_drawn(unsigned cases, const DrawnRun& how) {
  std::map<ExchangePath, int> taken;
  std::vector<std::shared_ptr<Communicator>> first(std::size_t(world->size()) + 1);
  for (int ranks = 1; ranks <= world->size(); ++ranks)
    first[std::size_t(ranks)] = world->split(world->rank() < ranks ? 0 : 1);
  for (unsigned seed = 0; seed < cases; ++seed) {
    ExchangeRun run(seed, world->size());
    if (world->rank() >= run.ranks()) continue;
    EXPECT_EQ(run.run(first[std::size_t(run.ranks())], how), "") << "case " << seed << ": " << run.text();
    ++taken[run.report().path];
  }
  return taken;
}

/// How often this rank took a path; those beyond a case's ranks take part less often.
int count(const std::map<ExchangePath, int>& taken, ExchangePath path) {
  const auto found = taken.find(path);
  return found == taken.end() ? 0 : found->second;
}

constexpr unsigned some_cases = 60;

TEST(Mpi, DrawnCasesThroughWindows) {
  const auto taken = run_drawn(some_cases, {});
  EXPECT_GT(count(taken, ExchangePath::windows), world->rank() == 0 ? 10 : 0);
}

TEST(Mpi, DrawnCasesByMessages) {
  const auto taken = run_drawn(some_cases, {.windows = false});
  EXPECT_GT(count(taken, ExchangePath::messages), world->rank() == 0 ? 10 : 0);
}

TEST(Mpi, DrawnCasesIntoSharedOutputs) {
  run_drawn(some_cases, {.direct = true});
}

TEST(Mpi, DrawnCasesInTinyWorkspaces) {
  for (const bool windows : {true, false}) run_drawn(some_cases / 2, {.windows = windows, .workspace = 1100});
}

/// What this rank throws.
std::optional<Error> error_of(auto&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

TEST(Mpi, RanksThatDoNotMeanTheSameAreNamedOnAll) {
  const int rank = world->rank();
  const auto by_pattern = error_of([&] {
    Exchange(rank == 2 ? "s@x h -> h s@x" : "s@x h -> s h@x", "x=4", {8, 8}, Dtype::f32, world);
  });
  ASSERT_TRUE(by_pattern);
  EXPECT_EQ(by_pattern->code(), Errc::usage);
  EXPECT_NE(std::string_view(by_pattern->what()).find("rank 0 for rearrange \"s@x h -> s h@x\""),
            std::string_view::npos);
  EXPECT_NE(std::string_view(by_pattern->what()).find("rank 2 for rearrange \"s@x h -> h s@x\""),
            std::string_view::npos);
  const auto by_shape = error_of([&] { Exchange("s@x h -> s h@x", "x=4", {8, rank == 3 ? 9 : 8}, Dtype::f32, world); });
  ASSERT_TRUE(by_shape);
  EXPECT_NE(std::string_view(by_shape->what()).find("f32[8,9]"), std::string_view::npos);
}

TEST(Mpi, ARankThatCannotTakePartStopsAll) {
  ExchangeOptions options;
  if (world->rank() == 1) options.in = View::contiguous(Dtype::f32, {3, 8});
  const auto error = error_of([&] { Exchange("s@x h -> s h@x", "x=4", {8, 8}, Dtype::f32, world, options); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::shape);
  EXPECT_NE(std::string_view(error->what()).find("the local input of rank 1 has the shape [2,8]"),
            std::string_view::npos);
}

TEST(Mpi, RanksWithoutElementsTakePart) {
  for (const bool windows : {true, false}) {
    Exchange exchange("s@x h -> s h@x", "x=4", {2, 9}, Dtype::i32, world,
                      {.windows = windows});  // 1, 1, 0, 0; 3, 3, 3, 0
    const int rank = world->rank();
    std::vector<std::int32_t> in(9), out(6, -1);
    for (int i = 0; i < 9; ++i) in[std::size_t(i)] = 100 * rank + i;
    exchange.run(rank < 2 ? in.data() : nullptr, rank < 3 ? out.data() : nullptr);
    for (int s = 0; rank < 3 && s < 2; ++s)
      for (int h = 0; h < 3; ++h) EXPECT_EQ(out[std::size_t(s * 3 + h)], 100 * s + 3 * rank + h);
  }
}

TEST(Mpi, ASumOverRanksIsOnesOwnSumAndAnExchange) {
  const auto& ranks = world;
  std::vector<float> elements(2 * 16);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = float(32 * world->rank()) + float(i);
  axisloom::Exchange add("h +x -> h@x", "x=4", {16}, axisloom::Dtype::f32, ranks);  // of "s@x h -> h@x"
  axisloom::Array own = axisloom::reduce({elements, {2, 16}}, "sum", "s h -> h");   // of this rank's rows, [2,16]
  std::vector<float> sums(add.out_view().count());                                  // [4]
  add.run(own.data(), sums.data());
  for (int h = 0; h < 4; ++h)  // rows s of 16 numbers from 16 s on: 8 h + 16 (0 + 1 .. + 7)
    EXPECT_EQ(sums[std::size_t(h)], float(8 * (4 * world->rank() + h) + 16 * 28));
}

TEST(Mpi, AProductOverRanksIsOnesOwnProductAndAnExchange) {
  const auto& ranks = world;
  const std::vector<float> a(2 * 8, float(1 + world->rank())), b(2 * 16, 2);
  axisloom::Exchange add("m n +x -> m@x n", "x=4", {8, 16}, axisloom::Dtype::f32, ranks);  // of "k@x m, k@x n -> m@x n"
  axisloom::Array own = axisloom::einsum("k m, k n -> m n", {{a, {2, 8}}, {b, {2, 16}}});  // of this rank's k's
  std::vector<float> products(add.out_view().count());                                     // [2,16]
  add.run(own.data(), products.data());
  for (const float product : products) EXPECT_EQ(product, 2 * 2 * (1 + 2 + 3 + 4));
}

TEST(Mpi, MeshAxesThatNothingCrossesAreLeftOut) {
  Exchange rows("a@n s@x h -> a@n s h@x", "n=2 x=2", {2, 6, 8}, Dtype::f32, world);
  EXPECT_EQ(rows.report().ranks, 2);
  EXPECT_EQ(rows.report().path, ExchangePath::windows);
}

TEST(Mpi, MessagesLongerThanAnIntCounts) {
  constexpr std::size_t bytes = (std::size_t{1} << 31) + 12345;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::span<std::byte> all(static_cast<std::byte*>(memory), bytes);
  const std::size_t places[] = {0, (std::size_t{1} << 30) - 1, std::size_t{1} << 30, std::size_t{1} << 31, bytes - 1};
  std::vector<OutgoingMessage> out;
  std::vector<IncomingMessage> in;
  if (world->rank() == 0) {
    for (const std::size_t place : places) all[place] = std::byte(1 + place % 7);
    out.push_back({1, all});
  }
  if (world->rank() == 1) in.push_back({0, all});
  world->start_alltoallv(out, in)->wait();
  for (const std::size_t place : places)
    EXPECT_EQ(all[place], world->rank() < 2 ? std::byte(1 + place % 7) : std::byte(0));
  munmap(memory, bytes);
}

TEST(Mpi, MessagesThatAreGivenUpLeaveMemoryAlone) {
  std::vector<std::byte> memory(64, std::byte(5));
  const int rank = world->rank();
  const std::vector<IncomingMessage> in{{rank ^ 1, memory}};
  world->start_alltoallv({}, in).reset();
  EXPECT_EQ(memory, std::vector<std::byte>(64, std::byte(5)));
  const auto next = world->allgather(memory);
  EXPECT_EQ(next.size(), 64 * std::size_t(world->size()));
}

TEST(Mpi, WhatMpiReportsIsATypedError) {
  std::byte one{};
  const auto error = error_of([&] {
    const std::vector<OutgoingMessage> out{{world->size() + 3, std::span(&one, 1)}};
    world->start_alltoallv(out, {})->wait();
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::device);
  EXPECT_EQ(error->parts().call, "MPI_Isend");
  EXPECT_NE(error->parts().native, 0);
  const auto none = error_of([] { communicator(MPI_COMM_NULL); });
  ASSERT_TRUE(none);
  EXPECT_EQ(none->code(), Errc::usage);
}

/// Of ranks other than the first, only failures are shown.
class Failures : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::cerr << "rank " << world->rank() << ": " << result.file_name() << ":" << result.line_number() << ": "
              << result.message() << std::endl;
  }
};

}  // namespace
}  // namespace axisloom::mpi

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  axisloom::mpi::world = axisloom::mpi::communicator(MPI_COMM_WORLD);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (axisloom::mpi::world->rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new axisloom::mpi::Failures);
  }
  int failed = RUN_ALL_TESTS();
  axisloom::mpi::world.reset();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
