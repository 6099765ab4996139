// Parameters of every product kernel: one layout for host and device, widest members first, no padding.
// Strides are in elements. The walk is over the batch axes, slowest first; those that a product lacks stand in front
// with extent 1. Variant "plain" walks m and n as well.
#define PRODUCT_AXES 16  // arrays of as many axes
#define MOST_TILES 64    // of C that a group of "packed" makes in slices of k: sums of up to 96 KiB of its stack
#define DIRECT_PANEL_BYTES (64 << 10)  // of B that "direct" packs at a time, which stay in a near cache
// Of A and B that "direct" takes at a time where it cuts k. Two cores of a Xeon, 128 x 16384 by 16384 x 128 floats: 2.35
// ms, with 96 KiB 2.93.
#define DIRECT_SLAB_BYTES (512 << 10)
// The k's of x that a group of "gemv_cpu" takes at a time: a second-level cache keeps them, B is read in long pieces.
// Two cores of an EPYC 7003 took 4096 x 4096 floats in 3.36 ms with 2048, 2.97 with 8192; 16384 was no faster.
#define GEMV_SLICE 8192
#define GEMV_SUMS 1024  // of a group, which stay in a first-level cache
#define GEMV_ABREAST 4  // columns that lie along k and are taken side by side

typedef struct {
  i64 extent[PRODUCT_AXES];  // indices along each axis of the walk
  i64 walk_a[PRODUCT_AXES];  // strides along it
  i64 walk_b[PRODUCT_AXES];
  i64 walk_c[PRODUCT_AXES];
  i64 walk_d[PRODUCT_AXES];
  i64 m;  // rows of A and C
  i64 n;  // columns of B and C; elements of a row of einsum's map
  i64 k;  // columns of A, rows of B
  i64 a_m;  // from row to row of A; likewise below
  i64 a_k;
  i64 a_n;  // of the first factor of einsum's map
  i64 b_k;
  i64 b_n;
  i64 c_m;
  i64 c_n;
  i64 d_m;
  i64 d_n;
  i64 blocks_m;   // blocks or panels along m, as the variant cuts it
  i64 blocks_n;   // the same along n
  i64 part_k;     // k's of a part, or of a slice
  i64 work;       // points of the walk; in einsum's map: elements, or pieces of rows
  i64 packed_b;   // where B begins in packed panels, in real numbers
  u64 alpha;      // bits of a value of the accumulators' type
  u64 beta;
  i32 parts_k;    // parts of k, whose sums are added up by `combine`
  i32 per_group;  // of the work, or panels of B, that one group takes, where it takes several
  i32 packing;    // groups that pack a point of the batch
  i32 packing_a;  // of these, the first, which pack A
  i32 chunks;     // of the panels of A; a group takes one against its panels of B
  i32 chunk;      // panels of A of a chunk
  // Divide 32-bit numbers by the extents, see core::Divider. The arguments have no room for those of 64 bits.
  u32 multiplier[PRODUCT_AXES];
  u8 shift[PRODUCT_AXES];
} ProductParams;
