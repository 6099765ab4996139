// The host's side of reduce.params.h, and what all reduction kernels have compiled in.
#pragma once

#include "core/integers.hpp"
#include "ops/reduce/candidate.hpp"

#include <utility>

namespace axisloom::ops {

#include "ops/reduce/reduce.params.h"
static_assert(arguments_fit(sizeof(ReduceParams), 4));
inline constexpr size_t most_reduce_axes = REDUCE_AXES;  // beside the run

/// How runs are cut: elements of a piece, pieces of a run, parts of an output, pieces of a part.
struct Pieces {
  i64 piece, pieces, parts, per_part;
};

/// How the parts of an output come together; see parts.h.
enum class Split { none, one_launch, two_launches };

/// A launch of a reduction kernel: dtypes, accumulation and index width are set, and the walk over the kept axes, of
/// which the last may be left to the kernel as its columns, and over the reduced ones but the last, which is the run.
struct ReduceLaunch : OpenLaunch<ReduceParams> {
  const ReduceProblem& problem;
  bool all_arguments = false;  // the kernel takes them however parts meet; see parts.h

  ReduceLaunch(const std::string& kernel, const ReduceProblem& problem, const Group& group = {}, bool columns = false);
  /// Tasks are parts, which are made of such pieces.
  void set_pieces(const Pieces& pieces);
  /// Completes it where tasks may be parts: its buffers, then the second launch where there is one, and the workspace.
  /// `tickets`: how many it takes where there is one launch.
  Launches with_parts(i64 groups, Split split, i64 tickets);
  /// Completes it where tasks are outputs.
  Launches without_parts(i64 groups);
};

/// One launch where groups can be ordered, there are tickets enough, and `launches` (a tunable) is 1; none for one
/// part.
Split split_of(i64 parts, i64 tickets, i64 launches, const DeviceModel& device);
/// Says on which of the two ways an output's parts come together.
Tunable launches_tunable();
/// The same by that tunable, whose value becomes what was decided.
Split split_of(i64 parts, i64 tickets, Configuration& values, const DeviceModel& device);

/// The kernel `fold`, which brings `parts` accumulators of each output together. `split`: TWO_LAUNCHES or FROM_SLICES,
/// see parts.h; they lie in the plan's view `from`, or its workspace.
Launch fold_launch(const ReduceProblem& problem, i64 parts, const char* split, int from, i64 items);

/// How the host cuts a reduction in the portable order, and how its parts come together, where each task but for parts
/// takes a ticket; see portable.cpp.
std::pair<Pieces, Split> host_parts(const ReduceProblem& problem, const DeviceModel& device, i64 tickets);
/// On the host: numbers one by one, in that order.
Launches launches_in_pairs(const ReduceProblem& problem, const Pieces& pieces, Split split);

/// A group of `items` items, which combine their accumulators in local memory; see tree.h.
Group tree_group(const Recipe& recipe, i64 items);

}  // namespace axisloom::ops
