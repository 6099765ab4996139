// The host as a device: its buffers, copies and launches, in a process that forks too, and without any driver.
#include "device/host/device.hpp"

#include "child_process.hpp"
#include "core/host_memory.hpp"
#include "device/host/memory.hpp"
#include "device/host/program.hpp"
#include "device/process.hpp"
#include "failing_allocations.hpp"
#include "host_support.hpp"
#include "own_process.hpp"

#include <cstring>
#include <fstream>
#include <numeric>

namespace axisloom::device::host {
namespace {

using test::bytes_of;
using test::code_thrown;
using test::text_thrown;
using test::writable_bytes_of;

class HostDeviceTest : public testing::Test {
 protected:
  SharedBuffer filled(size_t bytes, std::byte value) const {
    SharedBuffer buffer = device_->allocate(bytes);
    queue_->fill(*buffer, 0, bytes, value, {});
    return buffer;
  }
  SharedDevice device_ = make_device(3, best_isa());
  SharedQueue queue_ = device_->queue(false);
};

TEST_F(HostDeviceTest, SaysWhatItIs) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.api, Api::host);
  EXPECT_EQ(info.kind, Kind::cpu);
  EXPECT_EQ(info.spec(), "host");
  EXPECT_FALSE(info.name.empty());
  EXPECT_EQ(info.platform, "host");
  EXPECT_EQ(info.api_version, level(best_isa()));
  EXPECT_FALSE(info.compiler.empty());
  EXPECT_EQ(info.compute_units, 3u);
  EXPECT_GT(info.global_memory, size_t{1} << 20);
  EXPECT_TRUE(info.unified_memory && info.f64 && info.atomics_64 && info.byte_stores && info.device_scope_order);
  EXPECT_NE(device_->build_identity(), make_device(3, Isa::baseline)->build_identity() + " ");
  EXPECT_EQ(axisloom::Device::open("host").info().spec(), "host");
  EXPECT_EQ(open("host"), open("host:0")) << "one device for all";
  EXPECT_EQ(code_thrown([] { open("host:1"); }), Errc::no_device);
  EXPECT_EQ(devices().back().api, Api::host);
}

TEST_F(HostDeviceTest, BuffersAreMemoryOfTheProcess) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1000}, size_t{9} << 20}) {
    const SharedBuffer buffer = device_->allocate(bytes);
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_EQ(buffer->host(), buffer->native());
    EXPECT_GE(buffer->alignment(), core::host_alignment);
    EXPECT_EQ(buffer->location(), (Location{nullptr, reinterpret_cast<std::uintptr_t>(buffer->host())}));
  }
  std::vector<u32> mine(100, 7);
  const SharedBuffer wrapped = device_->wrap(mine.data() + 1, 396);
  EXPECT_EQ(wrapped->host(), mine.data() + 1);
  EXPECT_EQ(wrapped->alignment(), core::alignment_of(mine.data() + 1, 4096));
  EXPECT_EQ(device_->borrow_buffer(mine.data(), 400)->host(), mine.data());
  EXPECT_EQ(code_thrown([&] { device_->wrap(nullptr, 1); }), Errc::usage);
  EXPECT_EQ(device_->wrap(nullptr, 0)->bytes(), 0u);
  EXPECT_EQ(code_thrown([&] { device_->allocate(~size_t{0}); }), Errc::out_of_memory);
  EXPECT_EQ(code_thrown([&] { device_->allocate(device_->info().max_allocation + 1); }), Errc::out_of_memory);
}

TEST_F(HostDeviceTest, TouchWritesOncePerPage) {
  Pool pool(2);
  std::vector<std::byte> memory((size_t{1} << 20) + 5, std::byte{1});
  touch(pool, memory.data(), memory.size());
  for (size_t i = 0; i < memory.size(); ++i) ASSERT_EQ(memory[i], i % 4096 == 0 ? std::byte{0} : std::byte{1}) << i;
}

TEST_F(HostDeviceTest, CopiesBytes) {
  for (const size_t bytes : {size_t{0}, size_t{100}, (size_t{3} << 20) + 17}) {
    std::vector<u8> from(bytes), back(bytes);
    std::iota(from.begin(), from.end(), u8{1});
    const SharedBuffer one = filled(bytes + 3, std::byte{9}), other = filled(bytes + 5, std::byte{8});
    queue_->write(*one, 2, bytes_of(from), {});
    queue_->copy(*one, 2, *other, 4, bytes, {});
    EXPECT_TRUE(queue_->read(*other, 4, writable_bytes_of(back), {})->done());
    EXPECT_EQ(back, from);
    const auto* const around = static_cast<const u8*>(other->host());
    EXPECT_TRUE(around[3] == 8 && around[bytes + 4] == 8) << "nothing else";
  }
}

TEST_F(HostDeviceTest, CopiesThatOverlap) {
  std::vector<u8> memory(size_t{4} << 20);
  std::iota(memory.begin(), memory.end(), u8{0});
  std::vector<u8> expected = memory;
  std::memmove(expected.data() + 1, expected.data(), size_t{3} << 20);
  const SharedBuffer buffer = device_->wrap(memory.data(), memory.size());
  queue_->write(*buffer, 1, bytes_of(memory).first(size_t{3} << 20), {});  // its own memory
  EXPECT_EQ(memory, expected);
  EXPECT_EQ(code_thrown([&] { queue_->copy(*buffer, 0, *buffer, 10, 11, {}); }), Errc::overlap);
  EXPECT_EQ(code_thrown([&] { queue_->copy(*buffer, 0, *buffer, 10, 10, {}); }), std::nullopt);
}

TEST_F(HostDeviceTest, RefusesWhatExceedsABuffer) {
  const SharedBuffer buffer = device_->allocate(8);
  std::vector<u8> bytes(8);
  EXPECT_EQ(code_thrown([&] { queue_->write(*buffer, 1, bytes_of(bytes), {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue_->read(*buffer, 9, writable_bytes_of(bytes), {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue_->copy(*buffer, 0, *buffer, 4, 5, {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue_->fill(*buffer, 4, 5, {}, {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { device_->borrow_queue(buffer->host()); }), Errc::unsupported);
  EXPECT_EQ(code_thrown([&] { device_->build({.name = "a", .source = "b", .options = {}}); }), Errc::unsupported);
  EXPECT_EQ(device_->load({}, bytes_of(bytes)), nullptr);
  EXPECT_EQ(device_->built_in("no such kernel", {}), nullptr);
}

TEST_F(HostDeviceTest, EventsAreDoneAndKnowTheirTimes) {
  const SharedBuffer buffer = device_->allocate(8);
  const SharedEvent untimed = queue_->fill(*buffer, 0, 8, {}, {});
  EXPECT_TRUE(untimed->done());
  untimed->wait();
  EXPECT_EQ(code_thrown([&] { untimed->seconds(); }), Errc::usage);
  const SharedQueue timing = device_->queue(true);
  const SharedEvent first = timing->fill(*buffer, 0, 8, {}, {}), second = timing->fill(*buffer, 0, 8, {}, {});
  EXPECT_GE(first->seconds(), 0);
  EXPECT_LT(first->seconds(), 1);
  EXPECT_GE(second->seconds_since(*first), second->seconds());
  EXPECT_EQ(first->seconds_since(*second), 0);
  EXPECT_EQ(code_thrown([&] { first->seconds_since(*untimed); }), Errc::usage);
  timing->flush();
  timing->finish();
}

/// args: a buffer of i64 and its offset in bytes, a factor. settings: what is added. Writes to the element of each
/// group.
void scale_groups(const KernelCall& call, u64 begin, u64 end) {
  auto* const out = static_cast<i64*>(*static_cast<void* const*>(call.args[0])) +
                    *static_cast<const i64*>(call.args[1]) / i64{sizeof(i64)};
  const i32 factor = *static_cast<const i32*>(call.args[2]);
  for (u64 group = begin; group < end; ++group) out[group] += i64(group) * factor + call.settings[0] + i64(call.groups);
}

TEST_F(HostDeviceTest, LaunchesRunEveryGroupOnce) {
  for (const u64 groups : {0, 1, 2, 1000}) {
    const SharedBuffer out = filled((groups + 1) * sizeof(i64), {});
    const i32 settings[] = {5};
    HostProgram program(scale_groups, settings);
    const i64 offset = sizeof(i64);
    const i32 factor = 3;
    const Arg args[] = {Arg::of(*out), Arg::value(offset), Arg::value(factor)};
    EXPECT_TRUE(queue_->launch(program, "scale", {.groups = groups}, args, {})->done());
    const auto* const values = static_cast<const i64*>(out->host());
    EXPECT_EQ(values[0], 0);
    for (u64 i = 0; i < groups; ++i) ASSERT_EQ(values[i + 1], i64(3 * i + 5 + groups)) << i;
  }
}

/// Adds up its arguments, all i32 but the first, which is a buffer of one.
void add_arguments(const KernelCall& call, u64, u64) {
  i32& sum = **static_cast<i32* const*>(call.args[0]);
  for (i32 i = 1; i <= call.settings[0]; ++i) sum += *static_cast<const i32*>(call.args[i]);
}

TEST_F(HostDeviceTest, TakesAnyNumberOfArguments) {
  const SharedBuffer sum = device_->allocate(sizeof(i32));
  std::vector<i32> values(100);
  std::iota(values.begin(), values.end(), 1);
  std::vector<Arg> args = {Arg::of(*sum)};
  for (const i32& value : values) args.push_back(Arg::value(value));
  for (const i32 count : {0, 30, 31, 32, 33, 100}) {
    queue_->fill(*sum, 0, sizeof(i32), {}, {});
    HostProgram program(add_arguments, {{count}});
    queue_->launch(program, "add", {}, std::span(args).first(size_t(count) + 1), {});
    EXPECT_EQ(*static_cast<i32*>(sum->host()), count * (count + 1) / 2);
  }
}

/// A group of 256 items reverses its numbers by way of local memory, twice. args: where they go.
void reverse_twice(const KernelCall& call, u64 begin, u64 end) {
  constexpr u32 items = 256;
  struct Group {
    const KernelCall& call;
    u64 number;
  };
  for (u64 number = begin; number < end; ++number) {
    Group group{call, number};
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(call.local) % 128, 0u);
    call.run_items(
        call, items,
        [](void* context, u32 item) {
          const auto& [its_call, its_number] = *static_cast<Group*>(context);
          auto* const local = reinterpret_cast<u64*>(its_call.local);
          local[item] = its_number * items + item;
          its_call.barrier();
          const u64 reversed = local[items - 1 - item];
          its_call.barrier();
          local[item] = reversed;
          its_call.barrier();
          (*static_cast<u64* const*>(its_call.args[0]))[its_number * items + item] = local[items - 1 - item];
        },
        &group);
  }
}

TEST_F(HostDeviceTest, ItemsMeetAtBarriers) {
  constexpr u64 groups = 40, items = 256;
  const SharedBuffer out = filled(groups * items * sizeof(u64), std::byte{0xff});
  HostProgram program(reverse_twice, {});
  const Arg args[] = {Arg::of(*out)};
  queue_->launch(program, "reverse", {.groups = groups, .items = items, .local_bytes = items * sizeof(u64)}, args, {});
  std::vector<u64> expected(groups * items);
  std::iota(expected.begin(), expected.end(), u64{0});
  const auto* const values = static_cast<const u64*>(out->host());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), values));
}

/// Each group has the local memory to itself while it runs.
void use_local(const KernelCall& call, u64 begin, u64 end) {
  for (u64 group = begin; group < end; ++group) {
    for (size_t i = 0; i < 5000; ++i) call.local[i] = u8(group);
    std::this_thread::yield();
    for (size_t i = 0; i < 5000; ++i)
      if (call.local[i] != u8(group)) ++**static_cast<std::atomic<int>* const*>(call.args[0]);
  }
}

TEST_F(HostDeviceTest, MembersHaveLocalMemoryOfTheirOwn) {
  std::atomic<int> wrong{0};
  const SharedBuffer count = device_->wrap(&wrong, sizeof wrong);
  HostProgram program(use_local, {});
  const Arg args[] = {Arg::of(*count)};
  std::thread other(
      [&] { device_->queue(false)->launch(program, "use", {.groups = 200, .local_bytes = 5000}, args, {}); });
  queue_->launch(program, "use", {.groups = 200, .local_bytes = 5000}, args, {});
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(HostDeviceTest, LaunchesRefuseWhatTheHostDoesNotHave) {
  class Foreign final : public Program {
    std::vector<std::byte> binary() const override { return {}; }
  } foreign;
  HostProgram program(scale_groups, {});
  const auto launched = [&](Program& what, const Geometry& geometry, std::span<const Arg> args = {}) {
    return code_thrown([&] { queue_->launch(what, "k", geometry, args, {}); });
  };
  EXPECT_EQ(launched(foreign, {}), Errc::usage);
  EXPECT_EQ(launched(program, {.items = 0}), Errc::unsupported);
  EXPECT_EQ(launched(program, {.items = 1025}), Errc::unsupported);
  EXPECT_EQ(launched(program, {.cluster = 2}), Errc::unsupported);
}

/// Notes what its map says. args: a map, where the note goes.
void describe_map(const KernelCall& call, u64, u64) {
  const BoundMap& map = *static_cast<const BoundMap*>(call.args[0]);
  **static_cast<BoundMap* const*>(call.args[1]) = map;
}

TEST_F(HostDeviceTest, KernelsTakeMapsOfTheirBuffers) {
  BoundMap seen{};
  const SharedBuffer buffer = device_->allocate(1000), note = device_->wrap(&seen, sizeof seen);
  const TensorMap map{.begin = 32, .element = 8, .extent = {3, 5, 2}, .pitch = {48, 240}, .box = {16, 8, 1}};
  const Arg args[] = {Arg::of(*buffer, map), Arg::of(*note)};
  HostProgram program(describe_map, {});
  queue_->launch(program, "describe", {}, args, {});
  EXPECT_EQ(seen.begin, static_cast<std::byte*>(buffer->host()) + 32);
  EXPECT_EQ(seen.bytes, 968u);
  EXPECT_EQ(seen.element, 8u);
  EXPECT_TRUE(std::ranges::equal(seen.extent, map.extent));
  EXPECT_TRUE(std::ranges::equal(seen.pitch, map.pitch));
  EXPECT_TRUE(std::ranges::equal(seen.box, map.box));
  const TensorMap beyond{.begin = 1008, .pitch = {}};
  const Arg far[] = {Arg::of(*buffer, beyond), Arg::of(*note)};
  EXPECT_EQ(code_thrown([&] { queue_->launch(program, "describe", {}, far, {}); }), Errc::usage);
}

TEST_F(HostDeviceTest, WhatACardWouldStopAtIsAnError) {
  const auto fail = [](const KernelCall& call, u64, u64) { call.fault(call, "it reached for the moon"); };
  HostProgram program(fail, {});
  const std::string text = text_thrown([&] { queue_->launch(program, "k", {.groups = 100}, {}, {}); });
  EXPECT_NE(text.find("kernel \"k\" failed: it reached for the moon"), std::string::npos) << text;
}

TEST_F(HostDeviceTest, WaitsForWhatItIsGiven) {
  struct Slow final : Event {
    int waits = 0;
    void wait() override { ++waits; }
    bool done() override { return waits > 0; }
    double seconds() override { return 0; }
    double seconds_since(Event&) override { return 0; }
    void* native() const noexcept override { return nullptr; }
  };
  const auto slow = std::make_shared<Slow>();
  const SharedEvent waits[] = {nullptr, slow};
  const SharedBuffer buffer = device_->allocate(8);
  queue_->fill(*buffer, 0, 8, {}, waits);
  EXPECT_EQ(slow->waits, 1);
}

TEST_F(HostDeviceTest, CommandsOfAQueueDoNotMeet) {
  static std::atomic<int> inside{0}, met{0};
  const auto alone = [](const KernelCall&, u64, u64) {
    if (++inside > 1) ++met;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    --inside;
  };
  HostProgram program(alone, {});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat) queue_->launch(program, "alone", {}, {}, {});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(met, 0);
}

TEST_F(HostDeviceTest, LaunchesAllocateNothing) {
  const SharedBuffer out = filled(8 * sizeof(i64), {});
  HostProgram program(scale_groups, {{0}});
  const i64 offset = 0;
  const i32 factor = 1;
  const Arg args[] = {Arg::of(*out), Arg::value(offset), Arg::value(factor)};
  const std::string name = "scale";
  const Geometry geometry{.groups = 8, .local_bytes = 100};
  queue_->launch(program, name, geometry, args, {});
  const auto before = test::allocation_faults.made;
  queue_->launch(program, name, geometry, args, {});
  EXPECT_EQ(test::allocation_faults.made, before);
}

TEST_F(HostDeviceTest, GoesOnInAChild) {
  AXISLOOM_SKIP_WITHOUT_THREADS_IN_CHILDREN();
  EXPECT_EQ(test::exit_code_of([&] {
              const SharedBuffer out = filled(1000 * sizeof(i64), {});
              HostProgram program(scale_groups, {{0}});
              const i64 offset = 0;
              const i32 factor = 1;
              const Arg args[] = {Arg::of(*out), Arg::value(offset), Arg::value(factor)};
              axisloom::Queue(queue_).impl()->launch(program, "scale", {.groups = 1000}, args, {});
              const auto* const values = static_cast<const i64*>(out->host());
              for (i64 i = 0; i < 1000; ++i)
                if (values[i] != i + 1000) return 1;
              return axisloom::Device::open("host").allocate(10).bytes() == 10 ? 0 : 2;
            }),
            0);
}

/// Whether a driver's library is in this process.
bool driver_is_loaded() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("libOpenCL") != line.npos || line.find("libcuda") != line.npos) return true;
  return false;
}

TEST(HostRuntime, DISABLED_OpensNoDriver) {
  const axisloom::Device device = axisloom::Device::open("host");
  device.queue().finish();
  EXPECT_FALSE(driver_is_loaded());
  EXPECT_EQ(test::exit_code_of([] { return forked() ? 1 : 0; }), 0) << "a driver was used";
  EXPECT_EQ(axisloom::Device::open("auto").info().spec(), "host") << "where there is no driver";
  EXPECT_EQ(axisloom::Device::open("cpu").info().spec(), "host");
  test::end_alone();
}

TEST(HostRuntime, NeedsNoDriver) {
  if (!cuda_runtime().devices().empty()) GTEST_SKIP() << "there is a card";
  EXPECT_EQ(test::run_alone("HostRuntime.DISABLED_OpensNoDriver",
                            {"OCL_ICD_VENDORS=/nowhere", "AXISLOOM_DEVICE=", "AXISLOOM_THREADS="}),
            "");
}

}  // namespace
}  // namespace axisloom::device::host
