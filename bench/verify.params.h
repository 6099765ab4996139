// Parameters of the kernels that make and check benchmark data: one layout for host and device, widest members first.
// Strides and offsets are in elements of the buffer.
#define VERIFY_AXES 16

typedef struct {
  i64 extent[VERIFY_AXES];  // slowest first; axes that a move lacks stand in front with extent 1
  i64 in_stride[VERIFY_AXES];
  i64 out_stride[VERIFY_AXES];
  i64 in_offset;
  i64 out_offset;
  i64 points;               // product of the extents; of `fill`: elements of the buffer
  i64 tail_count;          // index[tail_outer] * tail_inner_extent + index[tail_inner] must stay below it
  i64 tail_inner_extent;
  u64 seed;
  u64 keep;           // bits of the hash that stay as they are
  u64 set;            // bits that are set afterwards
  i32 tail_outer;    // -1: every element exists
  i32 tail_inner;
  i32 tail_fill;     // what does not exist is zero; otherwise it is not looked at
  i32 axes;           // how many of the extents are not padding
} VerifyParams;
