// Axisloom: a plan made once, and run.
#include "bench/peers/peers.hpp"

#include "tune/configuration.hpp"

#include <fmt/format.h>

namespace axisloom::bench {
namespace {

std::string described(const Plan& plan) {
  const PlanReport& report = plan.report();
  const std::string values = tune::to_string(report.configuration);
  return values.empty() ? report.candidate
                        : fmt::format("{} ({}; {})", report.candidate, values, report.configuration_source);
}

class Ours final : public Contestant {
 public:
  Ours(Workload& workload, Plan plan)
      : Contestant(workload, "axisloom", described(plan), Role::ours), plan_(std::move(plan)) {}

  Timing run() override {
    const double start = now();
    const Event event = plan_.run(workload().queue(), workload().buffers());
    event.wait();
    const double end = now();
    return {end - start, event.seconds()};
  }

 private:
  Plan plan_;
};

}  // namespace

std::unique_ptr<Contestant> make_ours(Workload& workload, const PlanOptions& options) {
  return std::make_unique<Ours>(workload, plan(workload.op(), workload.views(), workload.device(), options));
}

Offer offer_ours(Workload& workload, Session&) {
  return {make_ours(workload, workload.options()), {}};
}

}  // namespace axisloom::bench
