// The registry entries of einsum, matmul and dot.
#pragma once

#include "ops/registry.hpp"

namespace axisloom::ops {

std::span<const OpEntry> einsum_entries();

}  // namespace axisloom::ops
