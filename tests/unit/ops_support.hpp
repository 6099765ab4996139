// For tests of the operations: devices described by hand, devices that only pretend, and plans run on host arrays.
#pragma once

#include "core/move.hpp"
#include "counting_device.hpp"
#include "device/forwarding.hpp"
#include "model/profile.hpp"
#include "opencl_support.hpp"
#include "ops/rearrange/candidate.hpp"
#include "ops/rearrange/rearrange.hpp"
#include "planner/choose.hpp"
#include "planner/registry.hpp"

#include <axisloom/plan.hpp>

#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace axisloom::ops_test {

using Bytes = std::vector<std::byte>;

/// The card that the expectations about GPUs are written for.
inline DeviceInfo gpu_info(Api api = Api::cuda) {
  DeviceInfo info;
  info.api = api;
  info.kind = Kind::gpu;
  info.name = "NVIDIA H200";
  info.vendor = "NVIDIA Corporation";
  info.platform = "NVIDIA CUDA";
  info.driver = "580";
  info.compiler = "NVRTC 13.0";
  info.architecture = "sm_90";
  info.compute_units = 132;
  info.max_group = 1024;
  info.local_memory = 48 << 10;
  info.local_memory_max = 228 << 10;
  info.global_memory = info.max_allocation = std::size_t{140} << 30;
  info.base_alignment = 256;
  info.last_level_cache = 50 << 20;
  info.f64 = info.atomics_64 = info.byte_stores = info.device_scope_order = true;
  return info;
}

/// Two cores with AVX-512 below PoCL.
inline DeviceInfo cpu_info() {
  DeviceInfo info;
  info.kind = Kind::cpu;
  info.name = "pthread-skylake-avx512";
  info.platform = "Portable Computing Language";
  info.compute_units = 2;
  info.max_group = 4096;
  info.local_memory = info.local_memory_max = 1 << 20;
  info.global_memory = info.max_allocation = std::size_t{4} << 30;
  info.base_alignment = 256;
  info.last_level_cache = 32 << 20;
  info.unified_memory = info.f64 = info.atomics_64 = info.byte_stores = info.device_scope_order = true;
  return info;
}

/// Plans are made for it as for the device that it describes, and it keeps the sources that it is asked to build.
class PretendedDevice : public test::CountingDevice {
 public:
  explicit PretendedDevice(DeviceInfo info) : CountingDevice(info.api) { info_ = std::move(info); }
  std::shared_ptr<device::Program> build(const device::BuildRequest& request) override {
    sources.insert(request.source);
    return CountingDevice::build(request);
  }
  std::shared_ptr<device::Program> built_in(const std::string& name, std::span<const i32> settings) override {
    return device::host_runtime().open(0)->built_in(name, settings);
  }
  std::set<std::string> sources;
};

/// Compiled programs are kept in memory only while this lives, and nothing of before is known.
class NoDiskCache {
 public:
  NoDiskCache() { jit::forget_programs(); }
  ~NoDiskCache() {
    variable_.reset();
    jit::forget_programs();
  }
  NoDiskCache(const NoDiskCache&) = delete;
  NoDiskCache& operator=(const NoDiskCache&) = delete;

 private:
  std::optional<test::Variable> variable_{std::in_place, "AXISLOOM_CACHE_DIR", "off"};
};

/// The device that the tests run on: what AXISLOOM_DEVICE says, else the first that compiles kernels, since tests force
/// forms of them. Asked for anew each time, since other tests lose devices on purpose.
inline Device real_device() {
  if (std::getenv("AXISLOOM_DEVICE") != nullptr) return Device::open();
  const std::vector<DeviceInfo> present = devices();  // the host comes last
  return Device::open(present.front().spec());
}

/// The same, planned for as for the device of a profile: "h200".
inline Device profiled_device(std::string_view name) {
  return model::profiled_device(real_device(), name);
}

/// As the profile's device would be seen: NVIDIA's through CUDA.
inline DeviceInfo as_seen(const model::Profile& profile) {
  DeviceInfo info = profile.model;
  const bool cuda = info.vendor.starts_with("NVIDIA");
  info.api = cuda ? Api::cuda : Api::opencl;
  info.platform = cuda ? "NVIDIA CUDA" : info.kind == Kind::cpu ? "Portable Computing Language" : "OpenCL";
  return info;
}

/// A device planned for as a GPU: kernels take the form of many items a group, which OpenCL runs anywhere.
inline Device as_gpu(const Device& real) {
  struct Gpu : device::ForwardingDevice {
    explicit Gpu(std::shared_ptr<device::Device> cpu) : ForwardingDevice(std::move(cpu)) { info_.kind = Kind::gpu; }
  };
  return Device(std::make_shared<Gpu>(real.impl()));
}

/// The input view and the result's contiguous one.
inline std::vector<View> with_result(const Operation& op, const View& in) {
  return {in, result_view(op, std::span(&in, 1))};
}

inline ops::MoveProblem problem_of(const Operation& op, const std::vector<View>& views, int index_bits = 32) {
  return {core::normalise(ops::lowered_move(op, views)), index_bits};
}

/// Why a candidate does not take a problem on a device; empty when it does.
template <class Problem>
std::string refusal_of(const ops::Candidate<Problem>& candidate, const Problem& problem, const Configuration& values,
                       const DeviceInfo& device) {
  const ops::Proposal proposal = candidate.propose(problem, values, model::model_of(device));
  return proposal.refusal.empty() ? ops::beyond_limits(device, proposal.group) : proposal.refusal;
}

/// What it would launch; throws what it refuses with.
template <class Problem>
ops::Launches launches_of(const ops::Candidate<Problem>& candidate, const std::type_identity_t<Problem>& problem,
                          const Configuration& values, const DeviceInfo& device) {
  if (const std::string why = refusal_of(candidate, problem, values, device); !why.empty())
    throw std::runtime_error(why);
  const model::DeviceModel model = model::model_of(device);
  return candidate.propose(problem, values, model).launches();
}
template <class Problem>
Launch launch_of(const ops::Candidate<Problem>& candidate, const std::type_identity_t<Problem>& problem,
                 const Configuration& values, const DeviceInfo& device) {
  return launches_of(candidate, problem, values, device).list.at(0);
}

inline const ops::MoveCandidate& candidate_named(std::string_view name) {
  for (const ops::MoveCandidate& candidate : ops::move_candidates())
    if (candidate.info.name == name) return candidate;
  throw std::runtime_error("no candidate of that name");
}

/// A candidate's own values, which no store has changed.
inline Configuration default_values(const ops::CandidateInfo& info) {
  Configuration values;
  for (const ops::Tunable& tunable : info.tunables) values[std::string(tunable.name)] = tunable.value;
  return values;
}

inline Bytes random_bytes(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  Bytes bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(engine());
  return bytes;
}

/// Bytes of a buffer that just holds a view.
inline std::int64_t buffer_bytes(const View& view) {
  return view.bounds().high * static_cast<std::int64_t>(size_of(view.dtype));
}

inline Buffer upload(const Device& device, const Queue& queue, std::span<const std::byte> bytes) {
  const Buffer buffer = device.allocate(bytes.size());
  if (!bytes.empty()) queue.write(buffer, 0, bytes).wait();
  return buffer;
}

inline Bytes download(const Queue& queue, const Buffer& buffer) {
  Bytes bytes(buffer.bytes());
  if (!bytes.empty()) queue.read(buffer, 0, bytes).wait();
  return bytes;
}

/// The output buffer after a run on copies of `in` and `out`.
inline Bytes after_run(const Plan& plan, const Bytes& in, const Bytes& out) {
  const Queue queue = plan.device().queue();
  const std::vector<Buffer> buffers{upload(plan.device(), queue, in), upload(plan.device(), queue, out)};
  plan.run(queue, buffers).wait();
  return download(queue, buffers[1]);
}

/// The same by plain loops.
inline Bytes after_oracle(const Operation& op, const std::vector<View>& views, const Bytes& in, Bytes out) {
  const std::byte* const start = in.data();
  ops::entry(op.name).oracle(op, views, std::span(&start, 1), out.data());
  return out;
}

using test::code_thrown;
using test::text_thrown;

}  // namespace axisloom::ops_test
