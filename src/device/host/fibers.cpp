// A ring of fibers: whoever comes to a barrier goes on with the next one in the ring, so when the turn comes back to it
// all the others have come too.
#include "device/host/fibers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace axisloom::device::host {

namespace {

/// Of a stack, and of the guard below it that no access may touch. Memory is taken as it is used: kernels with groups
/// of many items keep some hundred bytes on it, sanitizers some ten times as much.
constexpr size_t stack_bytes = size_t{128} << 10;

/// The tops of stacks are moved against each other, by so many bytes: they would else all lie in the same set of a
/// cache.
constexpr size_t colours = 16, colour_bytes = 128;

size_t page_size() {
  static const auto bytes = size_t(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

/// Lies at the upper end of its stack's memory.
struct Fibers::Fiber {
  Stack stack;
  Fibers* group = nullptr;
  u32 number = 0;
  Fiber* next = nullptr;
  Fiber* previous = nullptr;
};

namespace {

thread_local void* running = nullptr;  // a Fiber

}  // namespace

Fibers::~Fibers() {
  unmap();
}

Fibers::Fiber& Fibers::fiber(u32 number) const noexcept {
  std::byte* const end = memory_ + (page_size() + stack_bytes) * (number + size_t{1});
  return *std::launder(reinterpret_cast<Fiber*>(end - sizeof(Fiber)));
}

bool Fibers::map(u32 items) noexcept {
  if (items <= mapped_) return true;
  unmap();
  const size_t guard = page_size(), each = guard + stack_bytes;
  void* const memory = ::mmap(nullptr, each * items, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::byte*>(memory);
  for (u32 i = 0; i < items; ++i) {
    std::byte* const begin = memory_ + each * i;
    if (::mprotect(begin, guard, PROT_NONE) != 0) {
      for (u32 k = 0; k < i; ++k) forget(fiber(k).stack);
      ::munmap(memory, each * items);
      return false;
    }
    Fiber& made = *new (begin + each - sizeof(Fiber)) Fiber;
    made.number = i;
    made.group = this;
    made.stack.memory = begin + guard;
    made.stack.bytes = (stack_bytes - sizeof(Fiber) - i % colours * colour_bytes) / 16 * 16;
    announce(made.stack);
  }
  mapped_ = items;
  return true;
}

void Fibers::unmap() noexcept {
  if (mapped_ == 0) return;
  for (u32 i = 0; i < mapped_; ++i) forget(fiber(i).stack);
  ::munmap(memory_, (page_size() + stack_bytes) * mapped_);
  mapped_ = 0;
}

bool Fibers::run(u32 items, Item item, void* context) noexcept {
  if (items == 0) return true;
  if (!map(items)) return false;
  item_ = item;
  context_ = context;
  for (u32 i = 0; i < items; ++i) {
    Fiber& one = fiber(i);
    one.next = &fiber(i + 1 == items ? 0 : i + 1);
    one.previous = &fiber(i == 0 ? items - 1 : i - 1);
    prepare(one.stack, [] { begin(); });
  }
#ifdef AXISLOOM_THREAD_SANITIZER
  home_.fiber = __tsan_get_current_fiber();
#endif
  running = &fiber(0);
  switch_stacks(home_, fiber(0).stack);
  return true;
}

void Fibers::begin() noexcept {
  Fiber& self = *static_cast<Fiber*>(running);
  Fibers& group = *self.group;
  arrived(group.home_);
  group.item_(group.context_, self.number);
  Fiber* const next = self.next;
  next->previous = self.previous;
  self.previous->next = next;
  running = next;
  switch_stacks(self.stack, next == &self ? group.home_ : next->stack, true);
  __builtin_unreachable();
}

void Fibers::barrier() noexcept {
  Fiber& self = *static_cast<Fiber*>(running);
  if (self.next == &self) return;
  running = self.next;
  switch_stacks(self.stack, self.next->stack);
}

}  // namespace axisloom::device::host
