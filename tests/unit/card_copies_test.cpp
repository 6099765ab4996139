// The kernel by which cards exchange few bytes, on the host: each of its groups is a thread, of a single item.
#include "device/cuda/compile.hpp"
#include "distributed/cards/launches.hpp"
#include "emulated_card_copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace axisloom::distributed::cards {
namespace {

u64 address_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

using Bytes = std::vector<unsigned char>;

Bytes random_bytes(size_t count, std::mt19937& random) {
  Bytes bytes(count);
  std::ranges::generate(bytes, [&] { return static_cast<unsigned char>(random()); });
  return bytes;
}

/// By its definition.
void copy_plainly(const TransferCopy& copy, const Bytes& from, Bytes& to) {
  const auto width = i64(size_of(copy.from.dtype));
  std::vector<i64> at(size_t(copy.from.rank()), 0);
  for (i64 count = copy.from.count(); count > 0; --count) {
    i64 read = copy.from.offset, written = copy.to.offset;
    for (int axis = 0; axis < copy.from.rank(); ++axis) {
      read += at[size_t(axis)] * copy.from.strides[axis];
      written += at[size_t(axis)] * copy.to.strides[axis];
    }
    std::memcpy(&to[size_t(written * width)], &from[size_t(read * width)], size_t(width));
    for (int axis = copy.from.rank(); axis-- > 0;) {
      if (++at[size_t(axis)] < copy.from.shape[axis]) break;
      at[size_t(axis)] = 0;
    }
  }
}

/// A permuted copy of a box of `shape`, which lies within larger arrays on both sides.
TransferCopy random_copy(Dtype dtype, std::mt19937& random) {
  const int rank = std::uniform_int_distribution(0, 4)(random);
  std::vector<int> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  const bool alike = random() % 2 == 0;  // on both sides, so that rows can be moved in wide units
  if (alike)
    std::ranges::reverse(order);
  else
    std::ranges::shuffle(order, random);
  TransferCopy copy;
  copy.from = copy.to = View{.dtype = dtype, .shape = {}, .strides = {}};
  for (int axis = 0; axis < rank; ++axis) copy.from.shape.push_back(std::uniform_int_distribution(1, 6)(random));
  if (alike && rank > 0 && dtype == Dtype::c128) copy.from.shape[rank - 1] = loads * strip_lanes;
  copy.to.shape = copy.from.shape;
  copy.from.strides = contiguous_strides(copy.from.shape);
  copy.to.strides = copy.from.strides;
  i64 stride = 1;
  for (const int axis : order) {
    copy.to.strides[axis] = stride;
    stride *= copy.to.shape[axis] + (alike ? 0 : std::uniform_int_distribution(0, 1)(random));
  }
  const int step = alike ? 16 : 1;
  copy.from.offset = step * std::uniform_int_distribution(0, 5)(random);
  copy.to.offset = step * std::uniform_int_distribution(0, 5)(random);
  return copy;
}

size_t bytes_behind(const View& view) {
  return size_t(view.bounds().high) * size_of(view.dtype);
}

}  // namespace

TEST(CardCopies, TheKernelCopiesAnyBoxes) {
  std::mt19937 random(7);
  constexpr Dtype dtypes[] = {Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64, Dtype::c128};
  int wide = 0, in_strips = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Dtype dtype = dtypes[trial % 5];
    Stage stage;
    const int count = std::uniform_int_distribution(1, 3)(random);
    std::vector<Bytes> memory, wanted;
    for (int one = 0; one < count; ++one) {
      const TransferCopy copy = random_copy(dtype, random);
      (one % 2 ? stage.kept : stage.sends).push_back({.from = 2 * one, .to = 2 * one + 1, .copy = copy});
      memory.push_back(random_bytes(bytes_behind(copy.from), random));
      memory.push_back(random_bytes(bytes_behind(copy.to), random));
    }
    wanted = memory;
    for (const auto* copies : {&stage.sends, &stage.kept})
      for (const SlotCopy& one : *copies) copy_plainly(one.copy, memory[size_t(one.from)], wanted[size_t(one.to)]);
    std::optional<Job> job = job_of(stage);
    if (!job) continue;
    wide += i64(job->unit) > i64(size_of(dtype));
    in_strips += i64(job->in_strips);
    for (size_t slot = 0; slot < memory.size(); ++slot) job->slots[slot] = address_of(memory[slot].data());
    const unsigned groups = share_out(*job, unsigned(std::uniform_int_distribution(1, 5)(random)), 8);
    for (unsigned group = 0; group < groups; ++group) run_group(*job, group, groups);
    ASSERT_EQ(memory, wanted) << trial << ", " << job->copies << " copies in units of " << job->unit;
  }
  EXPECT_GT(wide, 20);
  EXPECT_GT(in_strips, 5);
}

TEST(CardCopies, CardsWriteBetweenTwoMeetings) {
  constexpr unsigned ranks = 3, groups = 2, runs = 50;
  constexpr i64 length = 60;      // of a rank's input; a third goes to each
  constexpr u32 before = 65'520;  // launches, so that the sums of what has ended begin anew on the way
  std::vector<u32> begun(flags_of(ranks), before);
  std::fill_n(begun.begin() + ranks, ranks, before << 16);
  std::vector<std::vector<u32>> flags(ranks, begun);
  std::vector<std::vector<u32>> in(ranks, std::vector<u32>(length)), out = in;
  std::atomic<int> wrong{0};
  const auto job_of_rank = [&](unsigned rank) {
    Stage stage{.before = true, .after = true};
    for (unsigned to = 0; to < ranks; ++to) {
      const View part{.dtype = Dtype::u32, .shape = {length / ranks}, .strides = {1}, .offset = to * length / ranks};
      View there = part;
      there.offset = rank * length / ranks;
      stage.sends.push_back({.from = 0, .to = int(2 + to), .copy = {part, there}});
    }
    Job job = job_of(stage).value();
    job.slots[0] = address_of(in[rank].data());
    for (unsigned to = 0; to < ranks; ++to) {
      job.slots[2 + to] = address_of(out[to].data());
      job.flags[to] = address_of(flags[to].data());
    }
    EXPECT_EQ(share_out(job, 2, 8), 2U);
    job.patience = 60'000'000'000;
    job.rank = rank;
    job.ranks = ranks;
    return job;
  };
  const auto card = [&](unsigned rank) {
    for (unsigned run = 0; run < runs; ++run) {
      for (i64 i = 0; i < length; ++i) in[rank][size_t(i)] = run * 1000 + rank * 100 + u32(i);
      const Job job = job_of_rank(rank);
      std::vector<std::jthread> launched;
      for (unsigned group = 0; group < groups; ++group)
        launched.emplace_back([&, group] { run_group(job, group, groups); });
      launched.clear();
      for (i64 i = 0; i < length; ++i) {
        const auto from = u32(i / (length / ranks)), place = u32(i % (length / ranks));
        wrong += out[rank][size_t(i)] != run * 1000 + from * 100 + rank * u32(length / ranks) + place;
      }
    }
  };
  {
    std::vector<std::jthread> cards;
    for (unsigned rank = 0; rank < ranks; ++rank) cards.emplace_back(card, rank);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(flags[0][2 * ranks], before + runs);
  EXPECT_EQ(flags[0][2 * ranks + 1], before + runs);
}

TEST(CardCopies, ACardThatWaitsInVainGivesUp) {
  std::vector<u32> own(flags_of(2), 0), other(flags_of(2), 0);
  Job job{};
  job.before = 1;
  job.patience = 1'000'000;
  job.ranks = 2;
  EXPECT_EQ(share_out(job, 4, 8), 1U);
  job.flags[0] = address_of(own.data());
  job.flags[1] = address_of(other.data());
  EXPECT_THROW(run_group(job, 0, 1), Trapped);
  EXPECT_EQ(other[0], 1);  // it did come
}

TEST(CardCopies, TheKernelCompilesForCards) {
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    std::string messages;
    EXPECT_FALSE(device::cuda::compile_cuda(distributed::cards::kernel(), architecture, &messages).empty());
    EXPECT_EQ(messages, "") << architecture;
  }
}

TEST(CardCopies, LongRowsGoByTheCopyEngine) {
  const View from{.dtype = Dtype::u32, .shape = {2, 1024, 2048}, .strides = {2048 * 8192, 8192, 1}};
  const View to{.dtype = Dtype::u32, .shape = {2, 1024, 2048}, .strides = {1024 * 2048, 2048, 1}, .offset = 64};
  const std::vector<EngineRows> rows = rows_of({.from = 0, .to = 3, .copy = {from, to}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].width, 8192);
  EXPECT_EQ(rows[0].count, 1024);
  EXPECT_EQ(rows[0].slices, 2);
  EXPECT_EQ(rows[0].from.pitch, 8192 * 4);
  EXPECT_EQ(rows[0].from.height, 2048);
  EXPECT_EQ(rows[0].to.slot, 3);
  EXPECT_EQ(rows[0].to.offset, 64U * 4);
  EXPECT_EQ(rows[0].to.height, 1024);
  const View askew{.dtype = Dtype::u32, .shape = from.shape, .strides = {2048 * 8192 + 4, 8192, 1}};
  const std::vector<EngineRows> apart = rows_of({.from = 0, .to = 3, .copy = {askew, to}});
  ASSERT_EQ(apart.size(), 2U);  // no whole number of rows lies between slices
  EXPECT_EQ(apart[1].slices, 1);
  EXPECT_EQ(apart[1].from.offset, (2048U * 8192 + 4) * 4);
  EXPECT_EQ(apart[1].to.offset, (64U + 1024 * 2048) * 4);
  const auto refused = [&](const Dims& shape, const Dims& from_strides, const Dims& to_strides) {
    const View a{.dtype = Dtype::u32, .shape = shape, .strides = from_strides};
    const View b{.dtype = Dtype::u32, .shape = shape, .strides = to_strides};
    return rows_of({.from = 0, .to = 2, .copy = {a, b}}).empty();
  };
  EXPECT_TRUE(refused({2048, 2048}, {1, 2048}, {2048, 1}));                            // transposed
  EXPECT_TRUE(refused({1 << 16, 32}, {64, 1}, {32, 1}));                               // narrow
  EXPECT_TRUE(refused({64, 1024}, {2048, 1}, {1024, 1}));                              // few
  EXPECT_TRUE(refused({64, 64, 1024}, {1 << 22, 1 << 14, 1}, {1 << 20, 1 << 12, 1}));  // of many blocks
}

}  // namespace axisloom::distributed::cards
