// Parameters of slab.kernel: the walk over slabs as in move.params.h (which comes first), then what a slab is made of.
// Widest members first, no padding.
#define SLAB_AXES 6  // of each kind below; those that are missing have extent 1, multiplier 0 and stride 0

typedef struct {
  i64 in_stride[MOVE_AXES];
  i64 out_stride[MOVE_AXES];
  i64 extent[MOVE_AXES];
  u64 multiplier[MOVE_AXES];
  i64 in_runs_stride[SLAB_AXES];   // elements of the input between runs
  i64 out_runs_stride[SLAB_AXES];  // elements of the output between runs
  i64 extent_i;                    // i: the axis that is cut at the end of a run of the input; o: of the output
  i64 extent_o;
  u32 shift[MOVE_AXES];
  // Axes that number the runs on either side, and those that a run of the output goes along; the fastest first. A digit is
  // rest - mul_hi(rest, multiplier) * extent; places are elements of local memory.
  u32 in_runs_extent[SLAB_AXES];
  u32 in_runs_multiplier[SLAB_AXES];
  u32 out_runs_extent[SLAB_AXES];
  u32 out_runs_multiplier[SLAB_AXES];
  u32 out_runs_place[SLAB_AXES];
  u32 out_run_extent[SLAB_AXES];
  u32 out_run_multiplier[SLAB_AXES];
  u32 out_run_place[SLAB_AXES];
  u32 in_runs;          // of a slab
  u32 in_run;           // its length in accesses
  u32 in_run_divider;   // divides by it
  u32 out_runs;
  u32 out_run;
  u32 out_run_divider;
  u32 pad;              // accesses that local memory leaves out after so many as pad_divider divides by
  u32 pad_divider;
  u32 block_i;          // indices of i in a slab
  u32 block_o;
  u32 in_run_per_i;     // elements of a run of the input for each index of i
  u32 out_runs_per_i;   // runs of the output for each
  u32 out_run_per_o;
  u32 in_runs_per_o;
} SlabParams;
