// Failures put into every call of OpenCL while the library opens a device, plans and runs: a typed error or the right
// result, nothing leaked, and nothing that still runs in memory that the caller may free.
#include "device/opencl/errors.hpp"
#include "limited_device.hpp"
#include "opencl_interposer.hpp"

#include <algorithm>

namespace axisloom::ops_test {
namespace {

using test::Interposer;
using test::Lasting;

constexpr cl_int fault_code = CL_OUT_OF_RESOURCES;
constexpr int first_calls = 3;  // of each entry, and its last one, fail in turn

/// Three launches with a workspace between them, one with tickets, and a move.
struct Work {
  Operation op;
  std::vector<View> views;
};

std::vector<Work> all_work() {
  const View square = View::contiguous(Dtype::i32, {24, 24}), line = View::contiguous(Dtype::i32, {100000});
  std::vector<Work> work = {
      {einsum("i j, j k, k l -> i l"), {square, square, square}}, {reduction("sum"), {line}}, {transpose(), {square}}};
  for (Work& one : work) one.views.push_back(result_view(one.op, one.views));
  return work;
}

/// Its inputs and its result, made once.
struct Contents {
  std::vector<Bytes> in;
  Bytes out;
};

const Contents& contents_of(const Work& work) {
  static std::map<std::string, Contents> known;
  Contents& contents = known[to_string(work.op)];
  if (!contents.out.empty()) return contents;
  for (std::size_t i = 0; i + 1 < work.views.size(); ++i)
    contents.in.push_back(few_numbers(work.views[i], static_cast<unsigned>(i)));
  std::vector<const std::byte*> starts;
  for (const Bytes& bytes : contents.in) starts.push_back(bytes.data());
  contents.out.resize(static_cast<std::size_t>(buffer_bytes(work.views.back())));
  ops::entry(work.op.name).oracle(work.op, work.views, starts, contents.out.data());
  return contents;
}

bool right_on_host(const Work& work, const Device& device) {
  const Contents& contents = contents_of(work);
  const std::vector<std::span<const std::byte>> spans(contents.in.begin(), contents.in.end());
  Bytes out(contents.out.size());
  run_on_host(work.op, work.views, spans, out, device);
  return out == contents.out;
}

bool right_in_buffers(const Work& work, const Device& device, const Interposer& interposer, bool own_workspace) {
  const Plan made = plan(work.op, work.views, device);
  const Queue queue = device.queue();
  std::vector<Buffer> buffers;
  const Contents& contents = contents_of(work);
  for (const Bytes& bytes : contents.in) buffers.push_back(upload(device, queue, bytes));
  buffers.push_back(device.allocate(contents.out.size()));
  queue.finish();
  const Buffer workspace = own_workspace ? device.allocate(made.report().workspace_bytes) : Buffer();
  const int before = interposer.in_flight();
  try {
    made.run(queue, buffers, workspace);
  } catch (...) {
    EXPECT_LE(interposer.in_flight(), before) << "launches are still running";
    throw;
  }
  Bytes out(contents.out.size());
  try {
    queue.read(buffers.back(), 0, out).wait();
  } catch (...) {
    queue.impl()->drain();  // where a wait fails, the caller's memory is the caller's business
    throw;
  }
  return out == contents.out;
}

using Use = bool (*)(const Interposer&);

// With plans that live no longer than this, on a device of its own: nothing may be left.
bool use_a_fresh_device(const Interposer& interposer) {
  const Device device(device::opencl_runtime().open(test::test_index()));
  return right_in_buffers(all_work()[2], device, interposer, false);
}

// With plans and a device that were there before.
bool use_the_open_device(const Interposer& interposer) {
  const Device device = Device::open(test::test_spec());
  bool right = true;
  for (const Work& work : all_work()) {
    const int before = interposer.in_flight();
    try {
      right = right_on_host(work, device) && right;
    } catch (...) {
      EXPECT_LE(interposer.in_flight(), before) << "host memory is still in use";
      throw;
    }
    for (const bool own_workspace : {false, true})
      right = right_in_buffers(work, device, interposer, own_workspace) && right;
  }
  return right;
}

// Whether the call was reached: how often a run is asked whether it has ended depends on how fast it was.
bool expect_clean_failure(Use use, const std::string& call, int nth, Lasting lasting) {
  SCOPED_TRACE(call + " number " + std::to_string(nth) + (lasting == Lasting::yes ? " and later ones fail" : " fails"));
  Interposer interposer;
  interposer.fail(call, nth, fault_code, lasting);
  try {
    EXPECT_TRUE(use(interposer)) << "no error, and a wrong result";
  } catch (const Error& error) {
    if (error.code() == Errc::no_device) return true;  // what cannot be listed is left out
    EXPECT_EQ(error.parts().call, call) << error.what();
    EXPECT_EQ(error.parts().native, fault_code) << error.what();
    EXPECT_EQ(error.code(), device::opencl::classify(call, fault_code)) << error.what();
  }
  return interposer.struck() > 0;
}

void sweep(Use use) {
  std::map<std::string, int> usual;
  {
    Interposer interposer;
    ASSERT_TRUE(use(interposer));
    interposer.reset();
    ASSERT_TRUE(use(interposer));
    usual = interposer.calls();
  }
  int injections = 0, struck = 0;
  for (const auto& [call, count] : usual) {
    for (int nth = 1; nth <= count; nth = nth == first_calls ? std::max(count, nth + 1) : nth + 1) {
      for (const Lasting lasting : {Lasting::no, Lasting::yes}) {
        struck += expect_clean_failure(use, call, nth, lasting) ? 1 : 0;
        ++injections;
      }
    }
    Interposer healthy;
    ASSERT_TRUE(use(healthy)) << "after failures of " << call;
  }
  EXPECT_GT(struck, injections * 9 / 10);
}

class RunFault : public testing::Test {
 protected:
  void SetUp() override {
    if (device::opencl_runtime().devices().empty()) GTEST_SKIP() << "no OpenCL device";
  }
};

TEST_F(RunFault, NothingRunsOnAfterALaterLaunchFailed) {
  const Device device = Device::open(test::test_spec());
  const Work work = all_work()[0];
  ASSERT_TRUE(right_on_host(work, device));
  Interposer interposer;
  interposer.fail("clEnqueueNDRangeKernel", 2, fault_code);
  EXPECT_EQ(code_thrown([&] { right_on_host(work, device); }), Errc::device);
  EXPECT_EQ(interposer.calls()["clEnqueueNDRangeKernel"], 2);
  EXPECT_EQ(interposer.in_flight(), 0) << "the first launch still uses the caller's memory";
}

TEST_F(RunFault, EveryCallFailsCleanlyOnAFreshDevice) {
  sweep(use_a_fresh_device);
}

TEST_F(RunFault, EveryCallFailsCleanlyOnTheOpenDevice) {
  sweep(use_the_open_device);
}

}  // namespace
}  // namespace axisloom::ops_test
