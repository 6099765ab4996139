// What the memory of a run may not be: parts of one buffer that overlap, and a workspace that is an array or lies
// askew.
#include "cuda_support.hpp"
#include "device/cuda/runtime.hpp"
#include "device/opencl/functions.hpp"
#include "limited_device.hpp"

#include <gtest/gtest.h>

namespace axisloom::ops_test {
namespace {

namespace opencl = axisloom::device::opencl;
namespace cuda = axisloom::device::cuda;

constexpr std::size_t part_bytes = 64 << 10;
constexpr std::size_t page = 4096;  // a multiple of what any device asks of the start of a part

/// An application's own context with one buffer of which it borrows parts.
class BorrowedParts : public testing::Test {
 protected:
  void SetUp() override {
    const Device opened = real_device();
    if (opened.info().api != Api::opencl) GTEST_SKIP() << "the device is not OpenCL's";
    const auto made = opened.allocate(4);
    cl_context context = nullptr;
    cl_device_id id = nullptr;
    ASSERT_EQ(opencl::cl().clGetMemObjectInfo.function(static_cast<cl_mem>(made.impl()->native()), CL_MEM_CONTEXT,
                                                       sizeof context, &context, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(opencl::cl().clGetContextInfo.function(context, CL_CONTEXT_DEVICES, sizeof id, &id, nullptr), CL_SUCCESS);
    device_ = Device::borrow_opencl(context, id);
    cl_int code = CL_SUCCESS;
    whole_ = opencl::cl().clCreateBuffer.function(context, flags(), 4 * part_bytes, host(), &code);
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_TRUE(opencl::cl().library.find("clCreateSubBuffer", create_part_));
  }
  void TearDown() override {
    if (whole_) opencl::cl().clReleaseMemObject.function(whole_);
  }
  virtual cl_mem_flags flags() const { return CL_MEM_READ_WRITE; }
  virtual void* host() { return nullptr; }

  Buffer part(std::size_t begin) {
    const cl_buffer_region region = {begin, part_bytes};
    cl_int code = CL_SUCCESS;
    const cl_mem made = create_part_(whole_, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != CL_SUCCESS) throw Error(Errc::device, "clCreateSubBuffer failed");
    const Buffer borrowed = device_.borrow_buffer(made, part_bytes);
    opencl::cl().clReleaseMemObject.function(made);
    return borrowed;
  }
  std::optional<Errc> copied(const Buffer& from, const Buffer& to) {
    View view = View::contiguous(Dtype::u8, {static_cast<std::int64_t>(part_bytes)});
    view.align = 128;
    const Plan moving = plan(copy(), std::array{view, view}, device_);
    return code_thrown([&] { moving.run(device_.queue(), std::array{from, to}).wait(); });
  }
  void expect_parts_are_told_apart() {
    EXPECT_EQ(copied(part(0), part(part_bytes)), std::nullopt);
    EXPECT_EQ(copied(part(page), part(page + part_bytes)), std::nullopt);
    EXPECT_EQ(copied(part(0), part(part_bytes - page)), Errc::overlap);
    EXPECT_EQ(copied(part(part_bytes), part(page)), Errc::overlap);
    EXPECT_EQ(copied(part(page), part(page)), Errc::overlap) << "two parts of the same bytes";
    const Buffer all = device_.borrow_buffer(whole_, 4 * part_bytes), first = device_.borrow_buffer(whole_, part_bytes);
    EXPECT_EQ(copied(all, part(part_bytes - page)), Errc::overlap) << "the whole and a part";
    EXPECT_EQ(copied(part(part_bytes), first), std::nullopt) << "the part comes after what is touched of the whole";
  }

  Device device_;
  cl_mem whole_ = nullptr;
  decltype(&::clCreateSubBuffer) create_part_ = nullptr;
};

TEST_F(BorrowedParts, OfOneBufferMayNotOverlap) {
  expect_parts_are_told_apart();
}

class BorrowedPartsOfHostMemory : public BorrowedParts {
 protected:
  cl_mem_flags flags() const override { return CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR; }
  void* host() override { return memory_.get(); }
  std::unique_ptr<void, void (*)(void*)> memory_{std::aligned_alloc(page, 4 * part_bytes), std::free};
};

TEST_F(BorrowedPartsOfHostMemory, MayNotOverlap) {
  expect_parts_are_told_apart();
}

TEST(BorrowedAddresses, InOneAllocationMayNotOverlap) {
  cuda::FakeDriver::get().reset();
  static const cuda::NvrtcSearch none;
  cuda::CudaRuntime runtime({cuda::FakeDriver::get().table(), {}}, []() -> const cuda::NvrtcSearch& { return none; });
  const Device device(runtime.open(0));
  const Buffer whole = device.allocate(4 * part_bytes);
  const auto part = [&](std::size_t begin) {
    return device.borrow_buffer(static_cast<std::byte*>(whole.impl()->native()) + begin, part_bytes);
  };
  auto nothing = std::make_shared<PlanImpl>();  // launches nothing, so that only the checks are left
  nothing->device = device;
  nothing->set_views(std::vector(2, View::contiguous(Dtype::u8, {static_cast<std::int64_t>(part_bytes)})));
  const auto refused = [&](const Buffer& from, const Buffer& to) {
    return code_thrown([&] { Plan(nothing).run(device.queue(), std::array{from, to}); });
  };
  EXPECT_EQ(refused(part(0), part(part_bytes)), std::nullopt);
  EXPECT_EQ(refused(part(0), part(part_bytes - page)), Errc::overlap);
  EXPECT_EQ(refused(part(part_bytes), part(page)), Errc::overlap);
  EXPECT_EQ(refused(whole, part(page)), Errc::overlap);
  nothing->report.workspace_bytes = page;
  const auto refused_with = [&](const Buffer& workspace) {
    return code_thrown([&] { Plan(nothing).run(device.queue(), std::array{part(0), part(part_bytes)}, workspace); });
  };
  EXPECT_EQ(refused_with(part(2 * part_bytes)), std::nullopt);
  EXPECT_EQ(refused_with(part(part_bytes - page / 2)), Errc::overlap);
  EXPECT_EQ(refused_with(part(2 * part_bytes + 64)), Errc::usage) << "aligned to 64 bytes";
}

// --- workspaces
// -------------------------------------------------------------------------------------------------------

/// A product of three matrices, which needs a workspace.
class Workspaces : public testing::Test {
 protected:
  Buffer allocated(std::size_t bytes) { return device_.allocate(bytes); }
  std::optional<Errc> refused(const Buffer& workspace) {
    const Queue queue = device_.queue();
    return code_thrown([&] { plan_.run(queue, buffers_, workspace).wait(); });
  }

  Device device_ = real_device();
  Plan plan_ = [this] {
    const std::vector<View> views(3, View::contiguous(Dtype::f32, {64, 64}));
    return plan(einsum("i j, j k, k l -> i l"), views, device_);
  }();
  std::size_t bytes_ = plan_.report().workspace_bytes;
  std::vector<Buffer> buffers_{4, Buffer()};

  void SetUp() override {
    ASSERT_GT(bytes_, 0u);
    const std::size_t larger = std::max<std::size_t>(2 * bytes_, 64 * 64 * 4);
    for (Buffer& buffer : buffers_) buffer = allocated(larger);
  }
};

TEST_F(Workspaces, AreTakenWhereTheyFit) {
  EXPECT_EQ(refused(allocated(bytes_)), std::nullopt);
  EXPECT_EQ(refused(Buffer()), std::nullopt);
  EXPECT_EQ(refused(allocated(bytes_ - 1)), Errc::usage);
}

TEST_F(Workspaces, MayBeNoArrayOfTheRun) {
  for (const Buffer& array : buffers_) EXPECT_EQ(refused(array), Errc::overlap);
  const std::string text = text_thrown([&] { plan_.run(device_.queue(), buffers_, buffers_[1]); });
  EXPECT_NE(text.find("the workspace and input buffer 1 share memory"), std::string::npos) << text;
}

TEST_F(Workspaces, MayShareABufferWithAnArrayButNoByte) {
  if (!device_.info().unified_memory) GTEST_SKIP() << "wraps no memory of the host";
  const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(page, 16 * part_bytes), std::free);
  ASSERT_LE(bytes_, part_bytes);
  const auto at = [&](std::size_t begin) {
    return device_.wrap(static_cast<std::byte*>(memory.get()) + begin, part_bytes);
  };
  buffers_[0] = at(0);
  const std::size_t array = 64 * 64 * 4;
  EXPECT_EQ(refused(at(array)), std::nullopt) << "behind the array, within the buffer's bytes";
  EXPECT_EQ(refused(at(array - 128)), Errc::overlap);
}

TEST_F(Workspaces, AreAlignedAsTheKernelsNeedThem) {
  if (!device_.info().unified_memory) GTEST_SKIP() << "wraps no memory of the host";
  const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(page, 2 * bytes_ + page), std::free);
  const auto at = [&](std::size_t begin) {
    return device_.wrap(static_cast<std::byte*>(memory.get()) + begin, bytes_);
  };
  for (const std::size_t askew : {4, 16, 64}) EXPECT_EQ(refused(at(askew)), Errc::usage) << askew;
  EXPECT_EQ(refused(at(128)), std::nullopt);
  const std::string text = text_thrown([&] { plan_.run(device_.queue(), buffers_, at(64)); });
  EXPECT_NE(text.find("aligned to 128 bytes, got one aligned to 64"), std::string::npos) << text;
}

}  // namespace
}  // namespace axisloom::ops_test
