// Runs plans, times them by the device's clock, and checks what comes of them.
#include "cli/demo/show.hpp"

#include "bench/peers/peers.hpp"
#include "cli/app.hpp"
#include "harness/compare.hpp"

#include "device/device.hpp"
#include "planner/plan_impl.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace axisloom::cli {
namespace {

using io::HostArray;

constexpr int least_runs = 2;  // on a first use PoCL compiles in the untimed run, and in the one after it
constexpr int most_runs = 20;
constexpr double most_seconds = 1;  // of further runs: some of the textbook's kernels take their time

Done carry_out(const Operation& op, std::span<const HostArray> inputs, const Device& device,
               const PlanOptions& options) {
  auto views = views_of(inputs);
  views.push_back(result_view(op, views));
  for (View& view : views) view.align = device.info().base_alignment;
  const Plan plan = axisloom::plan(op, views, device, options);
  Done done{.result = HostArray::allocate(views.back()), .report = plan.report()};
  if (const auto operations = ops::entry(op.name).operations) done.operations = operations(op, views);
  const Queue queue = device.queue(true);
  std::vector<Buffer> buffers;
  for (const HostArray& input : inputs) {
    buffers.push_back(device.allocate(input.bytes));
    queue.write(buffers.back(), 0, input.span()).wait();
  }
  buffers.push_back(device.allocate(done.result.bytes));
  const Buffer byte = device.allocate(1);
  plan.run(queue, buffers).wait();  // untimed: PoCL compiles a kernel when it is first launched
  done.seconds = std::numeric_limits<double>::infinity();
  double spent = 0;
  for (int run = 0; run < least_runs || (run < most_runs && spent < most_seconds); ++run) {
    const double seconds = *bench::timed_run(plan, queue, buffers, byte).device;
    done.seconds = std::min(done.seconds, seconds);
    spent += seconds;
  }
  queue.read(buffers.back(), 0, done.result.span()).wait();
  return done;
}

Cell rate_cell(double count, double seconds) {
  if (count == 0) return "";
  const double rate = count / seconds / 1e9;
  return {rate, fmt::format("{:.2f}", rate)};
}

}  // namespace

HostArray Show::carry_out_everywhere(const char* what, const Operation& op, std::span<const HostArray> inputs,
                                     const PlanOptions& options, const std::string& file, const Judge& is_right) {
  std::optional<HostArray> first;
  for (const Device& device : devices_) {
    const Done done = carry_out(op, inputs, device, options);
    add_row(what, device, done, first ? "" : file, is_right(done.result));
    if (!first) first = done.result;
  }
  if (!file.empty()) save(*first, file);
  return *first;
}

HostArray Show::step(const char* what, const Operation& op, const HostArray& input, const std::string& file,
                     const PlanOptions& options) {
  const std::span inputs(&input, 1);
  return carry_out_everywhere(what, op, inputs, options, file,
                              [&](const HostArray& result) { return !difference_from_oracle(op, inputs, result); });
}

HostArray Show::step_to(const char* what, const Operation& op, std::span<const HostArray> inputs,
                        const HostArray& known, const PlanOptions& options) {
  return carry_out_everywhere(what, op, inputs, options, "", [&](const HostArray& result) {
    const View& view = result.view;
    return view.dtype == known.view.dtype && view.shape == known.view.shape &&
           !first_difference(view, known.memory.get(), result.memory.get());
  });
}

void Show::save(const HostArray& array, const std::string& file) const {
  io::write((folder_ / file).string(), array);
}

void Show::add_row(const char* what, const Device& device, const Done& done, const std::string& file, bool right) {
  right_ = right_ && right;
  table_.add({what, done.report.shapes, device.info().spec(), done.report.candidate, seconds_cell(done.seconds),
              rate_cell(done.report.bytes_moved, done.seconds), rate_cell(done.operations, done.seconds),
              right ? "passed" : "DIFFERS", file});
}

}  // namespace axisloom::cli
