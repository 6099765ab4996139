// Allocating and wrapping, and the plain loops over bytes, which large ones share between the members of the pool.
#include "device/host/memory.hpp"

#include "core/host_memory.hpp"
#include "core/text.hpp"
#include "device/host/system.hpp"

#include <cstdlib>
#include <cstring>

namespace axisloom::device::host {

namespace {

constexpr size_t page = 4096;  // more alignment is of no use

/// What members take at least, a multiple of pages: two copies of half of it, side by side, were no faster than one.
constexpr size_t piece = size_t{512} << 10;

/// From here on memory comes from the system untouched, on huge pages: core::allocate_host.
constexpr size_t large = size_t{4} << 20;

/// Calls work(offset, bytes) for pieces of so many bytes.
void in_pieces(Pool& pool, size_t bytes, const auto& work) noexcept {
  pool.run((bytes + piece - 1) / piece, pool.threads(), [&](u64 begin, u64 end, unsigned) {
    const size_t from = begin * piece;
    work(from, std::min<size_t>(bytes, end * piece) - from);
  });
}

}  // namespace

HostMemory::~HostMemory() {
  if (owned_) std::free(begin_);
}

size_t HostMemory::alignment() const noexcept {
  return core::alignment_of(begin_, page);
}

std::byte* HostMemory::part(const char* what, size_t offset, size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    throw Error(Errc::usage,
                concat(what, " of ", bytes, " bytes at offset ", offset, " exceeds the buffer of ", bytes_, " bytes"));
  return static_cast<std::byte*>(begin_) + offset;
}

HostMemory& own(Buffer& buffer) {
  if (typeid(buffer) == typeid(HostMemory)) return static_cast<HostMemory&>(buffer);
  throw Error(Errc::usage, "a buffer belongs to another device than the queue",
              "allocate it from the device of the queue, or wrap its host memory");
}

SharedBuffer allocate_memory(const DeviceInfo& info, Pool& pool, size_t bytes) {
  const bool too_large = bytes > info.max_allocation;
  std::unique_ptr<void, decltype(&std::free)> memory(
      too_large ? nullptr : core::allocate_host(std::max<size_t>(bytes, 1)), std::free);
  if (!memory)
    throw Error(Errc::out_of_memory,
                {.message = concat("cannot allocate ", bytes, " bytes; this process may use ", info.max_allocation),
                 .device = info.label(),
                 .remedy = too_large ? "split the array over several buffers" : "free other buffers first"});
  static const bool shared_out = several_memory_nodes();
  if (shared_out && bytes >= large) touch(pool, static_cast<std::byte*>(memory.get()), bytes);
  auto buffer = std::make_shared<HostMemory>(memory.get(), bytes, /*owned=*/true);
  static_cast<void>(memory.release());
  return buffer;
}

SharedBuffer wrap_memory(void* host, size_t bytes) {
  if (!host && bytes) throw Error(Errc::usage, concat("cannot use ", bytes, " bytes at a null address"));
  return std::make_shared<HostMemory>(host, bytes, /*owned=*/false);
}

void copy_bytes(Pool& pool, std::byte* to, const std::byte* from, size_t bytes) noexcept {
  if (bytes == 0 || to == from) return;
  if (std::less<>()(to, from + bytes) && std::less<>()(from, to + bytes)) {
    std::memmove(to, from, bytes);
    return;
  }
  in_pieces(pool, bytes, [=](size_t at, size_t length) { std::memcpy(to + at, from + at, length); });
}

void fill_bytes(Pool& pool, std::byte* to, size_t bytes, std::byte value) noexcept {
  in_pieces(pool, bytes, [=](size_t at, size_t length) { std::memset(to + at, std::to_integer<int>(value), length); });
}

void touch(Pool& pool, std::byte* memory, size_t bytes) noexcept {
  in_pieces(pool, bytes, [=](size_t at, size_t length) {
    for (size_t i = 0; i < length; i += page) const_cast<volatile std::byte*>(memory)[at + i] = std::byte{0};
  });
}

}  // namespace axisloom::device::host
