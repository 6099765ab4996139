// Counts calls, lets one of them fail, and writes down which calls there were. Allocates nothing: it is asked by
// malloc.
#include "injection.hpp"

#include "state.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace axisloom::faults {
namespace {

struct Orders {
  char entry[64] = "";
  long nth = 0;
  int code = 0;
  bool stays = false;
  const char* fired = nullptr;
  const char* calls = nullptr;
};
Orders orders;
std::atomic<bool> is_armed{false};
std::atomic<long> count{0};
std::atomic<bool> noted{false};

struct Call {
  const char* entry;
  std::uint32_t site;
};
constexpr std::size_t kMostCalls = 1 << 18;
std::array<Call, kMostCalls> calls;
std::atomic<std::size_t> call_count{0};

void append(const char* path, const char* text, std::size_t length) {
  const long fd =
      raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return;
  raw_call(SYS_write, fd, reinterpret_cast<long>(text), static_cast<long>(length));
  raw_call(SYS_close, fd);
}

void note_fired(const void* site) {
  if (!orders.fired || noted.exchange(true)) return;
  char line[1024];
  const int length = std::snprintf(line, sizeof line, "0x%x %s\n", offset_of(site), object_of(site));
  append(orders.fired, line, std::min(static_cast<std::size_t>(length), sizeof line - 1));
}

void write_down(const char* entry, const void* site) {
  const std::size_t at = call_count.fetch_add(1);
  if (at < kMostCalls) calls[at] = {entry, offset_of(site)};
}

}  // namespace

bool read_orders() {
  if (const char* text = std::getenv("AXISLOOM_FAULT")) {
    char mode[8] = "";
    if (std::sscanf(text, "%63s %ld %d %7s", orders.entry, &orders.nth, &orders.code, mode) != 4) {
      std::fprintf(stderr, "AXISLOOM_FAULT cannot be read: %s\n", text);
      std::_Exit(1);
    }
    orders.stays = std::strcmp(mode, "on") == 0;
  }
  orders.fired = std::getenv("AXISLOOM_FAULT_FIRED");
  orders.calls = std::getenv("AXISLOOM_FAULT_CALLS");
  return orders.nth > 0 || orders.calls;
}

void note_killed_before(const char* call) {
  if (!orders.fired) return;
  append(orders.fired, call, std::strlen(call));
}

bool watches(std::string_view entry) {
  return orders.calls || entry == orders.entry;
}

bool armed() {
  return is_armed.load(std::memory_order_relaxed);
}

void arm(bool on) {
  is_armed = on;
}

void write_calls() {
  if (!orders.calls) return;
  const std::size_t all = std::min(call_count.load(), kMostCalls);
  static char text[1 << 16];
  std::size_t used = 0;
  for (std::size_t i = 0; i < all; ++i) {
    used += static_cast<std::size_t>(
        std::snprintf(text + used, sizeof text - used, "%s %x\n", calls[i].entry, calls[i].site));
    if (used < sizeof text - 128 && i + 1 < all) continue;
    append(orders.calls, text, used);
    used = 0;
  }
}

}  // namespace axisloom::faults

extern "C" int axisloom_fault_strikes(const char* entry, const void* site, int* code) {
  using namespace axisloom::faults;
  if (!armed()) return 0;
  if (orders.calls) write_down(entry, site);
  if (orders.nth == 0 || std::strcmp(entry, orders.entry) != 0) return 0;
  const long number = count.fetch_add(1) + 1;
  if (number != orders.nth && !(orders.stays && number > orders.nth)) return 0;
  note_fired(site);
  *code = orders.code;
  return 1;
}

extern "C" void axisloom_fault_next_round() {
  axisloom::faults::count = 0;
  axisloom::faults::next_blocks();
}

extern "C" void axisloom_fault_stop() {
  axisloom::faults::arm(false);
}
