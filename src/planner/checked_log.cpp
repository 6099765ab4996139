// Reads the log of the CHECKED prelude.
#include "planner/checked_log.hpp"

#include "core/integers.hpp"
#include "core/text.hpp"
#include "device/device.hpp"

#include <array>

namespace axisloom::ops {
namespace {

constexpr size_t log_words = 128;

i64 wide(u32 low, u32 high) {
  return i64(u64{high} << 32 | low);
}

}  // namespace

CheckedLog::CheckedLog(const Device& device, const Queue& queue)
    : queue_(queue), buffer_(device.allocate(log_words * sizeof(u32))) {
  queue_.impl()->fill(*buffer_.impl(), 0, buffer_.bytes(), std::byte{0}, {});
}

void CheckedLog::require_clean(const std::string& what) const {
  std::array<u32, log_words> log{};
  try {
    queue_.read(buffer_, 0, std::as_writable_bytes(std::span(log))).wait();
  } catch (...) {
    queue_.impl()->drain();  // neither the log nor the caller's arrays are in use when the error goes on
    throw;
  }
  if (log[0] == 0) return;
  throw Error(Errc::device, concat(what, ": ", log[0], " accesses out of bounds or misaligned; the first at site ",
                                   log[1], ", item ", log[2], " of group ", log[3], ": element ", wide(log[4], log[5]),
                                   " of ", wide(log[6], log[7]), ", ", log[8], " bytes, kind ", log[9]));
}

}  // namespace axisloom::ops
