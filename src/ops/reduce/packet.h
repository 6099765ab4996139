// Elements in packets of up to 16 bytes, for kernels of many items: SCALARS of them side by side in registers.
//
// Where packets are not aligned, the same elements are loaded one by one, into the same places.
CONSTANT(SCALARS, one_of(1 2 4 8 16))  // of a packet
CONSTANT(WIDE, flag)                   // every packet is aligned to its size

#define ELEMENTS (SCALARS / ELEMENT_PARTS)  // of a packet

#if SCALARS > 1 && WIDE
#define PACKET PACKET_OF(ELEMENT, SCALARS)
#define UNPACK_2(x, v) x[0] = v.s0, x[1] = v.s1
#define UNPACK_4(x, v) UNPACK_2(x, v), x[2] = v.s2, x[3] = v.s3
#define UNPACK_8(x, v) UNPACK_4(x, v), x[4] = v.s4, x[5] = v.s5, x[6] = v.s6, x[7] = v.s7
#define UNPACK_16(x, v)                                                               \
  UNPACK_8(x, v), x[8] = v.s8, x[9] = v.s9, x[10] = v.sa, x[11] = v.sb, x[12] = v.sc, \
                  x[13] = v.sd, x[14] = v.se, x[15] = v.sf
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
  UNROLL for (int e = 0; e < ELEMENTS; ++e) {
    UNROLL for (int c = 0; c < ELEMENT_PARTS; ++c)
      packet.scalar[e * ELEMENT_PARTS + c] = load(a, at + e * stride + c);
  }
#endif
  return packet;
}

// Element e of a packet.
INLINE Value value_of(const Packet* const packet, const int e) {
  HELD held[ELEMENT_PARTS];
  Value value;
  UNROLL for (int c = 0; c < ELEMENT_PARTS; ++c) held[c] = HOLD(packet->scalar[e * ELEMENT_PARTS + c]);
  MAP(VALUE, value, held);
  return value;
}
