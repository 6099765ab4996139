// Vectors of the dialect on the host. Part of host_types.h, which includes it within its namespace.

// ---- what a vector holds
// A lane of a comparison's result: all bits set, or none.
template <int Bytes>
struct axl_truth;
template <>
struct axl_truth<1> {
  typedef i8 type;
};
template <>
struct axl_truth<2> {
  typedef i16 type;
};
template <>
struct axl_truth<4> {
  typedef i32 type;
};
template <>
struct axl_truth<8> {
  typedef i64 type;
};

#define AXL_VECTOR_OPERATORS(OPERATOR, COMPARISON) \
  OPERATOR(+)                                      \
  OPERATOR(-)                                      \
  OPERATOR(*)                                      \
  OPERATOR(/)                                      \
  OPERATOR(&)                                      \
  OPERATOR(|)                                      \
  OPERATOR(^)                                      \
  COMPARISON(<)                                    \
  COMPARISON(>)                                    \
  COMPARISON(<=)                                   \
  COMPARISON(>=)                                   \
  COMPARISON(==)                                   \
  COMPARISON(!=)

#define AXL_ASSIGNMENTS(V)                       \
  AXL_INLINE V& operator+=(const V b) {          \
    return *this = *this + b;                    \
  }                                              \
  AXL_INLINE V& operator-=(const V b) {          \
    return *this = *this - b;                    \
  }                                              \
  AXL_INLINE V& operator*=(const V b) {          \
    return *this = *this * b;                    \
  }

template <class T, int N>
struct axl_vector<T, N, false> {
  typedef T native __attribute__((vector_size(N * sizeof(T))));
  typedef native in_memory __attribute__((may_alias));
  typedef native loose __attribute__((aligned(1), may_alias));
  typedef T scalar;
  typedef axl_vector<typename axl_truth<sizeof(T)>::type, N, false> truth;
  native v;

  axl_vector() = default;
  static AXL_INLINE axl_vector of(const native lanes) {
    axl_vector x;
    x.v = lanes;
    return x;
  }
  AXL_INLINE axl_vector(const T x) : v(x - native{}) {}  // - 0, which keeps -0
#define AXL_OPERATOR(op)                                                               \
  friend AXL_INLINE axl_vector operator op(const axl_vector a, const axl_vector b) {   \
    return of(a.v op b.v);                                                         \
  }
#define AXL_COMPARISON(op)                                                             \
  friend AXL_INLINE truth operator op(const axl_vector a, const axl_vector b) {        \
    return truth::of(a.v op b.v);                                         \
  }
  AXL_VECTOR_OPERATORS(AXL_OPERATOR, AXL_COMPARISON)
#undef AXL_OPERATOR
#undef AXL_COMPARISON
  AXL_ASSIGNMENTS(axl_vector)
  AXL_INLINE axl_vector operator-() const { return of(-v); }
  AXL_INLINE truth operator!() const { return truth::of(v == native{}); }
  AXL_INLINE axl_vector operator<<(const int n) const { return of(v << n); }
  AXL_INLINE axl_vector operator>>(const int n) const { return of(v >> n); }
};

template <class T, int N>
struct axl_vector<T, N, true> {
  typedef axl_vector<T, N / 2> half;
  typedef T scalar;
  typedef axl_vector<typename axl_truth<sizeof(T)>::type, N, true> truth;
  half low, high;

  axl_vector() = default;
  AXL_INLINE axl_vector(const half a, const half b) : low(a), high(b) {}
  AXL_INLINE axl_vector(const T x) : low(x), high(x) {}
#define AXL_OPERATOR(op)                                                               \
  friend AXL_INLINE axl_vector operator op(const axl_vector& a, const axl_vector& b) { \
    return {a.low op b.low, a.high op b.high};                                         \
  }
#define AXL_COMPARISON(op)                                                             \
  friend AXL_INLINE truth operator op(const axl_vector& a, const axl_vector& b) {      \
    return {a.low op b.low, a.high op b.high};                                         \
  }
  AXL_VECTOR_OPERATORS(AXL_OPERATOR, AXL_COMPARISON)
#undef AXL_OPERATOR
#undef AXL_COMPARISON
  AXL_ASSIGNMENTS(axl_vector)
  AXL_INLINE axl_vector operator-() const { return {-low, -high}; }
  AXL_INLINE truth operator!() const { return {!low, !high}; }
  AXL_INLINE axl_vector operator<<(const int n) const { return {low << n, high << n}; }
  AXL_INLINE axl_vector operator>>(const int n) const { return {low >> n, high >> n}; }
};

// Names without a comma, which macros take as one argument.
#define AXL_NAMED_VECTORS(T)              \
  typedef axl_vector<T, 4> axl_##T##v4;   \
  typedef axl_vector<T, 8> axl_##T##v8;   \
  typedef axl_vector<T, 16> axl_##T##v16; \
  typedef axl_vector<T, 32> axl_##T##v32; \
  typedef axl_vector<T, 64> axl_##T##v64;
AXL_NAMED_VECTORS(i8)
AXL_NAMED_VECTORS(u8)
AXL_NAMED_VECTORS(i16)
AXL_NAMED_VECTORS(u16)
AXL_NAMED_VECTORS(i32)
AXL_NAMED_VECTORS(u32)
AXL_NAMED_VECTORS(i64)
AXL_NAMED_VECTORS(u64)
AXL_NAMED_VECTORS(f32)
AXL_NAMED_VECTORS(f64)

// Half as many lanes of two registers, one after the other: Begin, Begin + Step, ...
template <int Begin, int Step, class T, int N, int... I>
AXL_INLINE axl_vector<T, int(sizeof...(I))> axl_lanes_from(const axl_vector<T, N, false> x,
                                                           const axl_vector<T, N, false> y,
                                                           std::integer_sequence<int, I...>) {
  return axl_vector<T, int(sizeof...(I))>::of(__builtin_shufflevector(x.v, y.v, (Begin + Step * I)...));
}

// The half of a vector that has halves; of a register its lanes in a narrower one.
template <class T, int N>
AXL_INLINE axl_vector<T, N / 2> axl_low(const axl_vector<T, N, true>& x) {
  return x.low;
}
template <class T, int N>
AXL_INLINE axl_vector<T, N / 2> axl_high(const axl_vector<T, N, true>& x) {
  return x.high;
}
template <class T, int N>
AXL_INLINE axl_vector<T, N / 2> axl_low(const axl_vector<T, N, false> x) {
  return axl_lanes_from<0, 1>(x, x, std::make_integer_sequence<int, N / 2>());
}
template <class T, int N>
AXL_INLINE axl_vector<T, N / 2> axl_high(const axl_vector<T, N, false> x) {
  typedef axl_vector<T, N / 2> Half;
  if constexpr (sizeof(x.v) >= 32 && sizeof(Half) * 2 == sizeof(x.v)) {
    // Where lanes are picked, GCC shuffles the whole register, even where it could load this half by itself.
    typename Half::native half;
    __builtin_memcpy(&half, reinterpret_cast<const char*>(&x.v) + sizeof(half), sizeof(half));
    return Half::of(half);
  } else {
    return axl_lanes_from<N / 2, 1>(x, x, std::make_integer_sequence<int, N / 2>());
  }
}

// ---- condition ? a : b, of scalars and lane by lane
template <class T>
AXL_INLINE T axl_select(const bool condition, const T a, const T b) {
  return condition ? a : b;
}
template <class C, class T, int N>
AXL_INLINE axl_vector<T, N, false> axl_select(const axl_vector<C, N, false> condition, const axl_vector<T, N, false> a,
                                              const axl_vector<T, N, false> b) {
  static_assert(sizeof(C) == sizeof(T), "a condition has lanes as wide as what it selects");
  return axl_vector<T, N, false>::of(condition.v ? a.v : b.v);
}
template <class C, class T, int N>
AXL_INLINE axl_vector<T, N, true> axl_select(const axl_vector<C, N, true>& condition, const axl_vector<T, N, true>& a,
                                             const axl_vector<T, N, true>& b) {
  return {axl_select(condition.low, a.low, b.low), axl_select(condition.high, a.high, b.high)};
}

// ---- x > y ? x : y and x < y ? x : y, in one step where the processor has one: not by way of a condition, by which
// GCC does not see it. Of floats the instruction does just that, and has y where one is no number; GCC does not take it
// for vectors.
#if defined(__AVX512VL__)
#define AXL_REGISTERS "v"
#else
#define AXL_REGISTERS "x"
#endif
#if defined(__AVX__)
#define AXL_CHOSEN(instruction) asm(instruction " %1, %0, %0" : "+" AXL_REGISTERS(x.v) : AXL_REGISTERS(y.v))
#endif
template <int Sign, class T>
AXL_INLINE T axl_chosen(const T x, const T y) {
  return (Sign > 0 ? x > y : x < y) ? x : y;
}
template <int Sign, class T, int N>
AXL_INLINE axl_vector<T, N, false> axl_chosen(axl_vector<T, N, false> x, const axl_vector<T, N, false>& y) {
#if defined(__AVX__)
  if constexpr (std::is_same_v<T, f32> && Sign > 0) AXL_CHOSEN("vmaxps");
  else if constexpr (std::is_same_v<T, f32>) AXL_CHOSEN("vminps");
  else if constexpr (std::is_same_v<T, f64> && Sign > 0) AXL_CHOSEN("vmaxpd");
  else if constexpr (std::is_same_v<T, f64>) AXL_CHOSEN("vminpd");
  else
#endif
  if constexpr (Sign > 0) x.v = x.v > y.v ? x.v : y.v;
  else x.v = x.v < y.v ? x.v : y.v;
  return x;
}
template <int Sign, class T, int N>
AXL_INLINE axl_vector<T, N, true> axl_chosen(const axl_vector<T, N, true>& x, const axl_vector<T, N, true>& y) {
  return {axl_chosen<Sign>(x.low, y.low), axl_chosen<Sign>(x.high, y.high)};
}

// ---- what compares with its like the other way round, where `turn` holds, and signed integers as unsigned ones do,
// where `top` does
template <class T>
AXL_INLINE T axl_turned_bits(const bool turn, const bool top) {
  return T((turn ? ~u64(0) : 0) ^ (top ? u64(1) << (8 * sizeof(T) - 1) : 0));
}
template <class T>
AXL_INLINE T axl_reversed(const T x, const bool turn, const bool top) {
  return T(x ^ axl_turned_bits<T>(turn, top));
}
AXL_INLINE f32 axl_reversed(const f32 x, const bool turn, bool) {
  return axl_bits<f32>(axl_bits<u32>(x) ^ axl_turned_bits<u32>(false, turn));
}
AXL_INLINE f64 axl_reversed(const f64 x, const bool turn, bool) {
  return axl_bits<f64>(axl_bits<u64>(x) ^ axl_turned_bits<u64>(false, turn));
}
template <class T, int N>
AXL_INLINE axl_vector<T, N, false> axl_reversed(const axl_vector<T, N, false> x, const bool turn, const bool top) {
  axl_vector<T, N, false> reversed;
  if constexpr (std::is_floating_point_v<T>) {
    typedef std::conditional_t<sizeof(T) == 4, u32, u64> Word;
    typedef axl_vector<Word, N, false> Words;
    reversed = axl_bits<axl_vector<T, N, false>>(axl_bits<Words>(x) ^ Words(axl_turned_bits<Word>(false, turn)));
  } else {
    reversed = x ^ axl_vector<T, N, false>(axl_turned_bits<T>(turn, top));
  }
#if defined(__x86_64__) && !defined(__clang__)
  asm("" : "+v"(reversed.v));  // GCC would reverse it anew from memory wherever it is used
#endif
  return reversed;
}
template <class T, int N>
AXL_INLINE axl_vector<T, N, true> axl_reversed(const axl_vector<T, N, true>& x, const bool turn, const bool top) {
  return {axl_reversed(x.low, turn, top), axl_reversed(x.high, turn, top)};
}

// ---- scalars that stay scalars: GCC puts neighbours that are stored side by side together to vectors, piece by piece
template <class T>
AXL_INLINE T axl_by_itself(T x) {
  if constexpr (std::is_integral_v<T> || std::is_pointer_v<T>) asm volatile("" : "+r"(x) : : "memory");
  return x;
}

#include "host_conversions.h"

// ---- single lanes
template <class T, int N, bool Wide>
AXL_INLINE T axl_lane(const axl_vector<T, N, Wide>& x, const int i) {
  if constexpr (Wide)
    return i < N / 2 ? axl_lane(x.low, i) : axl_lane(x.high, i - N / 2);
  else
    return x.v[i];
}
template <class T, int N, bool Wide>
AXL_INLINE void axl_set_lane(axl_vector<T, N, Wide>& x, const int i, const T value) {
  __builtin_memcpy(reinterpret_cast<u8*>(&x) + i * sizeof(T), &value, sizeof value);
}

// 0, 1, 2, ...
template <class T, int N, bool Wide>
AXL_INLINE axl_vector<T, N, Wide> axl_numbered(const axl_vector<T, N, Wide>*) {
  axl_vector<T, N, Wide> x;
  for (int k = 0; k < N; ++k) axl_set_lane(x, k, T(k));
  return x;
}

// ---- shuffles, by the numbers of lanes; those of the second vector follow those of the first
template <int... Lane, class V>
AXL_INLINE V axl_lanes_at(const V x, const V y) {
  return V::of(__builtin_shufflevector(x.v, y.v, Lane...));
}

// Lane i becomes lane i ^ D.
template <int D, class V, int... I>
AXL_INLINE V axl_exchanged(const V x, std::integer_sequence<int, I...>) {
  return axl_lanes_at<(I ^ D)...>(x, x);
}
template <int D, class T, int N>
AXL_INLINE axl_vector<T, N, false> axl_exchange(const axl_vector<T, N, false> x) {
  return axl_exchanged<D>(x, std::make_integer_sequence<int, N>());
}
template <int D, class T, int N>
AXL_INLINE axl_vector<T, N, true> axl_exchange(const axl_vector<T, N, true>& x) {
  if constexpr (D >= N / 2)
    return {axl_exchange<D - N / 2>(x.high), axl_exchange<D - N / 2>(x.low)};
  else
    return {axl_exchange<D>(x.low), axl_exchange<D>(x.high)};
}

// Of two vectors, the lanes whose number lacks a bit, those of the second one moved up to where it is set; or the lanes
// that have it, those of the first one moved down.
template <int D, class V, int... I>
AXL_INLINE V axl_lower_of(const V x, const V y, std::integer_sequence<int, I...>) {
  return axl_lanes_at<((I & D) != 0 ? int(sizeof...(I)) + (I ^ D) : I)...>(x, y);
}
template <int D, class V, int... I>
AXL_INLINE V axl_upper_of(const V x, const V y, std::integer_sequence<int, I...>) {
  return axl_lanes_at<((I & D) != 0 ? int(sizeof...(I)) + I : I ^ D)...>(x, y);
}
template <int D, class T, int N, bool Wide>
AXL_INLINE axl_vector<T, N, Wide> axl_lower_lanes(const axl_vector<T, N, Wide>& x, const axl_vector<T, N, Wide>& y) {
  if constexpr (!Wide)
    return axl_lower_of<D>(x, y, std::make_integer_sequence<int, N>());
  else if constexpr (D >= N / 2)
    return {x.low, y.low};
  else
    return {axl_lower_lanes<D>(x.low, y.low), axl_lower_lanes<D>(x.high, y.high)};
}
template <int D, class T, int N, bool Wide>
AXL_INLINE axl_vector<T, N, Wide> axl_upper_lanes(const axl_vector<T, N, Wide>& x, const axl_vector<T, N, Wide>& y) {
  if constexpr (!Wide)
    return axl_upper_of<D>(x, y, std::make_integer_sequence<int, N>());
  else if constexpr (D >= N / 2)
    return {x.high, y.high};
  else
    return {axl_upper_lanes<D>(x.low, y.low), axl_upper_lanes<D>(x.high, y.high)};
}

// The same elements of two registers, Odd being 0 or 1: see axl_second.
#if AXL_REGISTER == 32 && defined(__AVX2__)
// Halves of the registers change places first, for both kinds at once, and then nothing crosses the middle. GCC crosses
// it for each kind, in two or three instructions that take AMD's processors long: an EPYC 7003 took 64 x 64 pixels of
// eight floats apart in 14.2 us so, and takes 8.6.
template <class U, int Odd>
AXL_INLINE axl_vector<U, 32 / int(sizeof(U)), false> axl_packed(const axl_vector<u64, 4, false> low,
                                                                const axl_vector<u64, 4, false> high) {
  typedef axl_vector<U, 32 / int(sizeof(U)), false> Units;
  if constexpr (sizeof(U) == 8) {
    return axl_bits<Units>(axl_lanes_at<Odd, 4 + Odd, 2 + Odd, 6 + Odd>(low, high));
  } else if constexpr (sizeof(U) == 4) {  // of integers there is no such shuffle
    typedef axl_vector<f32, 8, false> Floats;
    return axl_bits<Units>(axl_lanes_at<Odd, 2 + Odd, 8 + Odd, 10 + Odd, 4 + Odd, 6 + Odd, 12 + Odd, 14 + Odd>(
        axl_bits<Floats>(low), axl_bits<Floats>(high)));
  } else if constexpr (sizeof(U) == 2) {
    typedef axl_vector<u32, 8, false> Pairs;
    typedef int Packed __attribute__((vector_size(32)));
    const Pairs a = axl_bits<Pairs>(low), b = axl_bits<Pairs>(high);
    return axl_bits<Units>(axl_vector<i16, 16, false>::of(__builtin_ia32_packusdw256(
        Packed((Odd ? a >> 16 : a & Pairs(0xffffu)).v), Packed((Odd ? b >> 16 : b & Pairs(0xffffu)).v))));
  } else {
    typedef axl_vector<u16, 16, false> Pairs;
    typedef short Packed __attribute__((vector_size(32)));
    const Pairs a = axl_bits<Pairs>(low), b = axl_bits<Pairs>(high), lower = Pairs(u16(0xff));
    return axl_bits<Units>(axl_vector<i8, 32, false>::of(axl_vector<i8, 32, false>::native(
        __builtin_ia32_packuswb256(Packed((Odd ? a >> 8 : a & lower).v), Packed((Odd ? b >> 8 : b & lower).v)))));
  }
}
template <class U, int Odd, class V>
AXL_INLINE V axl_seconds(const V x, const V y) {
  typedef axl_vector<u64, 4, false> Quarters;
  const Quarters a = axl_bits<Quarters>(x), b = axl_bits<Quarters>(y);
  return axl_bits<V>(axl_packed<U, Odd>(axl_lanes_at<0, 1, 4, 5>(a, b), axl_lanes_at<2, 3, 6, 7>(a, b)));
}
#else
template <class U, int Odd, class V, int... I>
AXL_INLINE V axl_seconds_at(const V x, const V y, std::integer_sequence<int, I...>) {
  typedef axl_vector<U, int(sizeof(V) / sizeof(U)), false> Units;
  return axl_bits<V>(axl_lanes_at<(2 * I + Odd)...>(axl_bits<Units>(x), axl_bits<Units>(y)));
}
template <class U, int Odd, class V>
AXL_INLINE V axl_seconds(const V x, const V y) {
  return axl_seconds_at<U, Odd>(x, y, std::make_integer_sequence<int, int(sizeof(x) / sizeof(U))>());
}
#endif

// The lanes with even numbers, or with odd ones.
template <int Odd, class T, int N, bool Wide>
AXL_INLINE axl_vector<T, N / 2> axl_every_second(const axl_vector<T, N, Wide>& x) {
  if constexpr (!Wide)
    return axl_lanes_from<Odd, 2>(x, x, std::make_integer_sequence<int, N / 2>());
  else if constexpr (N * sizeof(T) == 2 * AXL_REGISTER)
    return axl_seconds<T, Odd>(x.low, x.high);
  else
    return {axl_every_second<Odd>(x.low), axl_every_second<Odd>(x.high)};
}

// Elements of type U of x and y in turns, within each 16 bytes: those of the lower 8 bytes, or of the upper ones.
template <class U, int Upper, class V, int... I>
AXL_INLINE V axl_interleaved(const V x, const V y, std::integer_sequence<int, I...>) {
  typedef axl_vector<U, int(sizeof(V) / sizeof(U)), false> Units;
  constexpr int lanes = sizeof(V) / sizeof(U), each = 16 / sizeof(U);
  const Units u = axl_bits<Units>(x), v = axl_bits<Units>(y);
  return axl_bits<V>(axl_lanes_at<(I / each * each + I % each / 2 + Upper * each / 2 + I % 2 * lanes)...>(u, v));
}
template <class U, int Upper, class T, int N>
AXL_INLINE axl_vector<T, N, false> axl_interleave(const axl_vector<T, N, false> x, const axl_vector<T, N, false> y) {
  return axl_interleaved<U, Upper>(x, y, std::make_integer_sequence<int, int(sizeof(x) / sizeof(U))>());
}
template <class U, int Upper, class T, int N>
AXL_INLINE axl_vector<T, N, true> axl_interleave(const axl_vector<T, N, true>& x, const axl_vector<T, N, true>& y) {
  return {axl_interleave<U, Upper>(x.low, y.low), axl_interleave<U, Upper>(x.high, y.high)};
}

// Of 16 bytes: twelve from number N on by threes, a zero behind each three; and back.
typedef axl_vector<u8, 16, false> axl_quarter;
template <int N>
AXL_INLINE axl_quarter axl_spread_threes(const axl_quarter x) {
  return axl_lanes_at<N, N + 1, N + 2, 16, N + 3, N + 4, N + 5, 16, N + 6, N + 7, N + 8, 16, N + 9, N + 10, N + 11, 16>(
      x, axl_quarter(u8(0)));
}
AXL_INLINE axl_quarter axl_pack_threes(const axl_quarter x) {
  return axl_lanes_at<0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 16, 16, 16>(x, axl_quarter(u8(0)));
}

// Four of the eight 16-byte pieces of two lines of 64 bytes: 0 to 3 are those of x, 4 to 7 of y.
typedef axl_vector<u32, 16> axl_line;
#if AXL_REGISTER == 64
#define AXL_PIECE(n) 4 * (n), 4 * (n) + 1, 4 * (n) + 2, 4 * (n) + 3
template <int A, int B, int C, int D>
AXL_INLINE axl_line axl_pieces(const axl_line x, const axl_line y) {
  return axl_lanes_at<AXL_PIECE(A), AXL_PIECE(B), AXL_PIECE(C), AXL_PIECE(D)>(x, y);
}
#else
template <int K>
AXL_INLINE axl_line::half axl_half(const axl_line& x, const axl_line& y) {
  return K == 0 ? x.low : K == 1 ? x.high : K == 2 ? y.low : y.high;
}
template <int A, int B>
AXL_INLINE axl_line::half axl_two_pieces(const axl_line& x, const axl_line& y) {
#if AXL_REGISTER == 32
#define AXL_PIECE(n, from) from + 4 * (n % 2), from + 4 * (n % 2) + 1, from + 4 * (n % 2) + 2, from + 4 * (n % 2) + 3
  return axl_lanes_at<AXL_PIECE(A, 0), AXL_PIECE(B, 8)>(axl_half<A / 2>(x, y), axl_half<B / 2>(x, y));
#else
  const axl_line::half a = axl_half<A / 2>(x, y), b = axl_half<B / 2>(x, y);
  return {A % 2 == 0 ? a.low : a.high, B % 2 == 0 ? b.low : b.high};
#endif
}
template <int A, int B, int C, int D>
AXL_INLINE axl_line axl_pieces(const axl_line& x, const axl_line& y) {
  return {axl_two_pieces<A, B>(x, y), axl_two_pieces<C, D>(x, y)};
}
#endif

// The elements of type U with even numbers, or with odd ones, of two vectors that lie side by side.
template <class U, int Odd, class T, int N>
AXL_INLINE axl_vector<T, N, false> axl_second(const axl_vector<T, N, false> x, const axl_vector<T, N, false> y) {
  return axl_seconds<U, Odd>(x, y);
}
template <class U, int Odd, class T, int N>
AXL_INLINE axl_vector<T, N, true> axl_second(const axl_vector<T, N, true>& x, const axl_vector<T, N, true>& y) {
  return {axl_second<U, Odd>(x.low, x.high), axl_second<U, Odd>(y.low, y.high)};
}

// The elements of type U of the lower or the upper halves of two lines in turns. What holds a line has one instruction
// for it where elements are larger than bytes.
template <class U, int Upper, int... I>
AXL_INLINE axl_line axl_merged(const axl_line& x, const axl_line& y, std::integer_sequence<int, I...>) {
  constexpr int lanes = sizeof...(I);
  typedef axl_vector<U, lanes, false> Units;
  return axl_bits<axl_line>(
      axl_lanes_at<(I / 2 + Upper * lanes / 2 + I % 2 * lanes)...>(axl_bits<Units>(x), axl_bits<Units>(y)));
}
template <class U, int Upper>
AXL_INLINE axl_line axl_merge(const axl_line& x, const axl_line& y) {
  if constexpr (AXL_REGISTER == sizeof x && sizeof(U) > 1)
    return axl_merged<U, Upper>(x, y, std::make_integer_sequence<int, int(sizeof x / sizeof(U))>());
  return axl_pieces<2 * Upper, 2 * Upper + 4, 2 * Upper + 1, 2 * Upper + 5>(axl_interleave<U, 0>(x, y),
                                                                           axl_interleave<U, 1>(x, y));
}

// Every third element of type U, from number First on, of three vectors that lie side by side: picked from the first
// two, then the third.
constexpr int axl_of_two(const int number, const int lanes) {
  return number < 2 * lanes ? number : 0;
}
constexpr int axl_of_third(const int number, const int lanes, const int k) {
  return number < 2 * lanes ? k : number - lanes;
}
template <class U, int First, class V, int... I>
AXL_INLINE V axl_thirds(const V x, const V y, const V z, std::integer_sequence<int, I...>) {
  constexpr int lanes = sizeof(V) / sizeof(U);
  typedef axl_vector<U, lanes, false> Units;
  const Units two = axl_lanes_at<axl_of_two(3 * I + First, lanes)...>(axl_bits<Units>(x), axl_bits<Units>(y));
  return axl_bits<V>(axl_lanes_at<axl_of_third(3 * I + First, lanes, I)...>(two, axl_bits<Units>(z)));
}
template <class U, int First, class T, int N>
AXL_INLINE axl_vector<T, N, false> axl_third(const axl_vector<T, N, false> x, const axl_vector<T, N, false> y,
                                             const axl_vector<T, N, false> z) {
  return axl_thirds<U, First>(x, y, z, std::make_integer_sequence<int, int(sizeof(x) / sizeof(U))>());
}
template <class U, int First, class T, int N>
AXL_INLINE axl_vector<T, N, true> axl_third(const axl_vector<T, N, true>& x, const axl_vector<T, N, true>& y,
                                            const axl_vector<T, N, true>& z) {
  return {axl_third<U, First>(x.low, x.high, y.low), axl_third<U, First>(y.high, z.low, z.high)};
}

// Elements of type U of three quarters in turns: number Number of the three that they fill, picked from the first two,
// then the third.
template <class U, int Number, int... I>
AXL_INLINE axl_quarter axl_in_turns(const axl_quarter x, const axl_quarter y, const axl_quarter z,
                                    std::integer_sequence<int, I...>) {
  constexpr int lanes = sizeof...(I), first = Number * lanes;
  typedef axl_vector<U, lanes, false> Units;
  const Units two = axl_lanes_at<((first + I) % 3 == 2 ? 0 : (first + I) % 3 * lanes + (first + I) / 3)...>(
      axl_bits<Units>(x), axl_bits<Units>(y));
  return axl_bits<axl_quarter>(
      axl_lanes_at<((first + I) % 3 == 2 ? lanes + (first + I) / 3 : I)...>(two, axl_bits<Units>(z)));
}
template <class U, int Number>
AXL_INLINE axl_quarter axl_in_turns(const axl_quarter x, const axl_quarter y, const axl_quarter z) {
  return axl_in_turns<U, Number>(x, y, z, std::make_integer_sequence<int, int(sizeof x / sizeof(U))>());
}

// ---- x + y and x - y by the units that multiply, to the last bit: some processors, AMD's Zen among them, add in others,
// and do both at a time. The compiler must not know that what it multiplies by is one.
#if defined(__FMA__)
#define AXL_FUSED(instruction) \
  asm(instruction " %2, %1, %0" : "+" AXL_REGISTERS(x.v) : AXL_REGISTERS(y.v), AXL_REGISTERS(one.v))
#endif
template <int Sign, class T>
AXL_INLINE T axl_fused_sum(const T x, const T y) {
  return Sign > 0 ? x + y : x - y;
}
template <int Sign, class T, int N>
AXL_INLINE axl_vector<T, N, false> axl_fused_sum(axl_vector<T, N, false> x, const axl_vector<T, N, false>& y) {
#if defined(__FMA__)
  const axl_vector<T, N, false> one(T(1));
  if constexpr (sizeof(T) == 4 && Sign > 0) AXL_FUSED("vfmadd231ps");
  else if constexpr (sizeof(T) == 4) AXL_FUSED("vfnmadd231ps");
  else if constexpr (Sign > 0) AXL_FUSED("vfmadd231pd");
  else AXL_FUSED("vfnmadd231pd");
  return x;
#else
  return Sign > 0 ? x + y : x - y;
#endif
}
template <int Sign, class T, int N>
AXL_INLINE axl_vector<T, N, true> axl_fused_sum(const axl_vector<T, N, true>& x, const axl_vector<T, N, true>& y) {
  return {axl_fused_sum<Sign>(x.low, y.low), axl_fused_sum<Sign>(x.high, y.high)};
}

// ---- roots
AXL_INLINE f32 axl_sqrt(const f32 x) {
  return __builtin_sqrtf(x);
}
AXL_INLINE f64 axl_sqrt(const f64 x) {
  return __builtin_sqrt(x);
}
template <class T, int N, bool Wide>
AXL_INLINE axl_vector<T, N, Wide> axl_sqrt(const axl_vector<T, N, Wide>& x) {
  axl_vector<T, N, Wide> root;
  for (int k = 0; k < N; ++k) axl_set_lane(root, k, axl_sqrt(axl_lane(x, k)));
  return root;
}
