// Empty handles, by default or moved from: a typed error from every call, or nothing where there is nothing to do.
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace axisloom::ops_test {
namespace {

const Operation plain_copy = copy();

View floats(const Dims& shape) {
  return View::contiguous(Dtype::f32, shape);
}

template <class Handle>
Handle emptied(Handle& handle) {
  const Handle taken = std::move(handle);
  return handle;  // NOLINT: what is left is the point
}

template <class Call>
void expect_usage(const char* what, Call&& call) {
  EXPECT_EQ(code_thrown(call), Errc::usage) << what;
}

void expect_useless(const Plan& plan) {
  expect_usage("report", [&] { plan.report(); });
  expect_usage("views", [&] { plan.views(); });
  expect_usage("device", [&] { plan.device(); });
  expect_usage("run", [&] { plan.run(real_device().queue(), {}); });
  EXPECT_EQ(plan.impl(), nullptr);
}

void expect_useless(const Device& device) {
  std::array<std::byte, 16> memory{};
  const View view = floats({2});
  const std::span<const std::byte> in = std::span(memory).first(8);
  EXPECT_FALSE(device);
  expect_usage("info", [&] { device.info(); });
  expect_usage("allocate", [&] { device.allocate(1); });
  expect_usage("wrap", [&] { device.wrap(memory.data(), 1); });
  expect_usage("borrow_buffer", [&] { device.borrow_buffer(memory.data(), 1); });
  expect_usage("queue", [&] { device.queue(); });
  expect_usage("borrow_queue", [&] { device.borrow_queue(memory.data()); });
  expect_usage("plan", [&] { plan(plain_copy, std::span(&view, 1), device); });
  expect_usage("run_on_host", [&] {
    run_on_host(plain_copy, std::span(&view, 1), std::span(&in, 1), std::span(memory).last(8), device);
  });
  const PlanRequest request{plain_copy, {view}, {}};
  expect_usage("warm_up", [&] { warm_up(std::span(&request, 1), device); });
  EXPECT_TRUE(warm_up({}, device).empty()) << "there is nothing to do";
}

void expect_useless(const Queue& queue) {
  const Buffer buffer = real_device().allocate(4);
  std::array<std::byte, 4> memory{};
  expect_usage("write", [&] { queue.write(buffer, 0, memory); });
  expect_usage("read", [&] { queue.read(buffer, 0, memory); });
  expect_usage("finish", [&] { queue.finish(); });
  const View view = floats({2});
  const Plan some = plan(plain_copy, std::span(&view, 1), real_device());
  const std::array buffers{real_device().allocate(8), real_device().allocate(8)};
  expect_usage("run", [&] { some.run(queue, buffers); });
  const View none = floats({0});
  expect_usage("run of nothing",
               [&] { plan(plain_copy, std::span(&none, 1), real_device()).run(queue, std::array<Buffer, 2>{}); });
}

TEST(EmptyHandles, OfPlansAreRefused) {
  expect_useless(Plan());
  const View view = floats({2});
  Plan made = plan(plain_copy, std::span(&view, 1), real_device());
  expect_useless(emptied(made));
}

TEST(EmptyHandles, OfDevicesAreRefused) {
  expect_useless(Device());
  Device device = real_device();
  expect_useless(emptied(device));
}

TEST(EmptyHandles, OfQueuesAreRefused) {
  expect_useless(Queue());
  Queue queue = real_device().queue();
  expect_useless(emptied(queue));
}

TEST(EmptyHandles, OfBuffersHaveNoBytes) {
  Buffer buffer = real_device().allocate(4);
  const Queue queue = real_device().queue();
  std::array<std::byte, 4> memory{};
  for (const Buffer& empty : {Buffer(), emptied(buffer)}) {
    EXPECT_FALSE(empty);
    EXPECT_EQ(empty.bytes(), 0u);
    expect_usage("write", [&] { queue.write(empty, 0, memory); });
    expect_usage("read", [&] { queue.read(empty, 0, memory); });
    const View view = floats({1});
    const Plan some = plan(plain_copy, std::span(&view, 1), real_device());
    const Buffer whole = real_device().allocate(4);
    expect_usage("input", [&] { some.run(queue, std::array{empty, whole}); });
    expect_usage("output", [&] { some.run(queue, std::array{whole, empty}); });
  }
}

TEST(EmptyHandles, OfEventsAreDone) {
  const Queue queue = real_device().queue();
  const Buffer buffer = real_device().allocate(4);
  const std::array<std::byte, 4> memory{};
  Event event = queue.write(buffer, 0, memory);
  event.wait();
  for (const Event& empty : {Event(), emptied(event)}) {
    EXPECT_TRUE(empty.done());
    empty.wait();
    expect_usage("seconds", [&] { empty.seconds(); });
    queue.write(buffer, 0, memory, std::span(&empty, 1)).wait();
  }
}

// --- arrays without elements
// ------------------------------------------------------------------------------------------

struct OfNothing {
  Operation op;
  std::vector<View> inputs;  // at least one of them without elements
};

/// Every operation on arrays without elements, with results that have some and with results that have none.
std::vector<OfNothing> cases_of_nothing() {
  constexpr std::array order{1, 0};
  std::vector<OfNothing> cases = {
      {copy(), {floats({0, 3})}},
      {transpose(), {floats({3, 0})}},
      {permute(order), {floats({0, 3})}},
      {rearrange("(a b) c -> c b a", {{"b", 2}}), {floats({0, 3})}},
      {repeat("a b -> a b c", {{"c", 3}}), {floats({0, 3})}},
      {repeat("a b -> a b c", {{"c", 0}}), {floats({2, 3})}},
      {relayout("NCHW", "NC/4HW4"), {floats({2, 0, 2, 2})}},
      {relayout("NCHW", "NC/4HW4"), {floats({2, 3, 0, 2})}},
      {dot(), {floats({0}), floats({0})}},
      {matmul(), {floats({3, 0}), floats({0, 5})}},
      {matmul(), {floats({0, 4}), floats({4, 5})}},
      {matmul({{"beta", "2"}}), {floats({3, 0}), floats({0, 5}), floats({3, 5})}},
      {einsum("i j, j k -> i k"), {floats({3, 0}), floats({0, 5})}},
      {einsum("i j, j k, k l -> i l"), {floats({3, 4}), floats({4, 0}), floats({0, 5})}},
      {einsum("i j, j k, k l -> i l"), {floats({3, 4}), floats({4, 5}), floats({5, 0})}},
      {einsum("i j ->"), {floats({3, 0})}},
  };
  for (const char* name : {"sum", "prod", "mean", "any", "all", "count_nonzero", "norm"})
    cases.push_back({reduction(name), {floats({0})}});
  for (const char* name : {"min", "max", "argmin", "argmax"})  // whose result of nothing has no elements either
    cases.push_back({reduction(name, {{"axes", "1"}}), {floats({0, 3})}});
  for (const Dims& shape : {Dims{0, 3}, Dims{3, 0}}) cases.push_back({reduce("sum", "a b -> b"), {floats(shape)}});
  return cases;
}

/// The output after a run in which arrays without elements have no buffer.
Bytes without_their_buffers(const Plan& plan, const std::vector<View>& views, const std::vector<Bytes>& in,
                            const Bytes& out) {
  const Queue queue = plan.device().queue();
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Bytes& bytes = i < in.size() ? in[i] : out;
    buffers.push_back(views[i].count() == 0 ? Buffer() : upload(plan.device(), queue, bytes));
  }
  plan.run(queue, buffers).wait();
  return buffers.back() ? download(queue, buffers.back()) : Bytes();
}

void expect_right_without_buffers(const OfNothing& given, bool checked) {
  SCOPED_TRACE(to_string(given.op) + " " + to_string(given.inputs[0]) + (checked ? ", checked" : ""));
  std::vector<View> views = given.inputs;
  views.push_back(result_view(given.op, given.inputs));
  std::vector<Bytes> in;
  std::vector<const std::byte*> starts;
  for (const View& view : given.inputs) in.push_back(Bytes(static_cast<std::size_t>(buffer_bytes(view))));
  for (const Bytes& bytes : in) starts.push_back(bytes.data());
  const Bytes out(static_cast<std::size_t>(buffer_bytes(views.back())), std::byte{0x3c});
  Bytes expected = out;
  ops::entry(given.op.name).oracle(given.op, views, starts, expected.data());
  PlanOptions options;
  options.checked = checked;
  EXPECT_EQ(without_their_buffers(plan(given.op, views, real_device(), options), views, in, out), expected);
  Bytes on_host = out;
  const std::vector<std::span<const std::byte>> spans(in.begin(), in.end());
  run_on_host(given.op, views, spans, on_host, real_device(), options);
  EXPECT_EQ(on_host, expected) << "on host arrays";
}

TEST(EmptyHandles, StandForArraysWithoutElementsInEveryOperation) {
  std::set<std::string, std::less<>> seen;
  for (const OfNothing& given : cases_of_nothing()) {
    seen.insert(given.op.name);
    expect_right_without_buffers(given, false);
    if (given.op.name == "matmul" || given.op.name == "reduce") expect_right_without_buffers(given, true);
  }
  for (const ops::OpEntry& entry : ops::registry()) EXPECT_TRUE(seen.contains(entry.name)) << entry.name;
}

}  // namespace
}  // namespace axisloom::ops_test
