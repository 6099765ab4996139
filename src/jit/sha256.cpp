// SHA-256 (FIPS 180-4), for cache keys and for the digests of cache entries.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/integers.hpp"
#include "jit/jit.hpp"

namespace axisloom::jit {
namespace {

constexpr size_t block_bytes = 64;

constexpr std::array<u32, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<u32, 8>;

constexpr State initial_state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::array<u32, 64> schedule(const std::byte* block) {
  std::array<u32, 64> w{};
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 4; ++j) w[i] = w[i] << 8 | std::to_integer<u32>(block[4 * i + j]);
  for (size_t i = 16; i < 64; ++i) {
    const u32 s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const u32 s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  return w;
}

void compress(State& state, const std::byte* block) {
  const auto w = schedule(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const u32 s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const u32 t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
    const u32 s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const u32 t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const State worked = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += worked[i];
}

/// The rest of the message, a 1 bit, zeros, and the length in bits: one block or two.
void compress_tail(State& state, std::span<const std::byte> rest, u64 total_bytes) {
  std::array<std::byte, 2 * block_bytes> tail{};
  std::copy(rest.begin(), rest.end(), tail.begin());
  tail[rest.size()] = std::byte{0x80};
  const size_t used = rest.size() + 1 + sizeof(total_bytes) <= block_bytes ? block_bytes : 2 * block_bytes;
  const u64 bits = total_bytes * 8;
  for (size_t i = 0; i < sizeof(bits); ++i) tail[used - 1 - i] = static_cast<std::byte>(bits >> (8 * i));
  for (size_t at = 0; at < used; at += block_bytes) compress(state, tail.data() + at);
}

}  // namespace

std::string sha256(std::span<const std::byte> data) {
  State state = initial_state;
  const size_t whole = data.size() / block_bytes * block_bytes;
  for (size_t at = 0; at < whole; at += block_bytes) compress(state, data.data() + at);
  compress_tail(state, data.subspan(whole), data.size());

  std::string digits;
  digits.reserve(64);
  for (const u32 word : state)
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
  return digits;
}

std::string sha256(std::string_view text) {
  return sha256(std::as_bytes(std::span(text)));
}

}  // namespace axisloom::jit
