// The one place that decides whether the call at hand fails. The preloaded library holds it; the shims of the runtimes
// ask.
//
// AXISLOOM_FAULT         "ENTRY NTH CODE once|on": the NTH call of ENTRY, from 1, fails with CODE, or it and all after
// it.
//                        ENTRY is a runtime's function, a system call, or one of the names below.
// AXISLOOM_FAULT_FIRED   a file that gets a line when the fault strikes: where the call came from, as offset and
// object. AXISLOOM_FAULT_BLOCKS  set: the blocks of memory that our code takes are counted. AXISLOOM_FAULT_CALLS   a
// file that gets a line "ENTRY SITE" for each call that could have failed, in their order.
#pragma once

#include <cstdint>

namespace axisloom::faults {

inline constexpr const char* kAllocation = "allocation";  // malloc and its kin, operator new
inline constexpr const char* kThread = "pthread_create";
inline constexpr const char* kWriting = "writing";               // every system call that changes files, by our code
inline constexpr const char* kAnyWriting = "writing-by-anyone";  // the same, by drivers too

inline constexpr int kShort = -1000001;  // a read or write that does half of what was asked
inline constexpr int kKill = -1000002;   // SIGKILL before the call

}  // namespace axisloom::faults

#pragma GCC visibility push(default)
extern "C" {
/// Counts a call of `entry` that came from `site`. Non-zero when it is to fail, with the code in `*code`.
int axisloom_fault_strikes(const char* entry, const void* site, int* code);
/// Starts counting anew, so that a program that does the same again meets the same fault again.
void axisloom_fault_next_round();
/// How many blocks of memory that our code took in that round (1 for the first) are not yet freed.
/// AXISLOOM_FAULT_BLOCKS must be set.
long axisloom_fault_blocks(int round);
/// Says where they were taken.
void axisloom_fault_tell_blocks(int round);
/// No more faults, and no more counting.
void axisloom_fault_stop();
}
#pragma GCC visibility pop
