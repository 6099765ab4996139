// What an operation computes, in the few terms that other libraries and the judges understand.
#pragma once

#include "core/integers.hpp"

#include <axisloom/array.hpp>
#include <axisloom/ops.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace axisloom::bench {

/// A contiguous array [lead][outer][reduced][inner] that becomes [outer][inner]. Of a sum along the rows of a matrix
/// inner is 1, of one along its columns outer is 1, of one of the whole array both are. Lead is above 1 only where axes
/// are reduced on both sides of others: of a mean over the batch and the pixels of NCHW, say.
struct Reduction {
  std::string kind;  // "sum", "mean", "min", "max", "argmin", "argmax", or "norm": that of order 2
  Dtype in = Dtype::f32, out = Dtype::f32;
  i64 outer = 1, reduced = 1, inner = 1;
  i64 in_offset = 0, out_offset = 0;  // of the first elements
  std::vector<int> axes = {};         // of the input that are reduced
  i64 lead = 1;

  i64 results() const noexcept { return outer * inner; }
  /// Elements of one result, whose places are counted with the lead outermost.
  i64 count() const noexcept { return lead * reduced; }
};
/// Nothing when the operation is none of these, or an array has gaps. `views`: the input, then the output.
std::optional<Reduction> reduction_of(const Operation& op, std::span<const View> views);

/// Where the elements of one matrix lie: strides in elements from row to row, column to column, matrix to matrix.
struct Matrix {
  i64 offset = 0, row = 0, column = 0, batch = 0;
  i64 at(i64 b, i64 r, i64 c) const noexcept { return offset + b * batch + r * row + c * column; }
};

/// `batch` times c[m][n] = sum over k of a[m][k] * b[k][n].
struct Product {
  Dtype in = Dtype::f32, out = Dtype::f32;
  i64 m = 1, n = 1, k = 1, batch = 1;
  Matrix a, b, c;

  /// The same numbers as the product of the transposed matrices.
  Product transposed() const;
};
/// Nothing when the operation is known as no matmul, or not plainly one of two arrays of one dtype, or its batches need
/// several strides.
std::optional<Product> product_of(const Operation& op, std::span<const View> views);

}  // namespace axisloom::bench
