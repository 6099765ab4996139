// Memory for large results. Fresh memory of the system costs more than most moves: it is cleared page by page when it
// is first written to. So what results give back is kept for the next ones, marked as free for the system to take.
#pragma once

#include <cstddef>

namespace axisloom::python {

/// Results from that size on have such memory; smaller ones have their library's. From there on glibc's malloc gives
/// memory back to the system.
inline constexpr std::size_t large_result = std::size_t{128} << 10;

/// Of large_result bytes or more. Aligned for any kernel; on huge pages where it is large. Throws Error(out_of_memory).
void* take_memory(std::size_t bytes);
/// Gives it back; from any thread.
void give_memory(void* memory) noexcept;
/// Gives the system what is kept.
void empty_memory() noexcept;

}  // namespace axisloom::python
