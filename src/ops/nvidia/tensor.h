// Bulk copies of boxes that a tensor map describes, by the tensor memory accelerator of NVIDIA's cards from compute
// capability 9.0 on; CUDA only. One item starts a copy; the card computes addresses, swizzles local memory, fills with
// zeros what a box reads outside the array, and does not write what lies outside.
//
//   TENSOR_MAP(a)                          a kernel argument: a map by value, written by the host (device::TensorMap)
//   local_address(t, i)                    where element i of a part of local memory lies, for the intrinsics below
//   arrival_begin(at, items)               makes the 8 bytes at a local address a barrier that so many items arrive at,
//                                          in phase after phase
//   arrival_expect(at, bytes)              one of them arrives, and so must these bytes before the phase ends
//   arrive(at)                             one of them arrives
//   arrival_wait(at, parity)               waits until the phase of that parity has ended; that before the first has
//   tensor_load(to, a, x, y, z, at)        starts copying the box at element (x, y, z), x fastest, to local memory
//   tensor_store_begin()                   all items, before a barrier: makes what they wrote visible to tensor_store
//   tensor_store(a, x, y, z, from)         starts copying local memory to the box
//   tensor_store_end()                     the item that started stores waits until local memory has been read
//
// Source: PTX ISA 8.0, sections on cp.async.bulk.tensor, mbarrier and proxies.
#if !defined(AXL_CUDA)
#error "tensor maps are CUDA's"
#endif
#if defined(AXL_WATCH)
#error "bulk copies pass by the intrinsics of global memory, so their accesses cannot be watched"
#endif

struct alignas(128) tensor_map {
  u64 opaque[16];
};
#define TENSOR_MAP(name) const __grid_constant__ tensor_map name

#define local_address(t, i) ((u32)__cvta_generic_to_shared(t##_l + (i)))

INLINE void arrival_begin(const u32 at, const u32 items) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(items) : "memory");
  // Bulk copies run in a proxy of their own, which must see the barrier too.
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

INLINE void arrival_expect(const u32 at, const u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}

INLINE void arrive(const u32 at) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}

INLINE void arrival_wait(const u32 at, const u32 parity) {
  u32 arrived = 0;
  while (arrived == 0) {
    asm volatile(
        "{\n"
        "  .reg .pred arrived;\n"
        "  mbarrier.try_wait.parity.shared::cta.b64 arrived, [%1], %2;\n"
        "  selp.u32 %0, 1, 0, arrived;\n"
        "}"
        : "=r"(arrived)
        : "r"(at), "r"(parity)
        : "memory");
  }
}

INLINE void tensor_load(const u32 to, const tensor_map& map, const i32 x, const i32 y, const i32 z, const u32 at) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
      ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(at)
      : "memory");
}

INLINE void tensor_store_begin() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

INLINE void tensor_store(const tensor_map& map, const i32 x, const i32 y, const i32 z, const u32 from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map),
               "r"(x), "r"(y), "r"(z), "r"(from)
               : "memory");
}

INLINE void tensor_store_end() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
