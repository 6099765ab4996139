// A fixed table of names: a handler of signals may not allocate, nor wait for a lock.
#include "io/hidden_name.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <random>

#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

namespace axisloom::io {

namespace {

struct Slot {
  std::atomic<bool> taken = false;   // by a HiddenName
  std::atomic<bool> filled = false;  // `name` can be read
  char name[PATH_MAX];
};
static_assert(std::atomic<bool>::is_always_lock_free, "handlers of signals may only touch lock-free atomics");

std::array<Slot, 8> slots;  // the program writes one file at a time, programs of others perhaps a few

int fill_slot(const std::string& name) {
  if (name.size() >= PATH_MAX) return -1;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].taken.exchange(true)) continue;
    std::memcpy(slots[i].name, name.c_str(), name.size() + 1);
    slots[i].filled = true;
    return int(i);
  }
  return -1;
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
  if (slot_ >= 0) {
    slots[size_t(slot_)].filled = false;
    slots[size_t(slot_)].taken = false;
  }
  slot_ = -1;
  name_.clear();
}

void HiddenName::remove() noexcept {
  if (!name_.empty()) ::unlink(name_.c_str());
  forget();
}

void remove_unfinished() noexcept {
  for (const Slot& slot : slots)
    if (slot.filled) ::unlink(slot.name);
}

}  // namespace axisloom::io
