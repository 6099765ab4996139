// The table of contestants, and what several adapters need.
#include "bench/peers/peers.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <limits>

namespace axisloom::bench {
namespace {

constexpr PeerEntry entries[] = {
    {"axisloom", Role::ours, offer_ours},
    {"memcpy", Role::copy, offer_memcpy},
    {"memcpy-1", Role::copy, offer_memcpy_one_thread},
    {"copy", Role::copy, offer_device_copy},
    {"read", Role::read, offer_read},
    {"peak", Role::peak, offer_peak},
    {"opencv", Role::peer, offer_opencv},
    {"numpy", Role::peer, offer_numpy},
    {"numpy-out", Role::peer, offer_numpy_out},
    {"torch", Role::peer, offer_torch},
    {"torch-out", Role::peer, offer_torch_out},
    {"openblas", Role::peer, offer_openblas},
    {"onednn", Role::peer, offer_onednn},
    {"cublas", Role::peer, offer_cublas},
    {"cutensor", Role::peer, offer_cutensor},
    {"cudnn", Role::peer, offer_cudnn},
    {"cub", Role::peer, offer_cub},
    {"clblast", Role::peer, offer_clblast},
};

}  // namespace

std::span<const PeerEntry> peer_table() {
  return entries;
}

Worker& Session::worker() {
  if (!why_not_.empty()) throw Error(Errc::unsupported, why_not_);
  if (!worker_) try {
      worker_ = std::make_unique<Worker>();
    } catch (const Error& error) {
      why_not_ = error.parts().message;
      throw;
    }
  return *worker_;
}

std::optional<MatrixTranspose> matrix_transpose(const core::Move& merged) {
  if (merged.axes.size() != 2 || merged.tail) return std::nullopt;
  const auto& [columns, rows] = std::pair(merged.axes[0], merged.axes[1]);
  if (columns.in != 1 || rows.out != 1) return std::nullopt;
  if (rows.in < columns.extent || columns.out < rows.extent) return std::nullopt;
  return MatrixTranspose{rows.extent, columns.extent, rows.in, columns.out};
}

bool fits_int(const MatrixTranspose& transpose) {
  const auto sizes = {transpose.rows, transpose.columns, transpose.in_pitch, transpose.out_pitch};
  return std::max(sizes) <= std::numeric_limits<int>::max();
}

std::optional<Stored> stored(const Matrix& matrix, i64 rows, i64 columns) {
  if ((matrix.column == 1 || columns == 1) && (matrix.row >= columns || rows == 1))
    return Stored{false, std::max(matrix.row, columns)};
  if ((matrix.row == 1 || rows == 1) && (matrix.column >= rows || columns == 1))
    return Stored{true, std::max(matrix.column, rows)};
  return std::nullopt;
}

std::optional<Gemm> gemm_of(const Product& product) {
  const auto a = stored(product.a, product.m, product.k), b = stored(product.b, product.k, product.n),
             c = stored(product.c, product.m, product.n);
  if (!a || !b || !c || c->transposed) return std::nullopt;
  for (i64 size : {product.m, product.n, product.k, product.batch, a->pitch, b->pitch, c->pitch})
    if (size > std::numeric_limits<int>::max()) return std::nullopt;
  return Gemm{.m = int(product.m),
              .n = int(product.n),
              .k = int(product.k),
              .batch = int(product.batch),
              .a_transposed = a->transposed,
              .b_transposed = b->transposed,
              .lda = int(a->pitch),
              .ldb = int(b->pitch),
              .ldc = int(c->pitch)};
}

}  // namespace axisloom::bench
