// Failures put into every OpenCL call: always a typed error that names the call, nothing leaked, nothing spoiled.
#include "device/opencl/errors.hpp"
#include "opencl_interposer.hpp"
#include "opencl_support.hpp"

#include <algorithm>
#include <set>

namespace axisloom::device {
namespace {

using axisloom::test::by_value;
using axisloom::test::code_thrown;
using axisloom::test::Interposer;
using axisloom::test::Lasting;
using axisloom::test::scale_request;
using axisloom::test::test_index;
using axisloom::test::test_spec;
using axisloom::test::text_thrown;
using opencl::cl;

constexpr int items = 16;

// Static: after an injected failure of a wait, a queued command may still write here.
alignas(64) int host_in[items];
alignas(64) int host_out[items];
alignas(64) int host_wrapped[items];

template <typename T, std::size_t count>
std::span<std::byte> bytes(T (&values)[count]) {
  return std::as_writable_bytes(std::span(values));
}

// Objects of ours as if an application had made them.
void borrow_all(Queue& queue, Buffer& buffer) {
  const auto native = static_cast<cl_command_queue>(queue.native());
  const auto get = [native]<typename Value>(Value, cl_command_queue_info what) {
    return opencl::query<Value>(cl().clGetCommandQueueInfo, native, what);
  };
  auto device = borrow_opencl(get(cl_context{}, CL_QUEUE_CONTEXT), get(cl_device_id{}, CL_QUEUE_DEVICE));
  auto borrowed = device->borrow_buffer(buffer.native(), buffer.bytes());
  device->borrow_queue(native)->fill(*borrowed, 0, buffer.bytes(), std::byte{0}, {})->wait();
}

// Everything that a device offers, once; returns whether the results were right.
bool use_a_device() {
  for (int i = 0; i < items; ++i) host_in[i] = i + 1;
  auto device = opencl_runtime().open(test_index());
  auto queue = device->queue(true);
  auto second_queue = device->queue(false);
  auto in = device->allocate(sizeof host_in);
  auto out = device->allocate(sizeof host_out);
  auto staging = device->allocate_staging(sizeof host_out);
  auto wrapped = device->wrap(host_wrapped, sizeof host_wrapped);
  if (!wrapped) wrapped = device->allocate(sizeof host_wrapped);
  auto program = device->build(scale_request);

  const std::shared_ptr<Event> written[] = {queue->write(*in, 0, bytes(host_in), {})};
  second_queue->fill(*out, 0, sizeof host_out, std::byte{0}, written)->wait();
  const int factor = 3;
  const std::int64_t shift = 4;
  const Arg args[] = {Arg::of(*in), Arg::of(*out), by_value(factor), by_value(shift)};
  auto launched = queue->launch(*program, "scale", {.groups = 1, .items = items}, args, {});
  launched->wait();
  if (!launched->done() || launched->seconds() < 0) return false;
  queue->copy(*out, 0, *wrapped, 0, sizeof host_out, {});
  queue->copy(*wrapped, 0, *staging, 0, sizeof host_out, {});
  queue->read(*wrapped, 0, {}, {});
  queue->flush();
  queue->read(*wrapped, 0, bytes(host_out), {});
  queue->finish();

  device->attributes(*program, "scale");
  device->build_identity();
  borrow_all(*queue, *in);
  auto again = device->load(scale_request, program->binary());
  if (!again) again = device->build(scale_request);
  for (int i = 0; i < items; ++i) {
    if (host_out[i] != factor * (i + 1) + 4 || static_cast<int*>(staging->host())[i] != host_out[i]) return false;
  }
  return true;
}

// As use_a_device on a machine whose device does not share the host's memory: other ways to allocate and to stage.
class WithoutUnifiedMemory {
 public:
  WithoutUnifiedMemory() : original_(cl().clGetDeviceInfo.function) {
    real() = original_;
    cl().clGetDeviceInfo.function = &answer;
  }
  ~WithoutUnifiedMemory() { cl().clGetDeviceInfo.function = original_; }
  WithoutUnifiedMemory(const WithoutUnifiedMemory&) = delete;
  WithoutUnifiedMemory& operator=(const WithoutUnifiedMemory&) = delete;

 private:
  using Function = decltype(cl().clGetDeviceInfo.function);
  static Function& real() {
    static Function function = nullptr;
    return function;
  }
  static cl_int CL_API_CALL answer(cl_device_id id, cl_device_info what, std::size_t size, void* value,
                                   std::size_t* used) {
    const cl_int code = real()(id, what, size, value, used);
    if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && value) *static_cast<cl_bool*>(value) = CL_FALSE;
    return code;
  }
  Function original_;
};

// Calls whose failure the library can do without: optional facts, a platform beside the one that is used, the build
// log, a binary that is then built instead; and those of destructors, which have nobody to tell.
bool may_be_survived(const std::string& call) {
  if (call == "clGetPlatformInfo") return test_index() > 0;  // of the platform before
  static const std::set<std::string> calls = {
      "clGetDeviceInfo",           "clGetDeviceIDs", "clGetProgramBuildInfo",  "clGetKernelWorkGroupInfo",
      "clCreateProgramWithBinary", "clBuildProgram", "clEnqueueUnmapMemObject"};
  return call.starts_with("clRelease") || calls.contains(call);
}

constexpr cl_int five_codes[] = {CL_INVALID_VALUE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, CL_INVALID_COMMAND_QUEUE,
                                 CL_MEM_OBJECT_ALLOCATION_FAILURE};

// One call of one entry point fails with one code, or all from that one on.
void expect_clean_failure(const std::string& call, int nth, cl_int code, Lasting lasting) {
  SCOPED_TRACE(call + " number " + std::to_string(nth) + " fails with " + std::string(opencl::code_name(code)) +
               (lasting == Lasting::yes ? ", as do those behind it" : ""));
  Interposer interposer;
  interposer.fail(call, nth, code, lasting);
  try {
    const bool right = use_a_device();
    EXPECT_TRUE(right) << "no error, and a wrong result";
    EXPECT_TRUE(may_be_survived(call)) << "the failure went unnoticed";
  } catch (const Error& error) {
    // A platform that fails to list its devices counts as one without any. What cannot be listed or described is left
    // out, and a device behind it has another number then.
    const bool lists = call.starts_with("clGetPlatform") || call.starts_with("clGetDevice");
    if (error.code() == Errc::no_device && (call == "clGetDeviceIDs" || (lists && test_index() > 0))) return;
    // The handle that was to be borrowed is called wrong where OpenCL says so.
    if (error.code() == Errc::usage && code == CL_INVALID_COMMAND_QUEUE && call == "clGetCommandQueueInfo") return;
    EXPECT_EQ(error.parts().call, call) << error.what();
    EXPECT_EQ(error.parts().native, code) << error.what();
    EXPECT_EQ(error.code(), opencl::classify(call, code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(opencl::code_name(code)), std::string::npos) << error.what();
  }
  EXPECT_GT(interposer.struck(), 0);
  EXPECT_EQ(interposer.live(), (std::map<std::string, int>{})) << "leaked";
}

void sweep(std::span<const cl_int> codes) {
  ASSERT_TRUE(use_a_device());  // the first use in a process asks for more
  std::map<std::string, int> calls;
  {
    Interposer interposer;
    ASSERT_TRUE(use_a_device());
    calls = interposer.calls();
    ASSERT_EQ(interposer.live(), (std::map<std::string, int>{})) << "leaked without any failure";
  }
  for (const auto& [call, count] : calls) {
    // Descriptions ask the same function dozens of times, and releases tell nobody: one code each is enough there, and
    // of the releases the first and the last.
    const bool release = call.starts_with("clRelease");
    const std::size_t used = call == "clGetDeviceInfo" || release ? 1 : codes.size();
    for (int nth = 1; nth <= count; nth = release && nth == 1 ? std::max(2, count) : nth + 1) {
      for (std::size_t i = 0; i < used; ++i) expect_clean_failure(call, nth, codes[i], Lasting::no);
      if (nth == 1 || nth == count) expect_clean_failure(call, nth, codes[0], Lasting::yes);
    }
    ASSERT_TRUE(use_a_device()) << "after failures of " << call;
  }
}

TEST(OpenclEntries, AreAllUsedByTheTestsOfFaults) {
  if (opencl_runtime().devices().empty()) GTEST_SKIP() << "no OpenCL device";
  if (!opencl_runtime().open(test_index())->info().unified_memory)
    GTEST_SKIP() << "the host's memory is wrapped only where the device shares it";
  Interposer interposer;
  ASSERT_TRUE(use_a_device());
  const auto calls = interposer.calls();
  for (const char* entry : axisloom::test::opencl_entries) EXPECT_TRUE(calls.contains(entry)) << entry;
}

class OpenclFault : public ::testing::Test {
 protected:
  void SetUp() override {
    if (opencl_runtime().devices().empty()) GTEST_SKIP() << "no OpenCL device";
  }
};

TEST_F(OpenclFault, EveryCallFailsCleanly) {
  sweep(five_codes);
}

TEST_F(OpenclFault, EveryCallFailsCleanlyWithoutUnifiedMemory) {
  const WithoutUnifiedMemory discrete;
  EXPECT_FALSE(opencl_runtime().open(test_index())->wrap(host_in, sizeof host_in));
  sweep(std::span(five_codes).first(1));
}

TEST_F(OpenclFault, AllocationFailureNamesBytesAndLimit) {
  auto device = opencl_runtime().open(test_index());
  Interposer interposer;
  interposer.fail("clCreateBuffer", 1, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  const std::string text = text_thrown([&] { device->allocate(12345); });
  EXPECT_NE(text.find("12345 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find(std::to_string(device->info().max_allocation)), std::string::npos) << text;
  EXPECT_NE(text.find(device->info().label()), std::string::npos) << text;
}

TEST_F(OpenclFault, LostDeviceEndsWhatIsUnderWayRefusesTheRestAndIsReplaced) {
  auto device = open(test_spec());
  auto queue = device->queue(false);
  auto buffer = device->allocate(64);
  const auto event = queue->fill(*buffer, 0, 64, std::byte{0}, {});
  EXPECT_EQ(open(test_spec()), device);
  EXPECT_FALSE(device->lost());
  {
    Interposer interposer;
    interposer.fail("clFinish", 1, CL_INVALID_COMMAND_QUEUE);
    EXPECT_EQ(code_thrown([&] { queue->finish(); }), Errc::device_lost);
    EXPECT_TRUE(device->lost());
    int calls = interposer.total_calls();
    for (const auto& wait : {std::function<void()>([&] { queue->finish(); }), {[&] { event->wait(); }}}) {
      EXPECT_EQ(code_thrown(wait), Errc::device_lost);
      EXPECT_EQ(interposer.total_calls(), calls + 1) << "memory may still be in use";
      calls = interposer.total_calls();
    }
    EXPECT_EQ(code_thrown([&] { device->allocate(4); }), Errc::device_lost);
    EXPECT_EQ(code_thrown([&] { queue->fill(*buffer, 0, 64, std::byte{0}, {}); }), Errc::device_lost);
    EXPECT_EQ(code_thrown([&] { device->build(scale_request); }), Errc::device_lost);
    EXPECT_EQ(interposer.total_calls(), calls) << "a lost device was still called";
  }
  auto fresh = open(test_spec());
  EXPECT_NE(fresh, device);
  fresh->queue(false)->fill(*fresh->allocate(64), 0, 64, std::byte{0}, {})->wait();
}

TEST_F(OpenclFault, FailedCommandIsReportedWithItsOwnCode) {
  auto device = opencl_runtime().open(test_index());
  auto queue = device->queue(false);
  auto buffer = device->allocate(64);
  auto event = queue->fill(*buffer, 0, 64, std::byte{0}, {});
  queue->finish();
  Interposer interposer;
  const auto original = cl().clGetEventInfo.function;
  cl().clGetEventInfo.function = [](cl_event, cl_event_info, std::size_t, void* value, std::size_t*) -> cl_int {
    *static_cast<cl_int*>(value) = CL_OUT_OF_RESOURCES;
    return CL_SUCCESS;
  };
  const std::string polled = text_thrown([&] { event->done(); });
  interposer.fail("clWaitForEvents", 1, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  const std::string waited = text_thrown([&] { event->wait(); });
  cl().clGetEventInfo.function = original;
  EXPECT_NE(polled.find("CL_OUT_OF_RESOURCES"), std::string::npos) << polled;
  EXPECT_NE(waited.find("CL_OUT_OF_RESOURCES"), std::string::npos) << waited;
}

TEST_F(OpenclFault, NoPlatformMeansNoDevice) {
  Interposer interposer;
  interposer.fail("clGetPlatformIDs", 1, CL_PLATFORM_NOT_FOUND_KHR);
  EXPECT_TRUE(opencl_runtime().devices().empty());
  interposer.fail("clGetPlatformIDs", 1, CL_OUT_OF_HOST_MEMORY);
  std::string logged;
  set_log([&](std::string_view line) { logged += line; });
  EXPECT_TRUE(opencl_runtime().devices().empty());
  set_log({});
  EXPECT_NE(logged.find("CL_OUT_OF_HOST_MEMORY"), std::string::npos) << logged;
  const std::size_t all = opencl_runtime().devices().size();
  interposer.fail("clGetDeviceIDs", 1, CL_DEVICE_NOT_FOUND);
  EXPECT_LT(opencl_runtime().devices().size(), all);
}

TEST_F(OpenclFault, RuntimeThatCopiesHostMemoryIsNotUsedInPlace) {
  const auto original = cl().clEnqueueMapBuffer.function;
  cl().clEnqueueMapBuffer.function = [](cl_command_queue, cl_mem, cl_bool, cl_map_flags, std::size_t, std::size_t,
                                        cl_uint, const cl_event*, cl_event*, cl_int* code) -> void* {
    *code = CL_SUCCESS;
    return host_out;
  };
  const auto unmap = cl().clEnqueueUnmapMemObject.function;
  cl().clEnqueueUnmapMemObject.function = [](cl_command_queue, cl_mem, void*, cl_uint, const cl_event*,
                                             cl_event*) -> cl_int { return CL_SUCCESS; };
  auto device = opencl_runtime().open(test_index());
  cl().clEnqueueMapBuffer.function = original;
  cl().clEnqueueUnmapMemObject.function = unmap;
  EXPECT_FALSE(device->info().unified_memory);
  EXPECT_FALSE(device->wrap(host_in, sizeof host_in));
}

TEST(DeviceCalls, AFillAsksForNoEmptyTransfer) {
  if (opencl_runtime().devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = opencl_runtime().open(test_index());
  const auto queue = device->queue(false);
  const auto buffer = device->allocate(256);
  Interposer interposer;  // OpenCL before 2.1 fails for a size of 0
  for (const auto& [from, bytes, writes] :
       {std::tuple<std::size_t, std::size_t, int>{0, 256, 0}, {3, 253, 1}, {3, 100, 2}}) {
    interposer.reset();
    queue->fill(*buffer, from, bytes, std::byte{1}, {})->wait();
    std::map<std::string, int> calls = interposer.calls();
    EXPECT_EQ(calls["clEnqueueWriteBuffer"], writes) << bytes << " bytes at " << from;
    EXPECT_EQ(calls["clEnqueueFillBuffer"], 1) << bytes << " bytes at " << from;
  }
}

TEST(DeviceCalls, AnEventOfAnotherQueueIsFlushedBeforeItIsWaitedFor) {
  if (opencl_runtime().devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = opencl_runtime().open(test_index());
  const auto first = device->queue(false), second = device->queue(false);
  const auto buffer = device->allocate(256);
  const std::shared_ptr<Event> done[] = {first->fill(*buffer, 0, 256, std::byte{1}, {})};
  Interposer interposer;
  const auto flushes = [&](Queue& queue) {
    interposer.reset();
    const auto next = queue.fill(*buffer, 0, 256, std::byte{2}, done);
    const int count = interposer.calls()["clFlush"];
    next->wait();
    return count;
  };
  EXPECT_EQ(flushes(*first), 0) << "a queue keeps its own order";
  EXPECT_EQ(flushes(*second), 1) << "or else both might wait for ever";
}

}  // namespace
}  // namespace axisloom::device
