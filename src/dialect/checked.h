// The CHECKED prelude: an access outside its buffer or part, or misaligned for its packet, is written to the log and
// sent to a scratch area, so that the kernel runs on without harm.
//
// The log, in u32: [0] number of violations; of the first one [1] site, [2] item, [3] group, [4..5] element index from
// the start of the buffer or part, [6..7] elements that exist, [8] bytes accessed, [9] AXL_STORE | AXL_LOCAL |
// AXL_MISALIGNED; [64..127] scratch. The log starts aligned to 128 bytes, and [0] starts at 0.

#define AXL_MISALIGNED 4u
#define AXL_SCRATCH 64
#define AXL_SPILL_BYTES 128

INLINE void axl_report(GLOBAL u32* const log, const i64 index, const i64 n, const u32 bytes, const u32 kind,
                       const u32 site) {
  if (axl_count_up(log) != 0u) return;
  log[1] = site;
  log[2] = item_id();
  log[3] = group_id();
  log[4] = index;
  log[5] = index >> 32;
  log[6] = n;
  log[7] = n >> 32;
  log[8] = bytes;
  log[9] = kind;
}

INLINE bool axl_inside(const i64 index, const i64 n, const u32 element, const u32 bytes) {
  return index >= 0 && index <= n - (bytes + element - 1u) / element;
}

INLINE GLOBAL u8* axl_watch_global(const GLOBAL void* const start, const axl_bounds bounds, const i64 index,
                                   const u32 element, const u32 bytes, const u32 align, const u32 kind,
                                   const u32 site) {
  GLOBAL u8* const address = (GLOBAL u8*)start + index * element;
  const bool misaligned = ((u64)address & (align - 1u)) != 0u;
  if (axl_inside(index, bounds.n, element, bytes) && !misaligned) return address;
  axl_report(bounds.log, index, bounds.n, bytes, kind | (misaligned ? AXL_MISALIGNED : 0u), site);
  return (GLOBAL u8*)(bounds.log + AXL_SCRATCH);
}

INLINE LOCAL u8* axl_watch_local(LOCAL void* const start, const axl_local_bounds bounds, const i64 index,
                                 const u32 element, const u32 bytes, const u32 align, const u32 kind, const u32 site) {
  LOCAL u8* const address = (LOCAL u8*)start + index * element;
  const bool misaligned = ((bounds.origin + (u32)index * element) & (align - 1u)) != 0u;
  if (axl_inside(index, bounds.n, element, bytes) && !misaligned) return address;
  axl_report(bounds.log, index, bounds.n, bytes, kind | AXL_LOCAL | (misaligned ? AXL_MISALIGNED : 0u), site);
  return bounds.spill;
}
