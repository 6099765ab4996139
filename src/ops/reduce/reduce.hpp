// What the rest of Axisloom sees of the reductions: their entries in the registry.
#pragma once

#include "ops/reduce/candidate.hpp"

namespace axisloom::ops {

/// reduce, and its shorthands sum, prod, mean, min, max, argmin, argmax, any, all, count_nonzero, norm.
std::span<const OpEntry> reduce_entries();

/// One of those operations as the candidates are asked about it. `views` complete: the input, then the output.
ReduceProblem reduce_problem(const Operation& op, std::span<const View> views,
                             IndexWidth width = IndexWidth::automatic);

}  // namespace axisloom::ops
