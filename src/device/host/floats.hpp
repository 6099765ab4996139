// How the processor rounds and treats tiny numbers. A program may have changed it for its own threads; results must not
// depend on that, nor on which thread computed them.
#pragma once

#include "core/not_copied.hpp"

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace axisloom::device::host {

#if defined(__SSE2__)

inline constexpr unsigned default_control = 0x1f80;  // to nearest, no flushing to zero, no traps
inline constexpr unsigned flags = 0x3f;              // what has happened so far, which changes nothing

inline void set_default_floats() noexcept {
  _mm_setcsr(default_control);
}

/// While one lives its thread computes by the defaults.
class DefaultFloats : core::NotCopied {
 public:
  DefaultFloats() noexcept : before_(_mm_getcsr()) {
    if ((before_ & ~flags) != default_control) set_default_floats();
  }
  ~DefaultFloats() {
    if ((before_ & ~flags) != default_control) _mm_setcsr(before_);
  }

 private:
  unsigned before_;
};

#else

inline void set_default_floats() noexcept {
  std::fesetenv(FE_DFL_ENV);
}

class DefaultFloats : core::NotCopied {
 public:
  DefaultFloats() noexcept {
    std::fegetenv(&before_);
    set_default_floats();
  }
  ~DefaultFloats() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

#endif

}  // namespace axisloom::device::host
