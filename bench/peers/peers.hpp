// Everybody who may take part, in one table. An adapter is one file that makes contestants, or refuses and says why.
#pragma once

#include "bench/contestant.hpp"
#include "bench/peers/worker.hpp"

#include "jit/jit.hpp"

#include <axisloom/error.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace axisloom::bench {

/// What contestants share across the cases of one program run.
class Session {
 public:
  /// The Python worker, started when first needed; refuses when there is none.
  Worker& worker();

 private:
  std::unique_ptr<Worker> worker_;
  std::string why_not_;
};

/// Offers a contestant, or says why there is none.
using Offering = Offer(Workload& workload, Session& session);

struct PeerEntry {
  std::string_view name;  // as --peers takes it
  Offering* offer;
  Role role = Role::peer;
};
/// Axisloom first, then the references, then the peers.
std::span<const PeerEntry> peer_table();

/// Why somebody cannot take part: an Error(unsupported).
struct Refusal : Error {
  using Error::Error;
};
[[noreturn]] void refuse(std::string why, std::string remedy = {});

/// A call that is timed by the host's clock alone.
class HostCall : public Contestant {
 public:
  using Contestant::Contestant;
  Timing run() final {
    const double start = now();
    call();
    return {now() - start, std::nullopt};
  }

 private:
  virtual void call() = 0;
};

/// "tile (tile_in=64 layout=2; default)"
std::string configuration_text(const PlanReport& report);
/// Runs a plan; by the device's clock the time of several launches begins at the end of a byte that is written before
/// them.
Timing timed_run(const Plan& plan, const Queue& queue, std::span<const Buffer> buffers, const Buffer& byte);
/// Axisloom with other options than the workload's: a forced candidate or configuration.
UniqueContestant make_ours(Workload& workload, std::string name, const PlanOptions& options);

/// The fastest of several that do the same, by the median of some rounds in which each has its turn.
UniqueContestant fastest_of(Contestants candidates);
/// The references of a device with memory of its own: for sums, and for products.
UniqueContestant make_device_read(Workload& workload);
UniqueContestant make_device_peak(Workload& workload);
/// The kernel of the latter, which does as products of this dtype do on this device.
jit::Specialisation peak_kernel(Dtype dtype, const DeviceInfo& device);

using Making = UniqueContestant(Workload& workload, Session& session);
Making make_device_copy, make_floor, make_read, make_peak, make_opencv, make_openblas, make_onednn, make_hptt,
    make_cublas, make_cutensor, make_cudnn, make_cub, make_mdspan, make_clblast;
UniqueContestant make_memcpy(Workload& workload, Session& session, bool one_thread);

/// How Python is asked: NumPy or PyTorch, for a new array or into one that exists; PyTorch also for a kernel that
/// torch.compile makes.
struct PythonWay {
  bool torch = false, into_existing = false, compiled = false;
};
UniqueContestant make_python(Workload& workload, Session& session, PythonWay way);

/// Numbers that CBLAS gave to layouts and transpositions, and that others took over.
namespace cblas {
inline constexpr int row_major = 101, no_trans = 111, trans = 112;
}  // namespace cblas

/// How a library of row-major matrices must be told about one: its rows lie `pitch` elements apart, or, where it is
/// stored transposed, its columns.
struct Stored {
  bool transposed;
  i64 pitch;
  i64 offset, batch;  // elements before the first matrix, and from one to the next

  int trans() const noexcept { return transposed ? cblas::trans : cblas::no_trans; }
};

/// A product as gemm functions take it, with sizes that fit their 32 bits. `c` is not transposed.
struct Gemm {
  int m, n, k, batch;
  Stored a, b, c;
};
/// Nothing when an operand is not stored as they want it.
std::optional<Gemm> gemm_of(const Product& product);

/// A merged move that only exchanges two axes of a matrix whose rows may be padded: out[c][r] = in[r][c].
struct MatrixTranspose {
  i64 rows, columns;          // of the input
  i64 in_pitch, out_pitch;    // elements from row to row
  i64 in_offset, out_offset;  // of the first elements
};
std::optional<MatrixTranspose> matrix_transpose(const core::Move& merged);
/// Whether its sizes and pitches fit the 32 bits of most libraries.
bool fits_int(const MatrixTranspose& transpose);

/// A Call<float> for elements of f32 or c64, a Call<double> for those of f64 or c128.
template <template <class Real> class Call, class What>
UniqueContestant make_real(Workload& workload, const What& what) {
  const Dtype dtype = workload.in().dtype;
  if (dtype == Dtype::f32 || dtype == Dtype::c64) return std::make_unique<Call<float>>(workload, what);
  return std::make_unique<Call<double>>(workload, what);
}
/// Refuses all but moves and products of f32 and f64.
void require_real_matrices(const Workload& workload);

}  // namespace axisloom::bench
