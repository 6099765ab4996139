// The words of src/ops/nvidia/tensor_core.h on the host. A warp's items are 32 threads that exchange what they hold;
// which element of a matrix an item holds is as the PTX ISA says under "Matrix Fragments for mma". Asynchronous copies
// are done when they are waited for, and no sooner.
#pragma once

#include "host_intrinsics.h"

#include <array>
#include <deque>
#include <vector>

namespace axisloom::emulated {

/// What the items of a warp share: a letter box of each, used in turns, so that one barrier an exchange is enough.
struct Warp {
  std::barrier<> arrived{32};
  std::byte letters[2][32][128];
};
inline thread_local Warp* warp = nullptr;
inline thread_local unsigned turn = 0;

/// What each item of the warp brings.
template <class T>
std::array<T, 32> exchange(const T& mine) {
  static_assert(sizeof(T) <= 128);
  auto& letters = warp->letters[turn++ % 2];
  std::memcpy(letters[item_number % 32], &mine, sizeof mine);
  warp->arrived.arrive_and_wait();
  std::array<T, 32> all;
  for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(&all[lane], letters[lane], sizeof mine);
  return all;
}

/// c += a b of 16 x K by K x 8 in the accumulators of an item: c0, c1 in row lane / 4, c2, c3 eight rows further down.
template <int K, class T>
void add_products(T* c, const std::array<std::array<T, K>, 16>& a, const std::array<std::array<T, 8>, K>& b) {
  const unsigned group_id = item_number % 32 / 4, in_group = item_number % 4;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = i < 2 ? group_id : group_id + 8, column = in_group * 2 + (i & 1);
    for (int k = 0; k < K; ++k) c[i] += a[row][k] * b[k][column];
  }
}

template <class Widen>
void mma_16(f32* c, const u32* a, const u32* b, Widen widen) {
  struct Fragment {
    u16 a[8], b[4];
  } mine;
  std::memcpy(mine.a, a, sizeof mine.a);
  std::memcpy(mine.b, b, sizeof mine.b);
  const auto all = exchange(mine);
  std::array<std::array<f32, 16>, 16> matrix_a;
  std::array<std::array<f32, 8>, 16> matrix_b;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group_id = lane / 4, in_group = lane % 4;
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = i < 2 || (i >= 4 && i < 6) ? group_id : group_id + 8;
      matrix_a[row][in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)] = widen(all[lane].a[i]);
    }
    for (unsigned i = 0; i < 4; ++i)
      matrix_b[in_group * 2 + (i & 1) + (i < 2 ? 0 : 8)][group_id] = widen(all[lane].b[i]);
  }
  add_products<16>(c, matrix_a, matrix_b);
}
inline void mma_f16(f32* c, const u32* a, const u32* b) {
  mma_16(c, a, b, f32_from_f16);
}
inline void mma_bf16(f32* c, const u32* a, const u32* b) {
  mma_16(c, a, b, f32_from_bf16);
}

template <int K>
void mma_f64(f64* c, const f64* a, const f64* b) {
  struct Fragment {
    f64 a[K / 2], b[K / 4];
  } mine;
  std::memcpy(mine.a, a, sizeof mine.a);
  std::memcpy(mine.b, b, sizeof mine.b);
  const auto all = exchange(mine);
  std::array<std::array<f64, K>, 16> matrix_a;
  std::array<std::array<f64, 8>, K> matrix_b;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group_id = lane / 4, in_group = lane % 4;
    for (unsigned i = 0; i < K / 2; ++i)
      matrix_a[i % 2 == 0 ? group_id : group_id + 8][in_group + i / 2 * 4] = all[lane].a[i];
    for (unsigned i = 0; i < K / 4; ++i) matrix_b[in_group + i * 4][group_id] = all[lane].b[i];
  }
  add_products<K>(c, matrix_a, matrix_b);
}
inline void mma_f64_4(f64* c, const f64* a, const f64* b) {
  mma_f64<4>(c, a, b);
}
inline void mma_f64_8(f64* c, const f64* a, const f64* b) {
  mma_f64<8>(c, a, b);
}
inline void mma_f64_16(f64* c, const f64* a, const f64* b) {
  mma_f64<16>(c, a, b);
}

/// Row and column of matrix q that an item gets first, and the one after it along the row, or down the column.
inline void load_matrices(const u16* row, u32* r, bool transposed) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) ++group->faults;
  const auto rows = exchange(row);
  const unsigned group_id = item_number % 32 / 4, in_group = item_number % 4;
  for (unsigned q = 0; q < 4; ++q) {
    const u16* const* const matrix = &rows[8 * q];
    const u32 first = transposed ? matrix[in_group * 2][group_id] : matrix[group_id][in_group * 2];
    const u32 second = transposed ? matrix[in_group * 2 + 1][group_id] : matrix[group_id][in_group * 2 + 1];
    r[q] = first | second << 16;
  }
}
#define matrices_load(t, i, r) load_matrices(t##_l + (i), r, false)
#define matrices_load_transposed(t, i, r) load_matrices(t##_l + (i), r, true)

struct Piece {
  u8* to;
  std::array<u8, 16> bytes;
  u32 count;
};
inline thread_local std::deque<std::vector<Piece>> ended_pieces;
inline thread_local std::vector<Piece> pieces;

inline void begin_piece(u8* to, const u8* from, u32 bytes, u32 given) {
  if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0)
    ++group->faults;
  std::memset(to, 0xff, bytes);  // until it is waited for: of all types a NaN
  Piece piece{to, {}, bytes};
  std::memcpy(piece.bytes.data(), from, given);
  pieces.push_back(piece);
}
template <class T>
void copy_piece(u32 bytes, T* to, const T* from, int count) {
  if (bytes < 4)
    *to = count > 0 ? *from : T{};
  else
    begin_piece(reinterpret_cast<u8*>(to), reinterpret_cast<const u8*>(from), bytes, count * sizeof(T));
}
inline void pieces_end() {
  ended_pieces.push_back(std::move(pieces));
  pieces.clear();
}
inline void pieces_wait(unsigned left) {
  for (; ended_pieces.size() > left; ended_pieces.pop_front())
    for (const Piece& piece : ended_pieces.front()) std::memcpy(piece.to, piece.bytes.data(), piece.count);
  group->arrived.arrive_and_wait();
}
#define piece_copy(bytes, t, i, a, j, count) copy_piece(bytes, t##_l + (i), a##_p + a##_o + (j), count);

}  // namespace axisloom::emulated
