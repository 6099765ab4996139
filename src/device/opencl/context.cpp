// The check that comes before every use of a device.
#include "device/opencl/context.hpp"

namespace axisloom::device::opencl {

void Context::require_usable() const {
  require_same_process();
  if (!lost()) return;
  throw Error(Errc::device_lost, {.message = "the device was lost in an earlier call",
                                  .device = info_.label(),
                                  .remedy = "open the device again; its buffers and queues are gone"});
}

}  // namespace axisloom::device::opencl
