// Plain copies of as many bytes as the job reads and writes: what everybody is measured against.
#include "bench/peers/peers.hpp"

#include "device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace axisloom::bench {
namespace {

/// Which copy it is: of as many bytes as the job has, or of as many sectors as it must touch.
struct What {
  std::string name;
  Role role = Role::copy;
};

class Copy : public Contestant {
 public:
  Copy(Workload& workload, What what, std::string how)
      : Contestant(workload, std::move(what.name), std::move(how), what.role) {
    if (!workload.plain_copy()) refuse("a copy says nothing of this job");
    if (!copy()) refuse("the job touches no more memory than the copy does");
  }
  Work work() const override { return {2 * double(bytes()), 0}; }
  double written() const override { return double(bytes()); }
  Mistakes judge() override { return workload().judge_move(*copy(), nullptr); }

 protected:
  const std::optional<core::Move>& copy() const {
    return role() == Role::floor ? workload().floor_copy() : workload().plain_copy();
  }
  size_t bytes() const { return copy()->count() * copy()->element; }
};

class Memcpy final : public Copy {
 public:
  Memcpy(Workload& workload, What what, unsigned threads)
      : Copy(workload, std::move(what), fmt::format("memcpy by {} thread{}", threads, threads == 1 ? "" : "s")),
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
        return "memcpy by the threads of the pool";
    }
    return "";
  }

 public:
  DeviceCopy(Workload& workload, What what) : Copy(workload, std::move(what), call_of(workload.device().info().api)) {
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
  return std::make_unique<Memcpy>(workload, What{one_thread ? "memcpy-1" : "memcpy"},
                                  one_thread ? 1 : workload.team().size());
}

UniqueContestant make_device_copy(Workload& workload, Session&) {
  return std::make_unique<DeviceCopy>(workload, What{"copy"});
}

UniqueContestant make_floor(Workload& workload, Session&) {
  const What what{"floor", Role::floor};
  if (workload.host_out() != nullptr) return std::make_unique<Memcpy>(workload, what, workload.team().size());
  return std::make_unique<DeviceCopy>(workload, what);
}

}  // namespace axisloom::bench
