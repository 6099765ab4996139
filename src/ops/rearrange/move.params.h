// Parameters of every move kernel: one layout for host and device, widest members first, no padding.
// The walk is over up to MOVE_AXES axes; those that a move lacks stand in front with extent 1. Strides are in elements.
#define MOVE_AXES 16

typedef struct {
  i64 in_stride[MOVE_AXES];   // from index to index of each axis
  i64 out_stride[MOVE_AXES];
  i64 extent[MOVE_AXES];      // its indices
  u64 multiplier[MOVE_AXES];  // divides by the extent, see core::Divider
  i64 work;                   // points of the walk, all extents multiplied
  i64 per_group;                  // points of the walk that one group takes, where it takes several
  i64 tile_i;                 // elements of a tile along i, where the kernel does not know
  i64 tile_o;                 // the same along o
  i64 tail_count;            // outer * extent(inner) + inner must stay below it
  i64 tail_step;             // extent(inner), 0 where there is no tail
  i64 tail_fill;             // 1: beyond it zeros are written, 0: nothing
  i64 extent_i;               // i: the axis that a kernel handles itself on the input's side, o: on the output's
  i64 in_stride_i;            // of that axis in the input; likewise below
  i64 out_stride_i;
  i64 extent_o;
  i64 in_stride_o;
  i64 out_stride_o;
  i64 lanes;                  // elements of a pixel, where pixels are taken apart or put together
  i64 in_lane_stride;         // from lane to lane
  i64 out_lane_stride;
  u32 shift[MOVE_AXES];       // the same
} MoveParams;
