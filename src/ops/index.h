// index_t counts elements of arrays. It has 32 bits where every offset provably fits, since 64 take twice the
// registers.
CONSTANT(INDEX_BITS, one_of(32 64))  // of an offset in elements

#if INDEX_BITS == 64
typedef i64 index_t;
#define min_index(x, y) min_i64(x, y)
#define max_index(x, y) max_i64(x, y)
#else
typedef i32 index_t;
#define min_index(x, y) min_i32(x, y)
#define max_index(x, y) max_i32(x, y)
#endif
