// Makes the operator new of this program fail, at the nth allocation of one thread; see failing_allocations_test.cpp,
// which replaces it. Nothing fails unless a test asks for it.
#pragma once

#include <cstdint>

namespace axisloom::test {

/// What the replaced operator new looks at, for each thread by itself.
struct AllocationFaults {
  std::int64_t left = 0;  // allocations until the one that fails, itself counted; 0: none fails
  bool lasting = false;   // those behind it fail as well
  int paused = 0;         // a runtime is at work, whose allocations are its own business
};
inline thread_local AllocationFaults allocation_faults;

/// Lets the nth allocation from now on (counted from 1) of this thread throw std::bad_alloc, while it lives.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::int64_t nth, bool lasting = false) { allocation_faults = {nth, lasting, 0}; }
  ~FailingAllocation() { allocation_faults = {}; }
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  /// Whether there were so many allocations.
  bool struck() const { return allocation_faults.left < 0; }
};

/// Allocations of this thread succeed while it lives.
class SoundAllocations {
 public:
  SoundAllocations() { ++allocation_faults.paused; }
  ~SoundAllocations() { --allocation_faults.paused; }
  SoundAllocations(const SoundAllocations&) = delete;
  SoundAllocations& operator=(const SoundAllocations&) = delete;
};

}  // namespace axisloom::test
