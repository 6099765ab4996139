// Views of reductions and products, with the axes that other libraries do not know about merged away.
#include "bench/problem.hpp"

#include "harness/arguments.hpp"

#include "planner/registry.hpp"

#include <algorithm>
#include <utility>

namespace axisloom::bench {
namespace {

constexpr std::array<std::string_view, 6> known_reductions{"sum", "mean", "min", "max", "argmin", "argmax"};

/// The kind of Reduction that an operation is; empty for others.
std::string_view kind_of(const Operation& op) {
  const ops::OpEntry& entry = ops::entry(op.name);
  if (std::ranges::count(known_reductions, entry.known_as) != 0) return entry.known_as;
  const std::string_view order = op.option("ord").value_or("2");
  return entry.name == "norm" && (order == "2" || order == "fro") ? "norm" : "";
}

/// Which axes of an array of that rank are reduced: those of the option, else all.
std::vector<bool> reduced_axes(const Operation& op, int rank) {
  const auto named = op.option("axes");
  std::vector<bool> reduced(rank, !named);
  if (!named) return reduced;
  for (i64 axis : harness::parse_strides(*named)) {
    if (axis < 0) axis += rank;
    if (axis >= 0 && axis < rank) reduced[axis] = true;
  }
  return reduced;
}

struct Operand {
  const View& view;
  int axes;  // of its matrix: 1 for a vector
  Matrix& matrix;
};

/// Makes one batch of the axes before the matrices; false when one stride of an operand cannot do for all.
bool merge_batches(std::span<const Operand> operands, i64& batch) {
  const auto& [out, out_axes, result] = operands.back();
  for (int i = 1; i <= out.rank() - out_axes; ++i) {  // axes before the matrix
    const i64 extent = out.shape[out.rank() - out_axes - i];
    if (extent == 1) continue;
    for (const auto& [view, axes, matrix] : operands) {
      const int axis = view.rank() - axes - i;
      const i64 stride = axis < 0 || view.shape[axis] == 1 ? 0 : view.strides[axis];  // 0 where it is broadcast
      if (batch == 1)
        matrix.batch = stride;
      else if (stride != matrix.batch * batch)
        return false;
    }
    batch *= extent;
  }
  return true;
}

/// The last axes of a view; vectors lack one, and so do their products.
Matrix matrix_of(const View& view, bool rows, bool columns) {
  return {view.offset, rows ? view.strides[view.rank() - 1 - columns] : 0, columns ? view.strides.back() : 0, 0};
}

}  // namespace

std::optional<Reduction> reduction_of(const Operation& op, std::span<const View> views) {
  const std::string_view kind = kind_of(op);
  if (kind.empty()) return std::nullopt;
  const View &in = views[0], &out = views[1];
  if (!in.is_contiguous() || !out.is_contiguous()) return std::nullopt;
  Reduction reduction{std::string(kind), in.dtype, out.dtype, 1, 1, 1, in.offset, out.offset, {}};
  const std::vector<bool> reduced = reduced_axes(op, in.rank());
  bool within = false, behind = false;  // the axes that are reduced
  for (int axis = 0; axis < in.rank(); ++axis) {
    const bool goes = reduced[axis];
    if (goes) reduction.axes.push_back(axis);
    if (in.shape[axis] == 1) continue;
    if (goes && behind) {
      if (reduction.outer > 1 || reduction.lead > 1) return std::nullopt;
      reduction.lead = std::exchange(reduction.reduced, 1);
      reduction.outer = std::exchange(reduction.inner, 1);
    }
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
  const bool rows = a.rank() > 1, columns = b.rank() > 1;
  Product product{a.dtype,
                  c.dtype,
                  rows ? a.shape[a.rank() - 2] : 1,
                  columns ? b.shape.back() : 1,
                  a.shape.back(),
                  1,
                  matrix_of(a, rows, true),
                  matrix_of(b, true, columns),
                  matrix_of(c, rows, columns)};
  const Operand operands[] = {{a, 1 + rows, product.a}, {b, 1 + columns, product.b}, {c, rows + columns, product.c}};
  if (!merge_batches(operands, product.batch)) return std::nullopt;
  return product;
}

}  // namespace axisloom::bench
