// Everybody who may take part, in one table. An adapter is one file that offers contestants, or says why it cannot.
#pragma once

#include "bench/contestant.hpp"
#include "bench/peers/worker.hpp"

#include "jit/jit.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace axisloom::bench {

/// What contestants share across the cases of one program run.
class Session {
 public:
  /// The Python worker, started when first needed; throws Error(unsupported) when there is none.
  Worker& worker();

 private:
  std::unique_ptr<Worker> worker_;
  std::string why_not_;
};

/// Offers a contestant, or says why there is none.
using Offering = Offer(Workload& workload, Session& session);

struct PeerEntry {
  std::string_view name;  // as --peers takes it
  Role role;
  Offering* offer;
};
/// Axisloom first, then the references, then the peers.
std::span<const PeerEntry> peer_table();

/// Axisloom with other options than the workload's: a forced candidate or configuration.
std::unique_ptr<Contestant> make_ours(Workload& workload, std::string name, const PlanOptions& options);

/// The arithmetic reference of a device with memory of its own.
std::unique_ptr<Contestant> make_device_peak(Workload& workload);
/// Its kernel, which does as products of this dtype do on this device.
jit::Specialisation peak_kernel(Dtype dtype, const DeviceInfo& device);

Offering offer_ours, offer_memcpy, offer_memcpy_one_thread, offer_device_copy, offer_read, offer_peak, offer_opencv,
    offer_numpy, offer_numpy_out, offer_torch, offer_torch_out, offer_openblas, offer_onednn, offer_cublas,
    offer_cutensor, offer_cudnn, offer_cub, offer_clblast;

/// Numbers that CBLAS gave to layouts and transpositions, and that others took over.
namespace cblas {
inline constexpr int row_major = 101, no_trans = 111, trans = 112;
constexpr int trans_if(bool transposed) {
  return transposed ? trans : no_trans;
}
}  // namespace cblas

/// How a library of row-major matrices must be told about one: its rows lie `pitch` elements apart, or, where it is
/// stored transposed, its columns.
struct Stored {
  bool transposed = false;
  i64 pitch = 0;
};
/// Nothing when neither rows nor columns are contiguous, or they overlap.
std::optional<Stored> stored(const Matrix& matrix, i64 rows, i64 columns);

/// A product as gemm functions take it, with sizes that fit their 32 bits.
struct Gemm {
  int m = 1, n = 1, k = 1, batch = 1;
  bool a_transposed = false, b_transposed = false;
  int lda = 1, ldb = 1, ldc = 1;
};
/// Nothing when an operand is not stored as they want it, C transposed included.
std::optional<Gemm> gemm_of(const Product& product);

/// A merged move that only exchanges two axes of a matrix whose rows may be padded: out[c][r] = in[r][c].
struct MatrixTranspose {
  i64 rows, columns;        // of the input
  i64 in_pitch, out_pitch;  // elements from row to row
};
std::optional<MatrixTranspose> matrix_transpose(const core::Move& merged);
/// Whether its sizes and pitches fit the 32 bits of most libraries.
bool fits_int(const MatrixTranspose& transpose);

/// The functions of a library for f32, and those for f64.
template <template <class> class Functions>
struct OfReals {
  Functions<float> f32;
  Functions<double> f64;

  template <class Real>
  const Functions<Real>& of() const {
    if constexpr (sizeof(Real) == sizeof(float))
      return f32;
    else
      return f64;
  }
};
/// make(float()) where the dtype is f32, else make(double()).
template <class Make>
Offer with_real(Dtype dtype, const Make& make) {
  if (dtype == Dtype::f32) return make(float());
  return make(double());
}

}  // namespace axisloom::bench
