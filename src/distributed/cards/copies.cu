// Copies between the memories of cards of one host in a single launch, with meetings of all cards before and behind
// them. For NVRTC; sm_70 and later. job.h stands before it.
//
// A card's flags, 32 bits each: how often each rank has come, how much of its launches has ended, and how many launches
// of this card have met, and how many of them behind. They are zero before the first. Numbers only grow and are kept on
// the card, so that a captured launch can be replayed.
constexpr u32 lanes = GROUP < strip_lanes ? GROUP : strip_lanes;

#ifndef EMULATED  // tests run this file on the host
#define UNROLLED _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")

__device__ u32 acquire(const u32* const flag) {
  u32 value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

// Not a release: the stream orders what came before a launch.
__device__ void add(u32* const flag, const u32 value) {
  asm volatile("red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

// Whoever acquires the sum sees what this thread's group wrote.
__device__ void add_released(u32* const flag, const u32 value) {
  asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

// Where the card lets a launch start early, the next one may now, and this one waits until all before it has ended: a
// call takes 1 us less.
__device__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ void await_earlier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
#endif

// A trap ends the context with an error, as PyTorch's waits do: nobody can go on without the rank that is gone.
__device__ void await(const u32* const flag, const u32 number, const u64 patience) {
  const u64 begin = nanoseconds();
  while ((int)(acquire(flag) - number) < 0)
    if (nanoseconds() - begin > patience) __trap();
}

__device__ u32* flags_of(const Job& job, const u32 rank) { return (u32*)job.flags[rank]; }

// Before the card's own number is read, which takes most of a microsecond.
__device__ void come(const Job& job) {
  for (u32 rank = threadIdx.x; rank < job.ranks; rank += GROUP) add(flags_of(job, rank) + job.rank, 1);
}

__device__ void await_all(const Job& job, const u32 launch) {
  for (u32 rank = threadIdx.x; rank < job.ranks; rank += GROUP)
    await(flags_of(job, job.rank) + rank, launch, job.patience);
  __syncthreads();
}

// Every card keeps a sum for this one, to which each of its groups adds when it ends. A launch adds `whole` however many
// groups it has, so nobody has to know how many.
constexpr u32 whole = 1 << 16;

// The last group waits for all others, also for those of its own card: they have read the numbers then that it changes.
__device__ void finish(const Job& job, const u32 launch) {
  u32* const own = flags_of(job, job.rank);
  const u32 added = blockIdx.x == 0 ? whole - (gridDim.x - 1) : 1;
  const u32 met = own[2 * job.ranks + 1] + job.after;
  __syncthreads();
  for (u32 rank = threadIdx.x; rank < job.ranks; rank += GROUP)
    if (job.after || rank == job.rank) add_released(flags_of(job, rank) + job.ranks + job.rank, added);
  if (blockIdx.x != gridDim.x - 1) return;
  for (u32 rank = threadIdx.x; rank < job.ranks; rank += GROUP)
    if (job.after || rank == job.rank)
      await(own + job.ranks + rank, (rank == job.rank ? launch : met) * whole, job.patience);
  __syncthreads();
  if (threadIdx.x > 0) return;
  own[2 * job.ranks] = launch;
  own[2 * job.ranks + 1] = met;
}

struct Ends {
  u64 from, to;
};

__device__ u32 quotient(const u32 number, const JobAxis& by) { return __umulhi(2 * number, by.multiplier) >> by.shift; }

__device__ Ends ends_of(const Job& job, const JobCopy* const copies, u32 unit) {
  const JobCopy* copy = copies;
  while (unit >= copy->end) ++copy;
  if (copy != copies) unit -= copy[-1].end;
  Ends ends = {job.slots[copy->from_slot] + copy->from, job.slots[copy->to_slot] + copy->to};
  ROLLED  // unrolled it is no faster, and NVRTC takes 5.5 s instead of 1.2
  for (u32 axis = copy->axes; axis-- > 0;) {
    const JobAxis& along = copy->axis[axis];
    const u32 rest = quotient(unit, along), place = unit - rest * along.extent;
    ends.from += place * along.from;
    ends.to += place * along.to;
    unit = rest;
  }
  return ends;
}

// Some groups do some of the copies.
struct Share {
  const JobCopy* copies;
  u32 total;  // units
  u32 group, groups;
};

// An item looks up where strips of its units lie, `lanes` apart, loads, and then stores. What it loads first, nobody
// else writes: it does not wait for the meeting.
template <class Unit, u32 strip>
__device__ void move(const Job& job, const Share& share, const u32 launch) {
  constexpr u32 strips = loads / strip;
  const u32 item = share.group * GROUP + threadIdx.x, step = share.groups * GROUP * strip;
  u32 first = item / lanes * (lanes * strip) + item % lanes;
  Unit values[loads];
  u64 to[strips];
  const auto load = [&] {
    UNROLLED
    for (u32 k = 0; k < strips; ++k) {
      if (first + k * step >= share.total) break;
      const Ends ends = ends_of(job, share.copies, first + k * step);
      to[k] = ends.to;
      UNROLLED
      for (u32 j = 0; j < strip; ++j) values[k * strip + j] = ((const Unit*)ends.from)[j * lanes];
    }
  };
  load();
  if (job.before && blockIdx.x < job.send_groups) await_all(job, launch);
  while (first < share.total) {
    UNROLLED
    for (u32 k = 0; k < strips; ++k) {
      if (first + k * step >= share.total) break;
      UNROLLED
      for (u32 j = 0; j < strip; ++j) ((Unit*)to[k])[j * lanes] = values[k * strip + j];
    }
    first += step * strips;
    load();
  }
}

// What stays needs no link, and is done beside.
__device__ Share share_of(const Job& job, const JobCopy* const copies) {
  const bool sends = blockIdx.x < job.send_groups;
  const u32 first = sends ? 0 : job.sends, end = sends ? job.sends : job.copies;
  return {copies + first, first < end ? copies[end - 1].end : 0, sends ? blockIdx.x : blockIdx.x - job.send_groups,
          sends ? job.send_groups : gridDim.x - job.send_groups};
}

extern "C" __global__ void __launch_bounds__(GROUP) card_copies(const __grid_constant__ Job job) {
  __shared__ JobCopy copies[most_copies];
  const bool meets = job.before || job.after;
  let_next_start();
  for (u32 word = threadIdx.x; word < job.copies * sizeof(JobCopy) / 4; word += GROUP)
    ((u32*)copies)[word] = ((const u32*)job.copy)[word];
  await_earlier();
  if (meets && blockIdx.x == 0) come(job);
  const u32 launch = meets ? flags_of(job, job.rank)[2 * job.ranks] + 1 : 0;
  __syncthreads();
  const Share share = share_of(job, copies);
  switch (job.unit) {
    case 16: job.in_strips ? move<uint4, loads>(job, share, launch) : move<uint4, 1>(job, share, launch); break;
    case 8: move<u64, 1>(job, share, launch); break;
    case 4: move<u32, 1>(job, share, launch); break;
    case 2: move<unsigned short, 1>(job, share, launch); break;
    default: move<unsigned char, 1>(job, share, launch);
  }
  if (meets) finish(job, launch);
}
