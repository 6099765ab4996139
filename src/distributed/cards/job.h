// What the kernel of copies.cu is handed: NVRTC reads this text before that one, and job.hpp includes it in its namespace.
#ifdef __CUDACC_RTC__
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
#endif

constexpr u32 most_ranks = 16;
/// Where copies begin and end: 0 is the input of a run, 1 its output, and those behind are the same in each run.
constexpr u32 most_slots = 2 + most_ranks;
constexpr u32 most_axes = 5, most_copies = 18;

constexpr u32 loads = 4;         // of an item before its stores: a link has some microseconds of bytes in flight
constexpr u32 strip_lanes = 32;  // items that move units side by side

struct JobAxis {
  u32 extent;
  u32 multiplier, shift;  // by which to divide by it
  i64 from, to;           // bytes
};

struct JobCopy {
  u64 from, to;  // bytes behind where the slots begin
  u32 from_slot, to_slot;
  u32 end;  // units of this copy and those before it, of those that are sent or of those that stay
  u32 axes;
  JobAxis axis[most_axes];  // slowest first
};

struct Job {
  u64 slots[most_slots];  // addresses
  u64 flags[most_ranks];  // addresses of each rank's
  u64 patience;           // nanoseconds
  u32 rank, ranks;
  u32 before, after;  // whether there are meetings
  u32 unit;           // bytes that an item moves at a time
  u32 in_strips;      // whether all rows are strips of `loads` x `strip_lanes` units
  u32 sends, copies;  // those that are sent come first
  u32 send_groups;    // at least 1 where cards meet before
  JobCopy copy[most_copies];
};
