// Whether two views of one buffer touch a common byte, and whether one view touches an element twice.
#pragma once

#include "core/integers.hpp"

#include <axisloom/array.hpp>

namespace axisloom::core {

enum class Overlap { no, yes, undecided };

/// Exact for disjoint bounds and wherever the search below ends within `work` steps; otherwise undecided.
/// Solves sum of (index * stride) equalities with bounded indices, as NumPy's shares_memory does.
/// `a_start` and `b_start` are byte addresses of the buffers' starts, in one address space.
Overlap shares_memory(const View& a, u64 a_start, const View& b, u64 b_start, i64 work = 1 << 20);

/// Whether two different indices of the view address the same element (as a stride of 0 does).
Overlap overlaps_itself(const View& view, i64 work = 1 << 20);

}  // namespace axisloom::core
