// The CUDA backend on a real card; skipped where there is none.
#include "device/cuda/compile.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/dynamic_library.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <thread>

namespace axisloom::device {
namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void twice(const int* a, int* b, long n) {
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) b[i] = 2 * a[i];
}
extern "C" __global__ void add_one(int* a, long n) {
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1;
}
extern "C" __global__ void reverse(int* a, int n) {
  extern __shared__ int block[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) block[i] = a[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = block[n - 1 - i];
}
extern "C" __global__ void write_through(int* address) { *address = 1; }
)";

constexpr const char* kClusterSource = R"(
extern "C" __global__ void rank(int* ranks) {
  unsigned rank, size;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x == 0) ranks[blockIdx.x] = 100 * size + rank;
}
)";

BuildRequest request(const char* source) {
  return {"test/card", source, {"--std=c++17"}};
}

template <typename Value>
Arg argument_of(const Value& value) {
  return Arg::bytes(&value, sizeof value);
}

class CudaCard : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_runtime().devices().empty()) GTEST_SKIP() << "no CUDA device";
    device = cuda_runtime().open(0);
    queue = device->queue(false);
  }
  std::shared_ptr<Buffer> upload(const std::vector<int>& values) {
    auto buffer = device->allocate(values.size() * sizeof(int));
    queue->write(*buffer, 0, std::as_bytes(std::span(values)), {})->wait();
    return buffer;
  }
  std::vector<int> download(Buffer& buffer) {
    std::vector<int> values(buffer.bytes() / sizeof(int));
    queue->read(buffer, 0, std::as_writable_bytes(std::span(values)), {})->wait();
    return values;
  }
  static std::vector<int> counting(std::size_t n) {
    std::vector<int> values(n);
    std::iota(values.begin(), values.end(), 0);
    return values;
  }

  std::shared_ptr<Device> device;
  std::shared_ptr<Queue> queue;
};

/// What only tests call: contexts of one's own, and graphs.
struct Raw {
  cuda::CUresult (*cuCtxCreate_v2)(cuda::CUcontext*, unsigned, cuda::CUdevice) = nullptr;
  cuda::CUresult (*cuCtxDestroy_v2)(cuda::CUcontext) = nullptr;
  cuda::CUresult (*cuStreamBeginCapture_v2)(cuda::CUstream, int) = nullptr;
  cuda::CUresult (*cuStreamEndCapture)(cuda::CUstream, void**) = nullptr;
  cuda::CUresult (*cuGraphInstantiateWithFlags)(void**, void*, unsigned long long) = nullptr;
  cuda::CUresult (*cuGraphLaunch)(void*, cuda::CUstream) = nullptr;
  cuda::CUresult (*cuGraphExecDestroy)(void*) = nullptr;
  cuda::CUresult (*cuGraphDestroy)(void*) = nullptr;
  std::shared_ptr<const cuda::DriverApi> api = cuda::open_driver().api;

  Raw() {
    const std::array<std::string, 2> names = {"libcuda.so.1", cuda::open_driver().status.library};
    const DynamicLibrary library(names);
    std::vector<std::string> missing;
    library.require("cuCtxCreate_v2", cuCtxCreate_v2, missing);
    library.require("cuCtxDestroy_v2", cuCtxDestroy_v2, missing);
    library.require("cuStreamBeginCapture_v2", cuStreamBeginCapture_v2, missing);
    library.require("cuStreamEndCapture", cuStreamEndCapture, missing);
    library.require("cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags, missing);
    library.require("cuGraphLaunch", cuGraphLaunch, missing);
    library.require("cuGraphExecDestroy", cuGraphExecDestroy, missing);
    library.require("cuGraphDestroy", cuGraphDestroy, missing);
    EXPECT_TRUE(missing.empty()) << missing.front();
  }
};

TEST_F(CudaCard, DescribesItself) {
  const DeviceInfo& info = device->info();
  EXPECT_EQ(info.api, Api::cuda);
  EXPECT_TRUE(info.architecture.starts_with("sm_")) << info.architecture;
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.compute_units, 0u);
  EXPECT_GE(info.max_group, 1024u);
  EXPECT_GE(info.local_memory, 48u * 1024);
  EXPECT_GE(info.local_memory_max, info.local_memory);
  EXPECT_GT(info.global_memory, std::size_t{1} << 30);
  EXPECT_GT(info.last_level_cache, std::size_t{1} << 20);
  EXPECT_TRUE(info.compiler.starts_with("NVRTC ")) << info.compiler;
  const auto status = cuda_runtime().status();
  EXPECT_TRUE(status.at(0).found);
  EXPECT_TRUE(status.at(1).found);
}

TEST_F(CudaCard, MovesBytesBothWaysAtAnyOffset) {
  constexpr std::size_t n = 100003;
  std::vector<std::byte> in(n), out(n);
  for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<std::byte>(i * 7 + i / 251);
  const auto a = device->allocate(n + 9), b = device->allocate(n + 9);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a->native()) % a->alignment(), 0u);
  queue->write(*a, 3, in, {});
  queue->copy(*a, 3, *b, 5, n, {});
  queue->fill(*b, 5 + 1000, 17, std::byte{0xab}, {});
  queue->read(*b, 5, out, {})->wait();
  std::fill_n(in.begin() + 1000, 17, std::byte{0xab});
  EXPECT_EQ(in, out);
}

TEST_F(CudaCard, StagingIsReachedFromBothSides) {
  const std::vector<int> in = counting(1000);
  const auto staging = device->allocate_staging(4000), buffer = device->allocate(4000);
  ASSERT_NE(staging->host(), nullptr);
  int* host = static_cast<int*>(staging->host());
  queue->write(*staging, 0, std::as_bytes(std::span(in)), {})->wait();
  EXPECT_EQ(std::vector<int>(host, host + 1000), in);
  queue->copy(*staging, 0, *buffer, 0, 4000, {})->wait();
  std::fill_n(host, 1000, -1);
  queue->copy(*buffer, 0, *staging, 0, 4000, {})->wait();
  EXPECT_EQ(std::vector<int>(host, host + 1000), in);
  EXPECT_EQ(download(*staging), in);
  EXPECT_EQ(download(*buffer), in);
}

TEST_F(CudaCard, BuildsLoadsAndLaunches) {
  const auto built = device->build(request(kSource));
  const auto loaded = device->load(request(kSource), built->binary());
  ASSERT_NE(loaded, nullptr);
  const long n = 1000;
  for (const auto& program : {built, loaded}) {
    const auto a = upload(counting(n)), b = upload(std::vector<int>(n));
    const std::array args = {Arg::of(*a), Arg::of(*b), argument_of(n)};
    queue->launch(*program, "twice", {.groups = 8, .items = 128}, args, {})->wait();
    const std::vector<int> out = download(*b);
    for (int i = 0; i < n; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], 2 * i);
  }
  const KernelAttributes attributes = device->attributes(*built, "twice");
  EXPECT_GT(attributes.registers, 0);
  EXPECT_EQ(attributes.spilled_bytes, 0);
  EXPECT_EQ(attributes.local_bytes, 0);
  EXPECT_GE(attributes.max_items, 128);
}

TEST_F(CudaCard, ChecksArgumentsWhereTheDriverTells) {
  if (!cuda::open_driver().api->cuFuncGetParamInfo) GTEST_SKIP() << "the driver does not tell";
  const auto program = device->build(request(kSource));
  const auto a = upload(counting(4));
  const std::array<Arg, 1> few = {Arg::of(*a)};
  EXPECT_THROW(queue->launch(*program, "add_one", {.items = 32}, few, {}), Error);
  const int narrow = 4;
  const std::array wrong = {Arg::of(*a), argument_of(narrow)};
  EXPECT_THROW(queue->launch(*program, "add_one", {.items = 32}, wrong, {}), Error);
  EXPECT_FALSE(device->lost());
}

TEST_F(CudaCard, RejectsBinariesOfOtherCards) {
  EXPECT_EQ(device->load(request(""), std::as_bytes(std::span(std::string_view(".version 99.9\n.target sm_80")))),
            nullptr);
  const auto other = device->info().architecture == "sm_80" ? "sm_90" : "sm_80";
  EXPECT_EQ(device->load(request(""), cuda::compile_cuda(request(kSource), other, nullptr)), nullptr);
  EXPECT_FALSE(device->lost());
}

TEST_F(CudaCard, UsesMoreLocalMemoryThanTheDefault) {
  const int n = 24 * 1024;  // 96 KiB
  if (device->info().local_memory_max < n * sizeof(int)) GTEST_SKIP() << "the card has less";
  const auto program = device->build(request(kSource));
  const auto a = upload(counting(n));
  const std::array args = {Arg::of(*a), argument_of(n)};
  queue->launch(*program, "reverse", {.items = 256, .local_bytes = n * sizeof(int)}, args, {})->wait();
  const std::vector<int> out = download(*a);
  for (int i = 0; i < n; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], n - 1 - i);
}

TEST_F(CudaCard, LaunchesClustersPortableAndLarger) {
  if (device->info().architecture != "sm_90")
    GTEST_SKIP() << "clusters of 16 are certain on compute capability 9.0 only";
  const auto program = device->build(request(kClusterSource));
  for (const unsigned cluster : {2U, 8U, 16U}) {
    const auto ranks = upload(std::vector<int>(32));
    const std::array args = {Arg::of(*ranks)};
    queue->launch(*program, "rank", {.groups = 32, .items = 32, .cluster = cluster}, args, {})->wait();
    const std::vector<int> out = download(*ranks);
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], static_cast<int>(100 * cluster + i % cluster)) << cluster;
  }
}

TEST_F(CudaCard, TimesCommands) {
  const auto timed = device->queue(true);
  const std::size_t bytes = std::size_t{64} << 20;
  const auto buffer = device->allocate(bytes);
  const double seconds = timed->fill(*buffer, 0, bytes, std::byte{1}, {})->seconds();
  EXPECT_GT(seconds, 0);
  EXPECT_LT(seconds, 1);
  const auto untimed = queue->fill(*buffer, 0, bytes, std::byte{1}, {});
  EXPECT_THROW(untimed->seconds(), Error);
}

TEST_F(CudaCard, OneQueueWaitsForAnother) {
  const auto program = device->build(request(kSource));
  const long n = 1 << 20;
  const auto buffer = upload(std::vector<int>(n));
  const auto other = device->queue(false);
  const std::array args = {Arg::of(*buffer), argument_of(n)};
  std::vector<std::shared_ptr<Event>> last;
  for (int i = 0; i < 200; ++i) {
    last = {(i % 2 ? *queue : *other).launch(*program, "add_one", {.groups = n / 256, .items = 256}, args, last)};
  }
  last[0]->wait();
  EXPECT_EQ(download(*buffer), std::vector<int>(n, 200));
}

TEST_F(CudaCard, AnAllocationThatCannotBeLeavesTheDeviceUsable) {
  try {
    device->allocate(2 * device->info().global_memory);
    FAIL() << "twice the card's memory was allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::out_of_memory);
    EXPECT_NE(error.parts().message.find("bytes are free"), std::string::npos) << error.what();
  }
  EXPECT_EQ(download(*upload(counting(10))), counting(10));
}

TEST_F(CudaCard, EightThreadsLaunchOneProgram) {
  const auto program = device->build(request(kSource));
  const long n = 1000;
  std::vector<std::thread> threads;
  std::array<bool, 8> right = {};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const auto mine = device->queue(false);
      const auto buffer = device->allocate(n * sizeof(int));
      mine->fill(*buffer, 0, n * sizeof(int), std::byte{0}, {});
      const std::array args = {Arg::of(*buffer), argument_of(n)};
      for (int i = 0; i < 200; ++i) {
        mine->launch(*program, "add_one", {.groups = 8, .items = 128, .local_bytes = std::size_t(t) * 12288}, args, {});
      }
      std::vector<int> out(n);
      mine->read(*buffer, 0, std::as_writable_bytes(std::span(out)), {})->wait();
      right[static_cast<std::size_t>(t)] = out == std::vector<int>(n, 200);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const bool one : right) EXPECT_TRUE(one);
}

TEST_F(CudaCard, BorrowsContextStreamAndMemory) {
  const Raw raw;
  const cuda::DriverApi& api = *raw.api;
  cuda::CUcontext context = nullptr;
  cuda::CUstream stream = nullptr;
  cuda::CUdeviceptr address = 0;
  const long n = 1000;
  ASSERT_EQ(raw.cuCtxCreate_v2(&context, 0, 0), cuda::kSuccess);
  ASSERT_EQ(api.cuStreamCreateWithPriority(&stream, cuda::kStreamNonBlocking, 0), cuda::kSuccess);
  ASSERT_EQ(api.cuMemAlloc_v2(&address, n * sizeof(int)), cuda::kSuccess);
  {
    const auto borrowed = borrow_cuda(context);
    EXPECT_EQ(borrowed->info().name, device->info().name);
    const auto program = borrowed->build(request(kSource));
    const auto buffer = borrowed->borrow_buffer(reinterpret_cast<void*>(address), n * sizeof(int));
    const std::array args = {Arg::of(*buffer), argument_of(n)};
    for (void* native : {static_cast<void*>(stream), static_cast<void*>(nullptr)}) {
      const auto on = borrowed->borrow_queue(native);
      on->fill(*buffer, 0, n * sizeof(int), std::byte{0}, {});
      on->launch(*program, "add_one", {.groups = 8, .items = 128}, args, {});
      std::vector<int> out(n);
      on->read(*buffer, 0, std::as_writable_bytes(std::span(out)), {})->wait();
      EXPECT_EQ(out, std::vector<int>(n, 1));
    }
    EXPECT_THROW(device->borrow_queue(stream), Error);
    EXPECT_THROW(queue->fill(*buffer, 0, 4, std::byte{0}, {}), Error);
  }
  EXPECT_EQ(api.cuMemsetD8Async(address, 1, std::size_t{4}, stream), cuda::kSuccess);
  EXPECT_EQ(api.cuStreamSynchronize(stream), cuda::kSuccess);
  EXPECT_EQ(api.cuMemFree_v2(address), cuda::kSuccess);
  EXPECT_EQ(api.cuStreamDestroy_v2(stream), cuda::kSuccess);
  EXPECT_EQ(raw.cuCtxDestroy_v2(context), cuda::kSuccess);
}

/// The strictest capture mode: a call that allocates or waits, on any thread, would end the capture. The program's very
/// first launches are inside it, with limits raised and a second queue that forks off and joins.
TEST_F(CudaCard, LaunchesAreCapturedIntoAGraph) {
  const Raw raw;
  const auto program = device->build(request(kSource));
  const int n = 24 * 1024;
  const long length = n;
  const auto a = upload(counting(n)), b = upload(std::vector<int>(n));
  const std::array add = {Arg::of(*b), argument_of(length)};
  const std::array reverse = {Arg::of(*a), argument_of(n)};
  const auto other = device->queue(false);
  const Geometry all{.groups = n / 256, .items = 256};
  const auto stream = static_cast<cuda::CUstream>(queue->native());

  ASSERT_EQ(raw.cuStreamBeginCapture_v2(stream, 0), cuda::kSuccess);
  const std::array forked = {queue->launch(*program, "add_one", all, add, {})};
  const std::array joined = {
      other->launch(*program, "reverse", {.items = 256, .local_bytes = n * sizeof(int)}, reverse, forked)};
  queue->launch(*program, "add_one", all, add, forked);
  queue->launch(*program, "add_one", all, add, joined);
  void *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(raw.cuStreamEndCapture(stream, &graph), cuda::kSuccess);
  EXPECT_EQ(download(*b), std::vector<int>(n)) << "a captured launch ran";

  const cuda::DriverApi& api = *raw.api;
  cuda::CUcontext context = nullptr;
  ASSERT_EQ(api.cuStreamGetCtx(stream, &context), cuda::kSuccess);
  ASSERT_EQ(api.cuCtxPushCurrent_v2(context), cuda::kSuccess);
  ASSERT_EQ(raw.cuGraphInstantiateWithFlags(&executable, graph, 0), cuda::kSuccess);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(raw.cuGraphLaunch(executable, stream), cuda::kSuccess);
  queue->finish();
  EXPECT_EQ(raw.cuGraphExecDestroy(executable), cuda::kSuccess);
  EXPECT_EQ(raw.cuGraphDestroy(graph), cuda::kSuccess);
  EXPECT_EQ(api.cuCtxPopCurrent_v2(&context), cuda::kSuccess);

  EXPECT_EQ(download(*b), std::vector<int>(n, 15));
  std::vector<int> reversed = counting(n);
  std::ranges::reverse(reversed);  // five times
  EXPECT_EQ(download(*a), reversed);
}

/// In a process of its own, since a fault ends CUDA for the whole process.
TEST_F(CudaCard, AFaultLosesTheDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [&] {
    const auto program = device->build(request(kSource));
    const auto nowhere = device->borrow_buffer(reinterpret_cast<void*>(0x10), 4);
    const std::array args = {Arg::of(*nowhere)};
    int lost = 0;
    for (int i = 0; i < 2; ++i) {
      try {
        queue->launch(*program, "write_through", {}, args, {})->wait();
      } catch (const Error& error) {
        lost += error.code() == Errc::device_lost;
      }
    }
    std::_Exit(lost == 2 && device->lost() ? 0 : 1);
  };
  EXPECT_EXIT(fault(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace axisloom::device
