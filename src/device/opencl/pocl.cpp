// Finding PoCL's folder and looking whether it will do.
#include "device/opencl/pocl.hpp"

#include <axisloom/error.hpp>

#include "core/folder.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace axisloom::device::opencl {

namespace {

/// What is left free for the files of one program: the largest of ours take some hundred kilobytes, and as much again
/// while they are linked.
constexpr u64 room_for_a_program = 4 << 20;

/// Bytes that may be written to a file of this folder.
u64 room_in(const core::Descriptor& folder) {
  u64 room = UINT64_MAX;
  struct statvfs system {};
  if (::fstatvfs(folder.get(), &system) == 0)
    room = u64{::geteuid() == 0 ? system.f_bfree : system.f_bavail} * system.f_frsize;
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0) room = std::min<u64>(room, limit.rlim_cur);
  return room;
}

}  // namespace

// pocl_cache_init_topdir of PoCL 3.1. Its tests for an empty variable differ from one to the next.
std::string pocl_folder() {
  if (const char* const chosen = std::getenv("POCL_CACHE_DIR")) return chosen;
  const char* const switched = std::getenv("POCL_KERNEL_CACHE");
  const std::string name = switched && *switched != '1' ? "/pocl/uncached" : "/pocl/kcache";
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return cache + name;
  if (const char* const home = std::getenv("HOME")) return std::string(home) + "/.cache" + name;
  return "/tmp" + name;
}

std::string pocl_folder_fault() {
  const core::OpenedFolder folder = core::open_folder(pocl_folder(), /*guarded=*/false);
  if (!folder.descriptor) return folder.fault;
  const u64 room = room_in(folder.descriptor);
  if (room >= room_for_a_program) return {};
  return concat("it has room for ", room, " bytes, and a program may take ", room_for_a_program);
}

void require_pocl_folder(const DeviceInfo& device, const std::string& task) {
  if (device.platform != pocl_platform) return;
  const std::string fault = pocl_folder_fault();
  if (fault.empty()) return;
  throw Error(Errc::device, {.message = "cannot " + task + ": PoCL keeps what it compiles in " + pocl_folder() +
                                        ", which cannot be used: " + fault,
                             .remedy = pocl_folder_remedy});
}

}  // namespace axisloom::device::opencl
