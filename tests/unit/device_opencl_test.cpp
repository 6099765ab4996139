// The backend on a real OpenCL device (PoCL on most machines): memory, kernels, events, threads, borrowed objects.
#include "device/opencl/describe.hpp"
#include "device/opencl/icd.hpp"
#include "device/opencl/program.hpp"
#include "opencl_support.hpp"

#include <fstream>
#include <numeric>
#include <thread>

namespace axisloom::device {
namespace {

using axisloom::test::by_value;
using axisloom::test::bytes_of;
using axisloom::test::code_thrown;
using axisloom::test::scale_request;
using axisloom::test::test_index;
using axisloom::test::test_spec;
using axisloom::test::text_thrown;
using axisloom::test::writable_bytes_of;

class OpenclDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (opencl_runtime().devices().empty()) GTEST_SKIP() << "no OpenCL device";
    device_ = opencl_runtime().open(test_index());
  }
  std::vector<int> read_ints(Queue& queue, Buffer& buffer, std::size_t count) {
    std::vector<int> values(count, -1);
    queue.read(buffer, 0, writable_bytes_of(values), {})->wait();
    return values;
  }
  std::shared_ptr<Device> device_;
};

std::vector<int> iota(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

std::shared_ptr<Event> launch_scale(Queue& queue, Program& program, Buffer& in, Buffer& out, int factor,
                                    std::int64_t shift, std::uint64_t groups, unsigned items, Waits waits = {}) {
  const Arg args[] = {Arg::of(in), Arg::of(out), by_value(factor), by_value(shift)};
  return queue.launch(program, "scale", {.groups = groups, .items = items}, args, waits);
}

TEST(OpenclProgram, ResidentGroupsFollowTheGroupSize) {
  EXPECT_EQ(opencl::with_resident_groups(
                ".entry rows(\n)\n.reqntid 256, 1, 1\n{\n\tret;\n}\n.entry fold(\n)\n.reqntid 64\n{}", 4),
            ".entry rows(\n)\n.reqntid 256, 1, 1\n.minnctapersm 4\n{\n\tret;\n}\n.entry fold(\n)\n.reqntid 64\n"
            ".minnctapersm 4\n{}");
  EXPECT_EQ(opencl::with_resident_groups("not PTX: .reqntid", 4), "not PTX: .reqntid");
}

TEST_F(OpenclDeviceTest, DescribesItself) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.api, Api::opencl);
  EXPECT_EQ(info.index, test_index());
  EXPECT_FALSE(info.name.empty());
  EXPECT_TRUE(info.api_version.starts_with("OpenCL ")) << info.api_version;
  EXPECT_GE(info.compute_units, 1u);
  EXPECT_GE(info.max_group, 64u);
  EXPECT_GE(info.local_memory_max, info.local_memory);
  EXPECT_GE(info.global_memory, info.max_allocation);
  EXPECT_GE(info.base_alignment, 128u);
  EXPECT_LE(info.base_alignment, 4096u) << "bits taken for bytes";
  EXPECT_TRUE(info.byte_stores);
  if (info.platform == "Portable Computing Language") {
    EXPECT_EQ(info.kind, Kind::cpu);
    EXPECT_TRUE(info.unified_memory);
    EXPECT_FALSE(info.architecture.empty());
    EXPECT_NE(info.api_version.find(": " + info.architecture), std::string::npos) << info.architecture;
  } else if (info.platform == "NVIDIA CUDA") {
    EXPECT_EQ(info.kind, Kind::gpu);
    EXPECT_FALSE(info.unified_memory);
    EXPECT_TRUE(info.device_scope_order);
    EXPECT_TRUE(info.architecture.starts_with("sm_")) << info.architecture;
  }
  EXPECT_NE(device_->build_identity().find(info.driver), std::string::npos);
}

TEST_F(OpenclDeviceTest, CopiesFillsAndReadsParts) {
  auto queue = device_->queue(false);
  const std::vector<int> values = iota(1000);
  auto a = device_->allocate(4000);
  auto b = device_->allocate(4000);
  EXPECT_EQ(a->bytes(), 4000u);
  EXPECT_EQ(a->alignment() % 128, 0u);
  queue->write(*a, 0, bytes_of(values), {});
  queue->fill(*b, 0, 4000, std::byte{0xff}, {});
  queue->fill(*b, 3, 5, std::byte{0x01}, {});
  queue->copy(*a, 400, *b, 2000, 40, {});
  const std::vector<int> got = read_ints(*queue, *b, 1000);
  EXPECT_EQ(static_cast<unsigned>(got[0]), 0x01ffffffu);
  EXPECT_EQ(got[1], 0x01010101);
  EXPECT_EQ(got[2], -1);
  EXPECT_EQ(got[499], -1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(got[500 + i], 101 + i);
  EXPECT_EQ(got[510], -1);
  queue->copy(*a, 0, *a, 2000, 2000, {});
  EXPECT_EQ(read_ints(*queue, *a, 1000)[500], 1);
}

TEST_F(OpenclDeviceTest, FillsAnyRange) {
  auto queue = device_->queue(false);
  auto buffer = device_->allocate(400);
  for (const auto& [from, bytes] : {std::pair<std::size_t, std::size_t>{3, 100}, {3, 5}, {16, 16}, {1, 15}, {32, 33}}) {
    queue->fill(*buffer, 0, 400, std::byte{0}, {});
    queue->fill(*buffer, from, bytes, std::byte{7}, {});
    std::vector<std::byte> got(400), want(400);
    std::fill_n(want.begin() + static_cast<std::ptrdiff_t>(from), bytes, std::byte{7});
    queue->read(*buffer, 0, got, {})->wait();
    EXPECT_EQ(got, want) << bytes << " bytes at " << from;
  }
}

TEST_F(OpenclDeviceTest, CopiesAndFillsAnyRangeBeyondFourGibibytes) {
  constexpr std::size_t two = std::size_t{1} << 31, bytes = 2 * two + 7;
  if (device_->info().unified_memory || device_->info().max_allocation < bytes) GTEST_SKIP() << "no such buffers";
  auto queue = device_->queue(false);
  auto from = device_->allocate(bytes), to = device_->allocate(bytes);
  queue->fill(*from, 0, bytes, std::byte{3}, {});
  for (const std::size_t at : {two - 1, two, 2 * two}) queue->fill(*from, at, 3, std::byte{5}, {});
  queue->fill(*to, 0, bytes, std::byte{0}, {});
  queue->copy(*from, 0, *to, 0, bytes, {})->wait();
  const auto expect = [&](std::size_t at, const std::vector<int>& want) {
    std::vector<std::byte> got(want.size()), wanted;
    for (const int byte : want) wanted.push_back(static_cast<std::byte>(byte));
    queue->read(*to, at, got, {})->wait();
    EXPECT_EQ(got, wanted) << at;
  };
  expect(0, {3, 3, 3, 3});
  expect(two - 2, {3, 5, 5, 5, 5, 3});  // fills at two - 1 and at two
  expect(2 * two - 1, {3, 5, 5, 5, 3, 3, 3, 3});
}

TEST_F(OpenclDeviceTest, HandlesNoBytesAndNoGroups) {
  auto queue = device_->queue(false);
  auto empty = device_->allocate(0);
  auto wrapped = device_->info().unified_memory ? device_->wrap(nullptr, 0) : device_->allocate(0);
  EXPECT_EQ(empty->bytes(), 0u);
  EXPECT_EQ(wrapped->bytes(), 0u);
  queue->write(*empty, 0, {}, {})->wait();
  queue->read(*empty, 0, {}, {})->wait();
  queue->copy(*empty, 0, *wrapped, 0, 0, {})->wait();
  auto last = queue->fill(*empty, 0, 0, std::byte{1}, {});
  last->wait();
  EXPECT_TRUE(last->done());
  auto program = device_->build(scale_request);
  launch_scale(*queue, *program, *empty, *wrapped, 1, 0, 0, 16)->wait();
}

TEST_F(OpenclDeviceTest, RefusesRangesOutsideTheBuffer) {
  auto queue = device_->queue(false);
  auto buffer = device_->allocate(64);
  std::vector<std::byte> host(65);
  EXPECT_EQ(code_thrown([&] { queue->write(*buffer, 0, host, {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue->read(*buffer, 1, std::span(host).first(64), {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue->read(*buffer, ~std::size_t{0}, std::span(host).first(2), {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue->fill(*buffer, 65, 0, std::byte{0}, {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue->copy(*buffer, 0, *buffer, 8, 16, {}); }), Errc::overlap);
}

TEST_F(OpenclDeviceTest, LaunchesWithGroupsAndArguments) {
  auto queue = device_->queue(true);
  const std::vector<int> values = iota(256);
  auto in = device_->allocate(1024);
  auto out = device_->allocate(1024);
  queue->write(*in, 0, bytes_of(values), {});
  const auto earlier = queue->fill(*out, 0, 1024, std::byte{0xff}, {});
  auto program = device_->build(scale_request);
  auto event = launch_scale(*queue, *program, *in, *out, 3, std::int64_t{-5}, 12, 16);
  event->wait();
  EXPECT_TRUE(event->done());
  EXPECT_GT(event->seconds(), 0.0);
  EXPECT_LT(event->seconds(), 60.0);
  EXPECT_GE(event->seconds_since(*earlier), event->seconds()) << "the queue is in order";
  const std::vector<int> got = read_ints(*queue, *out, 256);
  for (int i = 0; i < 192; ++i) ASSERT_EQ(got[i], 3 * (i + 1) - 5) << i;
  EXPECT_EQ(got[192], -1) << "more work-items ran than asked for";
}

TEST_F(OpenclDeviceTest, ExplainsWrongLaunches) {
  auto queue = device_->queue(false);
  auto buffer = device_->allocate(64);
  auto program = device_->build(scale_request);
  const int one = 1;
  const std::int64_t zero = 0;
  const Arg few[] = {Arg::of(*buffer), Arg::of(*buffer), by_value(one)};
  const std::string missing = text_thrown([&] { queue->launch(*program, "scale", {}, few, {}); });
  EXPECT_NE(missing.find("takes 4 arguments and was given 3"), std::string::npos) << missing;
  const Arg narrow[] = {Arg::of(*buffer), Arg::of(*buffer), by_value(one), by_value(one)};
  const std::string size = text_thrown([&] { queue->launch(*program, "scale", {}, narrow, {}); });
  EXPECT_NE(size.find("argument 3 of kernel \"scale\", given 4 bytes by value"), std::string::npos) << size;
  const Arg good[] = {Arg::of(*buffer), Arg::of(*buffer), by_value(one), by_value(zero)};
  const std::string absent = text_thrown([&] { queue->launch(*program, "scala", {}, good, {}); });
  EXPECT_NE(absent.find("\"scala\" of test/scale"), std::string::npos) << absent;
  EXPECT_EQ(code_thrown([&] { queue->launch(*program, "scale", {.cluster = 2}, good, {}); }), Errc::unsupported);
  EXPECT_EQ(code_thrown([&] { queue->launch(*program, "scale", {.items = 0}, good, {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue->launch(*program, "scale", {.groups = ~0ull, .items = 2}, good, {}); }),
            Errc::usage);
  queue->launch(*program, "scale", {.groups = 1, .items = 16}, good, {})->wait();
}

TEST_F(OpenclDeviceTest, BuildErrorsCarryTheLog) {
  const BuildRequest broken{"test/broken", "kernel void f(global int* a) { a[0] = undeclared_thing; }", {}};
  const std::string text = text_thrown([&] { device_->build(broken); });
  EXPECT_NE(text.find("test/broken"), std::string::npos) << text;
  EXPECT_NE(text.find("undeclared_thing"), std::string::npos) << text;
  EXPECT_NE(text.find("CL_BUILD_PROGRAM_FAILURE"), std::string::npos) << text;
  EXPECT_EQ(code_thrown([&] { device_->build(broken); }), Errc::device);
}

TEST_F(OpenclDeviceTest, BinaryOfALaunchedProgramLoadsAndRuns) {
  auto queue = device_->queue(false);
  const std::vector<int> values = iota(64);
  auto in = device_->allocate(256);
  auto out = device_->allocate(256);
  queue->write(*in, 0, bytes_of(values), {});
  auto built = device_->build(scale_request);
  launch_scale(*queue, *built, *in, *out, 1, 0, 4, 16)->wait();
  const std::vector<std::byte> binary = built->binary();
  ASSERT_FALSE(binary.empty());
  auto loaded = device_->load(scale_request, binary);
  ASSERT_TRUE(loaded);
  launch_scale(*queue, *loaded, *in, *out, 5, 2, 4, 16)->wait();
  EXPECT_EQ(read_ints(*queue, *out, 64)[63], 5 * 64 + 2);
  EXPECT_FALSE(device_->load(scale_request, {}));
  EXPECT_FALSE(device_->load(scale_request, std::as_bytes(std::span("this is no binary of any device"))));
}

TEST_F(OpenclDeviceTest, TellsWhatAKernelUses) {
  const BuildRequest request{"test/local",
                             "kernel void twice(global int* a) {\n"
                             "  local int tile[32];\n"
                             "  tile[get_local_id(0)] = a[get_global_id(0)];\n"
                             "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "  a[get_global_id(0)] = 2 * tile[31 - get_local_id(0)];\n"
                             "}\n",
                             {}};
  auto program = device_->build(request);
  const KernelAttributes attributes = device_->attributes(*program, "twice");
  // PoCL counts local memory only where it could not turn it into something else.
  const bool pocl = device_->info().platform == "Portable Computing Language";
  EXPECT_GE(attributes.local_bytes, pocl ? 0 : 128);
  if (device_->info().platform == "NVIDIA CUDA") {
    EXPECT_GT(attributes.registers, 0);
    EXPECT_EQ(attributes.spilled_bytes, 0);
  }
  EXPECT_GE(attributes.max_items, 32);
}

TEST_F(OpenclDeviceTest, WaitsAcrossQueues) {
  auto producer = device_->queue(false);
  auto consumer = device_->queue(false);
  auto buffer = device_->allocate(1 << 20);
  std::vector<std::byte> host(1 << 20);
  for (int round = 1; round <= 20; ++round) {
    auto filled = producer->fill(*buffer, 0, host.size(), static_cast<std::byte>(round), {});
    const std::shared_ptr<Event> waits[] = {filled, nullptr};
    consumer->read(*buffer, 0, host, waits)->wait();
    ASSERT_EQ(host.front(), static_cast<std::byte>(round));
    ASSERT_EQ(host.back(), static_cast<std::byte>(round));
  }
}

TEST_F(OpenclDeviceTest, RefusesObjectsOfAnotherContext) {
  auto other = opencl_runtime().open(test_index());
  auto queue = device_->queue(false);
  auto foreign_queue = other->queue(false);
  auto mine = device_->allocate(64);
  auto foreign = other->allocate(64);
  const std::shared_ptr<Event> waits[] = {foreign_queue->fill(*foreign, 0, 64, std::byte{0}, {})};
  EXPECT_EQ(code_thrown([&] { queue->fill(*mine, 0, 64, std::byte{0}, waits); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue->fill(*foreign, 0, 64, std::byte{0}, {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue->copy(*mine, 0, *foreign, 0, 64, {}); }), Errc::usage);
  auto program = other->build(scale_request);
  EXPECT_EQ(code_thrown([&] { queue->launch(*program, "scale", {}, {}, {}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { device_->attributes(*program, "scale"); }), Errc::usage);
  waits[0]->wait();
}

TEST_F(OpenclDeviceTest, TimesOnlyWhereAskedFor) {
  auto buffer = device_->allocate(64);
  auto untimed = device_->queue(false)->fill(*buffer, 0, 64, std::byte{0}, {});
  untimed->wait();
  EXPECT_EQ(code_thrown([&] { untimed->seconds(); }), Errc::usage);
}

TEST_F(OpenclDeviceTest, AllocationBeyondTheLimitNamesIt) {
  const std::size_t limit = device_->info().max_allocation;
  const std::string text = text_thrown([&] { device_->allocate(limit * 8); });
  EXPECT_NE(text.find(std::to_string(limit * 8)), std::string::npos) << text;
  EXPECT_NE(text.find(std::to_string(limit)), std::string::npos) << text;
  EXPECT_NE(text.find("CL_DEVICE_MAX_MEM_ALLOC_SIZE"), std::string::npos) << text;
  EXPECT_EQ(code_thrown([&] { device_->allocate(limit * 8); }), Errc::out_of_memory);
  EXPECT_EQ(code_thrown([&] { device_->allocate(~std::size_t{0}); }), Errc::out_of_memory);
}

TEST_F(OpenclDeviceTest, UsesWrappedMemoryInPlace) {
  if (!device_->info().unified_memory) GTEST_SKIP() << "this device cannot use host memory in place";
  auto queue = device_->queue(false);
  auto program = device_->build(scale_request);
  std::vector<int> in = iota(65);
  std::vector<int> out(64, -1);
  // From the second element on: user memory is aligned to its elements only.
  auto wrapped_in = device_->wrap(in.data() + 1, 256);
  auto wrapped_out = device_->wrap(out.data(), 256);
  EXPECT_EQ(wrapped_in->host(), in.data() + 1);
  EXPECT_EQ(wrapped_in->bytes(), 256u);
  const auto address = reinterpret_cast<std::uintptr_t>(in.data() + 1);
  EXPECT_EQ(address % wrapped_in->alignment(), 0u);
  EXPECT_TRUE(wrapped_in->alignment() == 4096 || address % (2 * wrapped_in->alignment()) != 0);
  launch_scale(*queue, *program, *wrapped_in, *wrapped_out, 10, 1, 4, 16);
  queue->finish();
  for (int i = 0; i < 64; ++i) ASSERT_EQ(out[i], 10 * (i + 2) + 1) << i;
  in[1] = 1000;
  launch_scale(*queue, *program, *wrapped_in, *wrapped_out, 1, 0, 4, 16)->wait();
  EXPECT_EQ(out[0], 1000) << "the host's change was not seen";
  EXPECT_EQ(read_ints(*queue, *wrapped_out, 64)[0], 1000);
  const std::vector<int> fresh(64, 77);
  queue->write(*wrapped_out, 0, bytes_of(fresh), {})->wait();
  EXPECT_EQ(out[63], 77);
  EXPECT_EQ(code_thrown([&] { device_->wrap(nullptr, 4); }), Errc::usage);
}

TEST_F(OpenclDeviceTest, BuffersOutliveTheirLastHandleWhileInUse) {
  auto queue = device_->queue(false);
  auto program = device_->build(scale_request);
  constexpr std::size_t count = 1 << 18;
  auto out = device_->allocate(4 * count);
  const std::vector<int> values = iota(count);
  for (int round = 0; round < 5; ++round) {
    auto in = device_->allocate(4 * count);
    queue->write(*in, 0, bytes_of(values), {});
    launch_scale(*queue, *program, *in, *out, 2, round, count / 256, 256);
    in.reset();
    const std::vector<int> scribble(count, -7);  // likely to get the memory of `in`, were it free already
    EXPECT_EQ(read_ints(*queue, *out, count)[count - 1], 2 * static_cast<int>(count) + round);
  }
}

TEST_F(OpenclDeviceTest, StagingMemoryIsHostMemory) {
  auto queue = device_->queue(false);
  auto staging = device_->allocate_staging(256);
  auto buffer = device_->allocate(256);
  ASSERT_TRUE(staging->host());
  auto* ints = static_cast<int*>(staging->host());
  std::iota(ints, ints + 64, 5);
  queue->copy(*staging, 128, *buffer, 0, 128, {})->wait();
  EXPECT_EQ(read_ints(*queue, *buffer, 32)[0], 5 + 32);
  queue->fill(*buffer, 0, 256, std::byte{0x11}, {});
  queue->copy(*buffer, 0, *staging, 0, 128, {})->wait();
  EXPECT_EQ(ints[31], 0x11111111);
  EXPECT_EQ(ints[32], 5 + 32);
}

TEST_F(OpenclDeviceTest, EightThreadsShareOneProgram) {
  if (device_->info().platform == "Oclgrind") GTEST_SKIP() << "the simulator runs one kernel at a time";
  auto program = device_->build(scale_request);
  constexpr int threads = 8;
  constexpr int rounds = 200;
  std::vector<std::string> failures(threads);
  const auto work = [&](int id) {
    auto queue = device_->queue(false);
    auto in = device_->allocate(64 * sizeof(int));
    auto out = device_->allocate(64 * sizeof(int));
    const std::vector<int> values = iota(64);
    queue->write(*in, 0, bytes_of(values), {})->wait();
    for (int round = 0; round < rounds && failures[id].empty(); ++round) {
      const int factor = id * rounds + round + 1;
      launch_scale(*queue, *program, *in, *out, factor, id, 4, 16);
      const std::vector<int> got = read_ints(*queue, *out, 64);
      for (int i = 0; i < 64; ++i) {
        if (got[i] != factor * (i + 1) + id)
          failures[id] = "round " + std::to_string(round) + ", item " + std::to_string(i);
      }
    }
  };
  std::vector<std::thread> pool;
  for (int id = 0; id < threads; ++id) {
    pool.emplace_back([&, id] { failures[id] = text_thrown([&] { work(id); }) + failures[id]; });
  }
  for (std::thread& thread : pool) thread.join();
  for (int id = 0; id < threads; ++id) EXPECT_EQ(failures[id], "") << "thread " << id;
}

TEST_F(OpenclDeviceTest, OpenSharesOneDevicePerPieceOfHardware) {
  std::vector<std::shared_ptr<Device>> seen(8);
  std::vector<std::thread> pool;
  for (auto& place : seen) pool.emplace_back([&place] { place = open(test_spec()); });
  for (std::thread& thread : pool) thread.join();
  for (const auto& device : seen) EXPECT_EQ(device, seen.front());
  EXPECT_NE(seen.front(), device_);
  const std::string named = "opencl:" + seen.front()->info().name.substr(2, 6);
  EXPECT_EQ(open(named), seen.front());
}

TEST_F(OpenclDeviceTest, PublicHandlesForward) {
  const axisloom::Device device(device_);
  const axisloom::Queue queue = device.queue(true);
  const axisloom::Buffer buffer = device.allocate(256);
  EXPECT_EQ(buffer.bytes(), 256u);
  const std::vector<int> values = iota(64);
  const axisloom::Event written = queue.write(buffer, 0, bytes_of(values));
  std::vector<int> back(64);
  const axisloom::Event waits[] = {written, axisloom::Event()};
  queue.read(buffer, 0, writable_bytes_of(back), waits).wait();
  EXPECT_EQ(back, values);
  queue.finish();
  EXPECT_TRUE(written.done());
  EXPECT_GE(written.seconds(), 0.0);
  EXPECT_TRUE(axisloom::Event().done());
  EXPECT_EQ(axisloom::Buffer().bytes(), 0u);
  EXPECT_EQ(code_thrown([] { axisloom::Device().allocate(1); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { queue.write(axisloom::Buffer(), 0, bytes_of(values)); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { axisloom::Queue().finish(); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { axisloom::Event().seconds(); }), Errc::usage);
}

TEST(OpenclRuntime, StatusSaysWhatWasFound) {
  const std::vector<RuntimeStatus> all = opencl_runtime().status();
  ASSERT_EQ(all.size(), 1u);
  const RuntimeStatus& status = all.front();
  EXPECT_EQ(status.found, !opencl_runtime().devices().empty());
  EXPECT_FALSE(status.tried.empty());
  EXPECT_EQ(status.found, status.remedy.empty());
  const auto is_platform = [](const auto& fact) { return fact.first == "platform"; };
  EXPECT_EQ(status.found, std::any_of(status.facts.begin(), status.facts.end(), is_platform));
}

TEST(OpenclRuntime, OpenRefusesNumbersThatAreNot) {
  const int count = static_cast<int>(opencl_runtime().devices().size());
  EXPECT_EQ(code_thrown([] { opencl_runtime().open(-1); }), Errc::no_device);
  EXPECT_EQ(code_thrown([=] { opencl_runtime().open(count); }), Errc::no_device);
}

TEST(OpenclIcd, ReadsTheFilesOfAFolder) {
  std::string folder = (std::filesystem::temp_directory_path() / "axisloom-icd-XXXXXX").string();
  ASSERT_TRUE(mkdtemp(folder.data()));
  std::ofstream(folder + "/a.icd") << "libdoes-not-exist.so.9 \n";
  std::ofstream(folder + "/b.icd") << "libc.so.6\n";
  std::ofstream(folder + "/c.icd") << "";
  std::ofstream(folder + "/readme.txt") << "libc.so.6\n";
  const char* before = std::getenv("OCL_ICD_VENDORS");
  const std::optional<std::string> saved = before ? std::optional<std::string>(before) : std::nullopt;
  setenv("OCL_ICD_VENDORS", folder.c_str(), 1);
  const opencl::IcdSearch search = opencl::find_icd_files();
  saved ? setenv("OCL_ICD_VENDORS", saved->c_str(), 1) : unsetenv("OCL_ICD_VENDORS");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(search.place, folder);
  ASSERT_EQ(search.files.size(), 3u);
  EXPECT_NE(search.files[0].why, "");
  EXPECT_NE(opencl::describe(search.files[0]).find("libdoes-not-exist.so.9"), std::string::npos);
  EXPECT_EQ(search.files[1].why, "");
  EXPECT_EQ(opencl::describe(search.files[1]), "libc.so.6 (opens)");
  EXPECT_NE(search.files[2].why, "");
}

TEST(OpenclProgramLog, GivesRegistersAndSpillsOfTheKernelAskedFor) {
  const std::string log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
      "ptxas info    : Function properties for first\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 12 registers, used 0 barriers, 552 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
      "    32 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads\n"
      "ptxas info    : Used 255 registers\n";
  EXPECT_EQ(opencl::attributes_from_log(log, "first").registers, 12);
  EXPECT_EQ(opencl::attributes_from_log(log, "first").spilled_bytes, 0);
  EXPECT_EQ(opencl::attributes_from_log(log, "second").registers, 255);
  EXPECT_EQ(opencl::attributes_from_log(log, "second").spilled_bytes, 24);
  EXPECT_EQ(opencl::attributes_from_log(log, "third").registers, -1);
  EXPECT_EQ(opencl::attributes_from_log("", "first").spilled_bytes, -1);
}

}  // namespace
}  // namespace axisloom::device
