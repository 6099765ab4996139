// Order between the groups of one launch, on top of relaxed accesses and an increment that orders them, of device scope.
// Included where these exist.

INLINE AXL_OVERLOAD void axl_publish(GLOBAL u32* const slot, const u32 value) {
  axl_relaxed_store(slot, value);
}
INLINE AXL_OVERLOAD void axl_publish(GLOBAL f32* const slot, const f32 value) {
  axl_relaxed_store((GLOBAL u32*)slot, as_u32_f32(value));
}
INLINE AXL_OVERLOAD void axl_publish(GLOBAL u64* const slot, const u64 value) {
  axl_relaxed_store((GLOBAL u32*)slot, value);
  axl_relaxed_store((GLOBAL u32*)slot + 1, value >> 32);
}

INLINE AXL_OVERLOAD u32 axl_collect(GLOBAL u32* const slot) {
  return axl_relaxed_load(slot);
}
INLINE AXL_OVERLOAD f32 axl_collect(GLOBAL f32* const slot) {
  return as_f32_u32(axl_relaxed_load((GLOBAL u32*)slot));
}
INLINE AXL_OVERLOAD u64 axl_collect(GLOBAL u64* const slot) {
  const u32 low = axl_relaxed_load((GLOBAL u32*)slot);
  return low | (u64)axl_relaxed_load((GLOBAL u32*)slot + 1) << 32;
}

#if defined(AXL_HAS_F64)
INLINE AXL_OVERLOAD void axl_publish(GLOBAL f64* const slot, const f64 value) {
  axl_publish((GLOBAL u64*)slot, as_u64_f64(value));
}
INLINE AXL_OVERLOAD f64 axl_collect(GLOBAL f64* const slot) {
  return as_f64_u64(axl_collect((GLOBAL u64*)slot));
}
#endif

// The last of `total` callers re-arms the counter for the next launch.
INLINE bool axl_ticket_last(GLOBAL u32* const counter, const u32 total) {
  const bool last = axl_ordered_increment(counter) == total - 1u;
  if (last) axl_relaxed_store(counter, 0u);
  return last;
}
