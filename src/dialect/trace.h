// The TRACE prelude: every access appends a record to the log, until the log is full.
//
// The i64 that CHECKED takes as a buffer's length is here the ordinal by which the host wants to recognise the buffer.
// The log, in u32: [0] accesses so far (starts at 0, may exceed the capacity), [1] capacity in records; from [8] on
// records of eight: site, item, group, ordinal (AXL_TRACE_LOCAL for local memory), byte address from the start of the
// buffer or local block (low, high), bytes, AXL_STORE | AXL_LOCAL.

#define AXL_TRACE_LOCAL 0xffffffffu
#define AXL_SPILL_BYTES 1

INLINE void axl_record(GLOBAL u32* const log, const u32 ordinal, const i64 address, const u32 bytes, const u32 kind,
                       const u32 site) {
  const u32 at = axl_count_up(log);
  if (at >= log[1]) return;
  GLOBAL u32* const record = log + 8 + (i64)at * 8;
  record[0] = site;
  record[1] = item_id();
  record[2] = group_id();
  record[3] = ordinal;
  record[4] = address;
  record[5] = address >> 32;
  record[6] = bytes;
  record[7] = kind;
}

INLINE GLOBAL u8* axl_watch_global(const GLOBAL void* const start, const axl_bounds bounds, const i64 index,
                                   const u32 element, const u32 bytes, const u32 align, const u32 kind,
                                   const u32 site) {
  (void)align;
  axl_record(bounds.log, bounds.n, index * element, bytes, kind, site);
  return (GLOBAL u8*)start + index * element;
}

INLINE LOCAL u8* axl_watch_local(LOCAL void* const start, const axl_local_bounds bounds, const i64 index,
                                 const u32 element, const u32 bytes, const u32 align, const u32 kind, const u32 site) {
  (void)align;
  axl_record(bounds.log, AXL_TRACE_LOCAL, bounds.origin + index * element, bytes, kind | AXL_LOCAL, site);
  return (LOCAL u8*)start + index * element;
}
