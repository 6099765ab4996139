// The C interface: what it does, and that it refuses bad input of every kind with a status and a text.
#include "failing_allocations.hpp"

#include <axisloom/axisloom.h>
#include <axisloom/axisloom.hpp>

#include "device/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace axisloom {
namespace {

constexpr DLDataType float32{kDLFloat, 32, 1};

/// A tensor with the lists that it points to.
struct Tensor {
  std::vector<std::int64_t> shape, strides;
  DLTensor dl{};

  Tensor(void* data, std::vector<std::int64_t> extents, DLDataType dtype = float32)
      : shape(std::move(extents)), dl{data, {kDLCPU, 0}, int(shape.size()), dtype, shape.data(), nullptr, 0} {}
  Tensor(std::vector<float>& values, std::vector<std::int64_t> extents) : Tensor(values.data(), std::move(extents)) {}
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  void set_strides(std::vector<std::int64_t> steps) {
    strides = std::move(steps);
    dl.strides = strides.data();
  }
};

using Inputs = std::vector<const DLTensor*>;

axl_operation named(const char* name) {
  axl_operation op{};
  op.name = name;
  return op;
}

class CInterface : public testing::Test {
 protected:
  CInterface() { std::iota(values.begin(), values.end(), 0.0F); }

  axl_status run(const axl_operation& op, std::initializer_list<const DLTensor*> inputs, const Tensor& output) {
    return axl_run(&op, inputs.begin(), inputs.size(), &output.dl, nullptr);
  }
  /// Transposes `in` into `out`.
  axl_status transpose() { return run(named("transpose"), {&in.dl}, out); }

  std::vector<float> values = std::vector<float>(6), turned = std::vector<float>(6);
  const std::vector<float> expected = {0, 3, 1, 4, 2, 5};
  Tensor in{values, {2, 3}}, out{turned, {3, 2}};
};

void expect_error(axl_status status, axl_status wanted, const char* text) {
  EXPECT_EQ(status, wanted) << axl_last_error();
  EXPECT_NE(std::strstr(axl_last_error(), text), nullptr) << axl_last_error();
}

TEST_F(CInterface, RunsInOneCall) {
  ASSERT_EQ(transpose(), AXL_OK) << axl_last_error();
  EXPECT_EQ(turned, expected);
}

TEST_F(CInterface, TakesArgumentsLengthsAndOptions) {
  const char* const pattern[] = {"(h x) w -> w h x"};
  const axl_length x{"x", 2};
  axl_operation op = named("rearrange");
  op.arguments = pattern, op.argument_count = 1;
  op.lengths = &x, op.length_count = 1;
  Tensor split{turned, {3, 1, 2}};
  ASSERT_EQ(run(op, {&in.dl}, split), AXL_OK) << axl_last_error();
  EXPECT_EQ(turned, expected);

  const axl_option options[] = {{"axes", "1"}, {"keepdims", nullptr}};
  op = named("sum");
  op.options = options, op.option_count = std::size(options);
  Tensor sums{turned, {2, 1}};
  ASSERT_EQ(run(op, {&in.dl}, sums), AXL_OK) << axl_last_error();
  EXPECT_EQ(turned[0], 3);
  EXPECT_EQ(turned[1], 12);
}

TEST_F(CInterface, ReducesWithAMaskAndAnInitialValue) {
  const axl_option options[] = {{"axes", "1"}, {"where", nullptr}, {"initial", "2"}, {"compute-dtype", "f64"}};
  axl_operation op = named("sum");
  op.options = options, op.option_count = std::size(options);
  std::vector<std::uint8_t> wanted = {1, 0, 255};
  std::vector<double> sums(2);
  const Tensor mask(wanted.data(), {3}, {kDLBool, 8, 1}), result(sums.data(), {2}, {kDLFloat, 64, 1});
  ASSERT_EQ(run(op, {&in.dl, &mask.dl}, result), AXL_OK) << axl_last_error();
  EXPECT_EQ(sums, (std::vector<double>{0 + 2 + 2, 3 + 5 + 2}));
  expect_error(run(op, {&in.dl, &in.dl}, result), AXL_DTYPE, "the mask is f32");
}

TEST_F(CInterface, TakesStridesOfAnySignAndAByteOffset) {
  Tensor backwards{values, {2, 2}};
  backwards.set_strides({-3, 1});
  backwards.dl.byte_offset = 4 * sizeof(float);
  Tensor target{turned, {2, 2}};
  ASSERT_EQ(run(named("copy"), {&backwards.dl}, target), AXL_OK) << axl_last_error();
  EXPECT_EQ(std::vector(turned.begin(), turned.begin() + 4), (std::vector<float>{4, 5, 1, 2}));
}

TEST_F(CInterface, KnowsEveryDtype) {
  constexpr DLDataType all[] = {{kDLUInt, 8, 1},   {kDLInt, 8, 1},      {kDLBool, 8, 1},     {kDLUInt, 16, 1},
                                {kDLInt, 16, 1},   {kDLFloat, 16, 1},   {kDLBfloat, 16, 1},  {kDLUInt, 32, 1},
                                {kDLInt, 32, 1},   {kDLFloat, 32, 1},   {kDLUInt, 64, 1},    {kDLInt, 64, 1},
                                {kDLFloat, 64, 1}, {kDLComplex, 64, 1}, {kDLComplex, 128, 1}};
  static_assert(std::size(all) == std::size_t(Dtype::c128) + 1);
  const axl_operation op = named("transpose");
  for (const DLDataType& dtype : all) {
    Tensor tensor(reinterpret_cast<char*>(values.data()) + 1, {5, 7}, dtype);  // where no array begins, nor is read
    const Inputs inputs{&tensor.dl};
    axl_array_type result{};
    ASSERT_EQ(axl_result(&op, inputs.data(), 1, &result), AXL_OK) << axl_last_error();
    EXPECT_EQ(std::memcmp(&result.dtype, &dtype, sizeof dtype), 0);
    ASSERT_EQ(result.ndim, 2);
    EXPECT_EQ(result.shape[0], 7);
    EXPECT_EQ(result.shape[1], 5);
  }
}

TEST_F(CInterface, RefusesDtypesThatItLacks) {
  constexpr std::uint8_t opaque = 3, float8 = 10;  // further codes of DLPack 1
  for (const DLDataType dtype : {DLDataType{kDLFloat, 32, 2}, DLDataType{kDLFloat, 32, 0}, DLDataType{kDLInt, 4, 1},
                                 DLDataType{kDLFloat, 128, 1}, DLDataType{kDLBool, 1, 1}, DLDataType{opaque, 64, 1},
                                 DLDataType{float8, 8, 1}, DLDataType{255, 255, 65535}}) {
    in.dl.dtype = dtype;
    expect_error(transpose(), AXL_DTYPE, "input 0 has DLPack's dtype");
  }
}

TEST_F(CInterface, RefusesMemoryThatItCannotUse) {
  constexpr auto metal = DLDeviceType(8);
  in.dl.device.device_type = metal;
  expect_error(transpose(), AXL_UNSUPPORTED, "device type 8");
  for (const DLDeviceType elsewhere : {kDLCUDA, kDLCUDAManaged, kDLOpenCL}) {
    in.dl.device.device_type = elsewhere;
    expect_error(transpose(), AXL_UNSUPPORTED, "input 0 is not in host memory");
  }
  in.dl.device.device_type = kDLCUDAHost;
  EXPECT_EQ(transpose(), AXL_OK) << axl_last_error();
}

TEST_F(CInterface, RefusesTensorsThatAreNone) {
  expect_error(run(named("transpose"), {nullptr}, out), AXL_USAGE, "input 0 is null");
  in.dl.data = nullptr;
  in.dl.byte_offset = 8;
  expect_error(transpose(), AXL_USAGE, "its data is null");
  in.dl.data = values.data(), in.dl.byte_offset = 0;
  in.dl.ndim = -1;
  expect_error(transpose(), AXL_SHAPE, "-1 axes");
  in.dl.ndim = AXL_MAX_RANK + 1;
  in.shape.resize(AXL_MAX_RANK + 1, 1), in.dl.shape = in.shape.data();
  expect_error(transpose(), AXL_SHAPE, "at most 16 axes");
  in.dl.ndim = 2;
  in.dl.shape = nullptr;
  expect_error(transpose(), AXL_USAGE, "its shape is null");
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{-2, 3}, {largest, largest}, {largest, 1}}) {
    in.shape = shape, in.dl.shape = in.shape.data();
    EXPECT_EQ(transpose(), AXL_SHAPE) << axl_last_error();
  }
  in.shape = {2, 3}, in.dl.shape = in.shape.data();
  in.set_strides({largest, largest});
  EXPECT_EQ(transpose(), AXL_SHAPE) << axl_last_error();
  in.set_strides({largest, std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(transpose(), AXL_SHAPE) << axl_last_error();
}

TEST_F(CInterface, RefusesOutputsThatDoNotFit) {
  out.shape = {2, 3};
  EXPECT_EQ(transpose(), AXL_SHAPE) << axl_last_error();
  out.shape = {3, 2};
  out.dl.dtype = {kDLInt, 32, 1};
  EXPECT_EQ(transpose(), AXL_DTYPE) << axl_last_error();
  out.dl.dtype = float32;
  out.dl.data = values.data();
  EXPECT_EQ(transpose(), AXL_OVERLAP) << axl_last_error();
  out.dl.data = reinterpret_cast<char*>(turned.data()) + 1;
  EXPECT_EQ(transpose(), AXL_USAGE) << axl_last_error();
}

TEST_F(CInterface, RefusesNullPointers) {
  const axl_operation op = named("transpose");
  const Inputs inputs{&in.dl};
  EXPECT_EQ(axl_run(nullptr, inputs.data(), 1, &out.dl, nullptr), AXL_USAGE);
  EXPECT_EQ(axl_run(&op, nullptr, 1, &out.dl, nullptr), AXL_USAGE);
  expect_error(axl_run(&op, inputs.data(), 1, nullptr, nullptr), AXL_USAGE, "the output is null");
  EXPECT_EQ(axl_result(&op, inputs.data(), 1, nullptr), AXL_USAGE);
  EXPECT_EQ(axl_device_open("host", nullptr), AXL_USAGE);
  EXPECT_EQ(axl_device_borrow_cuda(nullptr, nullptr), AXL_USAGE);
  EXPECT_EQ(axl_device_borrow_opencl(nullptr, nullptr, nullptr), AXL_USAGE);
  axl_queue* queue = nullptr;
  EXPECT_EQ(axl_queue_create(nullptr, &queue), AXL_USAGE);
  EXPECT_EQ(axl_queue_borrow(nullptr, nullptr, &queue), AXL_USAGE);
  EXPECT_EQ(axl_queue_finish(nullptr), AXL_USAGE);
  EXPECT_EQ(axl_plan_create(&op, inputs.data(), 1, nullptr, 0, nullptr, nullptr), AXL_USAGE);
  axl_array_type result{};
  EXPECT_EQ(axl_plan_result(nullptr, &result), AXL_USAGE);
  EXPECT_EQ(axl_plan_run(nullptr, inputs.data(), 1, &out.dl), AXL_USAGE);
  EXPECT_EQ(axl_plan_enqueue(nullptr, nullptr, inputs.data(), 1, &out.dl), AXL_USAGE);
  EXPECT_EQ(axl_device_label(nullptr), nullptr);
  axl_device_free(nullptr);
  axl_queue_free(nullptr);
  axl_plan_free(nullptr);
}

TEST_F(CInterface, RefusesOperationsThatAreNone) {
  expect_error(run(named(nullptr), {&in.dl}, out), AXL_USAGE, "the operation's name is null");
  expect_error(run(named("frobnicate"), {&in.dl}, out), AXL_USAGE, "frobnicate");
  EXPECT_EQ(run(named("transpose"), {}, out), AXL_USAGE);
  axl_operation op = named("rearrange");
  op.argument_count = 1;
  expect_error(run(op, {&in.dl}, out), AXL_USAGE, "the list of arguments is null");
  const char* texts[] = {nullptr};
  op.arguments = texts;
  expect_error(run(op, {&in.dl}, out), AXL_USAGE, "an argument is null");
  texts[0] = "h w -> (";
  EXPECT_EQ(run(op, {&in.dl}, out), AXL_PATTERN) << axl_last_error();
  op = named("sum");
  op.lengths = nullptr, op.length_count = 1;
  expect_error(run(op, {&in.dl}, out), AXL_USAGE, "the list of lengths is null");
  const axl_option option{nullptr, nullptr};
  op.length_count = 0, op.option_count = 1;
  expect_error(run(op, {&in.dl}, out), AXL_USAGE, "the list of options is null");
  op.options = &option;
  expect_error(run(op, {&in.dl}, out), AXL_USAGE, "the name of an option is null");
  const axl_option axes{"axes", "7"};
  op.options = &axes;
  EXPECT_EQ(run(op, {&in.dl}, out), AXL_AXIS) << axl_last_error();
}

/// A plan for transposing 2x3 floats, given back at the end.
class CPlan : public CInterface {
 protected:
  CPlan() {
    const axl_operation op = named("transpose");
    EXPECT_EQ(axl_plan_create(&op, inputs.data(), 1, &out.dl, 0, nullptr, &plan), AXL_OK) << axl_last_error();
  }
  ~CPlan() override { axl_plan_free(plan); }
  axl_status run_plan() { return axl_plan_run(plan, inputs.data(), inputs.size(), &out.dl); }

  Inputs inputs{&in.dl};
  axl_plan* plan = nullptr;
};

TEST_F(CPlan, RunsOnHostMemory) {
  axl_array_type result{};
  ASSERT_EQ(axl_plan_result(plan, &result), AXL_OK);
  EXPECT_EQ(result.ndim, 2);
  EXPECT_EQ(result.shape[0], 3);
  ASSERT_EQ(run_plan(), AXL_OK) << axl_last_error();
  EXPECT_EQ(turned, expected);
}

TEST_F(CPlan, TakesArraysOfItsLayoutAlone) {
  in.set_strides({3, 1});
  EXPECT_EQ(run_plan(), AXL_OK) << axl_last_error();
  in.set_strides({1, 2});
  expect_error(run_plan(), AXL_SHAPE, "input 0 is f32[2,3]{1,2}, planned was f32[2,3]");
  in.dl.strides = nullptr;
  in.shape = {3, 2};
  EXPECT_EQ(run_plan(), AXL_SHAPE);
  in.shape = {2, 3};
  out.dl.dtype.bits = 64;
  EXPECT_EQ(run_plan(), AXL_SHAPE);
  out.dl.dtype.bits = 32;
  inputs.push_back(&in.dl);
  expect_error(run_plan(), AXL_USAGE, "needs 1 inputs, got 2");
}

TEST_F(CPlan, LooksAtStridesOnlyWhereThereAreSteps) {
  Tensor row{values, {1, 6}}, column{turned, {6, 1}};
  const axl_operation op = named("transpose");
  const Inputs rows{&row.dl};
  axl_plan* of_row = nullptr;
  ASSERT_EQ(axl_plan_create(&op, rows.data(), 1, nullptr, 0, nullptr, &of_row), AXL_OK) << axl_last_error();
  row.set_strides({-5, 1});
  EXPECT_EQ(axl_plan_run(of_row, rows.data(), 1, &column.dl), AXL_OK) << axl_last_error();
  EXPECT_EQ(turned, values);
  axl_plan_free(of_row);
}

TEST_F(CPlan, TakesAlignmentAtItsWord) {
  const axl_operation op = named("copy");
  alignas(64) std::array<float, 33> from{}, to{};
  Tensor source(from.data() + 1, {32}), target(to.data() + 1, {32});
  const Inputs one{&source.dl};
  axl_plan* aligned = nullptr;
  for (const std::size_t alignment : {std::size_t{2}, std::size_t{48}, ~std::size_t{0}, std::size_t{1} << 63})
    EXPECT_EQ(axl_plan_create(&op, one.data(), 1, &target.dl, alignment, nullptr, &aligned), AXL_USAGE) << alignment;
  ASSERT_EQ(axl_plan_create(&op, one.data(), 1, &target.dl, 64, nullptr, &aligned), AXL_OK) << axl_last_error();
  EXPECT_EQ(axl_plan_run(aligned, one.data(), 1, &target.dl), AXL_USAGE);
  source.dl.data = from.data(), target.dl.data = to.data();
  EXPECT_EQ(axl_plan_run(aligned, one.data(), 1, &target.dl), AXL_OK) << axl_last_error();
  axl_plan_free(aligned);
}

TEST_F(CPlan, RunsOnAQueueOfItsDevice) {
  axl_device* device = nullptr;
  axl_queue* queue = nullptr;
  ASSERT_EQ(axl_device_open("host", &device), AXL_OK) << axl_last_error();
  ASSERT_EQ(axl_queue_create(device, &queue), AXL_OK) << axl_last_error();
  EXPECT_EQ(axl_queue_borrow(device, nullptr, &queue), AXL_UNSUPPORTED);
  ASSERT_EQ(axl_plan_enqueue(plan, queue, inputs.data(), 1, &out.dl), AXL_OK) << axl_last_error();
  EXPECT_EQ(axl_queue_finish(queue), AXL_OK);
  EXPECT_EQ(turned, expected);
  in.dl.device.device_type = kDLCUDA;
  expect_error(axl_plan_enqueue(plan, queue, inputs.data(), 1, &out.dl), AXL_USAGE, "the plan is for host");
  axl_queue_free(queue);
  axl_device_free(device);
}

TEST_F(CPlan, IsMadeWithOptions) {
  const axl_operation op = named("transpose");
  axl_plan_options options{};
  options.size = sizeof options;
  axl_plan* made = nullptr;
  const auto create = [&] {
    axl_plan_free(std::exchange(made, nullptr));
    return axl_plan_create_with(&op, inputs.data(), 1, &out.dl, 0, nullptr, &options, &made);
  };
  ASSERT_EQ(create(), AXL_OK) << axl_last_error();
  EXPECT_STREQ(axl_plan_candidate(made), axl_plan_candidate(plan));
  options.candidate = "plain";
  options.index = AXL_INDEX_64;
  ASSERT_EQ(create(), AXL_OK) << axl_last_error();
  EXPECT_STREQ(axl_plan_candidate(made), "plain");
  std::size_t workspace = 1;
  ASSERT_EQ(axl_plan_workspace(made, &workspace), AXL_OK);
  EXPECT_EQ(workspace, 0U);
  ASSERT_EQ(axl_plan_run(made, inputs.data(), 1, &out.dl), AXL_OK) << axl_last_error();
  EXPECT_EQ(turned, expected);

  options.candidate = "nobody";
  expect_error(create(), AXL_USAGE, "no candidate is called 'nobody'");
  options.candidate = nullptr;
  const axl_length tunable{"no_such_tunable", 3};
  options.configuration = &tunable, options.configuration_count = 1;
  EXPECT_NE(create(), AXL_OK);
  options.configuration = nullptr;
  expect_error(create(), AXL_USAGE, "the configuration is null");
  options.configuration_count = 0;
  options.index = 16;
  expect_error(create(), AXL_USAGE, "no indices of 16 bits");
  options.index = 0;
  options.in_place = 1;
  EXPECT_EQ(create(), AXL_USAGE) << "2x3 cannot be transposed in place";
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{5000}}) {
    options.size = size;
    expect_error(create(), AXL_USAGE, "sizeof(axl_plan_options)");
  }
  axl_plan_free(made);
}

TEST_F(CPlan, TakesOptionsOfOtherVersions) {
  const axl_operation op = named("transpose");
  struct {
    axl_plan_options known{};
    std::array<char, 64> later{};
  } options;
  options.known.candidate = "plain";
  options.known.in_place = 1;  // beyond the size of the first version
  options.known.size = offsetof(axl_plan_options, in_place);
  axl_plan* made = nullptr;
  ASSERT_EQ(axl_plan_create_with(&op, inputs.data(), 1, &out.dl, 0, nullptr, &options.known, &made), AXL_OK)
      << axl_last_error();
  EXPECT_STREQ(axl_plan_candidate(made), "plain");
  axl_plan_free(std::exchange(made, nullptr));
  options.known.in_place = 0;
  options.known.size = sizeof options;
  ASSERT_EQ(axl_plan_create_with(&op, inputs.data(), 1, &out.dl, 0, nullptr, &options.known, &made), AXL_OK)
      << axl_last_error();
  axl_plan_free(made);
  EXPECT_EQ(axl_plan_candidate(nullptr), nullptr);
}

TEST_F(CPlan, GivesEventsAndWaitsForThem) {
  axl_device* device = nullptr;
  axl_queue *first = nullptr, *second = nullptr;
  axl_event *done = nullptr, *later = nullptr;
  ASSERT_EQ(axl_device_open("host", &device), AXL_OK) << axl_last_error();
  ASSERT_EQ(axl_queue_create_timed(device, &first), AXL_OK) << axl_last_error();
  ASSERT_EQ(axl_queue_create(device, &second), AXL_OK) << axl_last_error();
  ASSERT_EQ(axl_plan_enqueue_after(plan, first, inputs.data(), 1, &out.dl, nullptr, 0, &done), AXL_OK)
      << axl_last_error();
  std::vector<float> again(6);
  Tensor other{again, {3, 2}};
  const axl_event* const events[] = {done, nullptr};
  ASSERT_EQ(axl_plan_enqueue_after(plan, second, inputs.data(), 1, &other.dl, events, 2, &later), AXL_OK)
      << axl_last_error();
  EXPECT_EQ(axl_event_wait(later), AXL_OK) << axl_last_error();
  std::int32_t finished = -1;
  EXPECT_EQ(axl_event_done(done, &finished), AXL_OK);
  EXPECT_EQ(finished, 1);
  double seconds = -1;
  EXPECT_EQ(axl_event_seconds(done, &seconds), AXL_OK) << axl_last_error();
  EXPECT_GE(seconds, 0);
  EXPECT_NE(axl_event_seconds(later, &seconds), AXL_OK) << "its queue is not timed";
  EXPECT_EQ(turned, expected);
  EXPECT_EQ(again, expected);
  EXPECT_EQ(axl_plan_enqueue_after(plan, second, inputs.data(), 1, &other.dl, nullptr, 0, nullptr), AXL_OK);
  expect_error(axl_plan_enqueue_after(plan, second, inputs.data(), 1, &other.dl, nullptr, 2, nullptr), AXL_USAGE,
               "the list of events is null");
  EXPECT_EQ(axl_event_wait(nullptr), AXL_USAGE);
  EXPECT_EQ(axl_event_done(done, nullptr), AXL_USAGE);
  EXPECT_EQ(axl_event_seconds(done, nullptr), AXL_USAGE);
  axl_event_free(nullptr);
  axl_event_free(done);
  axl_event_free(later);
  axl_queue_free(first);
  axl_queue_free(second);
  axl_device_free(device);
}

TEST_F(CPlan, RunsFromManyThreads) {
  const auto work = [&] {
    std::vector<float> mine(6);
    Tensor target{mine, {3, 2}};
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(axl_plan_run(plan, inputs.data(), 1, &target.dl), AXL_OK) << axl_last_error();
      ASSERT_EQ(mine, expected);
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}

class COnOpenCl : public CInterface {
 protected:
  void SetUp() override {
    const auto is_opencl = [](const DeviceInfo& info) { return info.api == Api::opencl; };
    if (std::ranges::none_of(devices(), is_opencl)) GTEST_SKIP() << "there is no OpenCL device";
  }
};

// Memory that only a driver can reach, behind a handle that is no address.
TEST_F(COnOpenCl, RunsOnClMemFromAByteOffset) {
  const Device opencl = Device::open("opencl:0");
  const Queue commands = opencl.queue();
  constexpr std::size_t bytes = 6 * sizeof(float), offset = 64;
  const Buffer from = opencl.allocate(offset + bytes), to = opencl.allocate(bytes);
  commands.write(from, offset, std::as_bytes(std::span(values))).wait();

  axl_device* device = nullptr;
  axl_queue* queue = nullptr;
  axl_plan* plan = nullptr;
  const axl_operation op = named("transpose");
  const Inputs inputs{&in.dl};
  in.dl.device.device_type = out.dl.device.device_type = kDLOpenCL;
  in.dl.data = from.impl()->native(), in.dl.byte_offset = offset;
  out.dl.data = to.impl()->native();
  ASSERT_EQ(axl_device_open("opencl:0", &device), AXL_OK) << axl_last_error();
  EXPECT_EQ(axl_device_label(device), opencl.info().label());
  ASSERT_EQ(axl_queue_borrow(device, commands.impl()->native(), &queue), AXL_OK) << axl_last_error();
  ASSERT_EQ(axl_plan_create(&op, inputs.data(), 1, &out.dl, 0, device, &plan), AXL_OK) << axl_last_error();
  axl_device_free(device);
  ASSERT_EQ(axl_plan_enqueue(plan, queue, inputs.data(), 1, &out.dl), AXL_OK) << axl_last_error();
  EXPECT_EQ(axl_queue_finish(queue), AXL_OK) << axl_last_error();
  commands.read(to, 0, std::as_writable_bytes(std::span(turned))).wait();
  EXPECT_EQ(turned, expected);

  in.dl.byte_offset = 0;
  expect_error(axl_plan_enqueue(plan, queue, inputs.data(), 1, &out.dl), AXL_SHAPE, "planned was f32[2,3]+16");
  in.dl.byte_offset = 3;
  expect_error(axl_plan_enqueue(plan, queue, inputs.data(), 1, &out.dl), AXL_SHAPE, "begins at byte 3");
  in.dl.byte_offset = offset, in.dl.data = nullptr;
  EXPECT_EQ(axl_plan_enqueue(plan, queue, inputs.data(), 1, &out.dl), AXL_USAGE);
  axl_plan_free(plan);
  axl_queue_free(queue);
}

TEST_F(COnOpenCl, TakesHostMemoryToADevice) {
  axl_device* device = nullptr;
  ASSERT_EQ(axl_device_open("opencl:0", &device), AXL_OK) << axl_last_error();
  const axl_operation op = named("transpose");
  const Inputs inputs{&in.dl};
  EXPECT_EQ(axl_run(&op, inputs.data(), 1, &out.dl, device), AXL_OK) << axl_last_error();
  EXPECT_EQ(turned, expected);
  axl_device_free(device);
}

TEST_F(CInterface, LeavesWhatItGivesAloneWhenItFails) {
  axl_device* device = nullptr;
  EXPECT_EQ(axl_device_open("opencl:there-is-none-such", &device), AXL_NO_DEVICE);
  EXPECT_EQ(axl_device_open("three words here", &device), AXL_USAGE);
  EXPECT_EQ(device, nullptr);
}

TEST_F(CInterface, KeepsTheLastErrorOfEachThread) {
  ASSERT_NE(run(named("frobnicate"), {&in.dl}, out), AXL_OK);
  const std::string text = axl_last_error();
  EXPECT_NE(text.find(axl_last_remedy()), text.npos);
  EXPECT_EQ(transpose(), AXL_OK);
  EXPECT_EQ(axl_last_error(), text);
  std::thread([] { EXPECT_STREQ(axl_last_error(), ""); }).join();
}

TEST_F(CInterface, NamesStatusesAndVersion) {
  EXPECT_STREQ(axl_status_name(AXL_OK), "ok");
  EXPECT_STREQ(axl_status_name(AXL_USAGE), "usage");
  EXPECT_STREQ(axl_status_name(AXL_AFTER_FORK), "after_fork");
  EXPECT_STREQ(axl_status_name(AXL_INTERNAL), "internal");
  for (const axl_status none : {AXL_AFTER_FORK + 1, -2, std::numeric_limits<axl_status>::min(), 1 << 30})
    EXPECT_STREQ(axl_status_name(none), "unknown");
  EXPECT_EQ(axl_version(), version());
}

// Whichever allocation fails, the call says so, also where there is none for the text of an error.
TEST_F(CInterface, SurvivesAnyAllocationThatFails) {
  const auto until_it_works = [](axl_status wanted, const auto& call) {
    for (std::int64_t nth = 1;; ++nth) {
      axl_status status = AXL_OK;
      std::int64_t struck = 0;
      {
        const std::int64_t before = test::allocation_faults.struck;
        const test::FailingAllocation fault(nth, true);
        status = call();
        struck = test::allocation_faults.struck - before;
      }
      EXPECT_TRUE(status == wanted || (struck > 0 && status == AXL_OUT_OF_MEMORY)) << status;
      if (struck == 0) return;
    }
  };
  ASSERT_EQ(transpose(), AXL_OK);
  until_it_works(AXL_OK, [&] { return transpose(); });
  until_it_works(AXL_PATTERN, [&] {
    const char* const pattern[] = {"a pattern that cannot be read -> ("};
    axl_operation op = named("rearrange");
    op.arguments = pattern, op.argument_count = 1;
    return run(op, {&in.dl}, out);
  });
  until_it_works(AXL_OK, [&] {
    const axl_operation op = named("transpose");
    const DLTensor* const tensors[] = {&in.dl};
    axl_plan* plan = nullptr;
    const axl_status status = axl_plan_create(&op, tensors, 1, &out.dl, 0, nullptr, &plan);
    axl_plan_free(plan);
    return status;
  });
  EXPECT_EQ(transpose(), AXL_OK) << axl_last_error();
  EXPECT_EQ(turned, expected);
}

}  // namespace
}  // namespace axisloom
