// The cache before memory, and how it is emptied between runs.
#pragma once

#include "bench/team.hpp"

#include <axisloom/device.hpp>

namespace axisloom::bench {

/// What the last-level cache may still hold of a case's arrays when a run begins. warm: whatever the runs before left
/// there. cold: nothing. beyond: all arrays together are larger than the cache, so that it makes no difference.
enum class Cache { warm, cold, beyond };
const char* name(Cache cache) noexcept;

/// Bytes of a device's last-level cache: the larger figure of the driver and, of CPUs, the system. Where neither gives
/// one, more than any GPU has today.
size_t last_level_cache(const DeviceInfo& info);

/// Displaces everything from the cache by writing to a buffer of twice its size.
class CacheFlusher {
 public:
  /// The buffer is made when it is first needed.
  CacheFlusher(const Device& device, Team& team, size_t cache_bytes);
  CacheFlusher(const Device& device, Team& team) : CacheFlusher(device, team, last_level_cache(device.info())) {}

  size_t cache_bytes() const noexcept { return cache_bytes_; }
  /// Bytes that are written: less than twice the cache only where the device has no buffers of that size.
  size_t written_bytes() const noexcept { return written_bytes_; }
  /// Returns the seconds that it took. Throws Error(out_of_memory) when there is no room for the buffer.
  double flush();

 private:
  void write_on_host();

  Device device_;
  Team& team_;
  size_t cache_bytes_, written_bytes_;
  std::vector<u64> on_host_;
  Buffer on_device_;
  Queue queue_;
};

}  // namespace axisloom::bench
