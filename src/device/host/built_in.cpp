// The table of compiled kernels: none are compiled yet.
#include "device/host/kernel.hpp"

namespace axisloom::device::host {

std::span<const BuiltIn> built_in_kernels() {
  return {};
}

}  // namespace axisloom::device::host
