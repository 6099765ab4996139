// HPTT has C++ functions: this module of its own calls them, so that nothing else needs its headers.
#include "bench/peers/hptt_module.hpp"

#include <hptt.h>

#include <complex>
#include <memory>

namespace {

/// A plan of any element.
struct Plan {
  virtual ~Plan() = default;
  virtual void run() = 0;
};

template <class Element>
struct PlanOf final : Plan {
  explicit PlanOf(const HpttJob& job)
      : plan(hptt::create_plan(job.order, job.rank, Element(1), static_cast<const Element*>(job.in), job.extents,
                               job.in_room, Element(0), static_cast<Element*>(job.out), job.out_room, hptt::ESTIMATE,
                               job.threads)) {}
  void run() override { plan->execute(); }

  std::shared_ptr<hptt::Transpose<Element>> plan;
};

Plan* plan_of(const HpttJob& job) {
  switch (job.element) {
    case HpttElement::f32:
      return new PlanOf<float>(job);
    case HpttElement::f64:
      return new PlanOf<double>(job);
    case HpttElement::c64:
      return new PlanOf<std::complex<float>>(job);
    case HpttElement::c128:
      return new PlanOf<std::complex<double>>(job);
  }
  return nullptr;
}

void* make(const HpttJob* job) try { return plan_of(*job); } catch (...) {
  return nullptr;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const HpttModule axisloom_hptt = {
    make, [](void* plan) { static_cast<Plan*>(plan)->run(); }, [](void* plan) { delete static_cast<Plan*>(plan); }};
