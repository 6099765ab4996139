// Products of tiles in local memory by warpgroups, on NVIDIA's compute capability 9.0; CUDA only. A warpgroup is 128
// items, the first of which is a multiple of 128; all of them call each of these intrinsics together.
//
//   registers_take(n), registers_leave(n)   each item may have so many from here on, a constant; the host must say how
//                            many groups are resident
//   tile_at(at, across)      describes a tile that tensor_load wrote to local address `at`, a multiple of 1024: rows of
//                            128 bytes, swizzled; `across`: bytes from 64 columns to the next 64, along m or n
//   products_begin()         before the first product after others have written sums
//   products_f16(N, sum, a, b, transposed_a, transposed_b), products_bf16
//                            starts sum += a b, of 64 x 16 by 16 x N, N is 128 or 256; a and b describe where m and n 0,
//                            k 0 lie; transposed: along m (n) instead of k; sum[j][q]: m = warp * 16 + lane / 4 +
//                            q / 2 * 8, n = j * 8 + lane % 4 * 2 + q % 2
//   products_end()           closes a set of products
//   products_wait(n)         waits for all but the latest n sets, a constant, whose tiles may then be overwritten
//   products_sums(N, sum)    waits for all, after which sums may be read
//
// Products of 16-bit floats are exact, and their sums are cut to f32 as those of tensor_core.h are.
//
// Source: PTX ISA 8.0, sections on wgmma, its matrix descriptor and setmaxnreg; NVIDIA CUTLASS,
// cute/arch/mma_sm90_desc.hpp, for what the descriptor's strides mean.
#if !defined(AXL_CUDA)
#error "warpgroups are CUDA's"
#endif

#define registers_take(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))
#define registers_leave(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))

// Bits 0 to 13: address, 16 to 29: `across`, 32 to 45: from 8 rows to the next 8, all in 16 bytes; 62: swizzled by 128.
INLINE u64 tile_at(const u32 at, const u32 across) {
  const u32 eight_rows = 1024u;
  return (u64)(at / 16u & 0x3fffu) | (u64)(across / 16u) << 16 | (u64)(eight_rows / 16u) << 32 | (u64)1 << 62;
}

#define products_begin() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define products_end() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define products_wait(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")

#define AXL_SUMS_4(c, j) "+f"((c)[j][0]), "+f"((c)[j][1]), "+f"((c)[j][2]), "+f"((c)[j][3])
#define AXL_SUMS_16(c, j) AXL_SUMS_4(c, j), AXL_SUMS_4(c, j + 1), AXL_SUMS_4(c, j + 2), AXL_SUMS_4(c, j + 3)
#define AXL_SUMS_64(c, j) AXL_SUMS_16(c, j), AXL_SUMS_16(c, j + 4), AXL_SUMS_16(c, j + 8), AXL_SUMS_16(c, j + 12)

#define AXL_PRODUCTS_128(type, c, a, b, transposed_a, transposed_b)                      \
  asm volatile(                                                                          \
      "{\n.reg .pred add;\nsetp.eq.u32 add, 0, 0;\n"                                     \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type "\n{"                 \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"   \
      "}, %64, %65, add, 1, 1, %66, %67;\n}"                                             \
      : AXL_SUMS_64(c, 0)                                                                \
      : "l"(a), "l"(b), "n"(transposed_a), "n"(transposed_b))

#define AXL_PRODUCTS_256(type, c, a, b, transposed_a, transposed_b)                                    \
  asm volatile(                                                                                        \
      "{\n.reg .pred add;\nsetp.eq.u32 add, 0, 0;\n"                                                   \
      "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type "\n{"                               \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                         \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "               \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "               \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "               \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "               \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "               \
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "   \
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127" \
      "}, %128, %129, add, 1, 1, %130, %131;\n}"                                                       \
      : AXL_SUMS_64(c, 0), AXL_SUMS_64(c, 16)                                                          \
      : "l"(a), "l"(b), "n"(transposed_a), "n"(transposed_b))

// The sums are operands, so that no use of them moves in front of it.
#define AXL_SUMS_128(c) asm volatile("wgmma.wait_group.sync.aligned 0;" : AXL_SUMS_64(c, 0)::"memory")
#define AXL_SUMS_256(c) \
  asm volatile("wgmma.wait_group.sync.aligned 0;" : AXL_SUMS_64(c, 0), AXL_SUMS_64(c, 16)::"memory")
#define AXL_PASTE_SUMS(n) AXL_SUMS_##n
#define AXL_SUMS(n) AXL_PASTE_SUMS(n)
#define products_sums(n, c) AXL_SUMS(n)(c)

#define AXL_PASTE_PRODUCTS(n) AXL_PRODUCTS_##n
#define AXL_PRODUCTS(n) AXL_PASTE_PRODUCTS(n)
#define products_f16(n, c, a, b, transposed_a, transposed_b) AXL_PRODUCTS(n)("f16", c, a, b, transposed_a, transposed_b)
#define products_bf16(n, c, a, b, transposed_a, transposed_b) AXL_PRODUCTS(n)("bf16", c, a, b, transposed_a, transposed_b)
