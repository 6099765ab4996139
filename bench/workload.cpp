// Views and buffers of a case, and its judges.
#include "bench/workload.hpp"

#include "ops/rearrange/rearrange.hpp"
#include "ops/registry.hpp"

#include <axisloom/error.hpp>

#include <algorithm>

namespace axisloom::bench {
namespace {

View placed(Dtype dtype, const Dims& shape, const cli::Placement& placement) {
  View view{dtype, shape, placement.strides.value_or(contiguous_strides(shape)), 0, placement.align};
  if (view.strides.size() != shape.size())
    throw Error(Errc::usage,
                to_string(view.strides) + " does not have one stride for each axis of " + to_string(shape));
  view.offset = placement.offset - view.bounds().low;
  return view;
}

std::vector<View> views_of(const cli::Case& what) {
  const View in = placed(what.dtypes.front(), what.shapes.front(), what.inputs.front());
  const View result = result_view(what.op, std::span(&in, 1));
  return {in, placed(result.dtype, result.shape, what.output)};
}

core::Move copy_of(std::int64_t element, std::int64_t count) {
  core::Move move;
  move.element = element;
  move.axes = {{count, 1, 1}};
  return move;
}

Strength chosen(Strength asked, const core::Move& move, const DeviceInfo& device) {
  if (asked != Strength::automatic) return asked;
  return device.kind == Kind::cpu && move.count() <= full_check_limit ? Strength::full : Strength::indexed;
}

}  // namespace

const char* name(Strength strength) noexcept {
  switch (strength) {
    case Strength::full:
      return "full";
    case Strength::indexed:
      return "indexed";
    case Strength::automatic:
      break;
  }
  return "auto";
}

Workload::Workload(const cli::Case& what, const Device& device, Team& team, std::uint64_t seed, Strength strength)
    : text_(what.text),
      op_(what.op),
      options_(what.options),
      views_(views_of(what)),
      move_(in_output_order(ops::lowered_move(op_, views_))),
      merged_(core::normalise(move_)),
      plain_copy_(copy_of(move_.element, move_.bytes_moved() / 2 / move_.element)),
      data_(Data::of(what.dtypes.front(), seed)),
      strength_(chosen(strength, move_, device.info())),
      device_(device),
      queue_(device.queue(true)),
      team_(team) {
  if (what.in_place || what.expect)
    throw Error(Errc::usage, "cannot time the case " + what.text, "leave out in-place and expect=");
  if (move_.count() == 0) throw Error(Errc::usage, "there is nothing to time in the case " + what.text);
  allocate();
}

void Workload::allocate() {
  const std::int64_t copied = plain_copy_.count() * plain_copy_.element;
  for (const View& view : views_) {
    const std::int64_t bytes = std::max(view.bounds().high * move_.element, copied);
    buffers_.push_back(device_.allocate(static_cast<std::size_t>(bytes)));
  }
  if (host_in() != nullptr)
    fill_on_host(team_, data_, {host_in(), in_buffer().bytes()});
  else
    DeviceChecks(device_, queue_).fill(data_, in_buffer());
}

const std::byte* Workload::oracle() {
  if (!oracle_.empty()) return oracle_.data();
  std::vector<std::byte> fetched;
  const std::byte* in = host_in();
  if (in == nullptr) {
    fetched.resize(in_buffer().bytes());
    queue_.read(in_buffer(), 0, fetched).wait();
    in = fetched.data();
  }
  oracle_.resize(out_buffer().bytes());
  ops::entry(op_.name).oracle(op_, views_, std::span(&in, 1), oracle_.data());
  return oracle_.data();
}

Mistakes Workload::judge(const core::Move& expected, const std::byte* result) {
  const bool with_oracle = strength_ == Strength::full && &expected == &move_;
  std::vector<std::byte> fetched;
  if (result == nullptr) result = host_out();
  if (result == nullptr && !with_oracle) return DeviceChecks(device_, queue_).indexed(expected, data_, out_buffer());
  if (result == nullptr) {
    fetched.resize(out_buffer().bytes());
    queue_.read(out_buffer(), 0, fetched).wait();
    result = fetched.data();
  }
  return with_oracle ? compared_on_host(team_, move_, oracle(), result)
                     : indexed_on_host(team_, expected, data_, result);
}

void Workload::spoil_output(std::byte value) const {
  queue_.impl()->fill(*out_buffer().impl(), 0, out_buffer().bytes(), value, {})->wait();
}

}  // namespace axisloom::bench
