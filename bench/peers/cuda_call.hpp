// What the peers of CUDA have in common: they queue work on Axisloom's own stream, and are timed by events there.
#pragma once

#include "bench/contestant.hpp"

#include "core/not_copied.hpp"
#include "device/cuda/driver_api.hpp"

#include <functional>
#include <string>
#include <vector>

namespace axisloom::bench {

namespace cuda = device::cuda;

/// Refuses devices of other runtimes.
void require_cuda(const Workload& workload);

/// The context of a stream, current for the calling thread.
class CurrentContext : core::NotCopied {
 public:
  /// Throws Error(device).
  explicit CurrentContext(cuda::CUstream stream);
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

  cuda::CUstream stream() const;
  /// An element of the workload's array `i`, of which the last is the output.
  template <class Element = void>
  Element* address(size_t i, i64 offset) const {
    auto* const start = static_cast<std::byte*>(workload().buffer(i).impl()->native());
    return reinterpret_cast<Element*>(start + offset * i64(size_of(workload().views()[i].dtype)));
  }
  /// Calls `destroy` in the stream's context when this goes, what came last first; not where the context is gone, which
  /// has taken everything along.
  void at_end(std::function<void()> destroy) { ends_.push_back(std::move(destroy)); }

 private:
  cuda::CUevent begin_ = nullptr, end_ = nullptr;
  std::vector<std::function<void()>> ends_;
};

/// One or zero as libraries read a factor: of f32 or, where it is wide, f64, and complex where they want that.
class Factor {
 public:
  Factor(double value, bool wide) : wide_(wide), f64_{value}, f32_{float(value)} {}
  const void* address() const noexcept { return wide_ ? static_cast<const void*>(f64_) : f32_; }

 private:
  bool wide_;
  double f64_[2];
  float f32_[2];
};

}  // namespace axisloom::bench
