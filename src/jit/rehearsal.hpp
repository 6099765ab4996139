// The first launch of a fresh program, while it is planned: it does no work, and makes PoCL compile all that later
// launches need. PoCL compiles a kernel at its first launch, for that very size of group and grid, and only then is its
// binary complete. What other runtimes compile is complete when it is built.
#pragma once

#include "core/integers.hpp"
#include "jit/jit.hpp"

namespace axisloom::jit {

/// The build option with which a kernel of one item a group returns at once from a rehearsal (AXL_BEGIN of the
/// dialect).
inline constexpr std::string_view rehearsal_option = "-DAXL_REHEARSAL=1";

/// Whether programs of groups of `items` items are rehearsed. On PoCL those of one item are, which is what kernels for
/// CPUs have. Groups of several cannot be (AXL_BEGIN says why), and compile at their first launch.
bool rehearses(const DeviceInfo& device, unsigned items);

/// Groups of the smallest grid for which PoCL compiles what it would for `groups`.
u64 rehearsal_groups(u64 groups);

/// Launches the kernel of a program that was built with rehearsal_option, and waits for it.
void rehearse(device::Device& device, device::Program& program, const Specialisation& what, const LaunchForm& form);

}  // namespace axisloom::jit
