// The hash that makes an element of its position, which harness/random.hpp and bench/data.hpp have for the host, and
// what else the kernels of the data and of the judges share.
//
// Source: the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014).
INLINE u64 mix(const u64 counter, const u64 seed) {
  u64 z = (counter + seed) * 0x9E3779B97F4A7C15ul;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ul;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBul;
  return z ^ (z >> 31);
}

// Eight bytes of the element at a position, of data with the parameters p.
#define BITS(position, half) ((mix((u64)(position)*2ul + (u64)(half), p.seed) & p.keep) | p.set)

// Which points an item takes: a GPU's items take them by turns, a CPU's item, alone in its group, a run of them.
INLINE i64 item_number(void) {
  return (i64)group_id() * GROUP + (i64)item_id();
}
#if GROUP == 1
INLINE i64 points_of_item(const i64 points) {
  return (points + (i64)group_count() - 1) / (i64)group_count();
}
INLINE i64 first_point(const i64 points) {
  return points_of_item(points) * item_number();
}
INLINE i64 last_point(const i64 points) {
  return min_i64(first_point(points) + points_of_item(points), points);
}
INLINE i64 point_step(void) {
  return 1;
}
#else
INLINE i64 first_point(const i64 points) {
  return item_number();
}
INLINE i64 last_point(const i64 points) {
  return points;
}
INLINE i64 point_step(void) {
  return (i64)group_count() * GROUP;
}
#endif
