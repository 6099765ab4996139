// Parameters of every product kernel: one layout for host and device, widest members first, no padding.
// Strides are in elements. The walk is over the batch axes, slowest first; those that a product lacks stand in front
// with extent 1. Variant "plain" walks m and n as well.
#define PRODUCT_AXES 16  // arrays of as many axes

typedef struct {
  i64 extent[PRODUCT_AXES];
  i64 walk_a[PRODUCT_AXES];
  i64 walk_b[PRODUCT_AXES];
  i64 walk_c[PRODUCT_AXES];
  i64 walk_d[PRODUCT_AXES];
  i64 m;
  i64 n;
  i64 k;
  i64 a_m;
  i64 a_k;
  i64 b_k;
  i64 b_n;
  i64 c_m;
  i64 c_n;
  i64 d_m;
  i64 d_n;
  i64 blocks_m;  // blocks, panels or chunks along each axis, as the variant cuts it
  i64 blocks_n;
  i64 blocks_k;
  i64 work;       // points of the walk
  i64 share;      // what one group takes of it, where it takes several
  i64 packed_b;   // where B begins in packed panels, in elements
  u64 alpha;      // bits of a value of the accumulators' type
  u64 beta;
} ProductParams;
