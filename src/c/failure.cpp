// The last error of each thread, and the statuses by name.
#include "c/failure.hpp"

#include "core/per_thread.hpp"

#include <algorithm>

namespace axisloom::c {
namespace {

struct LastError {
  std::string message, remedy;
};
using Last = core::PerThread<LastError>;

/// Fits into a string itself, so that it can be kept where there is no memory.
constexpr const char* no_memory = "out of memory";

constexpr axl_status status_of(Errc code) {
  return axl_status(code) + 1;
}
static_assert(status_of(Errc::usage) == AXL_USAGE && status_of(Errc::shape) == AXL_SHAPE &&
              status_of(Errc::dtype) == AXL_DTYPE && status_of(Errc::axis) == AXL_AXIS &&
              status_of(Errc::pattern) == AXL_PATTERN && status_of(Errc::overlap) == AXL_OVERLAP &&
              status_of(Errc::unsupported) == AXL_UNSUPPORTED && status_of(Errc::no_device) == AXL_NO_DEVICE &&
              status_of(Errc::file) == AXL_FILE && status_of(Errc::out_of_memory) == AXL_OUT_OF_MEMORY &&
              status_of(Errc::device) == AXL_DEVICE && status_of(Errc::device_lost) == AXL_DEVICE_LOST &&
              status_of(Errc::after_fork) == AXL_AFTER_FORK);

const char* text_in_last(std::string LastError::*part) noexcept {
  const LastError* const last = Last::get();
  return last ? (last->*part).c_str() : no_memory;
}

}  // namespace

axl_status failed(axl_status status, const char* message, const char* remedy) noexcept {
  LastError* const last = Last::get();
  if (!last) return status;
  try {
    last->message = message;
    last->remedy = remedy;
  } catch (const std::bad_alloc&) {
    last->message = no_memory;
    last->remedy.clear();
  }
  return status;
}

axl_status failed(const Error& error) noexcept {
  return failed(status_of(error.code()), error.what(), error.parts().remedy.c_str());
}

axl_status failed_without_memory() noexcept {
  return failed(AXL_OUT_OF_MEMORY, no_memory, "");
}

}  // namespace axisloom::c

using namespace axisloom;

const char* axl_last_error() {
  return c::text_in_last(&c::LastError::message);
}

const char* axl_last_remedy() {
  return c::text_in_last(&c::LastError::remedy);
}

const char* axl_status_name(axl_status status) {
  if (status == AXL_OK) return "ok";
  if (status == AXL_INTERNAL) return "internal";
  return name(Errc(std::max(status, axl_status{AXL_OK}) - 1)).data();  // literals, which end with a 0
}
