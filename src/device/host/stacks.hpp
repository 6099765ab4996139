// Going from one stack to another on the same thread, and what sanitizers have to be told of it.
#pragma once

#include "core/integers.hpp"

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define AXISLOOM_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AXISLOOM_ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define AXISLOOM_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define AXISLOOM_THREAD_SANITIZER
#endif
#endif
#ifdef AXISLOOM_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif
#ifdef AXISLOOM_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace axisloom::device::host {

/// Where a stack was left.
#if defined(__x86_64__) || defined(__aarch64__)
struct Left {
  void* top = nullptr;  // the registers that functions must keep lie there
};
#else
struct Left {
  ucontext_t context = {};
};
#endif

/// A stack of its own; the default one stands for that of the thread.
struct Stack {
  Left left;
  std::byte* memory = nullptr;
  size_t bytes = 0;
  void* fake = nullptr;   // AddressSanitizer's
  void* fiber = nullptr;  // ThreadSanitizer's
};

/// The next switch to it calls `entry`, which must never return. Both ends of the stack are aligned to 16 bytes.
void prepare(Stack& stack, void (*entry)());
/// Leaves `from` and goes on where `to` was left. `done`: nobody comes back to `from`.
void switch_stacks(Stack& from, Stack& to, bool done = false);
/// To be called first on a stack that was entered by its `entry`; `home` is the thread's, which learns where it lies.
void arrived(Stack& home);

/// For stacks that come and go.
inline void announce([[maybe_unused]] Stack& stack) {
#ifdef AXISLOOM_THREAD_SANITIZER
  stack.fiber = __tsan_create_fiber(0);
#endif
}
inline void forget([[maybe_unused]] Stack& stack) {
#ifdef AXISLOOM_THREAD_SANITIZER
  __tsan_destroy_fiber(stack.fiber);
#endif
}

}  // namespace axisloom::device::host
