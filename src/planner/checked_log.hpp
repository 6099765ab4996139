// The log of the CHECKED prelude, from the host's side. Its layout is described in dialect/checked.h.
#pragma once

#include <axisloom/device.hpp>

#include <string>

namespace axisloom::ops {

class CheckedLog {
 public:
  CheckedLog(const Device& device, const Queue& queue);
  const Buffer& buffer() const { return buffer_; }
  /// Waits for the queue; throws Error(device) that describes the first violation, if there was one.
  void require_clean(const std::string& what) const;

 private:
  Queue queue_;
  Buffer buffer_;
};

}  // namespace axisloom::ops
