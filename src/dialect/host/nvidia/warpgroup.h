// The intrinsics of ops/nvidia/warpgroup.h on the host. The last item of a warpgroup to come multiplies for all of them, from
// the tiles in local memory; where an element lies is as the PTX ISA says of the matrix descriptor.

// What an item holds lies in memory for the others to see, so that unrolled loops would only be longer to compile.
#undef UNROLL
#define UNROLL

#define registers_take(n) ((void)0)
#define registers_leave(n) ((void)0)
// Products are done at once, when all items have come.
#define products_begin() ((void)0)
#define products_end() ((void)0)
#define products_wait(n) ((void)0)
#define products_sums(n, sum) ((void)0)

u64 tile_at(const u32 at, const u32 across) const {
  axl_require(at % 1024 == 0, "a tile of products lies not at a multiple of 1024 bytes");
  return (u64)(at / 16u & 0x3fffu) | (u64)(across / 16u) << 16 | (u64)(1024u / 16u) << 32 | (u64)1 << 62;
}

// Element (x, k) of a tile: x is m or n.
u16 axl_element(const u64 tile, const u32 x, const u32 k, const bool transposed) const {
  const u32 start = (u32)(tile & 0x3fff) * 16, across = (u32)(tile >> 16 & 0x3fff) * 16;
  const u32 eight_rows = (u32)(tile >> 32 & 0x3fff) * 16;
  const u32 at = transposed ? start + x / 64 * across + k / 8 * eight_rows + k % 8 * 128 + x % 64 * 2
                            : start + x / 8 * eight_rows + x % 8 * 128 + k * 2;
  return axl_get<u16>(axl_swizzled(at));
}

// sum += a b, of 64 x 16 by 16 x N, in the sums of 128 items.
template <int N, class Widen>
void axl_multiply_tiles(f32 (*const* const sums)[4], const u64 a, const u64 b, const bool transposed_a,
                        const bool transposed_b, const Widen widen) const {
  f32 of_a[64][16], of_b[16][N];
  for (u32 k = 0; k < 16; ++k) {
    for (u32 m = 0; m < 64; ++m) of_a[m][k] = widen(axl_element(a, m, k, transposed_a));
    for (u32 n = 0; n < N; ++n) of_b[k][n] = widen(axl_element(b, n, k, transposed_b));
  }
  for (u32 m = 0; m < 64; ++m) {
    const u32 first = m / 16 * 32 + m % 8 * 4, q = m % 16 / 8 * 2;  // of the items that hold the row, and its sums
    f32 row[N];
    for (u32 n = 0; n < N; ++n) row[n] = sums[first + n % 8 / 2][n / 8][q + n % 2];
    for (u32 k = 0; k < 16; ++k)
      for (u32 n = 0; n < N; ++n) row[n] += of_a[m][k] * of_b[k][n];
    for (u32 n = 0; n < N; ++n) sums[first + n % 8 / 2][n / 8][q + n % 2] = row[n];
  }
}

template <int N, class Widen>
__attribute__((noinline)) void axl_products(f32 (*const sum)[4], const u64 a, const u64 b, const bool transposed_a,
                                            const bool transposed_b, const Widen widen) {
  const u32 group = axl_item / 128;
  axl_shared->brought[axl_item] = sum;
  axl_meet(axl_shared->warpgroups[group], 128, [&] {
    const auto sums = (f32(*const*)[4])(axl_shared->brought + group * 128);
    axl_multiply_tiles<N>(sums, a, b, transposed_a, transposed_b, widen);
  });
}
#define products_f16(n, sum, a, b, transposed_a, transposed_b) \
  axl_products<n>(sum, a, b, transposed_a, transposed_b, [this](u16 x) { return f32_from_f16(x); })
#define products_bf16(n, sum, a, b, transposed_a, transposed_b) \
  axl_products<n>(sum, a, b, transposed_a, transposed_b, [this](u16 x) { return f32_from_bf16(x); })
