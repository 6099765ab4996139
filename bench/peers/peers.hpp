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

struct PeerEntry {
  std::string_view name;  // as --peers takes it
  Role role;
  Offer (*offer)(Workload& workload, Session& session);
};
/// Axisloom first, then the references, then the peers.
std::span<const PeerEntry> peer_table();

/// Axisloom with other options than the workload's: a forced candidate or configuration.
std::unique_ptr<Contestant> make_ours(Workload& workload, std::string name, const PlanOptions& options);

/// The arithmetic reference of a device with memory of its own.
std::unique_ptr<Contestant> make_device_peak(Workload& workload);
/// Its kernel, which does as products of this dtype do on this device.
jit::Specialisation peak_kernel(Dtype dtype, const DeviceInfo& device);

Offer offer_ours(Workload& workload, Session& session);
Offer offer_memcpy(Workload& workload, Session& session);
Offer offer_memcpy_one_thread(Workload& workload, Session& session);
Offer offer_device_copy(Workload& workload, Session& session);
Offer offer_read(Workload& workload, Session& session);
Offer offer_peak(Workload& workload, Session& session);
Offer offer_opencv(Workload& workload, Session& session);
Offer offer_numpy(Workload& workload, Session& session);
Offer offer_numpy_out(Workload& workload, Session& session);
Offer offer_torch(Workload& workload, Session& session);
Offer offer_torch_out(Workload& workload, Session& session);
Offer offer_openblas(Workload& workload, Session& session);
Offer offer_onednn(Workload& workload, Session& session);
Offer offer_cublas(Workload& workload, Session& session);
Offer offer_cutensor(Workload& workload, Session& session);
Offer offer_cudnn(Workload& workload, Session& session);
Offer offer_cub(Workload& workload, Session& session);
Offer offer_clblast(Workload& workload, Session& session);

/// Numbers that CBLAS gave to layouts and transpositions, and that others took over.
namespace cblas {
inline constexpr int row_major = 101, no_trans = 111, trans = 112;
}

/// How a library of row-major matrices must be told about one: its rows lie `pitch` elements apart, or, where it is
/// stored transposed, its columns.
struct Stored {
  bool transposed = false;
  std::int64_t pitch = 0;
};
/// Nothing when neither rows nor columns are contiguous, or they overlap.
std::optional<Stored> stored(const Matrix& matrix, std::int64_t rows, std::int64_t columns);

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
  std::int64_t rows, columns;        // of the input
  std::int64_t in_pitch, out_pitch;  // elements from row to row
};
std::optional<MatrixTranspose> matrix_transpose(const core::Move& merged);
/// Whether its sizes and pitches fit the 32 bits of most libraries.
bool fits_int(const MatrixTranspose& transpose);

}  // namespace axisloom::bench
