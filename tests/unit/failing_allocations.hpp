// Makes the operator new of a program fail, at the nth allocation of one thread. The program replaces the operators by
// AXISLOOM_FAILING_ALLOCATIONS in one of its sources. Nothing fails unless a test asks for it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>

namespace axisloom::test {

/// What the replaced operators look at, for each thread by itself.
struct AllocationFaults {
  std::int64_t left = 0;    // allocations until the one that fails, itself counted; 0: none fails
  bool lasting = false;     // those behind it fail as well
  int paused = 0;           // a runtime is at work, whose allocations are its own business
  std::int64_t made = 0;    // while nothing was paused
  std::int64_t live = 0;    // made and not given back, likewise
  std::int64_t struck = 0;  // how many failed
};
inline thread_local AllocationFaults allocation_faults;

/// Counts an allocation, and says whether it is one that fails.
inline bool allocation_fails() noexcept {
  AllocationFaults& faults = allocation_faults;
  if (faults.paused > 0) return false;
  ++faults.made;
  if (faults.left == 0 || --faults.left > 0) return ++faults.live, false;
  faults.left = faults.lasting ? 1 : 0;
  return ++faults.struck, true;
}

/// Lets the nth allocation from now on (counted from 1) of this thread throw std::bad_alloc, while it lives.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::int64_t nth, bool lasting = false) {
    allocation_faults.left = nth;
    allocation_faults.lasting = lasting;
  }
  ~FailingAllocation() { allocation_faults.left = 0; }
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
};

/// Allocations of this thread succeed and are not counted while it lives.
class SoundAllocations {
 public:
  SoundAllocations() { ++allocation_faults.paused; }
  ~SoundAllocations() { --allocation_faults.paused; }
  SoundAllocations(const SoundAllocations&) = delete;
  SoundAllocations& operator=(const SoundAllocations&) = delete;
};

inline void* counted_memory(std::size_t bytes) noexcept {
  return allocation_fails() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
inline void* counted_memory_or_throw(std::size_t bytes) {
  if (void* const memory = counted_memory(bytes)) return memory;
  throw std::bad_alloc();
}
inline void give_back(void* memory) noexcept {
  if (memory && allocation_faults.paused == 0) --allocation_faults.live;
  std::free(memory);
}

}  // namespace axisloom::test

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define AXISLOOM_FAILING_ALLOCATIONS  // ThreadSanitizer's own cannot be replaced; no test under it lets allocations
                                      // fail
#endif
#endif

#ifndef AXISLOOM_FAILING_ALLOCATIONS
// All but those for more than the usual alignment: sanitizers bring each of them themselves, and they must go together.
#define AXISLOOM_FAILING_ALLOCATIONS                                        \
  void* operator new(std::size_t bytes) {                                   \
    return axisloom::test::counted_memory_or_throw(bytes);                  \
  }                                                                         \
  void* operator new[](std::size_t bytes) {                                 \
    return axisloom::test::counted_memory_or_throw(bytes);                  \
  }                                                                         \
  void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {   \
    return axisloom::test::counted_memory(bytes);                           \
  }                                                                         \
  void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { \
    return axisloom::test::counted_memory(bytes);                           \
  }                                                                         \
  void operator delete(void* memory) noexcept {                             \
    axisloom::test::give_back(memory);                                      \
  }                                                                         \
  void operator delete[](void* memory) noexcept {                           \
    axisloom::test::give_back(memory);                                      \
  }                                                                         \
  void operator delete(void* memory, std::size_t) noexcept {                \
    axisloom::test::give_back(memory);                                      \
  }                                                                         \
  void operator delete[](void* memory, std::size_t) noexcept {              \
    axisloom::test::give_back(memory);                                      \
  }                                                                         \
  void operator delete(void* memory, const std::nothrow_t&) noexcept {      \
    axisloom::test::give_back(memory);                                      \
  }                                                                         \
  void operator delete[](void* memory, const std::nothrow_t&) noexcept {    \
    axisloom::test::give_back(memory);                                      \
  }
#endif
