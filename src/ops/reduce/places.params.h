// Parameters of the kernel `places`: one layout for host and device, widest members first, no padding.
// (REDUCE_AXES is that of reduce.params.h, which comes first.)
#define PLACE_AXES REDUCE_AXES

typedef struct {
  i64 extent[PLACE_AXES];  // of the slice's reduced axes, slowest first; those that it lacks stand in front with 1
  i64 step[PLACE_AXES];    // what a step along each comes to in the whole array's places
  i64 begin;               // place of the slice's first element
  i64 outputs;
  i64 u64s;                // of an accumulator
  i64 per_group;           // outputs that a group takes
} PlaceParams;
