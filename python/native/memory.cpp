#include "native/memory.hpp"

#include <axisloom/error.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace axisloom::python {
namespace {

// Blocks that are kept at most: results of a step of a program. With more, the oldest goes.
constexpr std::size_t most_blocks = 16;
// Of the machine's memory, what is kept at most.
constexpr std::size_t share_of_memory = 8;

// Blocks have a multiple of that, so that one serves for results of almost its size.
constexpr std::size_t grain = std::size_t{64} << 10;
constexpr std::size_t huge_page = std::size_t{2} << 20;
// What is kept beyond that is marked as free, the oldest first. Each page of a marked block is found anew when it is
// first written to: a result of 1 MiB took 67 us, unmarked 34, one of 8 MiB 283 and 190.
constexpr std::size_t most_unmarked = std::size_t{64} << 20;

struct Block {
  void* begin;
  std::size_t bytes;
  bool marked = false;  // as free
};

void* map(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Memory of the system itself: glibc's own keeps holes of aligned blocks for itself when sizes grow. On huge pages
/// where two of them fit. Null where there is none.
void* map_aligned(std::size_t bytes) {
  if (bytes < 2 * huge_page) return map(bytes);
  auto* const mapped = static_cast<char*>(map(bytes + huge_page));
  if (!mapped) return nullptr;
  const std::size_t before = (huge_page - std::uintptr_t(mapped) % huge_page) % huge_page;
  if (before) ::munmap(mapped, before);
  if (huge_page - before) ::munmap(mapped + before + bytes, huge_page - before);
  static_cast<void>(::madvise(mapped + before, bytes, MADV_HUGEPAGE));
  return mapped + before;
}

/// Whether a block serves for so many bytes: it may be larger by a quarter, which would else lie idle.
bool serves(const Block& block, std::size_t bytes) {
  return bytes <= block.bytes && block.bytes - bytes <= block.bytes / 4;
}

std::size_t most_bytes() {
  static const std::size_t bytes =
      std::size_t(::sysconf(_SC_PHYS_PAGES)) * std::size_t(::sysconf(_SC_PAGESIZE)) / share_of_memory;
  return bytes;
}

class Store {
 public:
  void* take(std::size_t bytes) {
    bytes = (bytes + grain - 1) / grain * grain;
    {
      const std::scoped_lock lock(mutex_);
      if (void* const kept = take_kept(bytes)) return kept;
    }
    void* const fresh = map_aligned(bytes);
    if (!fresh)
      throw Error(Errc::out_of_memory, "the host cannot allocate " + std::to_string(bytes) + " bytes for a result",
                  "free memory, or do it in parts");
    const std::scoped_lock lock(mutex_);
    sizes_[fresh] = bytes;
    return fresh;
  }

  void give(void* memory) noexcept {
    std::vector<Block> dropped;
    {
      const std::scoped_lock lock(mutex_);
      const Block block = {memory, sizes_.at(memory)};
      kept_.push_back(block);
      kept_bytes_ += block.bytes;
      unmarked_bytes_ += block.bytes;
      for (auto kept = kept_.begin(); unmarked_bytes_ > most_unmarked; ++kept) mark_free(*kept);
      while (kept_.size() > most_blocks || kept_bytes_ > most_bytes()) dropped.push_back(drop_oldest());
    }
    for (const Block& block : dropped) ::munmap(block.begin, block.bytes);
  }

  void empty() noexcept {
    const std::scoped_lock lock(mutex_);
    while (!kept_.empty()) {
      const Block block = drop_oldest();
      ::munmap(block.begin, block.bytes);
    }
  }

 private:
  void* take_kept(std::size_t bytes) {
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [=](const Block& b) { return serves(b, bytes); });
    if (found == kept_.rend()) return nullptr;
    return remove(std::next(found).base()).begin;
  }

  Block drop_oldest() {
    const Block oldest = remove(kept_.begin());
    sizes_.erase(oldest.begin);
    return oldest;
  }

  Block remove(std::vector<Block>::iterator kept) {
    const Block block = *kept;
    kept_bytes_ -= block.bytes;
    if (!block.marked) unmarked_bytes_ -= block.bytes;
    kept_.erase(kept);
    return block;
  }

  /// The system may take its pages when it is short of memory; until then they stay as they are.
  void mark_free(Block& block) noexcept {
    if (block.marked) return;
    static_cast<void>(::madvise(block.begin, block.bytes, MADV_FREE));
    block.marked = true;
    unmarked_bytes_ -= block.bytes;
  }

  std::mutex mutex_;
  std::unordered_map<void*, std::size_t> sizes_;  ///< of all that are taken or kept
  std::vector<Block> kept_;                       ///< the oldest first
  std::size_t kept_bytes_ = 0;
  std::size_t unmarked_bytes_ = 0;  ///< of the kept
};

/// Never destroyed: arrays may be given back when the process ends.
Store& store() {
  static Store& store = *new Store;
  return store;
}

}  // namespace

void* take_memory(std::size_t bytes) {
  return store().take(bytes);
}

void give_memory(void* memory) noexcept {
  store().give(memory);
}

void empty_memory() noexcept {
  store().empty();
}

}  // namespace axisloom::python
