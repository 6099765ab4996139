// Elements in packets of up to 16 bytes, for kernels of many items: SCALARS of them side by side in registers.
//
// Where packets are not aligned, the same elements are loaded one by one, into the same places; or, JOINED, in the two
// aligned packets of 16 bytes that hold them.
#include "unpack.h"

CONSTANT(SCALARS, one_of(1 2 4 8 16))  // of a packet
CONSTANT(WIDE, flag)                   // every packet is aligned to its size
CONSTANT(JOINED, flag, 0)              // packets of 16 bytes, of elements of up to 2, begin anywhere

#define ELEMENTS (SCALARS / ELEMENT_PARTS)  // of a packet

#if SCALARS > 1 && WIDE
#define PACKET PACKET_OF(ELEMENT, SCALARS)
#endif

typedef struct {
  ELEMENT scalar[SCALARS];
} Packet;

#if JOINED
#include "joined.h"

// What is in flight: the aligned packets that hold one.
typedef struct {
  u32x4 first, second;
} Loaded;

// Bytes by which the packet at `at` begins beyond an aligned one.
INLINE u32 beyond_packet(REF(ELEMENT, a), const index_t at) {
  return (u32)(address_of(a, at) & 15ul);
}

// Whether the array, of `reach` scalars, holds all of both.
INLINE bool can_load(const index_t at, const u32 beyond, const index_t reach) {
  const index_t source = at - (index_t)(beyond / ELEMENT_BYTES);
  return (source >= 0) & (source + 2 * SCALARS <= reach);
}

INLINE Loaded loaded_at(REF(ELEMENT, a), const index_t at, const index_t stride, const u32 beyond) {
  const index_t source = at - (index_t)(beyond / ELEMENT_BYTES);
  Loaded loaded;
  loaded.first = load_packet(u32x4, a, source);
  loaded.second = load_packet(u32x4, a, source + SCALARS);
  (void)stride;
  return loaded;
}

INLINE Packet packet_of(const Loaded loaded, const u32 beyond) {
  const int of_word = 4 / ELEMENT_BYTES;
  const u32x4 words = joined(loaded.first, loaded.second, beyond);
  u32 word[4];
  Packet packet;
  UNPACK_4(word, words);
  EACH(e, SCALARS) packet.scalar[e] = (ELEMENT)(word[e / of_word] >> e % of_word * (8 * ELEMENT_BYTES));
  return packet;
}
#else
typedef Packet Loaded;
#define beyond_packet(a, at) 0
#define can_load(at, beyond, reach) ((void)(beyond), true)
#define loaded_at(a, at, stride, beyond) packet_at(a, at, stride)
#define packet_of(loaded, beyond) ((void)(beyond), (loaded))
#endif

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

// Sums of 16-bit floats: a NaN stays one whatever its payload, so that none has to be looked for. And a few values are
// added up in f32, or wider, before one compensated step, at the cost of a rounding each or of their tree.
#define ADDS_SMALL_FLOATS (FORM_IS_BITS(IN_FORM) && ACCUMULATION == COMPENSATED)
// Sums of integers of 1 and 2 bytes: a few of them fit 32 bits. One by one in 64, 2^26 bytes took an H200 37 us, of which
// reading takes 29.
#define ADDS_SMALL_INTEGERS \
  (ACCUMULATION == TOTAL && !VALUE_FLOATS && ELEMENT_BYTES < 4 && MAPPING != SQUARE && VALUE_PARTS == 1)
#define ADDS_TOGETHER (ADDS_SMALL_FLOATS || ADDS_SMALL_INTEGERS)
// Where a kernel's elements are few, all floats are: each addition without a correction is a rounding more.
#define ADDS_FEW_TOGETHER (ACCUMULATION == COMPENSATED || ADDS_SMALL_INTEGERS)
#if ADDS_SMALL_FLOATS && IN_FORM == FORM_BF16
#define HOLD_FOR_SUM(x) as_f32_u32((u32)(x) << 16)
#elif ADDS_SMALL_FLOATS && defined(AXL_NATIVE_F16)
#define HOLD_FOR_SUM(x) axl_native_f32_from_f16(x)
#else
#define HOLD_FOR_SUM(x) HOLD(x)
#endif

INLINE Value no_value(void) {
  Value value;
  EACH(c, VALUE_PARTS) value.part[c] = 0;
  return value;
}

// The value of an element that is held in registers.
INLINE Value value_of_scalars(const ELEMENT* const scalar) {
  HELD held[ELEMENT_PARTS];
  Value value;
  EACH(c, ELEMENT_PARTS) held[c] = HOLD_FOR_SUM(scalar[c]);
  MAP(VALUE, value, held);
  return value;
}

// Element e of a packet.
INLINE Value value_of(const Packet* const packet, const int e) {
  return value_of_scalars(packet->scalar + e * ELEMENT_PARTS);
}

// Puts the sum of `count` values, a power of two, into the first one.
#if ACCUMULATION == COMPENSATED
#define TOGETHER(value, count)                                                       \
  UNROLL for (int apart = (count) / 2; apart > 0; apart /= 2) {                      \
    EACH(e, apart) {                                                                 \
      EACH(c, VALUE_PARTS) (value)[e].part[c] += (value)[e + apart].part[c];         \
    }                                                                                \
  }
#elif ADDS_SMALL_INTEGERS
#define TOGETHER(value, count)                               \
  {                                                          \
    i32 few = 0;                                             \
    EACH(e, count) few += (i32)(value)[e].part[0];           \
    (value)[0].part[0] = (VALUE)few;                         \
  }
#endif

#if ADDS_SMALL_INTEGERS && ELEMENT_BYTES == 1 && SCALARS > 2 && MAPPING == IDENTITY && IN_FORM != FORM_BOOL
// The sum of a packet of bytes: four at a time in the halves of two words. Signed ones are counted from -128 on: eight
// packets of them take 350 instructions of an H200, and took 590 one by one.
#define ADDS_BYTES 1
INLINE i32 sum_of_bytes(const Packet* const packet) {
  const int is_signed = (ELEMENT)-1 < 0;
  u32 even = 0, odd = 0;
  EACH(w, SCALARS / 4) {
    u32 word = is_signed ? 0x80808080u : 0;
    EACH(b, 4) word ^= (u32)(u8)packet->scalar[4 * w + b] << 8 * b;
    even += word & 0x00ff00ffu;
    odd += word >> 8 & 0x00ff00ffu;
  }
  even += odd;
  return (i32)((even & 0xffffu) + (even >> 16)) - (is_signed ? 128 * SCALARS : 0);
}
#else
#define ADDS_BYTES 0
#endif

#if ADDS_TOGETHER
// The sum of a packet's elements, each of which is a scalar.
INLINE Value sum_of_packet(const Packet* const packet) {
  Value value[ELEMENTS];
#if ADDS_BYTES
  value[0].part[0] = (VALUE)sum_of_bytes(packet);
#else
  EACH(e, ELEMENTS) value[e] = value_of(packet, e);
  TOGETHER(value, ELEMENTS)
#endif
  return value[0];
}
#endif
