// Everybody who may take part, in one table. An adapter is one file that offers contestants, or says why it cannot.
#pragma once

#include "bench/contestant.hpp"
#include "bench/peers/worker.hpp"

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
/// Axisloom first, then the copies, then the peers.
std::span<const PeerEntry> peer_table();

/// Axisloom with other options than the workload's: a forced candidate or configuration.
std::unique_ptr<Contestant> make_ours(Workload& workload, const PlanOptions& options);

Offer offer_ours(Workload& workload, Session& session);
Offer offer_memcpy(Workload& workload, Session& session);
Offer offer_memcpy_one_thread(Workload& workload, Session& session);
Offer offer_device_copy(Workload& workload, Session& session);
Offer offer_opencv(Workload& workload, Session& session);
Offer offer_numpy(Workload& workload, Session& session);
Offer offer_numpy_out(Workload& workload, Session& session);
Offer offer_torch(Workload& workload, Session& session);
Offer offer_torch_out(Workload& workload, Session& session);
Offer offer_cublas(Workload& workload, Session& session);

/// A merged move that only exchanges two axes of a matrix whose rows may be padded: out[c][r] = in[r][c].
struct MatrixTranspose {
  std::int64_t rows, columns;        // of the input
  std::int64_t in_pitch, out_pitch;  // elements from row to row
};
std::optional<MatrixTranspose> matrix_transpose(const core::Move& merged);

/// Seconds since some fixed moment, by the steady clock.
double now();

}  // namespace axisloom::bench
