// One call for one thing: a plan that is remembered, an array for the result, and a run.
#include <axisloom/call.hpp>

#include "core/integers.hpp"
#include "core/short_list.hpp"
#include "planner/plan_cache.hpp"
#include "planner/plan_impl.hpp"

namespace axisloom {
namespace {

constexpr size_t usual = 4;  // arrays of a call; more are kept on the heap

// Never destroyed: it may be asked for while static objects are.
const Device& host() {
  static const Device& device = *new Device(Device::open("host"));
  return device;
}

bool is_here(const Device& device) {
  return !device || device.impl() == host().impl();
}

/// The views and the memory of a call's arrays.
class Arguments {
 public:
  explicit Arguments(std::span<const InputArray> inputs) : views_(inputs.size() + 1), begins_(inputs.size()) {
    for (const InputArray& input : inputs) {
      views_.push_back(input.view());
      begins_.push_back(input.begin());
    }
  }
  void add_output(const View& view) { views_.push_back(view); }

  Views views() const { return {views_.data(), views_.size()}; }
  std::span<const void* const> begins() const { return {begins_.data(), begins_.size()}; }

 private:
  core::ShortList<View, usual> views_;
  core::ShortList<const void*, usual> begins_;
};

void run_elsewhere(const OutputArray& out, const Operation& op, const Arguments& arguments, const Device& device) {
  std::vector<std::span<const std::byte>> memory;
  for (const void* const begin : arguments.begins())
    memory.emplace_back(static_cast<const std::byte*>(begin), begin ? reach_of(arguments.views()[memory.size()]) : 0);
  const size_t bytes = out.begin() ? reach_of(out.view()) : 0;
  run_on_host(op, arguments.views(), memory, {static_cast<std::byte*>(out.begin()), bytes}, device);
}

}  // namespace

Array run(const Operation& op, std::span<const InputArray> inputs, const Device& device) {
  if (!is_here(device)) {
    Arguments arguments(inputs);
    const View result = result_view(op, arguments.views());
    Array out(result.dtype, result.shape);
    arguments.add_output(out.view());
    run_elsewhere(out, op, arguments, device);
    return out;
  }
  const Arguments arguments(inputs);
  const Plan plan = ops::cached_plan(op, arguments.views(), host(), {});
  const View& result = plan.views().back();
  Array out(result.dtype, result.shape);
  plan.run(arguments.begins(), out.data());
  return out;
}

void run_into(const OutputArray& out, const Operation& op, std::span<const InputArray> inputs, const Device& device) {
  Arguments arguments(inputs);
  arguments.add_output(out.view());
  if (!is_here(device)) return run_elsewhere(out, op, arguments, device);
  ops::cached_plan(op, arguments.views(), host(), {}).run(arguments.begins(), out.begin());
}

}  // namespace axisloom
