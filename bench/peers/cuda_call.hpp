// What the peers of CUDA have in common: they queue work on Axisloom's own stream, and are timed by events there.
#pragma once

#include "bench/contestant.hpp"

#include "core/not_copied.hpp"
#include "device/cuda/driver_api.hpp"

#include <string>

namespace axisloom::bench {

/// The context of a stream, current for the calling thread.
class CurrentContext : core::NotCopied {
 public:
  /// Throws Error(device).
  explicit CurrentContext(device::cuda::CUstream stream);
  ~CurrentContext();
};

class CudaCall : public Contestant {
 public:
  CudaCall(Workload& workload, std::string name, std::string how);
  ~CudaCall() override;
  Timing run() override;

 protected:
  /// Queues the work; the stream's context is current.
  virtual void call() = 0;

  device::cuda::CUstream stream() const;
  template <class Element>
  static Element* address(const Buffer& buffer, i64 offset) {
    return static_cast<Element*>(buffer.impl()->native()) + offset;
  }

 private:
  device::cuda::CUevent begin_ = nullptr, end_ = nullptr;
};

}  // namespace axisloom::bench
