// A kernel with what is chosen for its launches.
#pragma once

#include "device/device.hpp"
#include "device/host/compile.hpp"
#include "device/host/kernel.hpp"

namespace axisloom::device::host {

class HostProgram final : public Program {
 public:
  HostProgram(Entry entry, std::span<const i32> settings)
      : entry_(entry), settings_(settings.begin(), settings.end()) {}
  /// Of a kernel that this machine compiled, all settings with it.
  explicit HostProgram(std::vector<std::byte> object)
      : object_(std::move(object)), loaded_(std::make_unique<LoadedKernel>(object_)), entry_(loaded_->entry()) {}
  /// Empty where the code is in the library.
  std::vector<std::byte> binary() const override { return object_; }

  Entry entry() const noexcept { return entry_; }
  std::span<const i32> settings() const noexcept { return settings_; }

 private:
  std::vector<std::byte> object_;
  std::unique_ptr<LoadedKernel> loaded_;
  Entry entry_;
  std::vector<i32> settings_;
};

}  // namespace axisloom::device::host
