// What a terminal shows while kernels are compiled, which happens once for a device and takes a while.
#pragma once

#include "core/not_copied.hpp"

#include <thread>

namespace axisloom::cli {

/// Shows, while it lives, that something is being compiled when that takes long enough to be asked about. Nothing else
/// may show progress meanwhile.
class CompilingNotice : core::NotCopied {
 public:
  /// `wanted`: it shows nothing otherwise.
  explicit CompilingNotice(bool wanted);
  ~CompilingNotice();

 private:
  std::jthread watcher_;
};

}  // namespace axisloom::cli
