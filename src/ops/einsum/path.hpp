// In which order the operands of a contraction are multiplied, two at a time.
#pragma once

#include "ops/einsum/problem.hpp"

#include <vector>

namespace axisloom::ops {

/// The cheapest order. Up to most_searched operands every order is searched (dynamic programming over subsets); beyond,
/// the pair that shrinks the arrays most comes first, which takes n^2 log n steps for n operands. The cost is bytes
/// moved plus arithmetic operations in the bytes that memory moves meanwhile. It knows no device: one pattern and shape
/// has one order, on every device. A problem that has an order keeps it.
Path contraction_path(const Contraction& problem);
inline constexpr size_t most_searched = 8;

/// The axes of each array on the way: of an operand without those that it has alone, which are summed before anything
/// else, then of each product those that the output has or that are still to be multiplied.
std::vector<AxisSet> axes_on_path(const Contraction& problem, const Path& path);

/// Cost of a path, in bytes as above; for tests and reports.
double path_cost(const Contraction& problem, const Path& path);

/// Arithmetic operations, those on complex numbers in real ones, sums of single operands included.
double path_operations(const Contraction& problem, const Path& path);

}  // namespace axisloom::ops
