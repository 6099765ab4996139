// The context's lifetime, its loss, and its store of events.
#include "device/cuda/context.hpp"

namespace axisloom::device::cuda {

Context::Context(std::shared_ptr<const DriverApi> api, Card card, CUcontext borrowed)
    : api(std::move(api)), card(std::move(card)), context_(borrowed), retained_(borrowed == nullptr) {
  if (retained_) call(&DriverApi::cuDevicePrimaryCtxRetain, &context_, this->card.device);
}

Context::~Context() {
  release([&](const DriverApi& api) {
    for (const Events& events : events_)
      for (CUevent event : events.free) api.cuEventDestroy_v2(event);
  });
  if (retained_ && !forked()) api->cuDevicePrimaryCtxRelease_v2(card.device);
}

void Context::refuse(Errc code, std::string message, std::string remedy) const {
  throw Error(code, {.message = std::move(message), .device = card.info.label(), .remedy = std::move(remedy)});
}

void Context::require_usable() const {
  require_same_process();
  if (lost())
    refuse(Errc::device_lost, "the device was lost in an earlier call",
           "restart the process: a lost CUDA context cannot be used again");
}

void Context::check(CUresult result, const char* call, std::string_view doing) const {
  if (result == kSuccess) return;
  if (classify(result) == Errc::device_lost) lost_ = true;
  throw driver_error(*api, result, call, doing, card.info.label());
}

CUevent Context::take_event(bool timing) {
  const std::lock_guard lock(events_mutex_);
  Events& events = events_[timing];
  if (!events.free.empty()) {
    CUevent event = events.free.back();
    events.free.pop_back();
    return event;
  }
  events.free.reserve(events.created + 1);
  CUevent event = nullptr;
  call(&DriverApi::cuEventCreate, &event, timing ? 0 : kEventDisableTiming);
  ++events.created;
  return event;
}

void Context::give_event(CUevent event, bool timing) noexcept {
  const std::lock_guard lock(events_mutex_);
  events_[timing].free.push_back(event);
}

}  // namespace axisloom::device::cuda
