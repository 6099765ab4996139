// The table of contestants, and what several adapters need.
#include "bench/peers/peers.hpp"

#include <axisloom/error.hpp>

#include <array>
#include <chrono>

namespace axisloom::bench {
namespace {

constexpr std::array entries{
    PeerEntry{"axisloom", Role::ours, offer_ours},
    PeerEntry{"memcpy", Role::copy, offer_memcpy},
    PeerEntry{"memcpy-1", Role::copy, offer_memcpy_one_thread},
    PeerEntry{"copy", Role::copy, offer_device_copy},
    PeerEntry{"opencv", Role::peer, offer_opencv},
    PeerEntry{"numpy", Role::peer, offer_numpy},
    PeerEntry{"numpy-out", Role::peer, offer_numpy_out},
    PeerEntry{"torch", Role::peer, offer_torch},
    PeerEntry{"torch-out", Role::peer, offer_torch_out},
    PeerEntry{"cublas", Role::peer, offer_cublas},
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
  if (merged.axes.size() != 2 || merged.guard) return std::nullopt;
  const auto& [columns, rows] = std::pair(merged.axes[0], merged.axes[1]);
  if (columns.in_stride != 1 || rows.out_stride != 1) return std::nullopt;
  if (rows.in_stride < columns.extent || columns.out_stride < rows.extent) return std::nullopt;
  return MatrixTranspose{rows.extent, columns.extent, rows.in_stride, columns.out_stride};
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace axisloom::bench
