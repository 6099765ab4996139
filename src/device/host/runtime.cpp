// The host as a runtime: it is always there, unless the environment asks for what it cannot be.
#include "core/text.hpp"
#include "device/host/device.hpp"
#include "device/host/system.hpp"

#include <atomic>

namespace axisloom::device {

namespace host {

namespace {

/// The one device, open for the rest of the process: its threads serve all who ask. A lock would be in the way of a
/// child that was forked while another thread held it.
SharedDevice the_device() {
  static std::atomic<SharedDevice*> opened{nullptr};
  SharedDevice* device = opened.load();
  if (device) return *device;
  auto made = std::make_unique<SharedDevice>(make_device(count_threads().threads, allowed_isa()));
  (*made)->stays_open = true;
  return opened.compare_exchange_strong(device, made.get()) ? *made.release() : *device;
}

class HostRuntime final : public Runtime {
 public:
  std::vector<DeviceInfo> devices() override try { return {the_device()->info()}; } catch (const Error& error) {
    log(concat("the host is left out: ", error.what()));
    return {};
  }

  SharedDevice open(int index) override {
    if (index != 0) throw Error(Errc::no_device, concat("there is no device host:", index), "name it \"host\"");
    return the_device();
  }

  std::vector<RuntimeStatus> status() override {
    const size_t kernels = built_in_kernels().size();
    RuntimeStatus status{
        .name = "host", .library = concat("part of the library, with ", kernels, " kernels"), .tried = {}};
    try {
      const Isa isa = allowed_isa();
      const ThreadCount count = count_threads();
      status.facts.emplace_back("instructions", level(isa) + (isa == best_isa() ? "" : ", by AXISLOOM_ISA"));
      status.facts.emplace_back("threads", concat(count.threads, ", by ", count.why));
      status.found = true;
    } catch (const Error& error) {
      status.tried.emplace_back("sound values of AXISLOOM_THREADS and AXISLOOM_ISA");
      status.facts.emplace_back("failure", error.parts().message);
      status.remedy = error.parts().remedy;
    }
    return {std::move(status)};
  }
};

}  // namespace

}  // namespace host

SharedDevice host_limited_to(std::string_view isa) {
  return host::make_device(host::count_threads().threads, host::isa_named(isa));
}

Runtime& host_runtime() {
  static host::HostRuntime runtime;
  return runtime;
}

}  // namespace axisloom::device
