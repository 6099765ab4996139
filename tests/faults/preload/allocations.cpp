// malloc and its kin, operator new, and pthread_create: those that our code calls fail on order.
#include "injection.hpp"
#include "state.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace axisloom::faults {
namespace {

bool looking_at_memory = false, looking_at_threads = false;

bool strikes(const char* entry, const void* site) {
  int code = 0;
  return site && axisloom_fault_strikes(entry, site, &code) != 0;
}

/// Whether anything is to be done for a call of this kind, now.
bool looked_at(bool looking) {
  return looking && armed();
}

/// What `taken` gives, unless the call is to fail.
template <typename Take>
void* allocated(const void* caller, Take&& taken) {
  if (!looked_at(looking_at_memory || counts_blocks())) return taken();
  const void* const site = our_site(caller);
  if (looking_at_memory && strikes(kAllocation, site)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* const memory = taken();
  if (site && counts_blocks()) keep_block(memory, site);
  return memory;
}

void* take(std::size_t bytes, std::size_t alignment, const void* caller) {
  return allocated(caller,
                   [=] { return alignment ? __libc_memalign(alignment, bytes) : __libc_malloc(bytes ? bytes : 1); });
}

void* take_or_throw(std::size_t bytes, std::size_t alignment, const void* caller) {
  void* const memory = take(bytes, alignment, caller);
  if (!memory) throw std::bad_alloc();
  return memory;
}

__attribute__((constructor)) void prepare() {
  const bool wanted = read_orders();
  looking_at_memory = wanted && watches(kAllocation);
  looking_at_threads = wanted && watches(kThread);
  count_blocks();
}

}  // namespace
}  // namespace axisloom::faults

using namespace axisloom::faults;
#define HERE __builtin_return_address(0)
#define EXPORTED __attribute__((visibility("default")))

extern "C" {

EXPORTED void* malloc(std::size_t bytes) {
  return allocated(HERE, [=] { return __libc_malloc(bytes); });
}
EXPORTED void* calloc(std::size_t count, std::size_t bytes) {
  return allocated(HERE, [=] { return __libc_calloc(count, bytes); });
}
EXPORTED void* realloc(void* old, std::size_t bytes) {
  return allocated(HERE, [=] {
    void* const moved = __libc_realloc(old, bytes);
    if (moved && counts_blocks()) drop_block(old);
    return moved;
  });
}
EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocated(HERE, [=] { return __libc_memalign(alignment, bytes); });
}
EXPORTED int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  void* const taken = allocated(HERE, [=] { return __libc_memalign(alignment, bytes); });
  if (!taken) return ENOMEM;
  *memory = taken;
  return 0;
}
EXPORTED void free(void* memory) {
  if (counts_blocks()) drop_block(memory);
  __libc_free(memory);
}

EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                            void* argument) {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (looked_at(looking_at_threads) && strikes(kThread, our_site(HERE))) return EAGAIN;
  return real(thread, attributes, start, argument);
}

}  // extern "C"

EXPORTED void* operator new(std::size_t bytes) {
  return take_or_throw(bytes, 0, HERE);
}
EXPORTED void* operator new[](std::size_t bytes) {
  return take_or_throw(bytes, 0, HERE);
}
EXPORTED void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take_or_throw(bytes, static_cast<std::size_t>(alignment), HERE);
}
EXPORTED void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return take_or_throw(bytes, static_cast<std::size_t>(alignment), HERE);
}
EXPORTED void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return take(bytes, 0, HERE);
}
EXPORTED void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return take(bytes, 0, HERE);
}
