// The judges' long work, done by kernels of their own where arrays lie on a device: an H200 hashes more elements in a
// millisecond than 16 cores do in a second.
#pragma once

#include "bench/data.hpp"
#include "bench/problem.hpp"

namespace axisloom::bench {

class Workload;

/// What becomes of the numbers of a result: their sum, the best of them, or the sum of their squares.
enum class Fold { sum, least, greatest, squares };  // counted as by FOLD in judge.params.h

/// What became of the numbers that go into one result, or into one component of a complex one.
struct Folded {
  u64 value = 0;  // sums count modulo 2^64, as those of integers do; of floats they stay far below
  i64 at = -1;    // of the best its place along the reduced axes; -1: none yet
};

/// Adds what became of another part of the numbers.
void merge(Fold fold, Folded& into, const Folded& part);

/// Of all results, component beside component, the value; where `places` is set, the place of the best.
std::vector<u64> folded_on_device(const Workload& workload, const Reduction& reduction, Fold fold, bool places);

/// Where the elements of a matrix lie in a buffer of hashes, and what they are.
struct HashedMatrix {
  const Data& data;
  WholeNumbers whole;
  i64 offset, row, column;  // of the first element, and steps

  /// Number: double, or u64 for integers.
  template <class Number>
  Number at(i64 r, i64 c) const {
    return Number(whole(data.bits(offset + r * row + c * column, 0))) * Number(whole.unit);
  }
};
/// rows x width: the product of a matrix of so many rows and a packed one of k x width. `number`: in which it is made,
/// "f64" or "u64".
void thin_product_on_device(const Workload& workload, const HashedMatrix& matrix, i64 rows, i64 k, i64 width,
                            const char* number, std::span<const std::byte> packed, std::span<std::byte> result);

}  // namespace axisloom::bench
