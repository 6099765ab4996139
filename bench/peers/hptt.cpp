// HPTT on CPUs: permutations of floats on all cores, from the module that hptt_module.cpp is built into.
#include "bench/peers/hptt_module.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace axisloom::bench {
namespace {

constexpr const char* hptt_file = "axisloom_hptt.so";

/// Looked for once.
const HpttModule* hptt() {
  static const HpttModule* const found = [] {
    LoadingVariables variables;
    variables.set("GOMP_SPINCOUNT", "10000");  // as for oneDNN, whose OpenMP it shares
    return from_module<const HpttModule>("AXISLOOM_HPTT", hptt_file, "axisloom_hptt");
  }();
  return found;
}

std::optional<HpttElement> element_of(Dtype dtype) {
  if (dtype == Dtype::f32) return HpttElement::f32;
  if (dtype == Dtype::f64) return HpttElement::f64;
  if (dtype == Dtype::c64) return HpttElement::c64;
  if (dtype == Dtype::c128) return HpttElement::c128;
  return std::nullopt;
}

/// Axes of one side, the fastest first.
std::vector<int> sorted_axes(const core::Move& move, core::Operand stride) {
  std::vector<int> order(move.axes.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = int(d);
  std::ranges::sort(order, {}, [&](int axis) { return move.axes[axis].*stride; });
  return order;
}

/// How many indices of each axis lie between two of the next one. Nothing where a stride is no multiple of the one
/// before.
std::optional<std::vector<int>> room_of(const core::Move& move, const std::vector<int>& order, core::Operand stride) {
  std::vector<int> room;
  for (size_t k = 0; k < order.size(); ++k) {
    const core::Loop& axis = move.axes[order[k]];
    const i64 step = axis.*stride, next = k + 1 < order.size() ? move.axes[order[k + 1]].*stride : step * axis.extent;
    const bool first_is_one = k > 0 || step == 1;
    if (!first_is_one || step <= 0 || next % step != 0 || next / step < axis.extent) return std::nullopt;
    if (next / step > std::numeric_limits<int>::max()) return std::nullopt;
    room.push_back(int(next / step));
  }
  return room;
}

class Hptt final : public HostCall {
 public:
  Hptt(Workload& workload, HpttElement element) : HostCall(workload, "hptt", {}) {
    const core::Move& move = *workload.merged();
    const std::vector<int> in = sorted_axes(move, &core::Loop::in), out = sorted_axes(move, &core::Loop::out);
    const auto in_room = room_of(move, in, &core::Loop::in), out_room = room_of(move, out, &core::Loop::out);
    if (!in_room || !out_room) refuse("permutes arrays whose axes lie inside of each other, the fastest without gaps");
    std::vector<int> order, extents;
    for (const int axis : out) order.push_back(int(std::ranges::find(in, axis) - in.begin()));
    for (const int axis : in) extents.push_back(int(move.axes[axis].extent));
    const int threads = workload.team().size();
    const HpttJob job{element,          int(in.size()),       threads,
                      order.data(),     extents.data(),       in_room->data(),
                      out_room->data(), workload.move_from(), workload.move_to()};
    plan_ = hptt()->make(&job);
    if (plan_ == nullptr) refuse("refuses the job");
    describe(concat("hptt::create_plan, ESTIMATE, ", threads, " threads"));
  }
  ~Hptt() override { hptt()->destroy(plan_); }

 private:
  void call() override { hptt()->run(plan_); }

  void* plan_ = nullptr;
};

}  // namespace

UniqueContestant make_hptt(Workload& workload, Session&) {
  if (workload.host(0) == nullptr || workload.host_out() == nullptr) refuse("works on host memory only");
  const auto element = element_of(workload.in().dtype);
  if (!element || !workload.merged() || workload.merged()->tail || workload.merged()->axes.empty())
    refuse("permutes floats of 4 bytes and more");
  if (hptt() == nullptr)
    refuse(std::string(hptt_file) + " was not found beside the program; -DAXISLOOM_HPTT=FOLDER builds it");
  return std::make_unique<Hptt>(workload, *element);
}

}  // namespace axisloom::bench
