// Parameters of tile_flat.kernel: the walk over tiles as in move.params.h (which comes first), then what a tile is made
// of, with axes as in tile_nd.params.h. Widest members first, no padding. A jump is what an index of an axis adds
// beyond all indices of the faster ones: step[d] - extent[d - 1] * step[d - 1], of the first axis its step.
typedef struct {
  i64 in_stride[MOVE_AXES];
  i64 out_stride[MOVE_AXES];
  i64 extent[MOVE_AXES];
  u64 multiplier[MOVE_AXES];
  i64 in_begin;                      // elements that are there: only between them packets are read whole
  i64 in_end;
  i64 in_runs_jump[TILE_ND_AXES];    // in the input, of the axes that number its runs
  i64 out_runs_jump[TILE_ND_AXES];
  u32 shift[MOVE_AXES];
  u32 in_runs_multiplier[TILE_ND_AXES];  // [d] divides by the extent of axis d - 1; likewise below
  u32 in_runs_local[TILE_ND_AXES];       // jumps in local memory
  u32 out_runs_multiplier[TILE_ND_AXES];
  u32 out_runs_local[TILE_ND_AXES];
  u32 out_run_multiplier[TILE_ND_AXES];
  u32 out_run_jump[TILE_ND_AXES];        // in local memory, of the axes that a run of the output goes along
  u32 in_runs_axes;
  u32 out_runs_axes;
  u32 in_packets;                        // that a run touches at most
  u32 in_packets_divider;
  u32 out_packets;
  u32 out_packets_divider;
  u32 out_runs;                          // of a tile
  u32 out_run_extent;                    // of the fastest axis that a run of the output goes along
  // As in tile_nd.params.h.
  u32 block_i;
  u32 last_i;
  u32 block_o;
  u32 last_o;
  u32 in_run_per_i;
  u32 in_runs_per_o;
  u32 out_run_per_i;
  u32 out_run_per_o;
  u32 out_runs_per_i;
  u32 turn_shift;                        // item n begins at word n >> turn_shift of its packet of the output
  u32 rotate_shift;                      // and at element n >> rotate_shift of a word
  u32 unused;
} TileFlatParams;
