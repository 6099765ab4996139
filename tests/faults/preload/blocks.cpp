// The blocks of memory that our code has asked for and not freed, each with its site and the round it is from.
#include "injection.hpp"
#include "state.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace axisloom::faults {
namespace {

struct Block {
  std::uintptr_t address = 0;
  std::uint32_t site = 0;
  int round = 0;
};
constexpr std::size_t kSlots = 1 << 20;  // of which few are ever taken
constexpr std::uintptr_t kFreed = 1;     // a slot that was taken: searches go on behind it
std::array<Block, kSlots> blocks;
bool counted = false;
std::atomic<int> round_number{0};

class Spin {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
} spin;

std::size_t first_slot(std::uintptr_t address) {
  return (address >> 4) * 0x9e3779b97f4a7c15U >> 44;
}

}  // namespace

void count_blocks() {
  counted = std::getenv("AXISLOOM_FAULT_BLOCKS") != nullptr;
}

bool counts_blocks() {
  return counted;
}

void next_blocks() {
  ++round_number;
}

void keep_block(const void* memory, const void* site) {
  if (!memory) return;
  const std::lock_guard lock(spin);
  std::size_t at = first_slot(reinterpret_cast<std::uintptr_t>(memory));
  while (blocks[at].address > kFreed) at = (at + 1) % kSlots;
  blocks[at] = {reinterpret_cast<std::uintptr_t>(memory), offset_of(site), round_number};
}

void drop_block(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (!address) return;
  const std::lock_guard lock(spin);
  for (std::size_t at = first_slot(address); blocks[at].address != 0; at = (at + 1) % kSlots) {
    if (blocks[at].address != address) continue;
    blocks[at].address = kFreed;
    return;
  }
}

}  // namespace axisloom::faults

extern "C" long axisloom_fault_blocks(int round) {
  using namespace axisloom::faults;
  const std::lock_guard lock(spin);
  return std::ranges::count_if(blocks, [=](const Block& b) { return b.address > kFreed && b.round == round; });
}

extern "C" void axisloom_fault_tell_blocks(int round) {
  using namespace axisloom::faults;
  for (const Block& b : blocks)
    if (b.address > kFreed && b.round == round)
      std::fprintf(stderr, "a block of round %d from 0x%x stays\n", round, b.site);
}
