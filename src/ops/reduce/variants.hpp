// The variants of the reductions; each is defined in the file of its name, beside its kernel.
#pragma once

#include "ops/reduce/candidate.hpp"

namespace axisloom::ops {

ReduceCandidate rows_reduction();
ReduceCandidate columns_reduction();
ReduceCandidate stripe_reduction();
ReduceCandidate sheet_reduction();
ReduceCandidate lesson_reduction();
ReduceCandidate portable_reduction();
ReduceCandidate plain_reduction();

}  // namespace axisloom::ops
