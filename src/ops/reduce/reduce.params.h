// Parameters of every reduction kernel: one layout for host and device, widest members first, no padding.
// Axes: first those that are kept, then the reduced ones but the last, whose elements are a run; where there are none
// of a kind, one of extent 1. Strides and offsets count scalars: a complex number is two.
#define REDUCE_AXES 20  // more than arrays have, since patterns split axes

typedef struct {
  i64 in_stride[REDUCE_AXES];   // from index to index of each axis
  i64 out_stride[REDUCE_AXES];
  i64 extent[REDUCE_AXES];      // its indices
  u64 multiplier[REDUCE_AXES];  // divides by the extent, see core::Divider; of a kernel with a mask the mask's stride
  i64 outputs;                  // points of the kept axes
  i64 count;                    // elements that make one output: runs * run
  i64 runs;                     // points of the reduced axes but the last; 0 when nothing is reduced
  i64 run;                      // elements of the last reduced axis
  i64 run_stride;               // from one to the next
  i64 mask_run_stride;          // the same of the mask
  i64 reach;                    // from element 0 to the end of the array: nothing beyond it may be asked for ahead
  i64 pieces;                   // into which a run is cut
  i64 piece;                    // elements of a piece, the last one may have fewer
  i64 parts;                    // into which the elements of an output are dealt
  i64 part_pieces;              // pieces of a part, where parts are made of pieces of runs
  i64 part_rows;                // rows of a part, where the last kept axis lies across them
  i64 tasks;                    // parts of all outputs, or of all blocks of columns
  i64 per_group;                // tasks, or outputs, that one group takes one after the other
  i64 columns;                  // of the kept axis that a kernel walks itself, the last one
  i64 column_stride;            // of it in the output
  i64 column_blocks;            // into which these columns are cut
  u64 initial[2];               // what is taken with the elements: the bits of a value's scalars, see accumulate.h
  u32 shift[REDUCE_AXES];       // with the multiplier
  i32 kept_rank;                // where the ranks are not compiled in
  i32 reduced_rank;             // but for the last reduced axis
} ReduceParams;
