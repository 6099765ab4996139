#include "device/host/threads.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

#include <algorithm>
#include <atomic>
#include <limits>

namespace axisloom {
namespace {

std::atomic<unsigned> limit{std::numeric_limits<unsigned>::max()};

}  // namespace

unsigned device::host::thread_limit() noexcept {
  return limit.load(std::memory_order_relaxed);
}

unsigned host_threads() {
  return std::min(device::host::thread_limit(), Device::open("host").info().compute_units);
}

void set_host_threads(unsigned count) {
  if (count == 0) throw Error(Errc::usage, "0 threads cannot do anything", "grant at least 1");
  limit.store(count, std::memory_order_relaxed);
}

}  // namespace axisloom
