// The judges' long work, done by kernels of their own where arrays lie on a device: an H200 hashes more elements in a
// millisecond than 16 cores do in a second.
#pragma once

#include "bench/data.hpp"
#include "bench/problem.hpp"

#include <axisloom/device.hpp>

#include <vector>

namespace axisloom::bench {

/// What became of the numbers that go into one result, or into one component of a complex one. Sums count modulo 2^64,
/// as those of integers do; of floats they stay far below.
struct Folded {
  u64 sum = 0;
  i64 best = 0;
  i64 best_at = -1;  // along the reduced axis; -1: none yet
};
enum class Fold { sum, least, greatest };

/// Adds what became of another part of the numbers.
void merge(Fold fold, Folded& into, const Folded& part);

/// All results, component beside component.
std::vector<Folded> folded_on_device(const Device& device, const Queue& queue, const Data& data,
                                     const Reduction& reduction, Fold fold);

/// Where the elements of a matrix lie in a buffer of hashes, and what they are.
struct HashedMatrix {
  const Data& data;
  WholeNumbers numbers;
  i64 offset, row, column;  // of the first element, and steps
};
/// rows x width: the product of a matrix of so many rows and a packed one of k x width. Number: double or u64.
template <class Number>
std::vector<Number> thin_product_on_device(const Device& device, const Queue& queue, const HashedMatrix& matrix,
                                           i64 rows, i64 k, i64 width, const std::vector<Number>& packed);

}  // namespace axisloom::bench
