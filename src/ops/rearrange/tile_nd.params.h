// Parameters of tile_nd.kernel: the walk over tiles as in move.params.h (which comes first), then what a tile is made
// of. Widest members first, no padding.
#define TILE_ND_AXES 6  // of each kind below; those that are missing have extent 1, multiplier 0 and stride 0

typedef struct {
  i64 in_stride[MOVE_AXES];
  i64 out_stride[MOVE_AXES];
  i64 extent[MOVE_AXES];
  u64 multiplier[MOVE_AXES];
  i64 in_runs_stride[TILE_ND_AXES];   // elements of the input between runs
  i64 out_runs_stride[TILE_ND_AXES];  // elements of the output between runs
  u32 shift[MOVE_AXES];
  // Axes that number the runs on either side, and those that a run of the output goes along; the fastest first. A digit
  // is rest - mul_hi(rest, multiplier) * extent; places are elements of local memory.
  u32 in_runs_extent[TILE_ND_AXES];
  u32 in_runs_multiplier[TILE_ND_AXES];
  u32 out_runs_extent[TILE_ND_AXES];
  u32 out_runs_multiplier[TILE_ND_AXES];
  u32 out_runs_place[TILE_ND_AXES];
  u32 out_run_extent[TILE_ND_AXES];
  u32 out_run_multiplier[TILE_ND_AXES];
  u32 out_run_place[TILE_ND_AXES];
  u32 in_runs;  // of a tile
  u32 out_runs;
  u32 in_width;           // items side by side along a run, each with one access
  u32 in_width_divider;   // divides by it
  u32 out_width;
  u32 out_width_divider;
  u32 pitch;              // elements of local memory from run to run of the input
  u32 pad;                // accesses that local memory leaves out after so many as pad_divider divides by
  u32 pad_divider;
  u32 rotate;               // 1: items take the elements of a word in different orders
  // i is the axis that is cut at the end of a run of the input, o of the output; where both are the same axis it is i,
  // and o has one index. Indices in a tile, and in the last one; then how long and how many the runs are for each.
  u32 block_i;
  u32 last_i;
  u32 block_o;
  u32 last_o;
  u32 in_run_per_i;
  u32 in_runs_per_o;
  u32 out_run_per_i;
  u32 out_run_per_o;
  u32 out_runs_per_i;
  u32 per_group;  // tiles that a group takes in turn, on a CPU
} TileNdParams;
