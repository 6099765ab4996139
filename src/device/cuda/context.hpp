// What every object of one open CUDA device shares: the context, what is known of the card, and whether it is lost.
#pragma once

#include "core/not_copied.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/process.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace axisloom::device::cuda {

/// What is asked of the driver once about a card.
struct Card {
  CUdevice device = 0;
  DeviceInfo info;
  Version driver;
  int capability = 0;     // 90 for 9.0
  bool clusters = false;  // can launch clusters of groups
};

class Context : core::NotCopied {
 public:
  const std::shared_ptr<const DriverApi> api;
  const Card card;

  /// Makes the context current for the calling thread until it goes, and whatever was current before it again then.
  class Scope : core::NotCopied {
   public:
    explicit Scope(const Context& context) : api_(*context.api) {
      context.call(&DriverApi::cuCtxPushCurrent_v2, context.get());
    }
    ~Scope() {
      CUcontext popped = nullptr;
      api_.cuCtxPopCurrent_v2(&popped);
    }

   private:
    const DriverApi& api_;
  };

  /// Retains the card's primary context, or uses one that the caller keeps alive.
  Context(std::shared_ptr<const DriverApi> api, Card card, CUcontext borrowed);
  ~Context();

  CUcontext get() const noexcept { return context_; }
  bool lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  /// Throws an error that names the device.
  [[noreturn]] void refuse(Errc code, std::string message, std::string remedy = {}) const;
  /// Throws at once after a fork or a loss.
  void require_usable() const;
  /// The start of every entry: usable, and current for this thread.
  [[nodiscard]] Scope enter() const {
    require_usable();
    return Scope(*this);
  }

  /// Calls a function of the driver.
  void call(auto DriverApi::*function, auto... args) const { call_for({}, function, args...); }
  /// The same; `doing` says in an error what the call was for.
  void call_for(std::string_view doing, auto DriverApi::*function, auto... args) const {
    const auto& entry = (*api).*function;
    check(entry(args...), entry.name, doing);
  }
  /// Throws what an unsuccessful result means; `doing` says what the call was for. A loss is remembered.
  void check(CUresult result, const char* call, std::string_view doing = {}) const;

  /// For destructors: runs `calls` with the context current; does nothing in a forked child.
  void release(auto&& calls) const noexcept {
    if (forked()) return;
    CUcontext popped = nullptr;
    if (api->cuCtxPushCurrent_v2(context_) != kSuccess) return;
    calls(*api);
    api->cuCtxPopCurrent_v2(&popped);
  }

  /// Events are kept for reuse, so that a launch creates and destroys none. The context must be current.
  CUevent take_event(bool timing);
  void give_event(CUevent event, bool timing) noexcept;

 private:
  struct Events {
    std::vector<CUevent> free;  // with room for all that were created
    size_t created = 0;
  };

  CUcontext context_ = nullptr;
  bool retained_ = false;
  mutable std::atomic<bool> lost_{false};
  std::mutex events_mutex_;
  Events events_[2];  // without and with timing
};

using SharedContext = std::shared_ptr<Context>;

/// An object of the backend interface as the CUDA class that it must be, of this very context; Error(usage) otherwise.
template <typename Mine>
Mine& own(auto& object, const Context& context, const char* what) {
  auto* mine = dynamic_cast<Mine*>(&object);
  if (!mine || mine->context().get() != context.get())
    context.refuse(Errc::usage, concat("the ", what, " belongs to another device or context"));
  return *mine;
}

}  // namespace axisloom::device::cuda
