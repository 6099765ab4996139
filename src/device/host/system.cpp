// Reads /proc, /sys and the process's affinity; what cannot be read limits nothing.
#include "device/host/system.hpp"

#include "core/system_file.hpp"
#include "core/text.hpp"
#include "device/environment.hpp"

#include <axisloom/error.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

namespace axisloom::device::host {

namespace {

/// More than any machine has; beyond it a value is a mistake.
constexpr unsigned most_threads = 4096;

template <class Number>
void lower(std::optional<Number>& limit, Number value) {
  limit = std::min(limit.value_or(value), value);
}

/// "200000 100000", "max 100000": microseconds of processor time, and within how many.
std::optional<double> quota_of(std::string_view text) {
  const auto time = core::whole_number<i64>(core::take_part(text, ' '));
  const auto period = core::whole_number<i64>(text);
  if (!time || !period || *time <= 0 || *period <= 0) return std::nullopt;
  return double(*time) / double(*period);
}

/// What one group says. Version 2 has one tree; version 1 has one for each controller, and other names.
void add_limits(GroupLimits& limits, const std::string& folder, bool version_2) {
  using core::first_line;
  const auto quota =
      quota_of(version_2 ? first_line(folder + "/cpu.max")
                         : first_line(folder + "/cpu.cfs_quota_us") + " " + first_line(folder + "/cpu.cfs_period_us"));
  if (quota) lower(limits.processors, *quota);
  const auto memory =
      core::whole_number<u64>(first_line(folder + (version_2 ? "/memory.max" : "/memory.limit_in_bytes")));
  if (memory) lower(limits.memory, *memory);
}

/// The processors that this thread may run on, as many bits as the system has.
class Affinity {
 public:
  Affinity() {
    constexpr size_t first_try = 1024, last_try = size_t{1} << 20;
    for (size_t count = first_try; count <= last_try; count *= 2) {
      set_.reset(CPU_ALLOC(count));
      bytes_ = CPU_ALLOC_SIZE(count);
      if (set_ && ::sched_getaffinity(0, bytes_, set_.get()) == 0) return;
    }
    set_.reset();
  }
  /// 0: the system does not say.
  unsigned count() const { return set_ ? unsigned(CPU_COUNT_S(bytes_, set_.get())) : 0; }
  size_t first() const {
    size_t at = 0;
    while (set_ && at < 8 * bytes_ && !CPU_ISSET_S(at, bytes_, set_.get())) ++at;
    return at;
  }
  void take_out(size_t processor) { CPU_CLR_S(processor, bytes_, set_.get()); }
  void give_to(pthread_t thread) const { static_cast<void>(::pthread_setaffinity_np(thread, bytes_, set_.get())); }

 private:
  struct Free {
    void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
  };
  std::unique_ptr<cpu_set_t, Free> set_;
  size_t bytes_ = 0;
};

/// "32768K"
size_t size_in(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const size_t number = core::whole_number<size_t>(text.substr(0, digits)).value_or(0);
  const std::string_view unit = text.substr(digits);
  return number << (unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0);
}

}  // namespace

GroupLimits group_limits(const std::string& root) {
  GroupLimits limits;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/docker/1f2e", "0::/user.slice"
    std::string_view rest = line;
    core::take_part(rest, ':');
    const std::string_view controllers = core::take_part(rest, ':');
    const bool version_2 = controllers.empty();
    for (const std::string_view controller : core::comma_separated(controllers)) {
      if (!version_2 && controller != "cpu" && controller != "memory") continue;
      const std::string tree = concat(root, "/sys/fs/cgroup", version_2 ? "" : "/", controller);
      // In a container the path may be one that only the world outside can see; the root of the tree is then its own.
      for (std::string path(rest);; path.erase(path.rfind('/'))) {
        add_limits(limits, tree + path, version_2);
        if (path.find('/') == path.npos) break;
      }
    }
  }
  return limits;
}

unsigned processors() {
  const unsigned count = Affinity().count();
  return count > 0 ? count : unsigned(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

void keep_off_this_processor(pthread_t other) noexcept {
  const int here = ::sched_getcpu();
  Affinity allowed;
  if (here < 0 || allowed.count() < 2) return;
  allowed.take_out(size_t(here));
  if (allowed.count() > 0) allowed.give_to(other);
}

namespace {

/// How many threads OpenMP is told to use, on its outermost level: "4" and "4,2" are 4. Nothing for what it would
/// ignore.
std::optional<unsigned> openmp_threads(const std::string& value) {
  const auto threads = core::whole_number<unsigned>(value.substr(0, value.find(',')));
  return threads && *threads > 0 ? threads : std::nullopt;
}

}  // namespace

ThreadCount count_threads(const std::string& wanted, const std::string& openmp, unsigned processors,
                          std::optional<double> quota) {
  if (!wanted.empty()) {
    const unsigned threads = core::whole_number<unsigned>(wanted).value_or(0);
    if (threads < 1 || threads > most_threads)
      throw Error(Errc::usage,
                  concat("environment variable ", threads_variable, ": \"", wanted, "\" is not a number of threads"),
                  concat("set it to a number from 1 to ", most_threads, ", or not at all"));
    return {threads, threads_variable};
  }
  if (const auto threads = openmp_threads(openmp); threads && *threads < processors) return {*threads, openmp_variable};
  if (quota && std::ceil(*quota) < processors)
    return {std::max(1U, unsigned(std::ceil(*quota))), "the quota of the process's control group"};
  return {processors, "the processors that the process may run on"};
}

ThreadCount count_threads() {
  return count_threads(environment(threads_variable), environment(openmp_variable), processors(),
                       group_limits().processors);
}

size_t usable_memory() {
  const auto physical = u64(::sysconf(_SC_PHYS_PAGES)) * u64(::sysconf(_SC_PAGESIZE));
  return size_t(std::min(physical, group_limits().memory.value_or(physical)));
}

size_t last_level_cache() {
  const std::string folder = concat("/sys/devices/system/cpu/cpu", Affinity().first(), "/cache/index");
  size_t bytes = 0;
  for (unsigned i = 0, highest = 0;; ++i) {
    const std::string index = folder + std::to_string(i);
    const auto level = core::whole_number<unsigned>(core::first_line(index + "/level"));
    if (!level) return bytes;
    if (*level < highest || core::first_line(index + "/type") == "Instruction") continue;
    highest = *level;
    bytes = size_in(core::first_line(index + "/size"));
  }
}

bool several_memory_nodes() {
  const std::string online = core::first_line("/sys/devices/system/node/online");  // "0", "0-1", "0,2"
  return online.find_first_of("-,") != online.npos;
}

}  // namespace axisloom::device::host
