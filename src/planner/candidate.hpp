// Candidates: the ways of doing an operation that compete for a problem. Each proposes once, and the planner decides.
#pragma once

#include "core/divider.hpp"
#include "core/enum_set.hpp"
#include "core/integers.hpp"
#include "core/nest.hpp"
#include "model/device_model.hpp"
#include "planner/configuration.hpp"
#include "planner/plan_impl.hpp"

#include <axisloom/plan.hpp>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axisloom::ops {

using model::DeviceModel;

using Kinds = core::EnumSet<Kind>;
inline constexpr Kinds cpus{Kind::cpu};
inline constexpr Kinds gpus{Kind::gpu, Kind::other};  // whatever runs many items of a group side by side
inline constexpr Kinds no_kind{};

/// A candidate as users see it, and where it runs.
struct CandidateInfo {
  std::string_view name;     // "tile"
  std::string_view summary;  // one sentence
  std::vector<Tunable> tunables;
  core::EnumSet<Api> runtimes = core::EnumSet<Api>::all();  // that its kernel is written for
  Kinds runs_on = Kinds::all();                             // devices that its kernel is written for
  Kinds chosen_on = Kinds::all();  // devices on which it competes; on others it has to be asked for by name
  bool in_place = false;           // writes over its input, which others never do
  bool checkable = true;           // every access is an intrinsic of the dialect, so that it can be checked
};

/// The launches of a plan, in order, and what they share.
struct Launches {
  std::vector<Launch> list;
  size_t workspace_bytes = 0;
  int tickets = 0;  // slots of tickets_view
};

/// What the largest group of a candidate's launches asks of a compute unit.
struct Group {
  i64 items = 1;
  i64 local_bytes = 0;
};

/// A launch of the kernel "rearrange/tile" in rearrange/tile.kernel, by so many groups as are still to be said.
inline Launch launch_of(const std::string& kernel, const Group& group) {
  Launch launch;
  launch.kernel.file = kernel + ".kernel";
  launch.kernel.kernel = kernel.substr(kernel.find('/') + 1);
  launch.kernel.items = launch.geometry.items = unsigned(group.items);
  launch.geometry.local_bytes = std::size_t(group.local_bytes);
  return launch;
}

/// Of tasks of `task_bytes`, those of one group of a CPU: as many as `group_bytes` hold, or fewer where the compute
/// units would have unequal shares of small work.
inline i64 tasks_of_group(i64 tasks, i64 task_bytes, i64 group_bytes, i64 units) {
  // By groups of 128 KiB two cores of an EPYC 7003 took 224 x 224 pixels of three bytes apart in 10.8 us, one of them
  // all but 22 KiB; they take 7.7 by nine groups.
  constexpr i64 groups_a_unit = 4, least_bytes = 16 << 10;
  const i64 bytes = std::max<i64>(1, task_bytes);
  const i64 most = std::max<i64>(1, group_bytes / bytes), least = std::clamp<i64>(least_bytes / bytes, 1, most);
  return std::clamp(tasks / (groups_a_unit * units), least, most);
}

/// A launch whose constants and parameters are written piece by piece.
template <class Params>
struct OpenLaunch {
  Launch launch;
  Params params{};

  jit::Defines& defines() { return launch.kernel.defines; }
  /// Completes it, with parameters as they are.
  Launch closed(i64 groups) {
    launch.geometry.groups = u64(groups);
    launch.params = params_bytes(params);
    return std::move(launch);
  }
};

/// Writes the loops of a walk into the parameters of its kernel.
template <class Params>
void write_walk(const core::Loops& loops, int index_bits, Params& params) {
  for (size_t d = 0; d < loops.size(); ++d) {
    const core::Divider divider = core::divider(u64(loops[d].extent), index_bits);
    params.in_stride[d] = loops[d].in;
    params.out_stride[d] = loops[d].out;
    params.extent[d] = loops[d].extent;
    params.multiplier[d] = divider.multiplier;
    params.shift[d] = divider.shift;
  }
}
/// Refuses a walk over more axes than such parameters have room for. `noun`: "move".
[[noreturn]] void throw_too_many_axes(std::string_view noun, size_t axes, size_t most);

/// What a candidate would do with a problem, or why it does nothing.
struct Proposal {
  std::string refusal = {};          // empty: it takes the problem
  std::string by_name_only = {};     // why it takes it only when it is asked for by name; empty: it competes
  Group group = {};                  // the planner refuses what the device does not have
  double seconds = 0;                // predicted
  Configuration configuration = {};  // what will run: a value for every tunable, none of them open
  std::function<Launches()> launches =
      {};  // made of exactly that; called for the winner, while problem and device live
};

/// Kernels that take groups of one item take them in a form of their own, with vectors that only CPUs have.
inline constexpr const char* single_items = "groups of one item are for CPUs";

Proposal refuse(std::string reason);

/// A way of doing an operation. `propose` is a pure function: the problem, the values wished for each tunable (0 where
/// one may be open), and the device as predictions know it.
template <class Problem>
struct Candidate {
  CandidateInfo info;
  Proposal (*propose)(const Problem& problem, const Configuration& wish, const DeviceModel& device);
};

/// The candidates of an operation, in the order in which ties are decided; the last one takes everything.
template <class Problem>
class Candidates {
 public:
  Candidates(std::initializer_list<Candidate<Problem>> list) : list_(list) {
    for (const Candidate<Problem>& candidate : list_) infos_.push_back(candidate.info);
  }
  std::span<const CandidateInfo> infos() const { return infos_; }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  size_t size() const { return list_.size(); }
  const Candidate<Problem>& operator[](size_t i) const { return list_[i]; }

 private:
  std::vector<Candidate<Problem>> list_;
  std::vector<CandidateInfo> infos_;
};

}  // namespace axisloom::ops
