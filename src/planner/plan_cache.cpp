// A bounded cache of plans; those of lost devices go first, then the one longest unused.
#include "planner/plan_cache.hpp"

#include "core/integers.hpp"
#include "core/per_thread.hpp"
#include "planner/plan_impl.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace axisloom::ops {
namespace {

constexpr size_t most_plans = 512;  // a plan is some kilobytes

/// What a plan is asked for with.
struct Call {
  const Operation& op;
  Views views;
  const device::Device* device;
  const PlanOptions& options;
};

/// A call that is remembered. No other device has its device's address while the plan lives.
class Asked {
 public:
  Asked() = default;
  explicit Asked(const Call& call)
      : device_(call.device), op_(call.op), views_(call.views.begin(), call.views.end()), options_(call.options) {}
  bool is(const Call& call) const {
    return device_ == call.device && op_ == call.op && std::ranges::equal(views_, call.views) &&
           options_ == call.options;
  }

 private:
  const device::Device* device_ = nullptr;
  Operation op_;
  std::vector<View> views_;
  PlanOptions options_;
};

/// Calls with different sums differ; the configuration, which is seldom forced, is left to the comparison.
class CallSum {
 public:
  explicit CallSum(const Call& call) {
    add(reinterpret_cast<std::uintptr_t>(call.device));
    add(call.op.name);
    for (const std::string& argument : call.op.arguments) add(argument);
    for (const auto& [name, length] : call.op.lengths) add(name), add(u64(length));
    for (const auto& [name, value] : call.op.options) add(name), add(value);
    for (const View& view : call.views) add(view);
    add(call.options.candidate);
  }
  size_t value() const { return sum_; }

 private:
  void add(u64 number) {
    constexpr u64 golden_ratio = 0x9e3779b97f4a7c15;  // of 2^64: neighbouring numbers go far apart
    sum_ = (sum_ ^ number ^ sum_ >> 32) * golden_ratio;
  }
  void add(const std::string& text) { add(std::hash<std::string>()(text)); }
  void add(const View& view) {
    add(u64(view.dtype));
    for (const i64 extent : view.shape) add(u64(extent));
    for (const i64 stride : view.strides) add(u64(stride));
    add(u64(view.offset));
    add(u64(view.align));
  }

  u64 sum_ = 0;
};

class PlanCache {
  struct Entry {
    size_t sum;
    Asked asked;
    Plan plan;
  };
  using Entries = std::list<Entry>;

 public:
  std::optional<Plan> find(const Call& call, size_t sum) {
    const std::lock_guard lock(mutex_);
    const auto at = place_of(call, sum);
    if (at == places_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, at->second);
    return entries_.front().plan;
  }

  void insert(const Call& call, size_t sum, const Plan& plan) {
    Entries fresh, unused;  // what goes, goes without the lock: it stores programs
    fresh.push_back({sum, Asked(call), plan});
    const std::lock_guard lock(mutex_);
    if (place_of(call, sum) != places_.end()) return;
    places_.emplace(sum, fresh.begin());
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto at = entry++;
      if (at->plan.impl()->device.impl()->lost()) move_out(at, unused);
    }
    entries_.splice(entries_.begin(), fresh);
    if (entries_.size() > most_plans) move_out(std::prev(entries_.end()), unused);
  }

 private:
  using Places = std::unordered_multimap<size_t, Entries::iterator>;

  Places::iterator place_of(const Call& call, size_t sum) {
    const auto [first, last] = places_.equal_range(sum);
    const auto found = std::find_if(first, last, [&](const auto& place) { return place.second->asked.is(call); });
    return found == last ? places_.end() : found;
  }

  void move_out(Entries::iterator entry, Entries& to) {
    const auto [first, last] = places_.equal_range(entry->sum);
    places_.erase(std::find_if(first, last, [&](const auto& place) { return place.second == entry; }));
    to.splice(to.begin(), entries_, entry);
  }

  std::mutex mutex_;
  Entries entries_;
  Places places_;
};

/// The plans that a thread asked for last, found by comparing: no lock, nothing allocated. It does not keep them: a
/// thread may end when the drivers of their devices have gone.
class Recent {
 public:
  std::shared_ptr<const PlanImpl> find(const Call& call) const {
    for (const Entry& entry : entries_)
      if (entry.asked.is(call)) return entry.plan.lock();
    return nullptr;
  }
  void insert(const Call& call, const Plan& plan) {
    // First where a plan has gone: the weak reference holds its memory.
    const auto gone = std::ranges::find_if(entries_, [](const Entry& entry) { return entry.plan.expired(); });
    Entry& entry = gone != entries_.end() ? *gone : entries_[next_++ % entries_.size()];
    entry = {Asked(call), plan.impl()};
  }

 private:
  struct Entry {
    Asked asked;
    std::weak_ptr<const PlanImpl> plan;
  };
  std::array<Entry, 16> entries_;  // a loop over small work alternates between few plans
  size_t next_ = 0;
};

}  // namespace

Plan cached_plan(const Operation& op, Views views, const Device& device, const PlanOptions& options) {
  const Call call{op, views, device.impl().get(), options};
  Recent* const recent = core::PerThread<Recent>::get();
  if (auto known = recent ? recent->find(call) : nullptr) return Plan(std::move(known));
  // Never destroyed: plans hold devices, whose runtimes may already be gone when static objects are.
  static PlanCache& cache = *new PlanCache;
  const size_t sum = CallSum(call).value();
  std::optional<Plan> found = cache.find(call, sum);
  if (!found) {
    found = new_plan(op, views, device, options);
    cache.insert(call, sum, *found);
  }
  if (recent) recent->insert(call, *found);
  return *std::move(found);
}

}  // namespace axisloom::ops
