// The host as a device: the processors that this process may use, and its memory.
#pragma once

#include "device/device.hpp"
#include "device/host/isa.hpp"
#include "device/host/pool.hpp"

namespace axisloom::device::host {

/// What the host says of itself, with so many threads and kernels that need no more than that.
DeviceInfo describe(unsigned threads, Isa isa);

/// What the device shares with its queues, which may outlive it.
struct Host : core::NotCopied {
  Host(unsigned threads, Isa most) : info(describe(threads, most)), isa(most), pool(threads) {}

  const DeviceInfo info;
  const Isa isa;  // the most that its kernels may need
  Pool pool;
};

using SharedHost = std::shared_ptr<Host>;

SharedDevice make_device(unsigned threads, Isa isa);
SharedQueue create_queue(SharedHost host, bool timing);
SharedQueue create_immediate_queue(SharedHost host);

}  // namespace axisloom::device::host
