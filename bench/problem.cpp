// Views of reductions and products, with the axes that other libraries do not know about merged away.
#include "bench/problem.hpp"

#include "harness/arguments.hpp"

#include "planner/registry.hpp"

#include <algorithm>
#include <array>

namespace axisloom::bench {
namespace {

constexpr std::array<std::string_view, 6> known_reductions{"sum", "mean", "min", "max", "argmin", "argmax"};

/// Which axes of an array of that rank are reduced: those of the option, else all.
std::vector<bool> reduced_axes(const Operation& op, int rank) {
  const auto named = op.option("axes");
  std::vector<bool> reduced(size_t(rank), !named);
  if (!named) return reduced;
  for (i64 axis : harness::parse_strides(*named)) {
    if (axis < 0) axis += rank;
    if (axis >= 0 && axis < rank) reduced[size_t(axis)] = true;
  }
  return reduced;
}

/// Appends an axis in front of those that `matrix` already steps through; false when one stride cannot do for all.
bool add_batch_axis(i64 inner_extent, i64 stride, i64& batch_stride) {
  if (inner_extent > 1 && stride != batch_stride * inner_extent) return false;
  if (inner_extent == 1) batch_stride = stride;
  return true;
}

/// The strides of an operand's axis at `from_end` axes before its matrix; 0 where it is broadcast.
i64 batch_stride_of(const View& view, int matrix_axes, int from_end) {
  const int axis = view.rank() - matrix_axes - 1 - from_end;
  return axis < 0 || view.shape[axis] == 1 ? 0 : view.strides[axis];
}

struct Operand {
  const View* view;
  int axes;  // of its matrix: 1 for a vector
  Matrix* matrix;
};

bool merge_batches(const View& out, std::span<const Operand> operands, i64& batch) {
  const Operand& result = operands.back();
  for (int i = 0; i < out.rank() - result.axes; ++i) {
    const i64 extent = out.shape[out.rank() - result.axes - 1 - i];
    if (extent == 1) continue;
    for (const Operand& operand : operands)
      if (!add_batch_axis(batch, batch_stride_of(*operand.view, operand.axes, i), operand.matrix->batch)) return false;
    batch *= extent;
  }
  return true;
}

}  // namespace

std::optional<Reduction> reduction_of(const Operation& op, std::span<const View> views) {
  const std::string_view kind = ops::entry(op.name).known_as;
  if (std::ranges::find(known_reductions, kind) == known_reductions.end()) return std::nullopt;
  const View &in = views[0], &out = views[1];
  if (!in.is_contiguous() || !out.is_contiguous()) return std::nullopt;
  Reduction reduction{std::string(kind), in.dtype, out.dtype, 1, 1, 1, in.offset, out.offset, {}};
  const std::vector<bool> reduced = reduced_axes(op, in.rank());
  bool within = false, behind = false;
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (reduced[size_t(axis)]) reduction.axes.push_back(axis);
    if (in.shape[axis] == 1) continue;
    const bool goes = reduced[size_t(axis)];
    if (goes && behind) return std::nullopt;
    within = within || goes;
    behind = within && !goes;
    (goes ? reduction.reduced : behind ? reduction.inner : reduction.outer) *= in.shape[axis];
  }
  return reduction;
}

Product Product::transposed() const {
  const auto transposed = [](const Matrix& matrix) {
    return Matrix{matrix.offset, matrix.column, matrix.row, matrix.batch};
  };
  return {in, out, n, m, k, batch, transposed(b), transposed(a), transposed(c)};
}

std::optional<Product> product_of(const Operation& op, std::span<const View> views) {
  if (ops::entry(op.name).known_as != "matmul" || views.size() != 3 || !op.options.empty() ||
      views[0].dtype != views[1].dtype)
    return std::nullopt;
  const View &a = views[0], &b = views[1], &c = views[2];
  if (a.rank() == 0 || b.rank() == 0) return std::nullopt;
  Product product{a.dtype, c.dtype, 1, 1, a.shape.back(), 1, {}, {}, {}};
  const bool row = a.rank() == 1, column = b.rank() == 1;  // vectors lack an axis, and so does their result
  product.a = {a.offset, 0, a.strides.back(), 0};
  product.b = {b.offset, column ? b.strides[0] : b.strides[b.rank() - 2], column ? 0 : b.strides.back(), 0};
  product.c.offset = c.offset;
  if (!row) {
    product.m = a.shape[a.rank() - 2];
    product.a.row = a.strides[a.rank() - 2];
    product.c.row = c.strides[c.rank() - (column ? 1 : 2)];
  }
  if (!column) {
    product.n = b.shape.back();
    product.c.column = c.strides.back();
  }
  const Operand operands[] = {{&a, row ? 1 : 2, &product.a},
                              {&b, column ? 1 : 2, &product.b},
                              {&c, (row ? 0 : 1) + (column ? 0 : 1), &product.c}};
  if (!merge_batches(c, operands, product.batch)) return std::nullopt;
  return product;
}

}  // namespace axisloom::bench
