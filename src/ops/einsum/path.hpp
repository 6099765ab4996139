// In which order the operands of a contraction are multiplied, two at a time.
#pragma once

#include "ops/einsum/problem.hpp"

#include <vector>

namespace axisloom::ops {

/// Which axes are left of a set of operands when everything else is still to come: those of the output and those that
/// other operands have.
AxisSet axes_left(const Contraction& problem, const std::vector<bool>& in_set);

/// The cheapest order. Up to most_searched operands every order is searched (dynamic programming over subsets); beyond,
/// the pair that shrinks the arrays most comes first, which takes n^2 log n steps for n operands. The cost is bytes
/// moved plus arithmetic operations in the bytes that memory moves meanwhile. It knows no device: one pattern and shape
/// has one order, on every device. A problem that has an order keeps it.
std::vector<PathStep> contraction_path(const Contraction& problem);
inline constexpr std::size_t most_searched = 8;

/// Cost of a path, in bytes as above; for tests and reports.
double path_cost(const Contraction& problem, const std::vector<PathStep>& path);

/// Arithmetic operations, those on complex numbers in real ones, sums of single operands included.
double path_operations(const Contraction& problem, const std::vector<PathStep>& path);

}  // namespace axisloom::ops
