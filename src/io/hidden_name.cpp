// A fixed table of names: a handler of signals may not allocate, nor wait for a lock.
#include "io/hidden_name.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <random>

#include <fmt/format.h>

namespace axisloom::io {

struct HiddenSlot {
  std::atomic<bool> taken = false;   // by a HiddenName
  std::atomic<bool> filled = false;  // `name` can be read
  char name[PATH_MAX];
};
static_assert(std::atomic<bool>::is_always_lock_free, "handlers of signals may only touch lock-free atomics");

namespace {

std::array<HiddenSlot, 8> slots;  // the program writes one file at a time, programs of others perhaps a few

HiddenSlot* fill_slot(const std::string& name) {
  if (name.size() >= PATH_MAX) return nullptr;
  for (HiddenSlot& slot : slots) {
    if (slot.taken.exchange(true)) continue;
    std::memcpy(slot.name, name.c_str(), name.size() + 1);
    slot.filled = true;
    return &slot;
  }
  return nullptr;
}

}  // namespace

void HiddenName::choose(const std::string& target) {
  forget();
  constexpr size_t kKept = 200;  // with the rest below the usual limit of 255 bytes
  const std::filesystem::path path(target);
  std::random_device random;
  const std::string last = path.filename().string().substr(0, kKept);
  name_ = (path.parent_path() / fmt::format(".{}.{:08x}{:08x}.tmp", last, random(), random())).string();
  slot_ = fill_slot(name_);
}

void HiddenName::forget() noexcept {
  if (slot_) slot_->taken = slot_->filled = false;  // from right to left: nobody reads it when the next may take it
  slot_ = nullptr;
  name_.clear();
}

void HiddenName::remove() noexcept {
  if (!name_.empty()) ::unlink(name_.c_str());
  forget();
}

void remove_unfinished() noexcept {
  for (const HiddenSlot& slot : slots)
    if (slot.filled) ::unlink(slot.name);
}

}  // namespace axisloom::io
