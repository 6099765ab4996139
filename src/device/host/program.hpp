// A kernel that was compiled with the library, with what is chosen for its launches.
#pragma once

#include "device/device.hpp"
#include "device/host/kernel.hpp"

namespace axisloom::device::host {

class HostProgram final : public Program {
 public:
  HostProgram(Entry entry, std::span<const i32> settings)
      : entry_(entry), settings_(settings.begin(), settings.end()) {}
  /// There is nothing to load: the code is in the library.
  std::vector<std::byte> binary() const override { return {}; }

  Entry entry() const noexcept { return entry_; }
  const i32* settings() const noexcept { return settings_.data(); }

 private:
  Entry entry_;
  std::vector<i32> settings_;
};

}  // namespace axisloom::device::host
