// The steps of a plan that is made of other plans: their arrays between them lie in one workspace.
#pragma once

#include "core/integers.hpp"
#include "planner/plan_impl.hpp"

#include <memory>
#include <string>
#include <vector>

namespace axisloom::ops {

/// Where an array of a step lies: in a view of the whole plan, or in a block of its workspace.
struct Source {
  int view = 0;    // workspace_view: in `block`
  int block = -1;  // number that Schedule::block gave
};

/// A piece of memory that is in use in the steps first ... last.
struct Lifetime {
  i64 bytes = 0;
  int first = 0, last = -1;
};
/// Where each piece begins, a multiple of workspace_alignment: the largest are placed first, each as low as the pieces
/// that live with it allow.
std::vector<i64> place_blocks(const std::vector<Lifetime>& blocks);

/// Collects steps, then places the blocks so that those in use at the same time do not overlap.
class Schedule {
 public:
  /// A new block, in use from the first step that names it to the last.
  Source block(i64 bytes);
  /// A step that is done after those before; `sources` one per view of `part`.
  void add(SharedPlan part, std::vector<Source> sources, std::string text);
  /// Adds all launches to `plan`, and fills workspace_bytes, expected_seconds and steps of its report.
  void finish(PlanImpl& plan) const;

  const PlanImpl& last() const { return *steps_.back().part; }

 private:
  struct Step {
    SharedPlan part;
    std::vector<Source> sources;
    std::string text;
  };
  std::vector<Lifetime> blocks_;
  std::vector<Step> steps_;
};

}  // namespace axisloom::ops
