// Lanes of the host that become another type. Part of host_vectors.h, which includes it within its namespace.

// ---- each lane as another type
// Integers of twice the size and of half of it, with a sign where the type has one.
template <class T>
using axl_wider = std::conditional_t<
    std::is_signed_v<T>, std::conditional_t<sizeof(T) == 1, i16, std::conditional_t<sizeof(T) == 2, i32, i64>>,
    std::conditional_t<sizeof(T) == 1, u16, std::conditional_t<sizeof(T) == 2, u32, u64>>>;
template <class T>
using axl_narrower = std::conditional_t<
    std::is_signed_v<T>, std::conditional_t<sizeof(T) == 8, i32, std::conditional_t<sizeof(T) == 4, i16, i8>>,
    std::conditional_t<sizeof(T) == 8, u32, std::conditional_t<sizeof(T) == 4, u16, u8>>>;

// Integers of twice the size that fill a register. GCC would widen both halves by themselves and put them together.
#if defined(__AVX2__) && !defined(__clang__)
#define AXL_WIDENED(U, F, n, T, builtin, ...)                                                  \
  AXL_INLINE axl_vector<T, n> axl_widened(const axl_vector<F, n> x, const T*) {                \
    typedef U Result __attribute__((vector_size(n * sizeof(T))));                              \
    typedef AXL_PLAIN_##F Plain __attribute__((vector_size(n * sizeof(F))));                   \
    return axl_bits<axl_vector<T, n>>((Result)builtin((Plain)x.v __VA_ARGS__));                \
  }
#define AXL_PLAIN_u8 char
#define AXL_PLAIN_i8 char
#define AXL_PLAIN_u16 short
#define AXL_PLAIN_i16 short
#define AXL_PLAIN_u32 int
#define AXL_PLAIN_i32 int
AXL_WIDENED(short, u8, 16, u16, __builtin_ia32_pmovzxbw256)
AXL_WIDENED(short, i8, 16, i16, __builtin_ia32_pmovsxbw256)
AXL_WIDENED(int, u16, 8, u32, __builtin_ia32_pmovzxwd256)
AXL_WIDENED(int, i16, 8, i32, __builtin_ia32_pmovsxwd256)
AXL_WIDENED(long long, u32, 4, u64, __builtin_ia32_pmovzxdq256)
AXL_WIDENED(long long, i32, 4, i64, __builtin_ia32_pmovsxdq256)
#define AXL_CAN_WIDEN 32
#if AXL_REGISTER == 64
#undef AXL_CAN_WIDEN
#define AXL_CAN_WIDEN 64
AXL_WIDENED(short, u8, 32, u16, __builtin_ia32_pmovzxbw512_mask, , Result{}, -1)
AXL_WIDENED(short, i8, 32, i16, __builtin_ia32_pmovsxbw512_mask, , Result{}, -1)
AXL_WIDENED(int, u16, 16, u32, __builtin_ia32_pmovzxwd512_mask, , Result{}, -1)
AXL_WIDENED(int, i16, 16, i32, __builtin_ia32_pmovsxwd512_mask, , Result{}, -1)
AXL_WIDENED(long long, u32, 8, u64, __builtin_ia32_pmovzxdq512_mask, , Result{}, -1)
AXL_WIDENED(long long, i32, 8, i64, __builtin_ia32_pmovsxdq512_mask, , Result{}, -1)
#endif
#else
#define AXL_CAN_WIDEN 0
#endif

// Likewise eight numbers that become doubles: GCC would convert four at a time.
#if AXL_CAN_WIDEN == 64
AXL_INLINE axl_vector<f64, 8> axl_doubles(const axl_vector<f32, 8> x) {
  const int by_default = 4;  // no rounding, and no exceptions but as always
  return axl_vector<f64, 8>::of(__builtin_ia32_cvtps2pd512_mask(x.v, axl_vector<f64, 8>::native{}, -1, by_default));
}
AXL_INLINE axl_vector<f64, 8> axl_doubles(const axl_vector<i32, 8> x) {
  return axl_vector<f64, 8>::of(__builtin_ia32_cvtdq2pd512_mask(x.v, axl_vector<f64, 8>::native{}, -1));
}
#endif

template <class To, class From, int N>
AXL_INLINE axl_vector<To, N> axl_convert(const axl_vector<From, N>& x) {
  if constexpr (std::is_floating_point_v<To> && std::is_integral_v<From> && sizeof(From) < 4) {
    return axl_convert<To>(axl_convert<i32>(x));
  } else if constexpr (std::is_integral_v<From> && sizeof(To) > 2 * sizeof(From)) {
    return axl_convert<To>(axl_convert<axl_wider<From>>(x));  // step by step, as the processor does
  } else if constexpr (std::is_integral_v<To> && sizeof(From) > 2 * sizeof(To)) {
    return axl_convert<To>(axl_convert<axl_narrower<From>>(x));
  } else if constexpr (N * sizeof(To) > AXL_REGISTER) {
    return {axl_convert<To>(axl_low(x)), axl_convert<To>(axl_high(x))};
  } else if constexpr (N * sizeof(From) > AXL_REGISTER) {
    // Not by way of memory: a load waits long for two stores.
    return axl_lanes_from<0, 1>(axl_convert<To>(axl_low(x)), axl_convert<To>(axl_high(x)),
                                std::make_integer_sequence<int, N>());
#if AXL_CAN_WIDEN == 64
  } else if constexpr (std::is_same_v<To, f64> && N == 8 && (std::is_same_v<From, f32> || std::is_same_v<From, i32>)) {
    return axl_doubles(x);
#endif
#if AXL_CAN_WIDEN
  } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To> && sizeof(To) == 2 * sizeof(From) &&
                       (N * sizeof(To) == 32 || N * sizeof(To) == AXL_CAN_WIDEN)) {
    typedef axl_wider<From> Wider;  // which may be signed where To is not
    return axl_bits<axl_vector<To, N>>(axl_widened(x, (const Wider*)nullptr));
#endif
  } else {
    return axl_vector<To, N>::of(__builtin_convertvector(x.v, typename axl_vector<To, N>::native));
  }
}
template <class To, class From>
AXL_INLINE To axl_convert(const From x) {
  return To(x);
}

// ---- f32 of 16-bit floats; a NaN need not keep its payload
// clang has, from version 22 on, no function for the instruction, which it makes of a conversion of _Float16.
#if defined(__clang__) && !__has_builtin(__builtin_ia32_vcvtph2ps256)
#define AXL_FLOAT16_INSTRUCTIONS 0
#else
#define AXL_FLOAT16_INSTRUCTIONS 1
#endif
template <int N, bool Wide>
AXL_INLINE axl_vector<f32, N> axl_f32_of_bf16(const axl_vector<u16, N, Wide>& bits) {
  return axl_bits<axl_vector<f32, N>>(axl_convert<u32>(bits) << 16);
}
template <int N, bool Wide>
AXL_INLINE axl_vector<f32, N> axl_f32_of_f16(const axl_vector<u16, N, Wide>& bits16) {
#if defined(__AVX512F__)
  if constexpr (N == 16) {
    typedef short Halves __attribute__((vector_size(32)));
    const int quiet = 8;  // no exceptions
    return axl_vector<f32, 16>::of(
        __builtin_ia32_vcvtph2ps512_mask(axl_bits<Halves>(bits16), axl_vector<f32, 16>::native{}, -1, quiet));
  } else
#endif
  {
#if defined(__F16C__)
    if constexpr (N > 8) {
      return {axl_f32_of_f16(axl_low(bits16)), axl_f32_of_f16(axl_high(bits16))};
    } else if constexpr (N == 8) {
#if AXL_FLOAT16_INSTRUCTIONS
      typedef short Halves __attribute__((vector_size(16)));
      return axl_vector<f32, 8>::of(__builtin_ia32_vcvtph2ps256(axl_bits<Halves>(bits16)));
#else
      typedef _Float16 Halves __attribute__((vector_size(16)));
      return axl_vector<f32, 8>::of(__builtin_convertvector(axl_bits<Halves>(bits16), axl_vector<f32, 8>::native));
#endif
    } else
#endif
    {
      typedef axl_vector<u32, N> Words;
      typedef axl_vector<f32, N> Floats;
      const Words bits = axl_convert<u32>(bits16), rest = (bits & Words(0x7fffu)) << 13;
      const Floats least(axl_bits<f32>(u32(0x38800000u)));  // 2^-14, what subnormal numbers are counted from
      const Floats tiny = axl_bits<Floats>(rest + Words(0x38800000u)) - least;
      const auto beyond = axl_bits<Words>(rest >= Words(0x0f800000u)), below = axl_bits<Words>(rest < Words(0x00800000u));
      const Words normal = rest + axl_select(beyond, Words(0x70000000u), Words(0x38000000u));
      const Words value = axl_select(below, axl_bits<Words>(tiny), normal);
      return axl_bits<Floats>(((bits & Words(0x8000u)) << 16) | value);
    }
  }
}
