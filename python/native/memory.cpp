#include "native/memory.hpp"

#include "core/host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace axisloom::python {
namespace {

// Blocks that are kept at most: results of a step of a program. With more, the oldest goes.
constexpr std::size_t most_blocks = 16;
// From that size on a block that is kept is marked as free, which takes 1 us and more.
constexpr std::size_t worth_marking = std::size_t{1} << 20;
// Of the machine's memory, what is kept at most.
constexpr std::size_t share_of_memory = 8;

struct Block {
  void* begin;
  std::size_t bytes;
};

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
    {
      const std::scoped_lock lock(mutex_);
      if (void* const kept = take_kept(bytes)) return kept;
    }
    void* const fresh = core::allocate_host(bytes);
    if (!fresh) throw std::bad_alloc();
    const std::scoped_lock lock(mutex_);
    sizes_[fresh] = bytes;
    return fresh;
  }

  void give(void* memory) noexcept {
    std::vector<void*> dropped;
    {
      const std::scoped_lock lock(mutex_);
      const Block block = {memory, sizes_.at(memory)};
      mark_free(block);
      kept_.push_back(block);
      kept_bytes_ += block.bytes;
      while (kept_.size() > most_blocks || kept_bytes_ > most_bytes()) dropped.push_back(drop_oldest());
    }
    for (void* const block : dropped) std::free(block);
  }

 private:
  void* take_kept(std::size_t bytes) {
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [=](const Block& b) { return serves(b, bytes); });
    if (found == kept_.rend()) return nullptr;
    void* const memory = found->begin;
    kept_bytes_ -= found->bytes;
    kept_.erase(std::next(found).base());
    return memory;
  }

  void* drop_oldest() {
    const Block oldest = kept_.front();
    kept_.erase(kept_.begin());
    kept_bytes_ -= oldest.bytes;
    sizes_.erase(oldest.begin);
    return oldest.begin;
  }

  /// The system may take whole pages when it is short of memory; until then they stay as they are.
  static void mark_free(const Block& block) noexcept {
    if (block.bytes < worth_marking) return;
    const auto page = std::uintptr_t(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t begin = (std::uintptr_t(block.begin) + page - 1) / page * page;
    const std::uintptr_t end = (std::uintptr_t(block.begin) + block.bytes) / page * page;
    if (begin < end) static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_FREE));
  }

  std::mutex mutex_;
  std::unordered_map<void*, std::size_t> sizes_;  ///< of all that are taken or kept
  std::vector<Block> kept_;                       ///< the oldest first
  std::size_t kept_bytes_ = 0;
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

}  // namespace axisloom::python
