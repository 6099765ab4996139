// Elements in packets of up to 16 bytes, for kernels of many items: SCALARS of them side by side in registers.
//
// Where packets are not aligned, the same elements are loaded one by one, into the same places.
#include "unpack.h"

CONSTANT(SCALARS, one_of(1 2 4 8 16))  // of a packet
CONSTANT(WIDE, flag)                   // every packet is aligned to its size

#define ELEMENTS (SCALARS / ELEMENT_PARTS)  // of a packet

#if SCALARS > 1 && WIDE
#define PACKET PACKET_OF(ELEMENT, SCALARS)
#endif

typedef struct {
  ELEMENT scalar[SCALARS];
} Packet;

// The packet at `at`, whose elements lie `stride` scalars apart (side by side where WIDE).
INLINE Packet packet_at(REF(ELEMENT, a), const index_t at, const index_t stride) {
  Packet packet;
#if SCALARS > 1 && WIDE
  const PACKET loaded = load_packet(PACKET, a, at);
  JOIN(UNPACK_, SCALARS)(packet.scalar, loaded);
  (void)stride;
#else
  EACH(e, ELEMENTS) {
    EACH(c, ELEMENT_PARTS) packet.scalar[e * ELEMENT_PARTS + c] = load(a, at + e * stride + c);
  }
#endif
  return packet;
}

// Element e of a packet.
INLINE Value value_of(const Packet* const packet, const int e) {
  HELD held[ELEMENT_PARTS];
  Value value;
  EACH(c, ELEMENT_PARTS) held[c] = HOLD(packet->scalar[e * ELEMENT_PARTS + c]);
  MAP(VALUE, value, held);
  return value;
}
