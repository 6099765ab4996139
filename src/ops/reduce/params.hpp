// The host's side of reduce.params.h, and what all reduction kernels have compiled in.
#pragma once

#include "jit/jit.hpp"
#include "ops/reduce/candidate.hpp"

namespace axisloom::ops {

using i64 = std::int64_t;
using u64 = std::uint64_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;
#include "ops/reduce/reduce.params.h"
static_assert(arguments_fit(sizeof(ReduceParams), 4));

/// Refuses a reduction over more axes than REDUCE_AXES has room for.
[[noreturn]] void throw_too_many_axes(std::size_t axes);

/// A launch of a reduction kernel: dtypes, accumulation and index width are set, and the walk over the first `kept` of
/// the kept axes and over the reduced ones but the last, which is the run.
struct ReduceLaunch {
  Launch launch;
  ReduceParams params{};

  jit::Defines& defines() { return launch.kernel.defines; }
};
ReduceLaunch reduce_launch(const ReduceProblem& problem, const char* kernel, std::size_t kept);

/// How the parts of an output come together; see parts.h.
enum class Split { none, one_launch, two_launches };

/// One launch where groups can be ordered, there are tickets enough, and `launches` (a tunable) is 1; none for one
/// part.
Split split_of(std::int64_t parts, std::int64_t tickets, std::int64_t launches, const DeviceInfo& device);
/// Says on which of the two ways an output's parts come together.
tune::Tunable launches_tunable();

/// Completes the launch of a kernel whose tasks may be parts: its buffers and its parameters, then the second launch
/// where there is one, and the workspace. `items` is the group size of the first launch, `ticket_slots` how many
/// tickets it takes.
ReduceLaunches with_parts(ReduceLaunch main, const ReduceProblem& problem, Split split, unsigned items,
                          std::int64_t ticket_slots);

/// The kernel `fold`, which brings `parts` accumulators of each output together. `split`: TWO_LAUNCHES or FROM_SLICES,
/// see parts.h; they lie in the plan's view `from`, or its workspace.
Launch fold_launch(const ReduceProblem& problem, std::int64_t parts, const char* split, int from, unsigned items);

/// Bytes of local memory in which a group of so many items brings its accumulators together; see tree.h.
std::size_t tree_bytes(const Recipe& recipe, std::int64_t items);

}  // namespace axisloom::ops
