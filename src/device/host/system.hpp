// What Linux says of the machine and of the part of it that this process may use.
#pragma once

#include "core/integers.hpp"

#include <pthread.h>

#include <optional>
#include <string>

namespace axisloom::device::host {

/// Limits of the control groups that a process is in: the tightest of its own group and those above it.
struct GroupLimits {
  std::optional<double> processors;  // time per time
  std::optional<u64> memory;         // bytes
};
/// `root`: where /proc and /sys are looked for; a test has its own.
GroupLimits group_limits(const std::string& root = "");

/// Processors that this process may run on, by its affinity.
unsigned processors();
/// Has another thread run where this one may, but for the processor that this one is on; where that is the only one,
/// nothing changes.
void keep_off_this_processor(pthread_t other) noexcept;

/// How many threads run kernels, and why so many.
struct ThreadCount {
  unsigned threads = 1;
  std::string why;
};
inline constexpr const char* threads_variable = "AXISLOOM_THREADS";
inline constexpr const char* openmp_variable = "OMP_NUM_THREADS";
/// `wanted`, `openmp`: the values of these variables; OpenMP's counts where the other is empty, and asks for fewer
/// threads only. Throws Error(usage) when `wanted` is no number of threads.
ThreadCount count_threads(const std::string& wanted, const std::string& openmp, unsigned processors,
                          std::optional<double> quota);
/// The same for this process.
ThreadCount count_threads();

/// Bytes of memory that this process may use.
size_t usable_memory();
/// Bytes of the last cache before memory, as one processor sees it; 0 when nobody says.
size_t last_level_cache();
/// Whether memory is nearer to some processors than to others.
bool several_memory_nodes();

}  // namespace axisloom::device::host
