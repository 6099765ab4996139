// The intrinsics of ops/nvidia/tensor_core.h on the host. The last item of a warp to come multiplies for all of them; which
// element of a matrix an item holds is as the PTX ISA says under "Matrix Fragments for mma". Asynchronous copies are done
// when they are waited for, and no sooner.

// What an item holds lies in memory for the others to see, so that unrolled loops would only be longer to compile.
#undef UNROLL
#define UNROLL

// An item's part of c += a b.
template <class T, class Word>
struct axl_fragments {
  T* c;
  const Word *a, *b;
};

// Matrices of 16 x K and K x 8, as numbers(a, b) takes them from what the items hold.
template <int K, class T, class Word, class Numbers>
void axl_mma(T* const c, const Word* const a, const Word* const b, const Numbers numbers) {
  axl_fragments<T, Word> mine = {c, a, b};
  axl_warp(mine, [&](axl_fragments<T, Word>* const* const all, u32) {
    T of_a[16][K], of_b[K][8];
    for (u32 lane = 0; lane < 32; ++lane) numbers(*all[lane], lane / 4, lane % 4, of_a, of_b);
    for (u32 m = 0; m < 16; ++m)
      for (u32 n = 0; n < 8; ++n) {
        T& sum = all[m % 8 * 4 + n / 2]->c[m / 8 * 2 + n % 2];
        for (u32 k = 0; k < K; ++k) sum += of_a[m][k] * of_b[k][n];
      }
  });
}

template <class Widen>
__attribute__((noinline)) void axl_mma_16(f32* const c, const u32* const a, const u32* const b, const Widen widen) {
  axl_mma<16>(c, a, b, [&](const axl_fragments<f32, u32>& its, const u32 g, const u32 t, f32 (&of_a)[16][16], f32 (&of_b)[16][8]) {
    for (u32 q = 0; q < 4; ++q)
      for (u32 half = 0; half < 2; ++half)
        of_a[g + q % 2 * 8][2 * t + half + q / 2 * 8] = widen((u16)(its.a[q] >> 16 * half));
    for (u32 q = 0; q < 2; ++q)
      for (u32 half = 0; half < 2; ++half) of_b[2 * t + half + q * 8][g] = widen((u16)(its.b[q] >> 16 * half));
  });
}
void mma_f16(f32* const c, const u32* const a, const u32* const b) {
  axl_mma_16(c, a, b, [this](const u16 x) { return f32_from_f16(x); });
}
void mma_bf16(f32* const c, const u32* const a, const u32* const b) {
  axl_mma_16(c, a, b, [this](const u16 x) { return f32_from_bf16(x); });
}

template <int K>
__attribute__((noinline)) void axl_mma_f64(f64* const c, const f64* const a, const f64* const b) {
  axl_mma<K>(c, a, b, [](const axl_fragments<f64, f64>& its, const u32 g, const u32 t, f64 (&of_a)[16][K], f64 (&of_b)[K][8]) {
    for (u32 q = 0; q < K / 2; ++q) of_a[g + q % 2 * 8][t + q / 2 * 4] = its.a[q];
    for (u32 q = 0; q < K / 4; ++q) of_b[t + q * 4][g] = its.b[q];
  });
}
#define mma_f64_4(c, a, b) axl_mma_f64<4>(c, a, b)
#define mma_f64_8(c, a, b) axl_mma_f64<8>(c, a, b)
#define mma_f64_16(c, a, b) axl_mma_f64<16>(c, a, b)

// Each item brings where a row begins, and takes row g, columns 2 t and 2 t + 1 of each matrix, or of its transpose.
__attribute__((noinline)) void axl_load_matrices(const u16* const row, u32* const r, const bool transposed) {
  struct Row {
    const u16* at;
    u32* r;
  } mine = {row, r};
  if ((u64)row % 16 != 0)
    axl_this_call->fault(*axl_this_call, "a row of a matrix lies in local memory not at a multiple of 16 bytes");
  axl_warp(mine, [transposed](Row* const* const all, u32) {
    for (u32 lane = 0; lane < 32; ++lane)
      for (u32 q = 0; q < 4; ++q) {
        Row* const* const matrix = all + 8 * q;
        const u32 g = lane / 4, t = lane % 4;
        const u32 first = transposed ? matrix[2 * t]->at[g] : matrix[g]->at[2 * t];
        const u32 second = transposed ? matrix[2 * t + 1]->at[g] : matrix[g]->at[2 * t + 1];
        all[lane]->r[q] = first | second << 16;
      }
  });
}
#define matrices_load(t, i, r) axl_load_matrices(AXL_LOCAL_READ(t, i, 16, 16), r, false)
#define matrices_load_transposed(t, i, r) axl_load_matrices(AXL_LOCAL_READ(t, i, 16, 16), r, true)

// An item's copies that have not been waited for, in the order in which they were asked for.
struct axl_piece {
  u8* to;
  u8 bytes[16];
  u32 count, set;  // bytes; the number of its set
};
struct axl_pieces {
  axl_piece* all = nullptr;
  u32 room = 0, count = 0, done = 0, set = 0;
  axl_piece& next() {
    if (count == room) {
      room = room == 0 ? 64 : 2 * room;
      all = (axl_piece*)__builtin_realloc(all, room * sizeof(axl_piece));
    }
    return all[count++];
  }
  ~axl_pieces() { __builtin_free(all); }
} axl_pieces_of_item;

// What lies beyond `given` bytes is not read.
__attribute__((noinline)) void axl_copy_piece(const u32 bytes, u8* const to, const u8* const from, const u32 given) {
  if ((u64)to % bytes != 0 || (u64)from % bytes != 0)
    axl_this_call->fault(*axl_this_call, "an asynchronous copy is not aligned to its size");
  __builtin_memset(to, 0xff, bytes);  // until it is waited for: of all types a NaN
  axl_piece& piece = axl_pieces_of_item.next();
  piece = {to, {}, bytes, axl_pieces_of_item.set};
  __builtin_memcpy(piece.bytes, from, given);
}
#define AXL_PIECE_BY_ELEMENTS(bytes, t, i, a, j, count)  \
  EACH(axl_q, (int)((bytes) / sizeof(*t##_l))) {         \
    if (axl_q < (count)) {                               \
      local_store(t, (i) + axl_q, load(a, (j) + axl_q)); \
    } else {                                             \
      local_store(t, (i) + axl_q, 0);                    \
    }                                                    \
  }
#if defined(AXL_WATCH)
#define piece_copy(bytes, t, i, a, j, count) AXL_PIECE_BY_ELEMENTS(bytes, t, i, a, j, count)
#else
#define piece_copy(bytes, t, i, a, j, count)                                                               \
  if ((bytes) < 4) {                                                                                       \
    AXL_PIECE_BY_ELEMENTS(bytes, t, i, a, j, count)                                                        \
  } else {                                                                                                 \
    axl_copy_piece(bytes, (u8*)AXL_LOCAL_WRITE(t, i, bytes, bytes), (const u8*)AXL_READ(a, j, 0, 0),       \
                   (u32)(count) * (u32)sizeof(*t##_l));                                                    \
  }
#endif
#define pieces_end() ((void)++axl_pieces_of_item.set)
// All but the latest `left` sets, and a barrier.
__attribute__((noinline)) void pieces_wait(const u32 left) {
  axl_pieces& own = axl_pieces_of_item;
  for (; own.done < own.count && own.all[own.done].set + left < own.set; ++own.done)
    __builtin_memcpy(own.all[own.done].to, own.all[own.done].bytes, own.all[own.done].count);
  if (own.done == own.count) own.done = own.count = 0;
  barrier_local();
}
