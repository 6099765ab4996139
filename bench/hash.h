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

// Items take points by turns: the first point of this item, and the distance to its next.
INLINE i64 first_point(void) {
  return (i64)group_id() * GROUP + (i64)item_id();
}
INLINE i64 all_items(void) {
  return (i64)group_count() * GROUP;
}
