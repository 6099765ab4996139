// One launch of a kernel on the host.
#pragma once

#include "device/host/device.hpp"
#include "device/host/program.hpp"

#include <array>
#include <string>

namespace axisloom::device::host {

/// What a run with cold caches waits for line by line, so it lies close together.
class HostLaunch final : public ReadyLaunch, core::NotCopied {
 public:
  /// Keeps references to the host, the program and the kernel's name. Throws Error(usage) for another device's program,
  /// Error(unsupported) for groups that the host does not have.
  HostLaunch(Host& host, Program& program, const std::string& kernel, const Geometry& geometry);

  /// Done when it returns. Throws Error(device) for what a card would stop at.
  void run(const void* const* args) const override;

 private:
  struct Call;

  [[noreturn]] void refuse(Errc code, const std::string& why) const;
  [[noreturn]] void refuse_stacks() const;
  void require_geometry(const Geometry& geometry) const;
  unsigned members() const noexcept;
  void run_alone(Call& call) const;
  void share(const Call& call, unsigned members) const;

  Host& host_;
  const std::string& kernel_;
  Entry entry_;
  const i32* settings_;
  u64 groups_;
  size_t local_bytes_;
  unsigned items_;
  unsigned most_members_;
  Wakes wakes_;
  std::array<i32, 24> own_settings_;  // as many as a kernel has; more lie with the program
};

}  // namespace axisloom::device::host
