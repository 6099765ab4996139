// Copies between the memories of cards of one host in a single launch, with meetings of all cards before and behind
// them. For NVRTC; sm_70 and later. job.h stands before it.
//
// A card's flags, 32 bits each: `ranks` of who has come, `ranks` of who has ended, the number of the last meeting, and
// how many groups of the running launch have ended. They are zero before the first launch. Numbers of meetings only
// grow and are kept on the card, so that a captured launch can be replayed.
#define UNROLL 4  // loads of an item before its stores: a link has some microseconds of bytes in flight

#ifndef EMULATED  // tests run this file on the host
#define UNROLLED _Pragma("unroll")

__device__ u32 acquire(const u32* const flag) {
  u32 value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

// Not a release: the stream orders what came before a launch, and a fence stands before what is told at its end.
__device__ void tell(u32* const flag, const u32 value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
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

// One group tells all others; each group that sends sees for itself who has come.
__device__ void meet_before(const Job& job, const u32 number) {
  if (blockIdx.x == 0)
    for (u32 rank = threadIdx.x; rank < job.ranks; rank += GROUP) tell(flags_of(job, rank) + job.rank, number);
  if (blockIdx.x >= job.send_groups) return;
  for (u32 rank = threadIdx.x; rank < job.ranks; rank += GROUP)
    await(flags_of(job, job.rank) + rank, number, job.patience);
  __syncthreads();
}

// The last group to end tells all others and waits for them.
__device__ void meet_after(const Job& job, const u32 number) {
  u32* const own = flags_of(job, job.rank);
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    last = atomicAdd(own + 2 * job.ranks + 1, 1) == gridDim.x - 1;
    __threadfence_system();
  }
  __syncthreads();
  if (!last) return;
  if (job.after) {
    for (u32 rank = threadIdx.x; rank < job.ranks; rank += GROUP)
      tell(flags_of(job, rank) + job.ranks + job.rank, number);
    for (u32 rank = threadIdx.x; rank < job.ranks; rank += GROUP)
      await(own + job.ranks + rank, number, job.patience);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    own[2 * job.ranks] = number;
    own[2 * job.ranks + 1] = 0;
  }
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

template <class Unit>
__device__ void move(const Job& job, const Share& share) {
  const u32 step = share.groups * GROUP;
  for (u32 first = share.group * GROUP + threadIdx.x; first < share.total; first += step * UNROLL) {
    Unit values[UNROLL];
    u64 to[UNROLL];
    UNROLLED
    for (u32 k = 0; k < UNROLL; ++k) {
      if (first + k * step >= share.total) break;
      const Ends ends = ends_of(job, share.copies, first + k * step);
      values[k] = *(const Unit*)ends.from;
      to[k] = ends.to;
    }
    UNROLLED
    for (u32 k = 0; k < UNROLL; ++k) {
      if (first + k * step >= share.total) break;
      *(Unit*)to[k] = values[k];
    }
  }
}

// What stays needs no link, and is done beside.
__device__ Share share_of(const Job& job, const JobCopy* const copies) {
  const bool sends = blockIdx.x < job.send_groups;
  const u32 first = sends ? 0 : job.sends, end = sends ? job.sends : job.copies;
  return {copies + first, first < end ? copies[end - 1].end : 0, sends ? blockIdx.x : blockIdx.x - job.send_groups,
          sends ? job.send_groups : gridDim.x - job.send_groups};
}

extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT) card_copies(const __grid_constant__ Job job) {
  __shared__ JobCopy copies[most_copies];
  for (u32 word = threadIdx.x; word < job.copies * sizeof(JobCopy) / 4; word += GROUP)
    ((u32*)copies)[word] = ((const u32*)job.copy)[word];
  const bool meets = job.before || job.after;
  const u32 number = meets ? flags_of(job, job.rank)[2 * job.ranks] + 1 : 0;
  __syncthreads();
  if (job.before) meet_before(job, number);
  const Share share = share_of(job, copies);
  switch (job.unit) {
    case 16: move<uint4>(job, share); break;
    case 8: move<u64>(job, share); break;
    case 4: move<u32>(job, share); break;
    case 2: move<unsigned short>(job, share); break;
    default: move<unsigned char>(job, share);
  }
  if (meets) meet_after(job, number);
}
