// The kernel by which cards exchange few bytes, on the host: each of its groups is of a single item.
#pragma once

#include "distributed/cards/job.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace axisloom::distributed::cards {
namespace {

struct Place {
  unsigned x = 0;
};
thread_local Place threadIdx, blockIdx, gridDim;

struct uint4 {
  unsigned x, y, z, w;
};

struct Trapped {};
void __trap() {
  throw Trapped();
}
void __syncthreads() {}
unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned(u64(a) * b >> 32);
}
unsigned acquire(const unsigned* flag) {
  std::this_thread::yield();
  return std::atomic_ref(*const_cast<unsigned*>(flag)).load(std::memory_order_acquire);
}
void add(unsigned* flag, unsigned value) {
  std::atomic_ref(*flag).fetch_add(value);
}
void add_released(unsigned* flag, unsigned value) {
  std::atomic_ref(*flag).fetch_add(value, std::memory_order_release);
}
void let_next_start() {}
void await_earlier() {}
unsigned long long nanoseconds() {
  return u64(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

namespace emulated {
#define EMULATED
#define UNROLLED
#define ROLLED
#define __device__ [[maybe_unused]] inline
#define __global__
#define __shared__ thread_local
#define __grid_constant__
#define __launch_bounds__(items)
#define GROUP 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "distributed/cards/copies.cu"
#pragma GCC diagnostic pop
}  // namespace emulated

/// One group of a launch.
void run_group(const Job& job, unsigned group, unsigned groups) {
  blockIdx.x = group;
  gridDim.x = groups;
  emulated::card_copies(job);
}

}  // namespace
}  // namespace axisloom::distributed::cards
