// What makes packets of scalars. The prelude defines AXL_LITERAL(P, (components)).
#define AXL_MAKERS(T)                                                                                           \
  INLINE T##x2 make_##T##x2(T a, T b) {                                                                         \
    return AXL_LITERAL(T##x2, (a, b));                                                                          \
  }                                                                                                             \
  INLINE T##x3 make_##T##x3(T a, T b, T c) {                                                                    \
    return AXL_LITERAL(T##x3, (a, b, c));                                                                       \
  }                                                                                                             \
  INLINE T##x4 make_##T##x4(T a, T b, T c, T d) {                                                               \
    return AXL_LITERAL(T##x4, (a, b, c, d));                                                                    \
  }                                                                                                             \
  INLINE T##x8 make_##T##x8(T a, T b, T c, T d, T e, T f, T g, T h) {                                           \
    return AXL_LITERAL(T##x8, (a, b, c, d, e, f, g, h));                                                        \
  }                                                                                                             \
  INLINE T##x16 make_##T##x16(T a, T b, T c, T d, T e, T f, T g, T h, T i, T j, T k, T l, T m, T n, T o, T q) { \
    return AXL_LITERAL(T##x16, (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, q));                               \
  }
