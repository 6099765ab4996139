// What a plan holds, and how its launches are bound to buffers.
#pragma once

#include <axisloom/plan.hpp>

#include "jit/jit.hpp"

#include <memory>
#include <vector>

namespace axisloom {

/// One kernel launch of a plan. Buffers are named by their position in Plan::views().
struct Launch {
  jit::Specialisation kernel;
  device::Geometry geometry;
  std::vector<int> buffers;              // in the order of the kernel's declaration
  std::vector<std::byte> params;         // bytes of its PARAMS struct
};

struct PlanImpl {
  Device device;
  std::vector<View> views;
  PlanReport report;
  std::vector<Launch> launches;
  std::vector<std::shared_ptr<device::Program>> programs;  // one per launch
  bool in_place = false;                 // the output may be the very bytes of the input
  bool checked = false;
};

namespace ops {

/// Compiles the launches of a plan (or finds them in the cache); fills `programs`.
void compile(PlanImpl& plan);

/// Appends the bytes of a params struct whose layout is shared with the kernel.
template <class Params>
std::vector<std::byte> params_bytes(const Params& params) {
  auto bytes = std::as_bytes(std::span(&params, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace ops
}  // namespace axisloom
