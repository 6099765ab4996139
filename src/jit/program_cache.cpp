// Programs in memory, by device and name, with the disk behind them.
#include "jit/program_cache.hpp"

#include <future>
#include <map>
#include <mutex>

#include "core/integers.hpp"
#include "core/text.hpp"
#include "jit/disk_cache.hpp"
#include "jit/entry_file.hpp"
#include "jit/full_text.hpp"
#include "jit/jit.hpp"
#include "jit/lacking.hpp"
#include "jit/rehearsal.hpp"

namespace axisloom::jit {
namespace {

using ProgramPtr = std::shared_ptr<device::Program>;

/// The programs of one device; owned by the device, so that nothing outlives it.
struct DevicePrograms {
  std::string identity;  // Device::build_identity
  std::mutex mutex;
  std::map<std::string, std::shared_future<ProgramPtr>> by_name;
};

struct Shared {
  std::mutex mutex;
  std::shared_ptr<DiskCache> disk;  // made when first needed
  std::vector<std::weak_ptr<DevicePrograms>> devices;
  CacheStats stats;
};

/// Never destroyed: threads may still ask while the process ends.
Shared& shared() {
  static Shared& instance = *new Shared;
  return instance;
}

void count(u64 CacheStats::*what) {
  const std::lock_guard lock(shared().mutex);
  ++(shared().stats.*what);
}

std::shared_ptr<DiskCache> disk_cache() {
  std::shared_ptr<DiskCache> made;
  {
    const std::lock_guard lock(shared().mutex);
    if (shared().disk) return shared().disk;
    made = shared().disk = std::make_shared<DiskCache>(DiskCacheSettings::from_environment());
  }
  made->report();  // without the lock: the user's log callback may ask for the cache
  return made;
}

std::shared_ptr<DevicePrograms> programs_of(device::Device& device) {
  const std::lock_guard lock(shared().mutex);
  if (!device.cached_programs) {
    auto programs = std::make_shared<DevicePrograms>();
    programs->identity = device.build_identity();
    std::erase_if(shared().devices, [](const auto& known) { return known.expired(); });
    shared().devices.push_back(programs);
    device.cached_programs = programs;
  }
  return std::static_pointer_cast<DevicePrograms>(device.cached_programs);
}

/// Every part with its length before it, so that no two requests spell the same.
std::string key_of(const device::BuildRequest& request, const std::string& variant, const std::string& identity) {
  std::string parts;
  const auto add = [&parts](const std::string& part) { parts += concat(part.size(), ":", part); };
  add(std::to_string(cache_format));
  add(request.source);
  add(std::to_string(request.options.size()));
  for (const std::string& option : request.options) add(option);
  add(variant);
  add(identity);
  return sha256(parts);
}

/// A binary that the runtime refuses is worth no more than none at all; other failures are the caller's to see.
ProgramPtr load(device::Device& device, const device::BuildRequest& request, std::span<const std::byte> binary) {
  try {
    return device.load(request, binary);
  } catch (const Error& error) {
    if (error.code() != Errc::device) throw;
    return nullptr;
  }
}

ProgramPtr from_disk(device::Device& device, const device::BuildRequest& request, const std::string& key) {
  const auto disk = disk_cache();
  const DiskCache::Lookup found = disk->read(key);
  if (found.outcome == DiskCache::Outcome::hit) {
    if (ProgramPtr program = load(device, request, found.payload)) {
      count(&CacheStats::disk_hits);
      return program;
    }
    disk->remove(key);
  }
  if (found.outcome != DiskCache::Outcome::missing) count(&CacheStats::damaged);
  return nullptr;
}

/// Failing to store costs a compilation later and nothing now, so it is only logged.
void save(const device::Program& program, const std::string& key) {
  const auto disk = disk_cache();
  if (!disk->usable()) return;
  try {
    const std::vector<std::byte> binary = program.binary();
    if (!binary.empty() && disk->store(key, binary)) count(&CacheStats::stored);
  } catch (const Error& error) {
    device::log(concat("a compiled program could not be stored: ", error.what()));
  }
}

ProgramPtr load_or_build(device::Device& device, const device::BuildRequest& request, const std::string& key,
                         const Finish& finish) {
  if (ProgramPtr program = from_disk(device, request, key)) return program;
  count(&CacheStats::compiles);
  ProgramPtr program = device.build(request);
  if (finish) finish(*program);
  save(*program, key);
  return program;
}

/// The program that a device has in memory under a name, else the one that `make` makes for it.
ProgramPtr remembered(DevicePrograms& programs, const std::string& name, const auto& make) {
  std::promise<ProgramPtr> promise;
  std::shared_future<ProgramPtr> known;
  {
    const std::lock_guard lock(programs.mutex);
    const auto [at, first] = programs.by_name.try_emplace(name);
    if (first)
      at->second = promise.get_future().share();
    else
      known = at->second;
  }
  if (known.valid()) {
    ProgramPtr program = known.get();
    count(&CacheStats::memory_hits);
    return program;
  }
  try {
    ProgramPtr program = make();
    promise.set_value(program);
    return program;
  } catch (...) {
    // Those who wait now share the failure; whoever asks later tries again.
    {
      const std::lock_guard lock(programs.mutex);
      programs.by_name.erase(name);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

/// What tells specialisations apart. Their texts would do, but take ten times as long to put together as the rest of a
/// plan takes.
std::string name_of(const Specialisation& what, const std::string& variant) {
  return concat(what.file, " ", what.kernel, " ", variant, " ", what.resident, what.checked ? " checked" : "",
                what.contract ? " contract" : "", "\n", what.defines.text());
}

}  // namespace

ProgramPtr obtain(device::Device& device, const device::BuildRequest& request, const std::string& variant,
                  const Finish& finish) {
  const auto programs = programs_of(device);
  const std::string key = key_of(request, variant, programs->identity);
  return remembered(*programs, key, [&] { return load_or_build(device, request, key, finish); });
}

std::string missing(device::Device& device, const Specialisation& what) {
  if (device.compiled_for().api != Api::host) return {};
  const HostKernel kernel = host_kernel(what);
  return device.built_in(kernel.name, kernel.settings) || device.can_build() ? "" : kernel.name;
}

ProgramPtr obtain(device::Device& device, const Specialisation& what, const LaunchForm& form) {
  const DeviceInfo& compiler = device.compiled_for();
  if (compiler.api == Api::host) {
    const HostKernel kernel = host_kernel(what);
    if (ProgramPtr program = device.built_in(kernel.name, kernel.settings)) return program;
    if (!device.can_build())
      throw Error(
          Errc::unsupported,
          what.checked ? no_checked_kernels : concat("the kernel ", kernel.name, " was not compiled with the library"),
          compiler_remedy);
  }
  const bool rehearsed = rehearses(compiler, what.items);
  std::string variant = std::to_string(what.items);
  if (rehearsed) variant += concat("x", rehearsal_groups(form.groups));
  const auto programs = programs_of(device);
  return remembered(*programs, name_of(what, variant), [&] {
    const device::BuildRequest request{.name = what.file.substr(0, what.file.rfind('.')),
                                       .source = full_text(what, compiler.api),
                                       .options = build_options(compiler, what.contract, what.checked),
                                       .resident = what.resident};
    return load_or_build(device, request, key_of(request, variant, programs->identity), [&](device::Program& program) {
      if (rehearsed) rehearse(device, program, what, form);
    });
  });
}

CacheStats cache_stats() {
  const std::lock_guard lock(shared().mutex);
  return shared().stats;
}

std::string cache_path() {
  const auto disk = disk_cache();
  return disk->usable() ? disk->folder().string() : std::string();
}

CacheFolder cache_folder() {
  const auto disk = disk_cache();
  CacheFolder folder{.path = cache_path(), .why = disk->why()};
  for (const DiskCache::Entry& entry : disk->entries()) {
    folder.bytes += entry.bytes;
    ++folder.entries;
  }
  return folder;
}

u64 clear_cache_folder() {
  return disk_cache()->clear();
}

void forget_programs() {
  std::vector<std::weak_ptr<DevicePrograms>> devices;
  {
    const std::lock_guard lock(shared().mutex);
    shared().disk = nullptr;
    devices = shared().devices;
  }
  for (const auto& weak : devices) {
    const auto programs = weak.lock();
    if (!programs) continue;
    const std::lock_guard lock(programs->mutex);
    programs->by_name.clear();
  }
}

}  // namespace axisloom::jit
