// Whose call is it? The nearest frame outside the C and C++ runtimes tells.
#include "state.hpp"

#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace axisloom::faults {
namespace {

/// Their calls are made for whoever called them.
constexpr std::array<const char*, 8> kRuntimes = {"libc.so",  "libstdc++.so", "libm.so",    "libgcc_s.so",
                                                  "ld-linux", "libfaults.so", "linux-vdso", "libpthread.so"};
constexpr int kDeepest = 64;  // frames looked at

enum class Owner { runtime, ours, others };

struct Range {
  std::uintptr_t begin = 0, end = 0, base = 0;
  Owner owner = Owner::others;
  const char* path = "";
};
std::array<Range, 256> ranges;
std::size_t range_count = 0;

bool is_runtime(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash ? slash + 1 : path;
  return std::ranges::any_of(kRuntimes,
                             [&](const char* known) { return std::strncmp(name, known, std::strlen(known)) == 0; });
}

int note_object(dl_phdr_info* info, std::size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum && range_count < ranges.size(); ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    ranges[range_count++] = {begin, begin + part.p_memsz, info->dlpi_addr,
                             is_runtime(info->dlpi_name) ? Owner::runtime : Owner::ours, info->dlpi_name};
  }
  return 0;
}

const Range* range_of(std::uintptr_t address) {
  const Range *const begin = ranges.data(), *const end = begin + range_count;
  const Range* const found =
      std::find_if(begin, end, [=](const Range& r) { return r.begin <= address && address < r.end; });
  return found == end ? nullptr : found;
}

Owner owner_of(std::uintptr_t address) {
  const Range* const range = range_of(address);
  return range ? range->owner : Owner::others;
}

struct Walk {
  const void* site = nullptr;
  int depth = 0;
};

_Unwind_Reason_Code look(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const std::uintptr_t address = _Unwind_GetIP(context);
  const Owner owner = owner_of(address);
  if (owner == Owner::ours) walk.site = reinterpret_cast<const void*>(address);
  return owner != Owner::runtime || ++walk.depth == kDeepest ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void note_objects() {
  dl_iterate_phdr(note_object, nullptr);
}

const void* our_site(const void* address) {
  if (address) {
    const Owner direct = owner_of(reinterpret_cast<std::uintptr_t>(address));
    if (direct != Owner::runtime) return direct == Owner::ours ? address : nullptr;
  }
  Walk walk;
  _Unwind_Backtrace(look, &walk);
  return walk.site;
}

std::uint32_t offset_of(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const Range* const range = range_of(number);
  return static_cast<std::uint32_t>(range ? number - range->base : number);
}

const char* object_of(const void* address) {
  const Range* const range = range_of(reinterpret_cast<std::uintptr_t>(address));
  return range ? range->path : "";
}

}  // namespace axisloom::faults
