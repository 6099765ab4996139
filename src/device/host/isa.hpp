// Which of the instruction sets that kernels are compiled for this processor has, and which one is used.
#pragma once

#include "device/host/kernel.hpp"

#include <string>

namespace axisloom::device::host {

/// "baseline", "v3", "v4", "v4_vnni", "v4_bf16", "neon": as AXISLOOM_ISA takes them.
std::string_view name(Isa isa) noexcept;
/// "x86-64-v4"; for the baseline the architecture alone: "x86-64".
std::string level(Isa isa);
/// Whether this processor, and the system below it, has all of the instructions.
bool has(Isa isa) noexcept;
/// The most that this processor has.
Isa best_isa() noexcept;
/// The one of that name. Throws Error(unsupported) where there is none, or this processor lacks it.
Isa isa_named(std::string_view text);
/// The most that may be used: best_isa(), or what AXISLOOM_ISA says. Throws Error(usage) for a value that is unknown,
/// or that this processor lacks.
Isa allowed_isa();

/// The best version of a kernel that needs no more than `most`; null where there is none. `kernels` as those of
/// built_in_kernels.
Entry find_kernel(std::span<const BuiltIn> kernels, std::string_view name, Isa most);

}  // namespace axisloom::device::host
