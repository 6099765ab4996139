// How reductions are launched: once or twice, again and again, and with how few kernels.
#include "reduce_support.hpp"

#include "ops/reduce/params.hpp"

#include <gtest/gtest.h>

namespace axisloom::ops_test {
namespace {

std::vector<std::uint32_t> counting(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1u);
  return numbers;
}

Plan sum_plan(const View& view, const std::string& candidate, std::int64_t launches) {
  PlanOptions options;
  options.candidate = candidate;
  options.configuration = {{"launches", launches}};
  return plan(reduction("sum"), std::span(&view, 1), real_device(), options);
}

bool device_orders() {
  return real_device().info().device_scope_order;
}

const char* parted_candidate() {
  return real_device().info().kind == Kind::cpu ? "rows_cpu" : "rows";
}

TEST(ReduceLaunch, OneLaunchOrTwoComeToTheSame) {
  constexpr std::int64_t count = 1'000'003;
  const View view = View::contiguous(Dtype::u32, {count});
  const Bytes numbers = bytes_of_numbers(counting(count));
  for (const char* candidate : {"rows_cpu", "rows", "lesson"}) {
    if (candidate == std::string("rows_cpu") && real_device().info().kind != Kind::cpu) continue;
    for (const std::int64_t launches : {1, 2}) {
      if (candidate == std::string("lesson") && launches == 1 && !device_orders()) {
        EXPECT_THROW(sum_plan(view, candidate, launches), Error);  // what is taught is what runs
        continue;
      }
      const Plan made = sum_plan(view, candidate, launches);
      EXPECT_EQ(made.impl()->launches.size(), device_orders() ? static_cast<std::size_t>(launches) : 2u) << candidate;
      EXPECT_GT(made.report().workspace_bytes, 0u);
      EXPECT_EQ(numbers_in<std::uint64_t>(after_run(made, numbers, Bytes(8))).at(0),
                static_cast<std::uint64_t>(count) * (count + 1) / 2)
          << candidate << ", launches " << launches;
    }
  }
}

TEST(ReduceLaunch, ASmallArrayIsOneGroup) {
  const View view = View::contiguous(Dtype::u32, {4096});
  const Plan made = plan(reduction("sum"), std::span(&view, 1), real_device());
  ASSERT_EQ(made.impl()->launches.size(), 1u);
  EXPECT_EQ(made.impl()->launches[0].geometry.groups, 1u);
  EXPECT_EQ(made.impl()->tickets, 0);
  EXPECT_EQ(made.report().workspace_bytes, 0u);
}

// The last group re-arms its ticket: if it once did not, some later run would have no last group, and its result would
// be missing from the output, which is overwritten in between.
TEST(ReduceLaunch, AHundredThousandLaunchesGiveTheSame) {
  if (!device_orders()) GTEST_SKIP() << "this device does not order groups";
  constexpr std::int64_t count = 40'000;
  constexpr int runs = 100'000, looks = 100;
  const View view = View::contiguous(Dtype::u32, {count});
  PlanOptions options;
  options.candidate = parted_candidate();
  options.configuration = {{"launches", 1}};
  if (options.candidate == "rows_cpu") options.configuration["piece"] = 16384;
  const Plan made = plan(reduction("sum"), std::span(&view, 1), real_device(), options);
  ASSERT_GT(made.impl()->tickets, 0);
  const Queue queue = made.device().queue();
  const std::vector<Buffer> buffers{upload(made.device(), queue, bytes_of_numbers(counting(count))),
                                    upload(made.device(), queue, Bytes(8))};
  for (int look = 0; look < looks; ++look) {
    queue.write(buffers[1], 0, Bytes(8, std::byte{0xff})).wait();
    for (int run = 0; run < runs / looks; ++run) made.run(queue, buffers);
    ASSERT_EQ(numbers_in<std::uint64_t>(download(queue, buffers[1])).at(0), std::uint64_t{count} * (count + 1) / 2)
        << "after run " << (look + 1) * (runs / looks);
  }
}

TEST(ReduceLaunch, TheWorkspaceMayBeTheCallers) {
  constexpr std::int64_t count = 500'000;
  const View view = View::contiguous(Dtype::u32, {count});
  const Plan made = sum_plan(view, parted_candidate(), 1);
  const Queue queue = made.device().queue();
  const Buffer workspace = made.device().allocate(made.report().workspace_bytes);
  const std::vector<Buffer> buffers{upload(made.device(), queue, bytes_of_numbers(counting(count))),
                                    made.device().allocate(8)};
  for (int run = 0; run < 3; ++run) {
    made.run(queue, buffers, workspace).wait();
    EXPECT_EQ(numbers_in<std::uint64_t>(download(queue, buffers[1])).at(0), std::uint64_t{count} * (count + 1) / 2);
  }
}

// Rows read again and again: more elements than 32 bits count, in little memory.
TEST(ReduceLaunch, MoreThanFourBillionElements) {
  constexpr std::int64_t rows = 65'536, columns = 65'537;
  View repeated = View::contiguous(Dtype::u8, {rows, columns});
  repeated.strides[0] = 0;
  std::vector<std::uint8_t> row(columns, 1);
  const Bytes sum = reduced(reduction("sum"), repeated, bytes_of_numbers(row));
  EXPECT_EQ(numbers_in<std::uint64_t>(sum).at(0), std::uint64_t{rows} * columns);
  const Bytes sums = reduced(reduction("sum", {{"axes", "0"}}), repeated, bytes_of_numbers(row));
  EXPECT_EQ(numbers_in<std::uint64_t>(sums), std::vector<std::uint64_t>(columns, rows));
}

TEST(ReduceLaunch, HowItIsCutDoesNotDependOnTheDevicesSize) {
  DeviceInfo small = gpu_info(), large = gpu_info();
  small.compute_units = 8;
  for (const Dims& shape : {Dims{1 << 26}, Dims{300, 5000}, Dims{100000, 40}}) {
    const View view = View::contiguous(Dtype::f32, shape);
    for (const char* axes : {"0", "-1"}) {
      const Operation op = reduction("sum", {{"axes", axes}});
      const Plan a = plan(op, std::span(&view, 1), Device(std::make_shared<PretendedDevice>(small)));
      const Plan b = plan(op, std::span(&view, 1), Device(std::make_shared<PretendedDevice>(large)));
      ASSERT_EQ(a.impl()->launches.size(), b.impl()->launches.size());
      EXPECT_EQ(a.impl()->launches[0].geometry.groups, b.impl()->launches[0].geometry.groups);
      EXPECT_EQ(a.impl()->launches[0].params, b.impl()->launches[0].params);
    }
  }
}

// Or else every packet behind the first piece would lie across two lines of the cache.
TEST(ReduceLaunch, PiecesOfARunBeginWhereItsPacketsDo) {
  const Device gpu(std::make_shared<PretendedDevice>(gpu_info()));
  constexpr std::int64_t least_team = 8, packet_bytes = 16;
  for (const Dtype dtype : {Dtype::u8, Dtype::f32, Dtype::f64}) {
    const View view = View::contiguous(dtype, {(1 << 26) + 3});
    const Plan sum = plan(reduction("sum"), std::span(&view, 1), gpu);
    EXPECT_EQ(sum.report().candidate, "rows");
    ops::ReduceParams params{};
    ASSERT_EQ(sum.impl()->launches[0].params.size(), sizeof params);
    std::memcpy(&params, sum.impl()->launches[0].params.data(), sizeof params);
    EXPECT_GT(params.pieces, 1) << name(dtype);
    EXPECT_EQ(params.piece % (least_team * packet_bytes / static_cast<std::int64_t>(size_of(dtype))), 0) << name(dtype);
  }
}

TEST(ReduceLaunch, WhatCutsRunsRefusesThoseWithoutElements) {
  const View empty = View::contiguous(Dtype::f32, {5, 0});
  for (const DeviceInfo& info : {cpu_info(), gpu_info()}) {
    const Operation op = reduction("sum", {{"axes", "1"}});
    const Plan sums = plan(op, std::span(&empty, 1), Device(std::make_shared<PretendedDevice>(info)));
    for (const CandidateReport& candidate : sums.report().candidates)
      if (candidate.name == "rows_cpu" || candidate.name == "rows") {
        EXPECT_FALSE(candidate.accepted) << candidate.name;
      }
  }
}

/// A random shape of up to six axes, some of which are reduced.
std::pair<Operation, View> random_reduction(std::mt19937& engine) {
  const auto between = [&](int low, int high) { return std::uniform_int_distribution(low, high)(engine); };
  Dims shape;
  for (int i = between(1, 6); i > 0; --i) shape.push_back(between(0, 2) == 0 ? 1 << between(0, 8) : between(1, 40));
  while (element_count(shape) > 1 << 18) *std::max_element(shape.begin(), shape.end()) /= 2;
  std::string axes;
  for (int i = 0; i < shape.size(); ++i)
    if (between(0, 1) == 1) axes += (axes.empty() ? "" : ",") + std::to_string(i);
  View view = View::contiguous(Dtype::f32, shape);
  if (between(0, 3) == 0) view.strides[0] += between(0, 5);
  return {reduction("sum", axes.empty() ? Options{} : Options{{"axes", axes}}), view};
}

TEST(ReduceLaunch, AThousandShapesCompileFewKernels) {
  constexpr std::size_t most_compiles = 60;
  const NoDiskCache memory_only;
  for (const DeviceInfo& info : {cpu_info(), gpu_info(), gpu_info(Api::opencl)}) {
    const auto pretended = std::make_shared<PretendedDevice>(info);
    const Device device(pretended);
    std::mt19937 engine(5);
    std::map<std::string, int> taken;
    for (int i = 0; i < 1000; ++i) {
      const auto [op, view] = random_reduction(engine);
      taken[plan(op, std::span(&view, 1), device).report().candidate] += 1;
    }
    EXPECT_LE(pretended->sources.size(), most_compiles) << info.name;
    EXPECT_GE(taken.size(), 3u) << "the shapes are too much alike";
  }
}

}  // namespace
}  // namespace axisloom::ops_test
