// Operations as plain C has them.
#pragma once

#include <axisloom/axisloom.h>
#include <axisloom/ops.hpp>

namespace axisloom::c {

/// A copy. Throws Error(usage) where a name or a list is null; whether there is such an operation, planning finds out.
Operation operation_of(const axl_operation* operation);

/// Copies too. Throw Error(usage) where a list or a name is null.
Lengths lengths_of(const axl_length* lengths, size_t count);

}  // namespace axisloom::c
