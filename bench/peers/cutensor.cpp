// cuTENSOR on CUDA devices, from a library opened at run time: permutations for moves, reductions, and contractions for
// products and einsums of two arrays.
#include "bench/peers/cuda_call.hpp"
#include "bench/peers/cutensor_api.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/modes.hpp"
#include "bench/peers/peers.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>

namespace axisloom::bench::cutensor {
namespace {

/// Looked for once.
const Api& functions() {
  static const auto opened = [] {
    // It needs cuBLASLt, which the loader alone finds only where the toolkit is on its path.
    const device::DynamicLibrary needed(cuda_library_files("", {"libcublasLt.so.13", "libcublasLt.so.12"}));
    return open_library<Api>(cuda_library_files, "AXISLOOM_CUTENSOR", {"libcutensor.so.2"},
                             [](OpenedLibrary<Api>& library) {
#define AXISLOOM_ENTRY(result, name, parameters) library.require(#name, library.api.name);
                               AXISLOOM_CUTENSOR(AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
                               library.require("CUTENSOR_COMPUTE_DESC_32F", library.api.compute_32f);
                               library.require("CUTENSOR_COMPUTE_DESC_64F", library.api.compute_64f);
                             });
  }();
  return opened.functions();
}

void require(Status code, const char* call) {
  if (code == 0) return;
  const char* const text = functions().cutensorGetErrorString(code);
  if (code == not_supported || code == invalid_value) refuse(fmt::format("refuses the job: {}: {}", call, text));
  throw Error(Errc::device, {.message = fmt::format("cuTENSOR fails: {}", text), .call = call, .native = code});
}

struct ElementType {
  Dtype dtype;
  int number;  // cudaDataType_t

  /// Computed in f64; otherwise in f32.
  bool wide() const { return dtype == Dtype::f64 || dtype == Dtype::c128; }
};
std::optional<ElementType> element_type(Dtype dtype) {
  static constexpr ElementType types[] = {{Dtype::f16, real_16f},    {Dtype::bf16, real_16bf},
                                          {Dtype::f32, real_32f},    {Dtype::f64, real_64f},
                                          {Dtype::c64, complex_32f}, {Dtype::c128, complex_64f}};
  const ElementType* const found = std::ranges::find(types, dtype, &ElementType::dtype);
  return found == std::end(types) ? std::nullopt : std::optional(*found);
}

/// It permutes no integers: they travel as floats of their size.
ElementType element_type_of_move(Dtype dtype) {
  if (const auto type = element_type(dtype)) return *type;
  const size_t size = size_of(dtype);
  if (size == 1) refuse("permutes no elements of 1 byte");
  return *element_type(size == 2 ? Dtype::f16 : size == 4 ? Dtype::f32 : Dtype::f64);
}

enum class Verb { permute, reduce, contract };

struct Job {
  Verb verb;
  ElementType type;
  ModeProblem modes;
  int combine = add;  // of a reduction
  double factor = 1;

  const char* call() const {
    static constexpr const char* calls[] = {"cutensorPermute", "cutensorReduce", "cutensorContract"};
    return calls[int(verb)];
  }
};

/// How a plan is asked for. Which gives the fastest is found by trying.
struct Way {
  int algo, jit;
  const char* name;
};
constexpr Way ways[] = {{algo_default, jit_none, "default"},
                        {algo_default_patient, jit_none, "patient"},
                        {algo_default, jit_default, "JIT"}};

class Call final : public CudaCall {
 public:
  Call(Workload& workload, Job job) : CudaCall(workload, "cutensor", job.call()), job_(std::move(job)) {
    const CurrentContext current(stream());
    require(api_.cutensorCreate(&handle_), "cutensorCreate");
    at_end([destroy = api_.cutensorDestroy, handle = handle_] { destroy(handle); });
    describe_job();
    prepare_factors();
    const char* const plan = choose_plan();
    describe(fmt::format("{} as {}, {} plan, cuTENSOR {}", job_.call(), axisloom::name(job_.type.dtype), plan,
                         version_text(api_.cutensorGetVersion())));
  }

 private:
  struct Tensor {
    TensorDescriptor descriptor;
    std::vector<i32> modes;
  };
  struct Planned {
    Plan plan = nullptr;
    Buffer workspace;
    u64 workspace_bytes = 0;
  };

  /// What `create` makes, until the end.
  template <class Pointer, class Create, class... Arguments>
  Pointer made(const char* call, Status (*destroy)(Pointer), Create* create, const Arguments&... arguments) {
    Pointer pointer = nullptr;
    require(create(handle_, &pointer, arguments...), call);
    at_end([=] { destroy(pointer); });
    return pointer;
  }

  void* input(size_t i) const { return address(i, job_.modes.inputs[i].offset); }
  void* output() const { return address(workload().inputs(), job_.modes.out.offset); }

  Tensor described(const ModeTensor& tensor, const void* address) {
    constexpr std::uintptr_t most = 256;
    const auto bits = reinterpret_cast<std::uintptr_t>(address) | most;
    std::vector<i32> numbers;
    std::vector<i64> extents, strides;
    for (const Mode& mode : tensor.modes) {
      numbers.push_back(mode.number);
      extents.push_back(mode.extent);
      strides.push_back(mode.stride);
    }
    const TensorDescriptor descriptor = made("cutensorCreateTensorDescriptor", api_.cutensorDestroyTensorDescriptor,
                                             api_.cutensorCreateTensorDescriptor, u32(numbers.size()), extents.data(),
                                             strides.data(), job_.type.number, u32(bits & ~(bits - 1)));
    return {descriptor, std::move(numbers)};
  }

  void describe_job() {
    const auto operation = [&](auto* create, const auto&... arguments) {
      const ComputeDescriptor compute = job_.type.wide() ? *api_.compute_64f : *api_.compute_32f;
      operation_ = made("the operation", api_.cutensorDestroyOperationDescriptor, create, arguments..., compute);
    };
    const auto [a, modes_a] = described(job_.modes.inputs[0], input(0));
    const auto [c, modes_c] = described(job_.modes.out, output());
    if (job_.verb == Verb::permute)
      return operation(api_.cutensorCreatePermutation, a, modes_a.data(), identity, c, modes_c.data());
    if (job_.verb == Verb::reduce)
      return operation(api_.cutensorCreateReduction, a, modes_a.data(), identity, c, modes_c.data(), identity, c,
                       modes_c.data(), job_.combine);
    const auto [b, modes_b] = described(job_.modes.inputs[1], input(1));
    operation(api_.cutensorCreateContraction, a, modes_a.data(), identity, b, modes_b.data(), identity, c,
              modes_c.data(), identity, c, modes_c.data());
  }

  void prepare_factors() {
    int type = -1;
    require(
        api_.cutensorOperationDescriptorGetAttribute(handle_, operation_, operation_scalar_type, &type, sizeof type),
        "cutensorOperationDescriptorGetAttribute");
    const bool wide = type == real_64f || type == complex_64f;
    if (!wide && type != real_32f && type != complex_32f)
      refuse(fmt::format("takes factors of a type that is not known here, {}", type));
    one_ = Factor(job_.factor, wide);
    zero_ = Factor(0, wide);
  }

  Planned planned(const Way& way) {
    const PlanPreference preference = made("cutensorCreatePlanPreference", api_.cutensorDestroyPlanPreference,
                                           api_.cutensorCreatePlanPreference, way.algo, way.jit);
    u64 most = 0;
    require(api_.cutensorEstimateWorkspaceSize(handle_, operation_, preference, workspace_max, &most),
            "cutensorEstimateWorkspaceSize");
    Planned result;
    auto& [plan, workspace, bytes] = result;
    plan = made("cutensorCreatePlan", api_.cutensorDestroyPlan, api_.cutensorCreatePlan, operation_, preference, most);
    require(api_.cutensorPlanGetAttribute(handle_, plan, plan_required_workspace, &bytes, sizeof bytes),
            "cutensorPlanGetAttribute");
    if (bytes > 0) workspace = workload().device().allocate(bytes);
    return result;
  }

  /// Keeps the plan that is fastest here, and says how it was asked for.
  const char* choose_plan() {
    constexpr int samples = 3;
    Planned best;
    const char* name = nullptr;
    double least = std::numeric_limits<double>::infinity();
    std::exception_ptr refusal;
    for (const Way& way : ways) try {
        planned_ = planned(way);
        run();  // loads the kernels
        double seconds = std::numeric_limits<double>::infinity();
        for (int i = 0; i < samples; ++i) seconds = std::min(seconds, *run().device);
        if (seconds < least) {
          least = seconds;
          name = way.name;
          best = std::move(planned_);
        }
      } catch (const Error& error) {
        if (error.code() == Errc::device_lost) throw;
        if (!refusal) refusal = std::current_exception();
      }
    if (name == nullptr) std::rethrow_exception(refusal);
    planned_ = std::move(best);
    return name;
  }

  void call() override {
    const auto& [plan, workspace, bytes] = planned_;
    void *const out = output(), *const room = workspace ? workspace.impl()->native() : nullptr;
    const auto calls = [&](auto* function, const auto&... arguments) {
      require(function(handle_, planned_.plan, one_.address(), input(0), arguments..., stream()), job_.call());
    };
    switch (job_.verb) {
      case Verb::permute:
        return calls(api_.cutensorPermute, out);
      case Verb::reduce:
        return calls(api_.cutensorReduce, zero_.address(), out, out, room, bytes);
      case Verb::contract:
        return calls(api_.cutensorContract, input(1), zero_.address(), out, out, room, bytes);
    }
  }

  const Api& api_ = functions();
  Job job_;
  Factor one_{1, false}, zero_{0, false};
  Handle handle_ = nullptr;
  OperationDescriptor operation_ = nullptr;
  Planned planned_;
};

Job move_job(const Workload& workload) {
  if (workload.merged()->tail) refuse("has no call that fills a tail with zeros");
  return {Verb::permute, element_type_of_move(workload.in().dtype), modes_of(*workload.merged())};
}

Job reduction_job(const Reduction& r) {
  const auto type = element_type(r.in);
  const bool known = r.kind == "sum" || r.kind == "mean" || r.kind == "min" || r.kind == "max";
  if (!type || !known || r.in != r.out) refuse("reduces floats, to sums, means, minima and maxima");
  return {.verb = Verb::reduce,
          .type = *type,
          .modes = modes_of(r),
          .combine = r.kind == "min"   ? minimum
                     : r.kind == "max" ? maximum
                                       : add,
          .factor = r.kind == "mean" ? 1 / double(r.count()) : 1};
}

Job contraction_job(const Workload& workload) {
  const ops::Contraction contraction = ops::contraction_of(workload.op(), workload.views());
  const auto type = element_type(contraction.common);
  const bool plain = contraction.alpha == 1 && !contraction.addend && !contraction.relu;
  const bool one_type = workload.in().dtype == workload.out().dtype && workload.inputs() == 2 &&
                        workload.in(0).dtype == workload.in(1).dtype;
  if (!type || !plain || !one_type) refuse("is called for plain products of two arrays of floats");
  return {Verb::contract, *type, modes_of(contraction)};
}

Job job_of(const Workload& workload) {
  const std::string_view known_as = workload.entry().known_as;
  if (workload.merged()) return move_job(workload);
  if (workload.reduction()) return reduction_job(*workload.reduction());
  if (known_as == "matmul" || known_as == "contraction") return contraction_job(workload);
  refuse("has no call for this operation");
}

}  // namespace
}  // namespace axisloom::bench::cutensor

namespace axisloom::bench {

UniqueContestant make_cutensor(Workload& workload, Session&) {
  require_cuda(workload);
  cutensor::Job job = cutensor::job_of(workload);
  if (job.modes.has_negative_strides()) refuse("has no negative strides");
  return std::make_unique<cutensor::Call>(workload, std::move(job));
}

}  // namespace axisloom::bench
