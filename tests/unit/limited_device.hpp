// For tests of slices: a device with small buffers, and operations on host arrays that exceed these.
#pragma once

#include "core/number.hpp"
#include "device/forwarding.hpp"
#include "ops_support.hpp"

#include <axisloom/error.hpp>

#include <cmath>

namespace axisloom::ops_test {

/// A real device that grants small buffers only, with or without the host's memory in common, and counts them.
class LimitedDevice : public device::SmallBuffers {
 public:
  LimitedDevice(std::shared_ptr<device::Device> real, std::size_t limit, bool unified)
      : SmallBuffers(std::move(real), limit) {
    info_.unified_memory = info_.unified_memory && unified;
  }
  void set_memory(std::size_t bytes) { info_.global_memory = bytes; }
  int buffers = 0;

 private:
  void require(std::size_t bytes) override {
    ++buffers;
    SmallBuffers::require(bytes);
  }
};

/// One kernel for every reduction or product, and no tickets, for which small buffers have no room.
inline PlanOptions plainly() {
  PlanOptions options;
  options.candidate = "plain";
  return options;
}

/// Few different numbers, so that there are equals among them, and floats whose sums are rounded.
inline Bytes few_numbers(const View& view, unsigned seed) {
  std::mt19937 engine(seed);
  Bytes bytes(static_cast<std::size_t>(buffer_bytes(view)));
  const std::size_t size = size_of(view.dtype);
  const core::NumberKind kind = core::kind_of(view.dtype);
  const bool real = kind == core::NumberKind::floating || kind == core::NumberKind::complex;
  const int low = kind == core::NumberKind::unsigned_integer || kind == core::NumberKind::boolean ? 0 : -4;
  for (std::size_t at = 0; at < bytes.size(); at += size)
    for (int part = 0; part < core::components_of(view.dtype); ++part)
      core::store_number(view.dtype, bytes.data() + at, (low + static_cast<int>(engine() % 9)) / (real ? 3.0L : 1.0L),
                         part);
  return bytes;
}

/// How a result differs from the oracle's by more than the bound, its gaps included; empty when all is well.
inline std::string beyond_bound(const Operation& op, const std::vector<View>& views, const std::vector<Bytes>& in,
                                const Bytes& before, const Bytes& got) {
  std::vector<const std::byte*> starts;
  for (const Bytes& bytes : in) starts.push_back(bytes.data());
  Bytes want = before;
  const ops::OpEntry& entry = ops::entry(op.name);
  entry.oracle(op, views, starts, want.data());
  std::vector<double> bound;
  if (entry.bound) bound = entry.bound(op, views, starts);
  const View& out = views.back();
  const std::size_t size = size_of(out.dtype);
  Bytes rest = got;
  for (std::int64_t flat = 0; flat < out.count(); ++flat) {
    std::int64_t at = out.offset, left = flat;
    for (int d = out.rank() - 1; d >= 0; left /= out.shape[d], --d) at += left % out.shape[d] * out.strides[d];
    const std::size_t byte = static_cast<std::size_t>(at) * size;
    for (int part = 0; part < core::components_of(out.dtype); ++part) {
      const long double a = core::number_at(out.dtype, got.data() + byte, part),
                        b = core::number_at(out.dtype, want.data() + byte, part);
      const double allowed = bound.empty() ? 0 : bound[static_cast<std::size_t>(flat)];
      if (!(a == b || std::isinf(allowed) || std::abs(a - b) <= allowed || (std::isnan(a) && std::isnan(b))))
        return "element " + std::to_string(flat) + " is " + core::number_text(out.dtype, got.data() + byte) + ", not " +
               core::number_text(out.dtype, want.data() + byte);
    }
    std::copy_n(want.begin() + static_cast<std::ptrdiff_t>(byte), size,
                rest.begin() + static_cast<std::ptrdiff_t>(byte));
  }
  return rest == want ? "" : "bytes that are none of the result were overwritten";
}

/// Runs on a device that grants `limit` bytes a buffer, compares with the oracle, and says in how many buffers.
inline int expect_oracle_in_slices(const Operation& op, const std::vector<View>& views, std::size_t limit,
                                   const PlanOptions& options = {}, bool unified = true) {
  const auto device = std::make_shared<LimitedDevice>(real_device().impl(), limit, unified);
  std::vector<Bytes> in;
  for (std::size_t i = 0; i + 1 < views.size(); ++i) in.push_back(few_numbers(views[i], static_cast<unsigned>(i)));
  const std::vector<std::span<const std::byte>> spans(in.begin(), in.end());
  const Bytes before(static_cast<std::size_t>(buffer_bytes(views.back())), std::byte{0x6d});
  Bytes out = before, again = before;
  run_on_host(op, views, spans, out, Device(device), options);
  EXPECT_EQ(beyond_bound(op, views, in, before, out), "")
      << to_string(op) << " " << to_string(views[0]) << " in buffers of " << limit;
  const int buffers = device->buffers;
  run_on_host(op, views, spans, again, Device(device), options);
  EXPECT_EQ(out, again) << to_string(op) << " has other bits the second time";
  return buffers;
}

}  // namespace axisloom::ops_test
