// How large the cache is, and writing over it.
#include "bench/cache.hpp"

#include "bench/contestant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <new>

namespace axisloom::bench {
namespace {

constexpr size_t mebibyte = size_t{1} << 20;
/// For devices that do not tell: the largest is that of AMD's MI300, 256 MiB.
constexpr size_t unknown_cache = 256 * mebibyte;

/// The largest cache that the first core reaches.
size_t cache_of_host() {
  size_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    size_t size = 0;  // "307200K"
    char unit = ' ';
    file >> size >> unit;
    largest = std::max(largest, size * (unit == 'K' ? mebibyte / 1024 : unit == 'M' ? mebibyte : 1));
  }
  return largest;
}

}  // namespace

const char* name(Cache cache) noexcept {
  return std::array{"warm", "cold", "beyond"}[size_t(cache)];
}

size_t last_level_cache(const DeviceInfo& info) {
  // PoCL's figure is a part of a large cache only.
  const size_t known = std::max(info.last_level_cache, info.kind == Kind::cpu ? cache_of_host() : 0);
  return known > 0 ? known : unknown_cache;
}

CacheFlusher::CacheFlusher(const Device& device, Team& team, size_t cache_bytes)
    : device_(device), team_(team), cache_bytes_(cache_bytes), written_bytes_(2 * cache_bytes) {
  const size_t most = device.info().max_allocation;
  if (most > 0) written_bytes_ = std::min(written_bytes_, most);
}

double CacheFlusher::flush() {
  const double start = now();
  if (device_.info().kind == Kind::cpu) {
    write_on_host();
  } else {
    if (!on_device_) {
      on_device_ = device_.allocate(written_bytes_);
      queue_ = device_.queue();
    }
    queue_.impl()->fill(*on_device_.impl(), 0, written_bytes_, std::byte{0}, {})->wait();
  }
  return now() - start;
}

void CacheFlusher::write_on_host() {
  if (on_host_.empty()) try {
      on_host_.resize(std::max<size_t>(1, written_bytes_ / sizeof(u64)));
    } catch (const std::bad_alloc&) {
      throw Error(Errc::out_of_memory,
                  fmt::format("no room for the {} MiB that displace the cache", written_bytes_ / mebibyte),
                  "measure with --cache warm");
    }
  // Read and written, a word of each line: memset may write around the cache.
  constexpr i64 line = 64 / sizeof(u64);
  team_.run([&](unsigned member) {
    const auto [begin, end] = team_.share(on_host_.size(), member);
    for (i64 at = begin; at < end; at += line) ++on_host_[at];
  });
}

}  // namespace axisloom::bench
