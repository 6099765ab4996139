// Plans of copies, shifted on the host and placed within their buffers elsewhere.
#include "distributed/steps.hpp"

#include <axisloom/error.hpp>

#include "core/host_memory.hpp"

#include <array>

namespace axisloom::distributed {
namespace {

/// The tunable of moves that says from how many MiB on they store past the caches.
constexpr const char* streams_from = "stream_mib";

/// Has the view begin at its lowest element; returns how many bytes that is behind the start of its buffer.
i64 begun_at_lowest(View& view) {
  const i64 low = view.bounds().low, bytes = low * i64(size_of(view.dtype));
  view.offset -= low;
  view.align = i64(core::alignment_of(u64(bytes), u64(view.align)));
  return bytes;
}

}  // namespace

StepMaker::StepMaker(const Device& device, double bytes_moved)
    : device_(device), host_(device.info().api == Api::host), bytes_moved_(bytes_moved) {}

/// A plan knows its own copy alone, so it is told where it has to store past the caches.
Plan StepMaker::host_plan(const Operation& op, const View& from, const View& to) const {
  Plan made = plan(op, {from, to}, device_);
  const auto threshold = made.report().configuration.find(streams_from);
  if (threshold == made.report().configuration.end() || bytes_moved_ < double(threshold->second << 20)) return made;
  try {
    return plan(op, {from, to}, device_, {.candidate = made.report().candidate, .configuration = {{streams_from, 0}}});
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    return made;  // that form of the kernel was not compiled with the library
  }
}

Step StepMaker::step(const Operation& op, View from, i64 from_byte, View to, i64 to_byte) const {
  if (!host_) {
    from.offset += from_byte / i64(size_of(from.dtype));
    to.offset += to_byte / i64(size_of(to.dtype));
    return {.plan = plan(op, {from, to}, device_)};
  }
  from_byte += begun_at_lowest(from);
  to_byte += begun_at_lowest(to);
  return {.plan = host_plan(op, from, to), .from = from_byte, .to = to_byte};
}

void StepMaker::add(const std::vector<TransferCopy>& copies, i64 from_byte, i64 to_byte, Steps& steps) const {
  for (const TransferCopy& one : copies) steps.push_back(step(copy(), one.from, from_byte, one.to, to_byte));
}

void run(const Step& step, const Queue& queue, const Place& from, const Place& to) {
  if (from.buffer) {
    step.plan.run(queue, std::array{*from.buffer, *to.buffer});
    return;
  }
  const void* const input = from.host + step.from;
  step.plan.run({&input, 1}, to.host + step.to);
}

void run(const Steps& steps, const Queue& queue, const Place& from, const Place& to) {
  for (const Step& step : steps) run(step, queue, from, to);
}

}  // namespace axisloom::distributed
