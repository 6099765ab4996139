// Drawing numbers, and elements of every dtype.
#include "harness/random.hpp"

#include "core/number.hpp"

#include <algorithm>
#include <cstring>

namespace axisloom::harness {
namespace {

constexpr double few_values[] = {-1, -0.5, 0, 0.5, 1};

}  // namespace

Random::Random(u64 seed, std::string_view text) : state_(seed) {
  // FNV-1a: any fixed mixing of the characters will do.
  u64 hash = 14695981039346656037ULL;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  state_ = next() ^ hash;
}

i64 Random::below(i64 count) noexcept {
  return next() % u64(count);
}

void Random::fill(std::span<std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const u64 value = next();
    const size_t part = std::min(bytes.size(), sizeof value);
    std::memcpy(bytes.data(), &value, part);
    bytes = bytes.subspan(part);
  }
}

void Random::fill_numbers(Dtype dtype, std::span<std::byte> bytes) noexcept {
  fill(bytes);
  const size_t size = size_of(dtype);
  if (core::unit_roundoff(dtype) == 0) return;
  const bool few = percent(50);
  for (size_t at = 0; at + size <= bytes.size(); at += size)
    for (int component = 0; component < core::components_of(dtype); ++component)
      core::store_number(dtype, &bytes[at], few ? one_of(few_values) : double(i64(next()) >> 11) * 0x1p-52, component);
}

}  // namespace axisloom::harness
