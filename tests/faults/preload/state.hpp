// What the parts of the preloaded library share.
#pragma once

#include <cstdint>
#include <string_view>

namespace axisloom::faults {

/// Read from the environment before main; false leaves every wrapper inert.
bool read_orders();
/// Whether calls of that entry are looked at in this run: it is to fail, or all calls are written down.
bool watches(std::string_view entry);
/// From the moment the program's main begins until it has returned.
bool armed();
void arm(bool on);
/// Says in the second line of AXISLOOM_FAULT_FIRED which system call was next.
void note_killed_before(const char* call);
/// Writes what AXISLOOM_FAULT_CALLS asks for.
void write_calls();

/// Notes which objects are loaded; those that main began with are ours, but for the C and C++ runtimes, whose calls are
/// their callers'. What is loaded later (drivers, LLVM) is not ours.
void note_objects();
/// Where our code made the call that returns to `address`; null when a driver made it. `address` null: of the frame
/// that this thread was interrupted in.
const void* our_site(const void* address);
/// Offset of an address in the object that holds it, for messages that can be compared between runs.
std::uint32_t offset_of(const void* address);
/// The file of that object; empty for the program itself.
const char* object_of(const void* address);

/// Looks whether blocks are to be counted; the books of them.
void count_blocks();
bool counts_blocks();
void keep_block(const void* memory, const void* site);
void drop_block(const void* memory);
void next_blocks();

/// Traps the system calls that are watched.
void watch_system_calls();
/// A system call past the trap.
long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

}  // namespace axisloom::faults
