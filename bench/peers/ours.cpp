// Axisloom: a plan made once, and run.
#include "bench/peers/peers.hpp"

#include "planner/configuration.hpp"
#include "planner/plan_impl.hpp"

#include <fmt/format.h>

namespace axisloom::bench {
namespace {

std::string described(const Plan& plan) {
  const PlanReport& report = plan.report();
  const std::string values = ops::to_string(report.configuration);
  return values.empty() ? report.candidate
                        : fmt::format("{} ({}; {})", report.candidate, values, report.configuration_source);
}

class Ours final : public Contestant {
 public:
  Ours(Workload& workload, std::string name, Plan plan)
      : Contestant(workload, std::move(name), described(plan), Role::ours),
        plan_(std::move(plan)),
        mark_(workload.device().allocate(1)) {}

  Timing run() override {
    const bool several = plan_.impl()->launches.size() > 1;
    const auto mark = several ? marked() : nullptr;
    const double start = now();
    const Event event = plan_.run(workload().queue(), workload().buffers());
    event.wait();
    const double end = now();
    return {end - start, several ? event.impl()->seconds_since(*mark) : event.seconds()};
  }

 private:
  /// A command before the first of several launches, whose end is where their time begins: a byte that is written.
  device::SharedEvent marked() { return workload().queue().impl()->fill(*mark_.impl(), 0, 1, std::byte{0}, {}); }

  Plan plan_;
  Buffer mark_;
};

}  // namespace

UniqueContestant make_ours(Workload& workload, std::string name, const PlanOptions& options) {
  return std::make_unique<Ours>(workload, std::move(name),
                                plan(workload.op(), workload.views(), workload.device(), options));
}

}  // namespace axisloom::bench
