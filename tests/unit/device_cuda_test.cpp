// The CUDA backend on an emulated driver: books of handles and contexts, errors of every call, loss, waits, limits.
#include "cuda_fake.hpp"
#include "planner/plan_impl.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace axisloom::device::cuda {
namespace {

TEST_F(CudaFake, WithoutADriverThereIsNothingButARemedy) {
  CudaRuntime absent({nullptr, status(false, {"libcuda.so.1: not there"}, "install it")}, no_compiler);
  EXPECT_TRUE(absent.devices().empty());
  expect_error(Errc::no_device, "libcuda.so.1: not there", [&] { absent.open(0); });
  expect_error(Errc::no_device, "install it", [&] { absent.borrow(FakeDriver::primary); });
  const auto found = absent.status();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(found[0].found);
}

TEST_F(CudaFake, ADriverWithoutADeviceIsNoFailure) {
  fake.init_result = kNoDevice;
  EXPECT_TRUE(runtime()->devices().empty());
  expect_error(Errc::no_device, "CUDA_ERROR_NO_DEVICE", [&] { runtime()->open(0); });
  EXPECT_EQ(runtime()->status()[0].facts.back().first, "error");
}

TEST_F(CudaFake, DescribesTheCard) {
  const DeviceInfo info = open()->info();
  EXPECT_EQ(info.name, "Fake card");
  EXPECT_EQ(info.label(), "cuda:0 (Fake card)");
  EXPECT_EQ(info.architecture, "sm_90");
  EXPECT_EQ(info.driver, "13.0");
  EXPECT_EQ(info.api_version, "CUDA 13.0");
  EXPECT_EQ(info.compute_units, 132u);
  EXPECT_EQ(info.local_memory, 48u * 1024);
  EXPECT_EQ(info.local_memory_max, 227u * 1024);
  EXPECT_EQ(info.last_level_cache, std::size_t{50} << 20);
  EXPECT_EQ(info.global_memory, FakeDriver::total_memory);
  EXPECT_EQ(info.base_alignment, 256u);
  EXPECT_FALSE(info.unified_memory);
  expect_error(Errc::no_device, "there is no CUDA device 1", [&] { runtime()->open(1); });
}

TEST_F(CudaFake, RunsACommandOfEachKind) {
  everything();
}

TEST_F(CudaFake, LeavesTheCallersContextCurrent) {
  FakeDriver::stack.push_back(FakeDriver::foreign);
  everything();
  expect_error(Errc::out_of_memory, "", [&] { open()->allocate(FakeDriver::total_memory + 1); });
  ASSERT_EQ(FakeDriver::stack.size(), 1u);
  EXPECT_EQ(FakeDriver::stack.back(), FakeDriver::foreign);
  FakeDriver::stack.clear();
}

/// Each call of each entry point fails with each kind of code, alone or with all later ones: a typed error that names
/// it, and nothing is left.
TEST_F(CudaFake, EveryFailingCallIsATypedErrorAndLeaksNothing) {
  everything();
  const std::map<std::string, int> usual = fake.calls;
  EXPECT_GT(usual.size(), 40u);
  for (const auto& [entry, count] : usual)
    for (int at = 1; at <= count; ++at)
      for (const CUresult code : {2, 700, 719, 999, 801})
        for (const bool lasting : {false, true}) expect_clean_failure({entry, at, code, lasting});
  fake.reset();
  everything();
}

TEST_F(CudaFake, ALostDeviceEndsWhatIsUnderWayAndRefusesTheRest) {
  const auto device = open();
  const auto queue = device->queue(true);
  auto call = twice(*device);
  const auto program = load(*device);
  const auto event = queue->launch(*program, "twice", {.items = 32}, call.args(), {});
  fake.fault = {"cuStreamSynchronize", 1, 719};
  EXPECT_FALSE(device->lost());
  expect_error(Errc::device_lost, "CUDA_ERROR_LAUNCH_FAILED", [&] { queue->finish(); });
  EXPECT_TRUE(device->lost());
  const auto lost = [](auto&& use) { expect_error(Errc::device_lost, "lost in an earlier call", use); };
  for (const auto& wait : {std::function<void()>([&] { queue->finish(); }), {[&] { event->wait(); }}}) lost(wait);
  EXPECT_EQ(fake.calls["cuStreamSynchronize"] + fake.calls["cuEventSynchronize"], 4) << "memory may still be in use";
  const auto calls_before = fake.calls;
  lost([&] { queue->flush(); });
  lost([&] { event->done(); });
  lost([&] { event->seconds(); });
  lost([&] { device->allocate(16); });
  lost([&] { device->allocate_staging(16); });
  lost([&] { device->wrap(&call, 16); });
  lost([&] { device->borrow_buffer(&call, 16); });
  lost([&] { device->queue(false); });
  lost([&] { device->borrow_queue(nullptr); });
  lost([&] { load(*device); });
  lost([&] { device->build({}); });
  lost([&] { device->attributes(*program, "twice"); });
  lost([&] { queue->launch(*program, "twice", {}, call.args(), {}); });
  lost([&] { queue->fill(*call.a, 0, 4, std::byte{1}, {}); });
  lost([&] { queue->copy(*call.a, 0, *call.b, 0, 4, {}); });
  lost([&] { queue->write(*call.a, 0, {}, {}); });
  lost([&] { queue->read(*call.a, 0, {}, {}); });
  EXPECT_EQ(fake.calls, calls_before) << "the driver was called although the device is lost";
}

TEST_F(CudaFake, AnAllocationThatFailsNamesTheNumbers) {
  const auto device = open();
  const auto half = device->allocate(FakeDriver::total_memory / 2);
  const std::string too_much = std::to_string(FakeDriver::total_memory);
  expect_error(Errc::out_of_memory, "allocating " + too_much + " bytes",
               [&] { device->allocate(FakeDriver::total_memory); });
  expect_error(Errc::out_of_memory,
               std::to_string(FakeDriver::total_memory / 2) + " of " + too_much + " bytes are free",
               [&] { device->allocate(FakeDriver::total_memory); });
  EXPECT_FALSE(device->lost());
}

TEST_F(CudaFake, BuffersKnowSizeAndAlignment) {
  const auto device = open();
  const auto queue = device->queue(false);
  const auto empty = device->allocate(0), some = device->allocate(100), staging = device->allocate_staging(10);
  EXPECT_EQ(some->bytes(), 100u);
  EXPECT_EQ(some->alignment(), 256u);
  EXPECT_EQ(some->host(), nullptr);
  EXPECT_NE(staging->host(), nullptr);
  const auto empty_staging = device->allocate_staging(0);
  for (const auto& nothing : {empty, empty_staging}) {
    EXPECT_EQ(nothing->bytes(), 0u);
    EXPECT_EQ(nothing->native(), nullptr);
    EXPECT_EQ(nothing->host(), nullptr);
  }
  EXPECT_EQ(device->borrow_buffer(static_cast<std::byte*>(some->native()) + 24, 8)->alignment(), 8u);
  EXPECT_EQ(device->wrap(staging->host(), 10), nullptr);
  queue->fill(*empty, 0, 0, std::byte{1}, {})->wait();
  queue->write(*empty, 0, {}, {})->wait();
  expect_error(Errc::usage, "8 bytes at offset 93", [&] { queue->fill(*some, 93, 8, std::byte{1}, {}); });
  expect_error(Errc::usage, "offset 18446744073709551615",
               [&] { queue->copy(*some, ~std::size_t{0}, *staging, 0, 2, {}); });
  expect_error(Errc::overlap, "share memory", [&] { queue->copy(*some, 0, *some, 4, 8, {}); });
  queue->copy(*some, 0, *some, 8, 8, {})->wait();
  expect_error(Errc::usage, "null CUdeviceptr", [&] { device->borrow_buffer(nullptr, 1); });
}

TEST_F(CudaFake, WaitsAreOrderedByTheDriverOnlyBetweenQueues) {
  const auto device = open();
  const auto first = device->queue(false), second = device->queue(false);
  const auto buffer = device->allocate(16);
  const std::array<std::shared_ptr<Event>, 2> waits = {first->fill(*buffer, 0, 16, std::byte{1}, {}), nullptr};
  first->fill(*buffer, 0, 16, std::byte{2}, waits);
  EXPECT_TRUE(fake.waits.empty());
  second->fill(*buffer, 0, 16, std::byte{3}, waits);
  ASSERT_EQ(fake.waits.size(), 1u);
  EXPECT_EQ(fake.waits[0].first, second->native());
  EXPECT_EQ(fake.waits[0].second, waits[0]->native());
}

TEST_F(CudaFake, AQueueBeginsBehindAMark) {
  const auto device = open();
  const auto first = device->queue(false), second = device->queue(false);
  first->omit_events();
  const auto end = mark(*first);
  begin_after(*first, end);
  EXPECT_TRUE(fake.waits.empty());
  begin_after(*second, end);
  ASSERT_EQ(fake.waits.size(), 1u);
  EXPECT_EQ(fake.waits[0].first, second->native());
  EXPECT_EQ(fake.waits[0].second, end->native());
}

TEST_F(CudaFake, ObjectsOfAnotherContextAreRefused) {
  const auto mine = open();
  const auto theirs = runtime()->borrow(FakeDriver::foreign);
  const auto queue = mine->queue(false);
  const auto buffer = mine->allocate(16), their_buffer = theirs->allocate(16);
  const auto their_program = load(*theirs);
  const auto program = load(*mine);
  const auto their_queue = theirs->queue(false);
  const std::array waits = {their_queue->fill(*their_buffer, 0, 16, std::byte{1}, {})};
  long n = 1;
  const std::array args = {Arg::of(*buffer), Arg::of(*their_buffer), Arg::bytes(&n, sizeof n)};
  const auto refused = [&](const char* what, auto&& use) { expect_error(Errc::usage, what, use); };
  refused("event to wait for", [&] { queue->fill(*buffer, 0, 16, std::byte{1}, waits); });
  refused("the buffer belongs", [&] { queue->fill(*their_buffer, 0, 16, std::byte{1}, {}); });
  refused("the buffer belongs", [&] { queue->copy(*buffer, 0, *their_buffer, 0, 16, {}); });
  refused("the buffer belongs", [&] { queue->launch(*program, "twice", {}, args, {}); });
  refused("the program belongs", [&] { queue->launch(*their_program, "twice", {}, args, {}); });
  refused("the program belongs", [&] { mine->attributes(*their_program, "twice"); });
  refused("borrowed stream", [&] { mine->borrow_queue(their_queue->native()); });
}

TEST_F(CudaFake, TimesOnlyWhereAsked) {
  const auto device = open();
  const auto buffer = device->allocate(16);
  const auto timed = device->queue(true)->fill(*buffer, 0, 16, std::byte{1}, {});
  EXPECT_DOUBLE_EQ(timed->seconds(), 2.5e-3);
  EXPECT_EQ(fake.calls["cuEventRecord"], 2);
  const auto untimed = device->queue(false)->fill(*buffer, 0, 16, std::byte{1}, {});
  EXPECT_EQ(fake.calls["cuEventRecord"], 3);
  const auto later = device->queue(true)->fill(*buffer, 0, 16, std::byte{1}, {});
  EXPECT_DOUBLE_EQ(later->seconds_since(*timed), 2.5e-3) << "what the driver says";
  expect_error(Errc::usage, "without timing", [&] { untimed->seconds(); });
  expect_error(Errc::usage, "without timing", [&] { untimed->seconds_since(*timed); });
}

/// What a stream under capture allows: no allocation, no waiting, and after the first launches not even new events.
TEST_F(CudaFake, LaunchesAllocateNothing) {
  const auto device = open();
  const auto queue = device->queue(false);
  auto call = twice(*device);
  const auto program = load(*device);
  const auto launch = [&] { return queue->launch(*program, "twice", {.items = 32}, call.args(), {}); };
  launch();
  const auto before = fake.calls;
  for (int i = 0; i < 100; ++i) launch();
  for (const auto& [entry, count] : fake.calls) {
    const bool per_launch = entry.starts_with("cuCtxP") || entry == "cuLaunchKernel" || entry == "cuEventRecord";
    EXPECT_EQ(count - before.at(entry), per_launch ? 100 : 0) << entry;
  }
  queue->omit_events();
  EXPECT_TRUE(launch() == nullptr && fake.calls["cuEventRecord"] == before.at("cuEventRecord") + 100) << "no event";
}

TEST_F(CudaFake, RaisesTheLocalMemoryLimitOnceForAllThreads) {
  const auto device = open();
  const auto program = load(*device);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const auto queue = device->queue(false);
      auto call = twice(*device);
      for (std::size_t i = 0; i < 200; ++i) {
        queue->launch(*program, "twice", {.items = 32, .local_bytes = (48 + i % 100) * 1024}, call.args(), {});
      }
      EXPECT_TRUE(FakeDriver::stack.empty()) << t;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake.launches.size(), 1600u);
  EXPECT_EQ(fake.raised, (std::map<int, int>{{kFuncMaxDynamicSharedSizeBytes, 1}}));
  auto call = twice(*device);
  const auto queue = device->queue(false);
  queue->launch(*program, "twice", {.items = 32, .local_bytes = 226 * 1024}, call.args(), {});
  expect_error(Errc::unsupported, "a group can have 232448", [&] {
    queue->launch(*program, "twice", {.items = 32, .local_bytes = 226 * 1024 + 1}, call.args(), {});
  });
}

TEST_F(CudaFake, RefusesGroupsThatNoDeviceHas) {
  const auto device = open();
  const auto queue = device->queue(false);
  const auto program = load(*device);
  auto call = twice(*device);
  const unsigned most = device->info().max_group;
  const auto launch = [&](std::uint64_t groups, unsigned items) {
    queue->launch(*program, "twice", {.groups = groups, .items = items}, call.args(), {});
  };
  launch(1, most);
  for (const unsigned items : {0u, most + 1})
    expect_error(Errc::unsupported, "groups of " + std::to_string(items) + " work-items", [&] { launch(1, items); });
  constexpr std::uint64_t most_groups = 2147483647;
  launch(most_groups, 1);
  expect_error(Errc::unsupported, "2147483648 groups", [&] { launch(most_groups + 1, 1); });
}

TEST_F(CudaFake, LaunchesClusters) {
  const auto device = open();
  const auto queue = device->queue(false);
  const auto program = load(*device);
  auto call = twice(*device);
  const auto launch = [&](std::uint64_t groups, unsigned cluster) {
    queue->launch(*program, "twice", {.groups = groups, .items = 32, .cluster = cluster}, call.args(), {});
  };
  launch(8, 8);
  EXPECT_EQ(fake.launches.back().cluster, 8u);
  EXPECT_FALSE(fake.launches.back().awaits_earlier);
  queue->launch(*program, "twice", {.groups = 16, .items = 32, .cluster = 8, .awaits_earlier = true}, call.args(), {});
  EXPECT_EQ(fake.launches.back().cluster, 8u);
  EXPECT_TRUE(fake.launches.back().awaits_earlier);
  EXPECT_TRUE(fake.raised.empty());
  launch(32, 16);
  launch(64, 16);
  EXPECT_EQ(fake.raised, (std::map<int, int>{{kFuncNonPortableClusterSizeAllowed, 1}}));
  expect_error(Errc::usage, "not a multiple of its clusters of 4", [&] { launch(6, 4); });
  fake.clusters = false;
  const auto older = open();
  const auto older_program = load(*older);
  expect_error(Errc::unsupported, "clusters, which the device does not have", [&] {
    older->queue(false)->launch(*older_program, "twice", {.items = 32, .cluster = 2}, call.args(), {});
  });
}

TEST_F(CudaFake, MapsBuffersByValue) {
  const auto device = open();
  const auto queue = device->queue(false);
  const auto program = load(*device);
  Mapped mapped{device->allocate(1024)};
  queue->launch(*program, "mapped", {.items = 32}, mapped.args(), {});
  const auto begin = reinterpret_cast<std::uint64_t>(mapped.a->native()) + 32;
  const std::array<std::uint64_t, 12> expected = {begin, kTensorU64, 3, kTensorSwizzle128, 3, 5, 2, 48, 240, 16, 8, 1};
  EXPECT_TRUE(std::ranges::equal(expected, std::span(fake.mapped_with.opaque).first(12)));
  auto call = twice(*device);
  expect_error(Errc::usage, "takes 128 bytes as argument 0, not 8", [&] {
    queue->launch(*program, "mapped", {.items = 32}, std::array{Arg::of(*call.a), Arg::bytes(&call.n, 8)}, {});
  });
  mapped.map.begin = 8;
  expect_error(Errc::device, "mapping 3 x 5 x 2 elements of 8 bytes",
               [&] { queue->launch(*program, "mapped", {.items = 32}, mapped.args(), {}); });
  mapped.map.element = 16;
  expect_error(Errc::usage, "no elements of 16 bytes",
               [&] { queue->launch(*program, "mapped", {.items = 32}, mapped.args(), {}); });
}

TEST_F(CudaFake, RefusesLaunchesThatCannotBe) {
  const auto device = open();
  const auto queue = device->queue(false);
  const auto program = load(*device);
  auto call = twice(*device);
  auto args = call.args();
  const auto launch = [&](const char* kernel, const Geometry& geometry, std::span<const Arg> with) {
    queue->launch(*program, kernel, geometry, with, {});
  };
  expect_error(Errc::unsupported, "2147483648 groups",
               [&] { launch("twice", {.groups = std::uint64_t{1} << 31, .items = 32}, args); });
  expect_error(Errc::unsupported, "groups of 1025", [&] { launch("twice", {.items = 1025}, args); });
  expect_error(Errc::device, "looking for kernel thrice in test", [&] { launch("thrice", {.items = 32}, args); });
  expect_error(Errc::usage, "takes 3 arguments, not 2",
               [&] { launch("twice", {.items = 32}, std::span(args).first(2)); });
  args[2].size = 4;
  expect_error(Errc::usage, "takes 8 bytes as argument 2, not 4", [&] { launch("twice", {.items = 32}, args); });
  args[2].size = 8;
  launch("twice", {.groups = 0, .items = 32}, args);
  EXPECT_TRUE(fake.launches.empty());
  launch("twice", {.groups = 0x7fffffff, .items = 32}, args);
  EXPECT_EQ(fake.launches.back().groups, 0x7fffffffu);
}

TEST_F(CudaFake, LeavesBorrowedHandlesAlone) {
  FakeDriver::stack.push_back(FakeDriver::foreign);
  CUstream stream = nullptr;
  CUdeviceptr address = 0;
  const auto api = fake.table();
  api->cuStreamCreateWithPriority(&stream, kStreamNonBlocking, 0);
  api->cuMemAlloc_v2(&address, std::size_t{64});
  {
    const auto device = runtime()->borrow(FakeDriver::foreign);
    const auto queue = device->borrow_queue(stream);
    const auto buffer = device->borrow_buffer(reinterpret_cast<void*>(address), 64);
    EXPECT_EQ(queue->native(), stream);
    EXPECT_EQ(buffer->native(), reinterpret_cast<void*>(address));
    queue->fill(*buffer, 0, 64, std::byte{7}, {})->wait();
    device->borrow_queue(nullptr)->fill(*buffer, 32, 32, std::byte{8}, {})->wait();
    EXPECT_EQ(reinterpret_cast<const char*>(address)[31], 7);
    EXPECT_EQ(reinterpret_cast<const char*>(address)[32], 8);
  }
  EXPECT_EQ(fake.calls["cuDevicePrimaryCtxRetain"], 0);
  EXPECT_EQ(api->cuStreamDestroy_v2(stream), kSuccess);
  EXPECT_EQ(api->cuMemFree_v2(address), kSuccess);
  FakeDriver::stack.clear();
  expect_error(Errc::usage, "null CUcontext", [&] { runtime()->borrow(nullptr); });
}

TEST_F(CudaFake, ABinaryThatIsRejectedIsNoError) {
  const auto device = open();
  EXPECT_EQ(device->load(request("test"), {}), nullptr);
  EXPECT_EQ(device->load(request("test"), bytes_of("neither text nor code")), nullptr);
  EXPECT_EQ(device->load(request("test"), bytes_of("\x7f"
                                                   "ELF cut short")),
            nullptr);
  std::string header(64, '\0');
  header.replace(0, 4,
                 "\x7f"
                 "ELF");
  EXPECT_NE(device->load(request("test"), bytes_of(header)), nullptr);
  header[40] = 64;  // a table of 3 sections of 64 bytes each that begins where the file ends
  header[58] = 64;
  header[60] = 3;
  EXPECT_EQ(device->load(request("test"), bytes_of(header)), nullptr);
  EXPECT_EQ(fake.calls["cuModuleLoadDataEx"], 1);
  EXPECT_EQ(device->load(request("test"), bytes_of(".version 99")), nullptr);
  EXPECT_EQ(fake.calls["cuModuleLoadDataEx"], 2);
  const auto program = load(*device);
  ASSERT_NE(program, nullptr);
  const std::vector<std::byte> binary = program->binary();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(binary.data()), binary.size()), kFakePtx);
}

TEST_F(CudaFake, AnOldDriverLacksOnlyWhatIsOptional) {
  const auto api = fake.table();
#define AXISLOOM_KEEP(name, parameters)
#define AXISLOOM_REMOVE(name, parameters) api->name.function = nullptr;
  AXISLOOM_CUDA_DRIVER(AXISLOOM_KEEP, AXISLOOM_REMOVE)
#undef AXISLOOM_KEEP
#undef AXISLOOM_REMOVE
  const auto device = runtime(api)->open(0);
  const auto queue = device->queue(false);
  const auto program = load(*device);
  auto call = twice(*device);
  queue->launch(*program, "twice", {.items = 32}, call.args(), {})->wait();
  EXPECT_EQ(fake.launches.size(), 1u);
  expect_error(Errc::unsupported, "clusters",
               [&] { queue->launch(*program, "twice", {.items = 32, .cluster = 2}, call.args(), {}); });
  Mapped mapped{device->allocate(1024)};
  expect_error(Errc::unsupported, "no tensor maps",
               [&] { queue->launch(*program, "mapped", {.items = 32}, mapped.args(), {}); });
}

TEST_F(CudaFake, BuildingNeedsACompilerThatSuits) {
  const auto device = open();
  expect_error(Errc::unsupported, "NVRTC, its run-time compiler, was not found", [&] { device->build({}); });
  EXPECT_NE(device->build_identity().find("no compiler"), std::string::npos);
  if (installed_nvrtc().found.empty()) GTEST_SKIP() << "INCOMPLETE: NVRTC is not installed";
  const DriverLibrary driver{fake.table(), status(true)};
  const auto real = CudaRuntime(driver, installed_nvrtc).open(0);
  const std::string source = "extern \"C\" __global__ void twice(const int* a, int* b, long n) { b[n] = 2 * a[n]; }";
  const auto program = real->build(request("test/twice", source));
  EXPECT_EQ(std::to_integer<char>(program->binary()[1]), 'E');
  EXPECT_NE(real->load(request("test/twice"), program->binary()), nullptr);
  EXPECT_NE(real->build_identity().find(real->info().compiler), std::string::npos);
  expect_error(Errc::device, "cuda:0 (Fake card)", [&] { real->build(request("bad", "nonsense")); });
  expect_error(Errc::device, "nonsense", [&] { real->build(request("bad", "nonsense")); });
  fake.version = 10020;
  expect_error(Errc::unsupported, "10.2",
               [&] { CudaRuntime(driver, installed_nvrtc).open(0)->build(request("x", source)); });
  fake.version = 13000;
  fake.capability = 990;  // newer than all: PTX, of which the emulated driver wants no entry of another name
  const auto newer = CudaRuntime(driver, installed_nvrtc).open(0);
  const auto translated = newer->build(request("test/twice", source))->binary();
  EXPECT_NE(std::string(reinterpret_cast<const char*>(translated.data())).find(".version"), std::string::npos);
  expect_error(Errc::device, "ptxas says no",
               [&] { newer->build(request("other", "extern \"C\" __global__ void other() {}")); });
}

/// What a command queued is over when its error goes on: the caller may free the memory then.
TEST_F(CudaFake, ACommandThatFailsAfterItWasQueuedIsWaitedFor) {
  const auto device = open();
  const auto queue = device->queue(false);
  auto call = twice(*device);
  const auto program = load(*device);
  fake.fault = {"cuEventRecord", 1, 801};
  expect_error(Errc::device, "801", [&] { queue->launch(*program, "twice", {.items = 32}, call.args(), {}); });
  EXPECT_EQ(fake.launches.size(), 1u) << "the launch itself did not fail";
  EXPECT_EQ(fake.calls["cuStreamSynchronize"], 1);
}

TEST_F(CudaFake, LaunchesBeforeAFailedOneAreWaitedFor) {
  const axisloom::Device device(open());
  const auto program = load(*device.impl());
  auto two = std::make_shared<PlanImpl>();
  two->device = device;
  two->set_views(std::vector(2, View::contiguous(Dtype::u8, {1024})));
  const TensorMap map{.begin = 0, .element = 8, .extent = {3, 5, 2}, .pitch = {48, 240}, .box = {16, 8, 1}};
  Launch launch;
  launch.kernel.kernel = "mapped";
  launch.geometry.items = 32;
  launch.buffers = {{.view = 0, .offset = 0, .element = 8, .map = map}};
  launch.params.resize(sizeof(long));
  two->launches = {launch, launch};
  two->programs = {program, program};
  const axisloom::Queue queue = device.queue();
  const std::array buffers = {device.allocate(1024), device.allocate(1024)};
  fake.fault = {"cuLaunchKernel", 1, 801};
  expect_error(Errc::device, "cuLaunchKernel", [&] { Plan(two).run(queue, buffers); });
  EXPECT_EQ(fake.calls["cuStreamSynchronize"], 0) << "nothing was queued, and a capture may go on";
  fake.fault = {"cuLaunchKernel", 3, 719};
  expect_error(Errc::device_lost, "cuLaunchKernel", [&] { Plan(two).run(queue, buffers); });
  EXPECT_EQ(fake.calls["cuStreamSynchronize"], 1) << "also on a device that is lost";
}

TEST_F(CudaFake, OneThreadAtATimeStartsTheDriver) {
  static std::atomic<int> inside{0}, most{0};
  const auto api = fake.table();
  api->cuDeviceGetCount.function = [](int* count) {
    most = std::max(most.load(), ++inside);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --inside;
    return *count = 1, kSuccess;
  };
  const auto shared = runtime(api);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const std::array<std::function<bool()>, 4> uses = {
          [&] { return shared->devices().size() == 1; }, [&] { return shared->open(0) != nullptr; },
          [&] { return shared->status().size() == 2; }, [&] { return shared->borrow(FakeDriver::foreign) != nullptr; }};
      EXPECT_TRUE(uses[t % uses.size()]());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(fake.calls["cuInit"], 1);
}

}  // namespace
}  // namespace axisloom::device::cuda
