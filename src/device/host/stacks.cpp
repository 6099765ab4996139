// The switch itself: registers that a function must keep go to the old stack, and come from the new one. The C
// library's swapcontext does the same with two system calls; it serves processors for which there is no code here.
#include "device/host/stacks.hpp"

#if defined(__x86_64__)

asm(R"(
  .pushsection .text
  .hidden axisloom_switch_stacks
  .globl axisloom_switch_stacks
  .type axisloom_switch_stacks, @function
axisloom_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .size axisloom_switch_stacks, . - axisloom_switch_stacks
  .popsection
)");

#elif defined(__aarch64__)

asm(R"(
  .pushsection .text
  .hidden axisloom_switch_stacks
  .globl axisloom_switch_stacks
  .type axisloom_switch_stacks, @function
axisloom_switch_stacks:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size axisloom_switch_stacks, . - axisloom_switch_stacks
  .popsection
)");

#endif

namespace axisloom::device::host {

namespace {

// A stack that was left for good has frames that never ended.
void forget_frames([[maybe_unused]] const Stack& stack) {
#ifdef AXISLOOM_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(stack.memory, stack.bytes);
#endif
}

}  // namespace

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" void axisloom_switch_stacks(void** left, void* top);

namespace {

#if defined(__x86_64__)
constexpr size_t registers = 6, entry_at = 6, words = 8;  // the entry, and a return address that it never uses
static_assert(entry_at == registers && words % 2 == 0);   // an entry is called with 8 bytes on an aligned stack
#else
constexpr size_t entry_at = 11, words = 20;  // x30, where a function returns to
#endif

void switch_registers(Left& from, const Left& to) {
  axisloom_switch_stacks(&from.top, to.top);
}

}  // namespace

void prepare(Stack& stack, void (*entry)()) {
  forget_frames(stack);
  auto* const top = reinterpret_cast<void**>(stack.memory + stack.bytes) - words;
  for (size_t i = 0; i < words; ++i) top[i] = nullptr;
  top[entry_at] = reinterpret_cast<void*>(entry);
  stack.left.top = top;
}

#else

namespace {

void switch_registers(Left& from, const Left& to) {
  swapcontext(&from.context, &to.context);
}

}  // namespace

void prepare(Stack& stack, void (*entry)()) {
  forget_frames(stack);
  getcontext(&stack.left.context);
  stack.left.context.uc_stack.ss_sp = stack.memory;
  stack.left.context.uc_stack.ss_size = stack.bytes;
  makecontext(&stack.left.context, entry, 0);
}

#endif

void switch_stacks(Stack& from, Stack& to, [[maybe_unused]] bool done) {
#ifdef AXISLOOM_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(done ? nullptr : &from.fake, to.memory, to.bytes);
#endif
#ifdef AXISLOOM_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.fiber, 0);
#endif
  switch_registers(from.left, to.left);
#ifdef AXISLOOM_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
#endif
}

void arrived([[maybe_unused]] Stack& home) {
#ifdef AXISLOOM_ADDRESS_SANITIZER
  const void* memory = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &memory, &bytes);
  if (home.memory) return;  // the stack before this one was another of ours
  home.memory = static_cast<std::byte*>(const_cast<void*>(memory));
  home.bytes = bytes;
#endif
}

}  // namespace axisloom::device::host
