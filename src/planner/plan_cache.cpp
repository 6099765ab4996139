// A bounded cache of plans; those of lost devices go first, then the one longest unused.
#include "planner/plan_cache.hpp"

#include "core/per_thread.hpp"
#include "core/text.hpp"
#include "planner/configuration.hpp"
#include "planner/plan_impl.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <unordered_map>

namespace axisloom::ops {
namespace {

constexpr size_t most_plans = 512;  // a plan is some kilobytes

std::string key_of(const Operation& op, Views views, const Device& device, const PlanOptions& options) {
  std::string key = concat(reinterpret_cast<std::uintptr_t>(device.impl().get()), "|", to_string(op));
  for (const View& view : views)
    key += concat("|", name(view.dtype), to_string(view.shape), to_string(view.strides), "+", view.offset, "@",
                  view.align);
  return concat(key, "|", options.candidate, "|", ops::to_string(options.configuration), "|", int(options.index),
                options.checked ? "c" : "", options.in_place ? "i" : "");
}

class PlanCache {
  using Entries = std::list<std::pair<std::string, Plan>>;

 public:
  std::optional<Plan> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto at = places_.find(key);
    if (at == places_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, at->second);
    return entries_.front().second;
  }

  void insert(const std::string& key, const Plan& plan) {
    Entries fresh, unused;  // what goes, goes without the lock: it stores programs
    fresh.emplace_front(key, plan);
    const std::lock_guard lock(mutex_);
    if (!places_.try_emplace(key, fresh.begin()).second) return;
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto at = entry++;
      if (at->second.impl()->device.impl()->lost()) move_out(at, unused);
    }
    entries_.splice(entries_.begin(), fresh);
    if (entries_.size() > most_plans) move_out(std::prev(entries_.end()), unused);
  }

 private:
  void move_out(Entries::iterator entry, Entries& to) {
    places_.erase(entry->first);
    to.splice(to.begin(), entries_, entry);
  }

  std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator> places_;
};

/// The plans for the host that a thread asked for last, found by comparing: no lock, no text, nothing allocated. Those
/// for other devices are not kept here: a thread may end when their drivers have gone.
class Recent {
 public:
  const Plan* find(const Operation& op, Views views, const Device& device, const PlanOptions& options) const {
    for (const Entry& entry : entries_)
      if (entry.plan.impl() && entry.plan.impl()->device.impl() == device.impl() &&
          std::ranges::equal(entry.views, views) && entry.op == op && entry.options == options)
        return &entry.plan;
    return nullptr;
  }
  void insert(const Operation& op, Views views, const PlanOptions& options, const Plan& plan) {
    entries_[next_++ % entries_.size()] = {op, {views.begin(), views.end()}, options, plan};
  }

 private:
  struct Entry {
    Operation op;
    std::vector<View> views;  // as they were asked for
    PlanOptions options;
    Plan plan;
  };
  std::array<Entry, 8> entries_;  // a loop over small work alternates between few plans
  size_t next_ = 0;
};

}  // namespace

Plan cached_plan(const Operation& op, Views views, const Device& device, const PlanOptions& options) {
  Recent* const recent = device.info().api == Api::host ? core::PerThread<Recent>::get() : nullptr;
  if (const Plan* known = recent ? recent->find(op, views, device, options) : nullptr) return *known;
  // Never destroyed: plans hold devices, whose runtimes may already be gone when static objects are.
  static PlanCache& cache = *new PlanCache;
  const std::string key = key_of(op, views, device, options);
  std::optional<Plan> found = cache.find(key);
  if (!found) {
    found = plan(op, views, device, options);
    cache.insert(key, *found);
  }
  if (recent) recent->insert(op, views, options, *found);
  return *std::move(found);
}

}  // namespace axisloom::ops
