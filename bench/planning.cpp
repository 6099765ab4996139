// Times the planner by batches of calls, since one call is shorter than the clock is fine.
#include "bench/planning.hpp"

#include "bench/contestant.hpp"
#include "harness/arena.hpp"
#include "planner/plan_cache.hpp"

namespace axisloom::bench {
namespace {

constexpr size_t batches = 21;
constexpr double batch_seconds = 2e-3;

template <class Call>
double seconds_of(size_t calls, const Call& call) {
  const double start = now();
  for (size_t i = 0; i < calls; ++i) call();
  return (now() - start) / calls;
}

template <class Call>
Summary summary_of(const Call& call) {
  constexpr size_t probe = 8;
  const size_t calls = 1 + batch_seconds / seconds_of(probe, call);
  std::vector<double> samples;
  while (samples.size() < batches) samples.push_back(seconds_of(calls, call));
  return summarise(std::move(samples));
}

}  // namespace

PlanningTimes time_planning(const Job& job, const Device& device) {
  const auto views = views_of(job.what, 0);
  const Operation& op = job.what.op;
  plan(op, views, device, job.what.options);  // compiles
  return {summary_of([&] { ops::cached_plan(op, views, device, job.what.options); }),
          summary_of([&] { ops::new_plan(op, views, device, job.what.options); })};
}

}  // namespace axisloom::bench
