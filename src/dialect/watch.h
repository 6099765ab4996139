// What CHECKED and TRACE share: the further arguments of kernels and helpers, and hooks that pass each access, with its
// site, to axl_watch_global or axl_watch_local.

// A site is the line of the access shifted by 12, plus an ordinal below 4096 that tells apart the accesses of one line;
// where the compiler cannot count, as NVRTC, it is 0.
#if defined(__COUNTER__)
#define AXL_SITE (((u32)__LINE__ << 12) | ((u32)__COUNTER__ & 4095u))
#else
#define AXL_SITE ((u32)__LINE__ << 12)
#endif

#define AXL_STORE 1u
#define AXL_LOCAL 2u

typedef struct {
  i64 n;
  GLOBAL u32* log;
} axl_bounds;

typedef struct {
  i64 n;
  u32 origin;  // byte offset of the part within the local block
  GLOBAL u32* log;
  LOCAL u8* spill;
} axl_local_bounds;

// In a kernel a##_n is a length and axl_log its argument; in a helper a##_n holds both, and axl_log is this constant.
// The overload that fits is taken, so that the intrinsics are the same in both places.
enum { axl_log = 0 };
INLINE AXL_OVERLOAD axl_bounds axl_bounds_of(const i64 n, GLOBAL u32* const log) {
  axl_bounds bounds;
  bounds.n = n;
  bounds.log = log;
  return bounds;
}
INLINE AXL_OVERLOAD axl_bounds axl_bounds_of(const axl_bounds bounds, const int unused) {
  (void)unused;
  return bounds;
}

INLINE axl_local_bounds axl_local_part(const u32 element, const i64 byte_offset, const i64 count, const i64 block_bytes,
                                       GLOBAL u32* const log, LOCAL u8* const spill) {
  const i64 room = (block_bytes - byte_offset) / element;
  axl_local_bounds bounds;
  bounds.n = count < room ? count : room;
  bounds.origin = byte_offset;
  bounds.log = log;
  bounds.spill = spill;
  return bounds;
}

#if AXL_CHECKED
#include "checked.h"
#else
#include "trace.h"
#endif

#define AXL_BUFFER_TAIL(a) , const i64 a##_n
#define AXL_REF_TAIL(a) , const axl_bounds a##_n
#define AXL_PASS_TAIL(a) , axl_bounds_of(a##_n, axl_log)
// Bounds count from where the buffer begins.
#define PASS_BASED(a) PASS(a)
#define START(T) i64
#define start_at(a, i) ((i64)(i))
#define load_from(a, start, i) load(a, (start) + (i))
#define load_loose_from(P, a, start, i) load_loose(P, a, (start) + (i))
#define load_first_from(P, a, start, i, count) load_first(P, a, (start) + (i), count)
#define AXL_LOG_ARGUMENT GLOBAL u32 *axl_log,
#define AXL_WATCHED(a, i, bytes, align, kind)                                                                    \
  ((AXL_TYPEOF(a##_p))axl_watch_global(a##_p, axl_bounds_of(a##_n, axl_log), a##_o + (i), sizeof(*a##_p), bytes, \
                                       align, kind, AXL_SITE))
#define AXL_READ(a, i, bytes, align) AXL_WATCHED(a, i, bytes, align, 0u)
#define AXL_WRITE(b, i, bytes, align) AXL_WATCHED(b, i, bytes, align, AXL_STORE)

#define AXL_LOCAL_SPILL \
  ;                     \
  AXL_LOCAL_ARRAY(axl_spill, AXL_SPILL_BYTES)
#define AXL_LOCAL_BOUNDS(T, name, byte_offset, count) \
  ;                                                   \
  const axl_local_bounds name##_b =                   \
      axl_local_part(sizeof(T), byte_offset, count, axl_block_bytes, axl_log, axl_spill)
#define AXL_LOCAL_REF_TAIL(name) , const axl_local_bounds name##_b
#define AXL_LOCAL_PASS_TAIL(name) , name##_b
#define AXL_LOCAL_WATCHED(name, i, bytes, align, kind) \
  ((AXL_TYPEOF(name##_l))axl_watch_local(name##_l, name##_b, i, sizeof(*name##_l), bytes, align, kind, AXL_SITE))
#define AXL_LOCAL_READ(name, i, bytes, align) AXL_LOCAL_WATCHED(name, i, bytes, align, 0u)
#define AXL_LOCAL_WRITE(name, i, bytes, align) AXL_LOCAL_WATCHED(name, i, bytes, align, AXL_STORE)
