// The first launch of a fresh program, while it is planned: it does no work, and makes the runtime compile all that
// later launches need. PoCL compiles a kernel at its first launch, for that very size of group and grid, and only then
// is its binary complete; others may compile then too.
#pragma once

#include "jit/jit.hpp"

namespace axisloom::jit {

/// The build option with which a kernel returns at once from a rehearsal (AXL_BEGIN of the dialect).
inline constexpr std::string_view rehearsal_option = "-DAXL_REHEARSAL=1";

/// Whether programs of a device are rehearsed: those of OpenCL are, but for NVIDIA's, who compiles all when it builds.
bool rehearses(const DeviceInfo& device);

/// Groups of the smallest grid for which a runtime compiles what it would for `groups` of `items` each.
std::uint64_t rehearsal_groups(const DeviceInfo& device, std::uint64_t groups, unsigned items);

/// Launches the kernel of a program that was built with rehearsal_option, and waits for it.
void rehearse(device::Device& device, device::Program& program, const Specialisation& what, const LaunchForm& form);

}  // namespace axisloom::jit
