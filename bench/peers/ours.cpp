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
      : Contestant(workload, std::move(name), configuration_text(plan.report()), Role::ours), plan_(std::move(plan)) {
    if (workload.device().info().api != Api::host) {
      mark_ = workload.device().allocate(1);
      return;
    }
    for (size_t i = 0; i < workload.inputs(); ++i) inputs_.push_back(workload.host(i));
  }

  Timing run() override {
    if (mark_) return timed_run(plan_, workload().queue(), workload().buffers(), mark_);
    void* const output = workload().host_out();
    const double start = now();
    plan_.run(inputs_, output);
    return {now() - start, std::nullopt};
  }

 private:
  Plan plan_;
  Buffer mark_;                      // empty on the host, whose clock is the caller's
  std::vector<const void*> inputs_;  // there
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
