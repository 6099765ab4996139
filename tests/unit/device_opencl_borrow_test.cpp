// Contexts, queues and buffers of a caller who uses OpenCL itself: used as they are, retained, and released once.
#include "opencl_interposer.hpp"
#include "opencl_support.hpp"

#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

namespace axisloom::device {
namespace {

using axisloom::test::by_value;
using axisloom::test::code_thrown;
using axisloom::test::Interposer;
using axisloom::test::scale_request;
using axisloom::test::test_index;
using axisloom::test::test_spec;
using opencl::cl;

// Plain OpenCL, as an application would have it; the entry points are those of the library that was opened.
class OpenclBorrow : public ::testing::Test {
 protected:
  void SetUp() override {
    if (opencl_runtime().devices().empty()) GTEST_SKIP() << "no OpenCL device";
    find_device();
    ASSERT_TRUE(id_);
    context_ = make_context();
    queue_ = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_int code = CL_SUCCESS;
    memory_ = cl().clCreateBuffer.function(context_, CL_MEM_READ_WRITE, bytes, nullptr, &code);
    ASSERT_EQ(code, CL_SUCCESS);
  }
  void TearDown() override {
    if (memory_) cl().clReleaseMemObject.function(memory_);
    if (queue_) cl().clReleaseCommandQueue.function(queue_);
    if (context_) cl().clReleaseContext.function(context_);
  }
  void find_device() {
    cl_platform_id platforms[8] = {};
    cl_uint count = 0;
    ASSERT_EQ(cl().clGetPlatformIDs.function(8, platforms, &count), CL_SUCCESS);
    int skip = test_index();
    for (cl_uint i = 0; i < std::min(count, 8u) && !id_; ++i) {
      cl_device_id ids[8] = {};
      cl_uint found = 0;
      if (cl().clGetDeviceIDs.function(platforms[i], CL_DEVICE_TYPE_ALL, 8, ids, &found) != CL_SUCCESS) continue;
      if (skip < static_cast<int>(found)) id_ = ids[skip];
      skip -= static_cast<int>(found);
    }
  }
  cl_context make_context() {
    cl_int code = CL_SUCCESS;
    const cl_context context = cl().clCreateContext.function(nullptr, 1, &id_, nullptr, nullptr, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    return context;
  }
  cl_command_queue make_queue(cl_command_queue_properties properties) {
    cl_int code = CL_SUCCESS;
    const cl_command_queue queue = cl().clCreateCommandQueue.function(context_, id_, properties, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    return queue;
  }
  template <typename Entry, typename Object>
  static cl_uint references(const Entry& entry, Object object, cl_uint what) {
    cl_uint count = 0;
    EXPECT_EQ(entry.function(object, what, sizeof count, &count, nullptr), CL_SUCCESS);
    return count;
  }

  static constexpr std::size_t count = 64;
  static constexpr std::size_t bytes = count * sizeof(int);
  cl_device_id id_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_mem memory_ = nullptr;
};

TEST_F(OpenclBorrow, WorksOnTheCallersObjects) {
  auto device = borrow_opencl(context_, id_);
  EXPECT_EQ(device->info().spec(), test_spec());
  auto queue = device->borrow_queue(queue_);
  auto buffer = device->borrow_buffer(memory_, bytes);
  EXPECT_EQ(queue->native(), queue_);
  EXPECT_EQ(buffer->native(), memory_);
  EXPECT_EQ(buffer->bytes(), bytes);
  EXPECT_GE(buffer->alignment(), 64u);

  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 0);
  ASSERT_EQ(cl().clEnqueueWriteBuffer.function(queue_, memory_, CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  auto program = device->build(scale_request);
  const int factor = 7;
  const std::int64_t shift = 1;
  const Arg args[] = {Arg::of(*buffer), Arg::of(*buffer), by_value(factor), by_value(shift)};
  auto event = queue->launch(*program, "scale", {.groups = 4, .items = 16}, args, {});
  std::vector<int> back(count);
  const auto native = static_cast<cl_event>(event->native());
  ASSERT_EQ(cl().clEnqueueReadBuffer.function(queue_, memory_, CL_TRUE, 0, bytes, back.data(), 1, &native, nullptr),
            CL_SUCCESS);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(back[i], 7 * static_cast<int>(i) + 1);
  EXPECT_GE(event->seconds(), 0.0) << "the caller's queue has profiling";
}

TEST_F(OpenclBorrow, RetainsAndReleasesOnce) {
  const auto context_before = references(cl().clGetContextInfo, context_, CL_CONTEXT_REFERENCE_COUNT);
  Interposer interposer;
  {
    auto device = borrow_opencl(context_, id_);
    auto queue = device->borrow_queue(queue_);
    auto buffer = device->borrow_buffer(memory_, bytes);
    EXPECT_GT(references(cl().clGetContextInfo, context_, CL_CONTEXT_REFERENCE_COUNT), context_before);
    EXPECT_EQ(references(cl().clGetCommandQueueInfo, queue_, CL_QUEUE_REFERENCE_COUNT), 2u);
    EXPECT_EQ(references(cl().clGetMemObjectInfo, memory_, CL_MEM_REFERENCE_COUNT), 2u);
    // Nothing is queued: a runtime may hold references of its own for a moment after a command.
    device.reset();
  }
  EXPECT_EQ(interposer.live(), (std::map<std::string, int>{}));
  EXPECT_EQ(references(cl().clGetCommandQueueInfo, queue_, CL_QUEUE_REFERENCE_COUNT), 1u);
  EXPECT_EQ(references(cl().clGetMemObjectInfo, memory_, CL_MEM_REFERENCE_COUNT), 1u);
  // PoCL lets go of commands of earlier tests when a thread of its own gets round to it.
  const auto references_now = [&] { return references(cl().clGetContextInfo, context_, CL_CONTEXT_REFERENCE_COUNT); };
  for (int tries = 0; references_now() > context_before && tries < 500; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(references_now(), context_before);
}

TEST_F(OpenclBorrow, SharesBuffersWithTheCallersOwnDeviceObject) {
  auto first = borrow_opencl(context_, id_);
  auto second = borrow_opencl(context_, id_);
  auto buffer = first->allocate(bytes);
  auto queue = second->queue(false);
  queue->fill(*buffer, 0, bytes, std::byte{5}, {});
  std::vector<std::byte> back(bytes);
  queue->read(*buffer, 0, back, {})->wait();
  EXPECT_EQ(back.back(), std::byte{5});
}

TEST_F(OpenclBorrow, KnowsTheAddressOfTheCallersHostMemory) {
  auto device = borrow_opencl(context_, id_);
  if (!device->info().unified_memory) GTEST_SKIP() << "this device cannot use host memory in place";
  alignas(64) static std::byte host[bytes];
  for (const std::size_t offset : {1, 2, 3, 4, 6, 8, 16}) {
    cl_int code = CL_SUCCESS;
    const cl_mem memory = cl().clCreateBuffer.function(context_, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE,
                                                       bytes - offset, host + offset, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    {
      auto buffer = device->borrow_buffer(memory, bytes - offset);
      EXPECT_EQ(buffer->host(), host + offset);
      EXPECT_EQ(buffer->alignment(), offset & ~(offset - 1));
    }
    cl().clReleaseMemObject.function(memory);
  }
}

TEST_F(OpenclBorrow, RefusesWhatDoesNotFit) {
  auto device = borrow_opencl(context_, id_);
  const cl_context other = make_context();
  auto other_device = borrow_opencl(other, id_);
  const cl_command_queue unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  EXPECT_EQ(code_thrown([&] { other_device->borrow_queue(queue_); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { other_device->borrow_buffer(memory_, bytes); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { device->borrow_buffer(memory_, bytes + 1); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { device->borrow_buffer(nullptr, 0); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { device->borrow_queue(nullptr); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { device->borrow_queue(unordered); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { borrow_opencl(nullptr, id_); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { borrow_opencl(context_, nullptr); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { borrow_opencl(context_, context_); }), Errc::usage) << "not a device of the context";
  other_device.reset();
  cl().clReleaseCommandQueue.function(unordered);
  cl().clReleaseContext.function(other);
}

/// Says of every queue that it belongs to a device of its own; everything else the runtime says.
struct QueuesOfAnotherDevice {
  QueuesOfAnotherDevice() { original() = std::exchange(cl().clGetCommandQueueInfo.function, &info); }
  ~QueuesOfAnotherDevice() { cl().clGetCommandQueueInfo.function = original(); }

 private:
  using Function = decltype(opencl::Functions::clGetCommandQueueInfo.function);
  static Function& original() {
    static Function function = nullptr;
    return function;
  }
  static cl_int CL_API_CALL info(cl_command_queue queue, cl_command_queue_info what, std::size_t size, void* value,
                                 std::size_t* written) {
    const cl_int code = original()(queue, what, size, value, written);
    if (what == CL_QUEUE_DEVICE) std::memset(value, 0x5a, size);
    return code;
  }
};

TEST_F(OpenclBorrow, RefusesAQueueOfAnotherDeviceOfTheContext) {
  auto device = borrow_opencl(context_, id_);
  EXPECT_NO_THROW(device->borrow_queue(queue_));
  const QueuesOfAnotherDevice two_devices_in_one_context;
  EXPECT_EQ(code_thrown([&] { device->borrow_queue(queue_); }), Errc::usage);
}

}  // namespace
}  // namespace axisloom::device
