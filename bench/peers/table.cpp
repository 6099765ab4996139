// The table of contestants, and what several adapters need.
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <limits>

namespace axisloom::bench {
namespace {

Offer offer_ours(Workload& workload, Session&) {
  return {make_ours(workload, "axisloom", workload.options()), {}};
}

/// Whom `make` makes, unless it refuses.
template <auto make, auto... options>
Offer offer(Workload& workload, Session& session) try {
  return {make(workload, session, options...), {}};
} catch (const Refusal& refusal) {
  return {nullptr, refusal.parts().message};
}

constexpr PeerEntry entries[] = {
    {"axisloom", offer_ours, Role::ours},
    {"memcpy", offer<make_memcpy, false>, Role::copy},
    {"memcpy-1", offer<make_memcpy, true>, Role::copy},
    {"copy", offer<make_device_copy>, Role::copy},
    {"floor", offer<make_floor>, Role::floor},
    {"read", offer<make_read>, Role::read},
    {"peak", offer<make_peak>, Role::peak},
    {"opencv", offer<make_opencv>},
    {"numpy", offer<make_python, PythonWay{}>},
    {"numpy-out", offer<make_python, PythonWay{.into_existing = true}>},
    {"torch", offer<make_python, PythonWay{.torch = true}>},
    {"torch-out", offer<make_python, PythonWay{.torch = true, .into_existing = true}>},
    {"torch-compiled", offer<make_python, PythonWay{.torch = true, .compiled = true}>},
    {"openblas", offer<make_openblas>},
    {"onednn", offer<make_onednn>},
    {"hptt", offer<make_hptt>},
    {"cublas", offer<make_cublas>},
    {"cutensor", offer<make_cutensor>},
    {"cudnn", offer<make_cudnn>},
    {"cub", offer<make_cub>},
    {"mdspan", offer<make_mdspan>},
    {"clblast", offer<make_clblast>},
};

std::optional<Stored> stored(const Matrix& matrix, i64 rows, i64 columns) {
  const auto& [offset, row, column, batch] = matrix;
  if ((column == 1 || columns == 1) && (row >= columns || rows == 1))
    return Stored{false, std::max(row, columns), offset, batch};
  if ((row == 1 || rows == 1) && (column >= rows || columns == 1))
    return Stored{true, std::max(column, rows), offset, batch};
  return std::nullopt;  // neither rows nor columns are contiguous, or they overlap
}

bool fit_int(std::initializer_list<i64> sizes) {
  return std::max(sizes) <= std::numeric_limits<int>::max();
}

}  // namespace

std::span<const PeerEntry> peer_table() {
  return entries;
}

void refuse(std::string why, std::string remedy) {
  throw Refusal(Errc::unsupported, std::move(why), std::move(remedy));
}

Worker& Session::worker() {
  if (!why_not_.empty()) refuse(why_not_);
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
  const core::Loop &columns = merged.axes[0], &rows = merged.axes[1];
  if (columns.in != 1 || rows.out != 1 || rows.in < columns.extent || columns.out < rows.extent) return std::nullopt;
  return MatrixTranspose{rows.extent, columns.extent, rows.in, columns.out, merged.in_offset, merged.out_offset};
}

void require_real_matrices(const Workload& workload) {
  const Dtype dtype = workload.in().dtype;
  if ((!workload.merged() && !workload.product()) || (dtype != Dtype::f32 && dtype != Dtype::f64))
    refuse("is called to transpose and multiply matrices of f32 and f64");
}

bool fits_int(const MatrixTranspose& transpose) {
  return fit_int({transpose.rows, transpose.columns, transpose.in_pitch, transpose.out_pitch});
}

std::optional<Gemm> gemm_of(const Product& product) {
  const auto& [in, out, m, n, k, batch, a_matrix, b_matrix, c_matrix] = product;
  const auto a = stored(a_matrix, m, k), b = stored(b_matrix, k, n), c = stored(c_matrix, m, n);
  if (!a || !b || !c || c->transposed || !fit_int({m, n, k, batch, a->pitch, b->pitch, c->pitch})) return std::nullopt;
  return Gemm{int(m), int(n), int(k), int(batch), *a, *b, *c};
}

}  // namespace axisloom::bench
