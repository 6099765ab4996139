// Packets in C++: structures as large as OpenCL's, three components taking the room of four. What comes first defines
// INLINE and AXL_PACKET_ALIGNMENT(bytes), the alignment of so many bytes. `lanes` and `scalar` serve the loose accesses.
#include "makers.h"
#define AXL_BARE(...) __VA_ARGS__
#define AXL_LITERAL(P, components) P{AXL_BARE components}
#define AXL_PACKET(T, N, room, ...)                                   \
  struct alignas(AXL_PACKET_ALIGNMENT((room) * sizeof(T))) T##x##N { \
    typedef T scalar;                                                 \
    enum { lanes = N };                                               \
    T __VA_ARGS__;                                                    \
  };
#define AXL_SCALAR(T)                                                                   \
  AXL_PACKET(T, 2, 2, s0, s1)                                                           \
  AXL_PACKET(T, 3, 4, s0, s1, s2)                                                       \
  AXL_PACKET(T, 4, 4, s0, s1, s2, s3)                                                   \
  AXL_PACKET(T, 8, 8, s0, s1, s2, s3, s4, s5, s6, s7)                                   \
  AXL_PACKET(T, 16, 16, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf) \
  AXL_MAKERS(T)

AXL_SCALAR(i8)
AXL_SCALAR(u8)
AXL_SCALAR(i16)
AXL_SCALAR(u16)
AXL_SCALAR(i32)
AXL_SCALAR(u32)
AXL_SCALAR(i64)
AXL_SCALAR(u64)
AXL_SCALAR(f32)
AXL_SCALAR(f64)

// Bytes that a loose access touches: those of the components.
template <class P>
constexpr auto axl_loose_bytes(int) -> decltype(unsigned(P::lanes)) {
  return unsigned(P::lanes) * unsigned(sizeof(typename P::scalar));
}
template <class P>
constexpr unsigned axl_loose_bytes(long) {
  return unsigned(sizeof(P));
}
