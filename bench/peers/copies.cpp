// Plain copies of as many bytes as the job reads and writes: what everybody is measured against.
#include "bench/peers/peers.hpp"

#include "device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace axisloom::bench {
namespace {

class Copy : public Contestant {
 public:
  Copy(Workload& workload, std::string name, std::string how)
      : Contestant(workload, std::move(name), std::move(how), Role::copy) {
    if (!workload.plain_copy()) refuse("a copy says nothing of this job");
  }
  Work work() const override { return {2 * double(bytes()), 0}; }
  double written() const override { return double(bytes()); }
  Mistakes judge() override { return workload().judge_move(*workload().plain_copy(), nullptr); }

 protected:
  size_t bytes() const {
    const core::Move& copy = *workload().plain_copy();
    return copy.count() * copy.element;
  }
};

class Memcpy final : public Copy {
 public:
  Memcpy(Workload& workload, std::string name, unsigned threads)
      : Copy(workload, std::move(name), fmt::format("memcpy by {} thread{}", threads, threads == 1 ? "" : "s")),
        threads_(threads) {
    if (workload.host(0) == nullptr || workload.host_out() == nullptr) refuse("the device has memory of its own");
  }

  Timing run() override {
    std::byte* const to = workload().host_out();
    const std::byte* const from = workload().host(0);
    const double start = now();
    if (threads_ == 1)
      std::memcpy(to, from, bytes());
    else
      workload().team().run([&](unsigned member) {
        // Cut at pages, so that no two threads write to one line or page.
        constexpr i64 page = 4096;
        const i64 all = bytes();
        const auto [first, last] = workload().team().share(ceil_div(all, page), member);
        const i64 begin = first * page, end = std::min(last * page, all);
        if (begin < end) std::memcpy(to + begin, from + begin, end - begin);
      });
    return {now() - start, std::nullopt};
  }

 private:
  unsigned threads_;
};

class DeviceCopy final : public Copy {
  static const char* call_of(Api api) noexcept {
    switch (api) {
      case Api::opencl:
        return "clEnqueueCopyBuffer";
      case Api::cuda:
        return "cuMemcpyAsync, device to device";
      case Api::host:
        return "memcpy";
    }
    return "";
  }

 public:
  explicit DeviceCopy(Workload& workload) : Copy(workload, "copy", call_of(workload.device().info().api)) {
    if (workload.host_out() != nullptr) refuse("on host memory the copy is memcpy");
  }

  Timing run() override {
    const double start = now();
    const auto event = workload().queue().impl()->copy(*workload().buffer(0).impl(), 0, *workload().out_buffer().impl(),
                                                       0, bytes(), {});
    event->wait();
    const double end = now();
    return {end - start, event->seconds()};
  }
};

}  // namespace

UniqueContestant make_memcpy(Workload& workload, Session&, bool one_thread) {
  return std::make_unique<Memcpy>(workload, one_thread ? "memcpy-1" : "memcpy",
                                  one_thread ? 1 : workload.team().size());
}

UniqueContestant make_device_copy(Workload& workload, Session&) {
  return std::make_unique<DeviceCopy>(workload);
}

}  // namespace axisloom::bench
