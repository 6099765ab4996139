// Running plans on a device: what buffers are refused, what may share memory, and that work is ordered as asked.
#include "core/overlap.hpp"
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace axisloom::ops_test {
namespace {

Plan planned(const Operation& op, const std::vector<View>& views, const PlanOptions& options = {}) {
  return plan(op, views, real_device(), options);
}

PlanOptions in_place() {
  PlanOptions options;
  options.in_place = true;
  return options;
}

/// Fresh buffers for a plan: random input, output of 0xee.
struct Fixture {
  explicit Fixture(const Plan& plan) {
    for (const View& view : plan.views()) {
      const bool output = &view == &plan.views().back();
      contents.push_back(output ? Bytes(static_cast<std::size_t>(buffer_bytes(view)), std::byte{0xee})
                                : random_bytes(buffer_bytes(view), 7));
      buffers.push_back(upload(plan.device(), queue, contents.back()));
    }
  }
  Queue queue = real_device().queue();
  std::vector<Bytes> contents;
  std::vector<Buffer> buffers;
};

void expect_right(const Operation& op, const Plan& plan) {
  const Fixture given(plan);
  plan.run(given.queue, given.buffers).wait();
  const std::vector<View> views(plan.views().begin(), plan.views().end());
  EXPECT_EQ(download(given.queue, given.buffers[1]), after_oracle(op, views, given.contents[0], given.contents[1]))
      << plan.report().candidate;
  EXPECT_EQ(download(given.queue, given.buffers[0]), given.contents[0]) << "the input was written to";
}

View f32(const Dims& shape) {
  return View::contiguous(Dtype::f32, shape);
}

TEST(PlanRun, EveryCandidateThatAcceptsIsRight) {
  constexpr std::array order{1, 2, 0};
  int forced = 0;
  for (const Operation& op : {transpose(), permute(order), copy(), rearrange("a b c -> b a c")}) {
    for (const Dims& shape : {Dims{3, 65, 130}, Dims{64, 64, 3}}) {
      const PlanReport chosen = planned(op, {f32(shape)}).report();
      for (const CandidateReport& candidate : chosen.candidates) {
        if (!candidate.accepted) continue;
        PlanOptions options;
        options.candidate = candidate.name;
        expect_right(op, planned(op, {f32(shape)}, options));
        ++forced;
      }
    }
  }
  EXPECT_GE(forced, 16) << "two candidates accept each at least";
}

TEST(PlanRun, WideIndicesGiveTheSame) {
  PlanOptions wide;
  wide.index = IndexWidth::bits64;
  for (const Operation& op : {transpose(), copy(), rearrange("a b c -> b a c"), rearrange("a b c -> b c a")})
    expect_right(op, planned(op, {f32({3, 65, 130})}, wide));
}

TEST(PlanRun, CheckedRunsGiveTheSame) {
  PlanOptions checked;
  checked.checked = true;
  for (const Operation& op : {transpose(), copy(), rearrange("a b c -> b c a")})
    expect_right(op, planned(op, {f32({3, 33, 70})}, checked));
}

// The bounds of a checked run are the buffer's, so a view that lies about them is caught by the kernel itself.
TEST(PlanRun, CheckedRunsCatchAnAccessOutOfBounds) {
  PlanOptions checked;
  checked.checked = true;
  const Plan honest = planned(transpose(), {f32({64, 64})}, checked);
  auto lying = std::make_shared<PlanImpl>();
  lying->device = honest.device();
  lying->set_views(std::array{f32({64, 63}), f32({64, 64})});
  lying->launches = honest.impl()->launches;
  lying->programs = honest.impl()->programs;
  lying->checked = true;
  const Plan plan(std::move(lying));
  const Fixture given(plan);
  EXPECT_EQ(code_thrown([&] { plan.run(given.queue, given.buffers); }), Errc::device);
}

TEST(PlanRun, RefusesTheWrongNumberOfBuffers) {
  const Plan plan = planned(transpose(), {f32({64, 48})});
  const Fixture given(plan);
  const std::span<const Buffer> all(given.buffers);
  EXPECT_EQ(code_thrown([&] { plan.run(given.queue, all.first(1)); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { plan.run(given.queue, {}); }), Errc::usage);
  const std::vector<Buffer> empty(2);
  EXPECT_EQ(code_thrown([&] { plan.run(given.queue, empty); }), Errc::usage);
}

TEST(PlanRun, RefusesBuffersThatAreTooSmall) {
  const Plan plan = planned(transpose(), {f32({64, 48})});
  const Fixture given(plan);
  const Buffer small = real_device().allocate(64 * 48 * 4 - 1);
  EXPECT_EQ(code_thrown([&] { plan.run(given.queue, std::array{small, given.buffers[1]}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { plan.run(given.queue, std::array{given.buffers[0], small}); }), Errc::usage);
  const std::string text = text_thrown([&] { plan.run(given.queue, std::array{given.buffers[0], small}); });
  EXPECT_NE(text.find("the output buffer has 12287 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("0 to 3071"), std::string::npos) << text;
}

TEST(PlanRun, LeavesTheRestOfLargerBuffersAlone) {
  const Plan plan = planned(transpose(), {f32({64, 48})});
  const Fixture given(plan);
  Bytes larger(64 * 48 * 4 + 4096, std::byte{0xee});
  const Buffer out = upload(real_device(), given.queue, larger);
  plan.run(given.queue, std::array{given.buffers[0], out}).wait();
  const std::vector<View> views(plan.views().begin(), plan.views().end());
  EXPECT_EQ(download(given.queue, out), after_oracle(transpose(), views, given.contents[0], larger));
}

/// An input that begins so many bytes beyond a multiple of 256, and that knows of 256.
std::string text_of_run_with_input_at(std::size_t begin) {
  const Plan plan = planned(transpose(), {f32({64, 48})});
  const Fixture given(plan);
  const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(256, 64 * 48 * 4 + 256), std::free);
  std::byte* const start = static_cast<std::byte*>(memory.get()) + begin;
  std::copy(given.contents[0].begin(), given.contents[0].end(), start);
  const Buffer in = real_device().wrap(start, given.contents[0].size());
  const std::string text = text_thrown([&] { plan.run(given.queue, std::array{in, given.buffers[1]}).wait(); });
  const std::vector<View> views(plan.views().begin(), plan.views().end());
  if (text.empty()) {
    EXPECT_EQ(download(given.queue, given.buffers[1]),
              after_oracle(transpose(), views, given.contents[0], given.contents[1]));
  }
  return text;
}

// OpenCL promises 128 bytes, and views assume 256.
TEST(PlanRun, RefusesBuffersAlignedToLessThanItsWidestAccess) {
  if (real_device().info().kind != Kind::cpu) GTEST_SKIP() << "a CPU's vectors, in memory of the host";
  EXPECT_EQ(text_of_run_with_input_at(0), "");
  EXPECT_EQ(text_of_run_with_input_at(128), "");
  const std::string text = text_of_run_with_input_at(64);
  EXPECT_NE(text.find("aligned to 64 bytes, its view was planned with 256 and needs 128"), std::string::npos) << text;
}

TEST(PlanRun, RefusesViewsThatStartBeforeTheirBuffer) {
  View in = f32({64, 48});
  in.strides = {-48, 1};
  const auto attempt = [&] {
    const Plan plan = planned(transpose(), {in});
    const std::array buffers{real_device().allocate(1 << 16), real_device().allocate(1 << 16)};
    plan.run(real_device().queue(), buffers);
  };
  EXPECT_EQ(code_thrown(attempt), Errc::shape);
  in.offset = 63 * 48;
  EXPECT_EQ(code_thrown(attempt), std::nullopt);
}

// --- memory that input and output share
// -------------------------------------------------------------------------------

TEST(PlanOverlap, TheSameBufferTwiceIsRefused) {
  const Plan plan = planned(transpose(), {f32({64, 64})});
  const Fixture given(plan);
  const std::array same{given.buffers[0], given.buffers[0]};
  EXPECT_EQ(code_thrown([&] { plan.run(given.queue, same); }), Errc::overlap);
}

/// The buffer after a move within it.
Bytes moved_within(const Operation& op, const std::vector<View>& views, const Bytes& start) {
  const Queue queue = real_device().queue();
  const Buffer buffer = upload(real_device(), queue, start);
  const std::array both{buffer, buffer};
  planned(op, views).run(queue, both).wait();
  return download(queue, buffer);
}

TEST(PlanOverlap, HalvesOfOneBufferAreAccepted) {
  View in = f32({60, 70}), out = f32({70, 60});
  out.offset = 60 * 70;
  const Bytes start = random_bytes(2 * 60 * 70 * 4, 3);
  EXPECT_EQ(moved_within(transpose(), {in, out}, start), after_oracle(transpose(), {in, out}, start, start));
  out.offset -= 1;
  EXPECT_EQ(code_thrown([&] { moved_within(transpose(), {in, out}, start); }), Errc::overlap);
}

TEST(PlanOverlap, InterleavedElementsOfOneBufferAreAccepted) {
  View even = f32({50, 40}), odd = f32({40, 50});
  even.strides = {80, 2};
  odd.strides = {100, 2};
  odd.offset = 1;
  const Bytes start = random_bytes(2 * 50 * 40 * 4, 4);
  EXPECT_EQ(moved_within(transpose(), {even, odd}, start), after_oracle(transpose(), {even, odd}, start, start));
  odd.offset = 0;
  EXPECT_EQ(code_thrown([&] { moved_within(transpose(), {even, odd}, start); }), Errc::overlap);
}

/// A buffer larger than any machine's memory.
struct VastBuffer : device::Buffer {
  std::size_t bytes() const noexcept override { return std::size_t{1} << 60; }
  std::size_t alignment() const noexcept override { return 256; }
  void* host() const noexcept override { return nullptr; }
  void* native() const noexcept override { return const_cast<VastBuffer*>(this); }
};

TEST(PlanOverlap, WhatCannotBeDecidedIsRefused) {
  const NoDiskCache memory_only;
  // Sums of twenty numbers of one magnitude that have nothing in common.
  const Operation op = rearrange("a b c d e f g h i j k l m n o p -> (a b c d) (e f g h) (i j k l) (m n o p)");
  View in{Dtype::u8, Dims::filled(16, 2), Dims::filled(16, 0), 17, 1};
  View out{Dtype::u8, Dims::filled(4, 16), Dims::filled(4, 0), 0, 1};
  std::mt19937_64 engine(11);
  for (View* view : {&in, &out})
    for (std::int64_t& stride : view->strides) stride = static_cast<std::int64_t>(engine() >> 23 | 1LL << 40);
  ASSERT_EQ(core::overlaps_itself(out), core::Overlap::no);
  ASSERT_EQ(core::shares_memory(in, 0, out, 0), core::Overlap::undecided);
  const Device pretended(std::make_shared<PretendedDevice>(cpu_info()));
  const Plan made = plan(op, std::array{in, out}, pretended);
  const Buffer buffer(std::make_shared<VastBuffer>());
  const auto attempt = [&] { made.run(Queue(), std::array{buffer, buffer}); };
  EXPECT_EQ(code_thrown(attempt), Errc::overlap);
  const std::string text = text_thrown(attempt);
  EXPECT_NE(text.find("could not be decided within the work limit"), std::string::npos) << text;
}

// --- in place
// ---------------------------------------------------------------------------------------------------------

void expect_in_place(const Operation& op, const View& view) {
  const Plan plan = planned(op, {view, view}, in_place());
  const Bytes start = random_bytes(buffer_bytes(view), 5);
  const Queue queue = real_device().queue();
  const Buffer buffer = upload(real_device(), queue, start);
  const std::array both{buffer, buffer};
  plan.run(queue, both).wait();
  EXPECT_EQ(download(queue, buffer), after_oracle(op, {view, view}, start, start)) << to_string(view);
}

TEST(PlanInPlace, SquaresAreTransposed) {
  for (const Dtype dtype : {Dtype::u8, Dtype::u16, Dtype::f32, Dtype::f64, Dtype::c128})
    for (const std::int64_t side : {1, 2, 31, 64, 129})
      expect_in_place(transpose(), View::contiguous(dtype, {side, side}));
}

TEST(PlanInPlace, BatchesAndPaddedRowsAreTransposed) {
  expect_in_place(transpose(), f32({3, 33, 33}));
  View padded = f32({3, 33, 33});
  padded.strides = {33 * 40, 40, 1};
  padded.offset = 5;
  expect_in_place(transpose(), padded);
  expect_in_place(rearrange("a b c -> b a c"), f32({20, 20, 7}));
  expect_in_place(rearrange("a b c -> c b a"), f32({9, 11, 9}));
}

TEST(PlanInPlace, WhatStaysIsLeftAlone) {
  expect_in_place(copy(), f32({30, 20}));
  expect_in_place(rearrange("a b -> a b"), f32({30, 20}));
}

TEST(PlanInPlace, NeedsTheSameBufferTwice) {
  const Plan plan = planned(transpose(), {f32({64, 64})}, in_place());
  const Fixture given(plan);
  EXPECT_EQ(code_thrown([&] { plan.run(given.queue, given.buffers); }), Errc::usage);
}

// --- order and threads
// ------------------------------------------------------------------------------------------------

TEST(PlanRun, OfNothingIsFinishedAtOnce) {
  const Plan plan = planned(transpose(), {f32({0, 5})});
  const Queue queue = real_device().queue();
  const Bytes start = random_bytes(64, 1);
  const std::array buffers{upload(real_device(), queue, start), upload(real_device(), queue, start)};
  const Event event = plan.run(queue, buffers);
  EXPECT_TRUE(event.done());
  event.wait();
  EXPECT_EQ(download(queue, buffers[1]), start);
  const std::vector<Buffer> none(2);
  EXPECT_TRUE(plan.run(queue, none).done());
}

// The first move is slow and on another queue, so that a second that does not wait for it reads what was there before.
TEST(PlanRun, WaitsForWorkOfOtherQueues) {
  PlanOptions slow;
  slow.candidate = "plain";
  const View view = View::contiguous(Dtype::f64, {1024, 1024});
  const Plan first = planned(transpose(), {view}, slow), second = planned(copy(), {view});
  const Bytes in = random_bytes(buffer_bytes(view), 9), old(in.size(), std::byte{0});
  const Bytes expected = after_oracle(transpose(), {view, view}, in, old);
  const Queue one = real_device().queue(), two = real_device().queue();
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::array buffers{upload(real_device(), one, in), upload(real_device(), one, old),
                             upload(real_device(), one, old)};
    const Event begun = first.run(one, std::array{buffers[0], buffers[1]});
    const Event done = second.run(two, std::array{buffers[1], buffers[2]}, {}, std::array{begun, Event{}});
    done.wait();
    EXPECT_TRUE(begun.done());
    ASSERT_EQ(download(two, buffers[2]), expected);
  }
}

TEST(PlanRun, OnePlanServesManyThreads) {
  const View view = f32({130, 70});
  const Plan plan = planned(transpose(), {view});
  const std::vector<View> views(plan.views().begin(), plan.views().end());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        for (unsigned repeat = 0; repeat < 10; ++repeat) {
          const Bytes in = random_bytes(buffer_bytes(view), 100 * thread + repeat), out(in.size(), std::byte{0});
          if (after_run(plan, in, out) != after_oracle(transpose(), views, in, out)) ++wrong;
        }
      } catch (const Error&) {
        ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace axisloom::ops_test
