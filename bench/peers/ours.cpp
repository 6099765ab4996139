// Axisloom: a plan made once, and run.
#include "bench/peers/peers.hpp"

#include "planner/configuration.hpp"
#include "planner/plan_impl.hpp"

#include <fmt/format.h>

namespace axisloom::bench {
namespace {

class Ours final : public Contestant {
 public:
  Ours(Workload& workload, std::string name, Plan plan)
      : Contestant(workload, std::move(name), configuration_text(plan.report()), Role::ours),
        plan_(std::move(plan)),
        mark_(workload.device().allocate(1)) {}

  Timing run() override { return timed_run(plan_, workload().queue(), workload().buffers(), mark_); }

 private:
  Plan plan_;
  Buffer mark_;
};

}  // namespace

std::string configuration_text(const PlanReport& report) {
  const std::string values = ops::to_string(report.configuration);
  if (values.empty()) return report.candidate;
  return fmt::format("{} ({}; {})", report.candidate, values, report.configuration_source);
}

Timing timed_run(const Plan& plan, const Queue& queue, std::span<const Buffer> buffers, const Buffer& byte) {
  const bool several = plan.impl()->launches.size() > 1;
  const auto mark = several ? queue.impl()->fill(*byte.impl(), 0, 1, std::byte{0}, {}) : nullptr;
  const double start = now();
  const Event event = plan.run(queue, buffers);
  event.wait();
  const double end = now();
  return {end - start, several ? event.impl()->seconds_since(*mark) : event.seconds()};
}

UniqueContestant make_ours(Workload& workload, std::string name, const PlanOptions& options) {
  return std::make_unique<Ours>(workload, std::move(name),
                                plan(workload.op(), workload.views(), workload.device(), options));
}

}  // namespace axisloom::bench
