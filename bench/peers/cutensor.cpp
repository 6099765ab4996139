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
#include <limits>

namespace axisloom::bench::cutensor {
namespace {

using Opened = OpenedLibrary<Api>;

/// Looked for once.
const Opened& opened() {
  constexpr const char *variable = "AXISLOOM_CUTENSOR", *name = "libcutensor.so.2";
  static const Opened& found = [&]() -> const Opened& {
    // It needs cuBLASLt, which the loader alone finds only where the toolkit is on its path.
    device::DynamicLibrary(cuda_library_files("", {"libcublasLt.so.13", "libcublasLt.so.12"}));
    return open_library<Opened>(cuda_library_files(variable, {name}), name, variable,
                                [](Opened& loaded, std::vector<std::string>& missing) {
#define AXISLOOM_ENTRY(result, name, parameters) loaded.library.require(#name, loaded.api.name, missing);
                                  AXISLOOM_CUTENSOR(AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
                                  loaded.library.require("CUTENSOR_COMPUTE_DESC_32F", loaded.api.compute_32f, missing);
                                  loaded.library.require("CUTENSOR_COMPUTE_DESC_64F", loaded.api.compute_64f, missing);
                                });
  }();
  return found;
}

const Api& functions() {
  return opened().api;
}

void require(Status code, const char* call) {
  if (code == 0) return;
  const char* const text = functions().cutensorGetErrorString(code);
  if (code == not_supported || code == invalid_value)
    throw Error(Errc::unsupported, fmt::format("refuses the job: {}: {}", call, text));
  throw Error(Errc::device, {.message = fmt::format("cuTENSOR fails: {}", text), .call = call, .native = code});
}

template <class Pointer>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Status (*)(Pointer)>;

/// What `create(&pointer)` makes, until it is destroyed.
template <class Pointer, class Create>
Owned<Pointer> made(const char* call, Status (*destroy)(Pointer), const Create& create) {
  Pointer pointer = nullptr;
  require(create(&pointer), call);
  return {pointer, destroy};
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
std::optional<ElementType> element_type_of_move(Dtype dtype) {
  if (const auto type = element_type(dtype)) return type;
  const size_t size = size_of(dtype);
  if (size == 1) return std::nullopt;
  return element_type(size == 2 ? Dtype::f16 : size == 4 ? Dtype::f32 : Dtype::f64);
}

/// A factor as cuTENSOR reads it: one or, where it is complex, two of f32 or f64.
class Factor {
 public:
  explicit Factor(double value, int type = real_32f)
      : wide_(type == real_64f || type == complex_64f), f64_{value, 0}, f32_{float(value), 0} {}
  const void* address() const noexcept { return wide_ ? static_cast<const void*>(f64_.data()) : f32_.data(); }

 private:
  bool wide_;
  std::array<double, 2> f64_;
  std::array<float, 2> f32_;
};

enum class Verb { permute, reduce, contract };

struct Job {
  Verb verb;
  ElementType type;
  ModeProblem modes;
  int combine = add;  // of a reduction
  double factor = 1;

  const char* call() const {
    return verb == Verb::permute ? "cutensorPermute" : verb == Verb::reduce ? "cutensorReduce" : "cutensorContract";
  }
};

/// How a plan is asked for. Which gives the fastest is found by trying.
struct Way {
  int algo, jit;
  const char* name;
};
constexpr std::array ways{Way{algo_default, jit_none, "default"}, Way{algo_default_patient, jit_none, "patient"},
                          Way{algo_default, jit_default, "JIT"}};

class Call final : public CudaCall {
 public:
  Call(Workload& workload, Job job) : CudaCall(workload, "cutensor", job.call()), job_(std::move(job)) {
    const CurrentContext current(stream());
    const Api& api = functions();
    handle_ = made<Handle>("cutensorCreate", api.cutensorDestroy, api.cutensorCreate);
    describe_job();
    prepare_factors();
    const char* const plan = choose_plan();
    describe(fmt::format("{} as {}, {} plan, cuTENSOR {}", job_.call(), axisloom::name(job_.type.dtype), plan,
                         version_text(api.cutensorGetVersion())));
  }
  ~Call() override {
    try {
      const CurrentContext current(stream());
      planned_.plan.reset();
      operation_.reset();
      tensors_.clear();
      handle_.reset();
    } catch (const Error&) {
      // A context that is gone has taken everything along.
      static_cast<void>(planned_.plan.release());
      static_cast<void>(operation_.release());
      for (auto& tensor : tensors_) static_cast<void>(tensor.release());
      static_cast<void>(handle_.release());
    }
  }

 private:
  struct Planned {
    Owned<Plan> plan{nullptr, nullptr};
    Buffer workspace;
    u64 workspace_bytes = 0;
  };

  void* in(size_t i) const { return first(workload().buffer(i), workload().in(i).dtype, job_.modes.inputs[i]); }
  void* out() const { return first(workload().out_buffer(), workload().out().dtype, job_.modes.out); }
  static void* first(const Buffer& buffer, Dtype dtype, const ModeTensor& tensor) {
    return address<std::byte>(buffer, tensor.offset * i64(size_of(dtype)));
  }

  TensorDescriptor descriptor(const ModeTensor& tensor, const void* address) {
    constexpr std::uintptr_t most = 256;
    const auto bits = reinterpret_cast<std::uintptr_t>(address) | most;
    std::vector<i64> extents, strides;
    for (const Mode& mode : tensor.modes) {
      extents.push_back(mode.extent);
      strides.push_back(mode.stride);
    }
    const Api& api = functions();
    tensors_.push_back(made<TensorDescriptor>(
        "cutensorCreateTensorDescriptor", api.cutensorDestroyTensorDescriptor, [&](TensorDescriptor* made_here) {
          return api.cutensorCreateTensorDescriptor(handle_.get(), made_here, u32(extents.size()), extents.data(),
                                                    strides.data(), job_.type.number, u32(bits & ~(bits - 1)));
        }));
    return tensors_.back().get();
  }

  void describe_job() {
    const Api& api = functions();
    const auto numbers = [](const ModeTensor& tensor) {
      std::vector<i32> list;
      for (const Mode& mode : tensor.modes) list.push_back(mode.number);
      return list;
    };
    const TensorDescriptor a = descriptor(job_.modes.inputs[0], in(0));
    const TensorDescriptor b = job_.verb == Verb::contract ? descriptor(job_.modes.inputs[1], in(1)) : nullptr;
    const TensorDescriptor c = descriptor(job_.modes.out, out());
    const auto modes_a = numbers(job_.modes.inputs[0]), modes_b = numbers(job_.modes.inputs.back()),
               modes_c = numbers(job_.modes.out);
    const ComputeDescriptor compute = job_.type.wide() ? *api.compute_64f : *api.compute_32f;
    operation_ = made<OperationDescriptor>(
        "the operation", api.cutensorDestroyOperationDescriptor, [&](OperationDescriptor* operation) {
          if (job_.verb == Verb::permute)
            return api.cutensorCreatePermutation(handle_.get(), operation, a, modes_a.data(), identity, c,
                                                 modes_c.data(), compute);
          if (job_.verb == Verb::reduce)
            return api.cutensorCreateReduction(handle_.get(), operation, a, modes_a.data(), identity, c, modes_c.data(),
                                               identity, c, modes_c.data(), job_.combine, compute);
          return api.cutensorCreateContraction(handle_.get(), operation, a, modes_a.data(), identity, b, modes_b.data(),
                                               identity, c, modes_c.data(), identity, c, modes_c.data(), compute);
        });
  }

  void prepare_factors() {
    int type = -1;
    require(functions().cutensorOperationDescriptorGetAttribute(handle_.get(), operation_.get(), operation_scalar_type,
                                                                &type, sizeof type),
            "cutensorOperationDescriptorGetAttribute");
    if (type != real_32f && type != complex_32f && type != real_64f && type != complex_64f)
      throw Error(Errc::unsupported, fmt::format("takes factors of a type that is not known here, {}", type));
    one_ = Factor(job_.factor, type);
    zero_ = Factor(0, type);
  }

  Planned planned(const Way& way) {
    const Api& api = functions();
    const auto preference = made<PlanPreference>(
        "cutensorCreatePlanPreference", api.cutensorDestroyPlanPreference, [&](PlanPreference* made_here) {
          return api.cutensorCreatePlanPreference(handle_.get(), made_here, way.algo, way.jit);
        });
    u64 most = 0;
    require(api.cutensorEstimateWorkspaceSize(handle_.get(), operation_.get(), preference.get(), workspace_max, &most),
            "cutensorEstimateWorkspaceSize");
    Planned result;
    result.plan = made<Plan>("cutensorCreatePlan", api.cutensorDestroyPlan, [&](Plan* plan) {
      return api.cutensorCreatePlan(handle_.get(), plan, operation_.get(), preference.get(), most);
    });
    require(api.cutensorPlanGetAttribute(handle_.get(), result.plan.get(), plan_required_workspace,
                                         &result.workspace_bytes, sizeof result.workspace_bytes),
            "cutensorPlanGetAttribute");
    if (result.workspace_bytes > 0) result.workspace = workload().device().allocate(result.workspace_bytes);
    return result;
  }

  /// Keeps the plan that is fastest here, and says how it was asked for.
  const char* choose_plan() {
    constexpr int samples = 3;
    Planned best;
    const char* name = nullptr;
    double least = std::numeric_limits<double>::infinity();
    std::optional<Error> refusal;
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
        if (!refusal) refusal = error;
      }
    if (name == nullptr) throw Error(*refusal);
    planned_ = std::move(best);
    return name;
  }

  void call() override {
    const Api& api = functions();
    void* const workspace = planned_.workspace_bytes > 0 ? address<std::byte>(planned_.workspace, 0) : nullptr;
    const auto run_it = [&] {
      switch (job_.verb) {
        case Verb::permute:
          return api.cutensorPermute(handle_.get(), planned_.plan.get(), one_.address(), in(0), out(), stream());
        case Verb::reduce:
          return api.cutensorReduce(handle_.get(), planned_.plan.get(), one_.address(), in(0), zero_.address(), out(),
                                    out(), workspace, planned_.workspace_bytes, stream());
        case Verb::contract:
          break;
      }
      return api.cutensorContract(handle_.get(), planned_.plan.get(), one_.address(), in(0), in(1), zero_.address(),
                                  out(), out(), workspace, planned_.workspace_bytes, stream());
    };
    require(run_it(), job_.call());
  }

  Job job_;
  Factor one_{1}, zero_{0};
  Owned<Handle> handle_{nullptr, nullptr};
  std::vector<Owned<TensorDescriptor>> tensors_;
  Owned<OperationDescriptor> operation_{nullptr, nullptr};
  Planned planned_;
};

/// A job, or why there is none.
struct Asked {
  std::optional<Job> job;
  const char* why_not = "";
};

Asked asked_move(const Workload& workload) {
  if (workload.merged()->tail) return {std::nullopt, "has no call that fills a tail with zeros"};
  const auto type = element_type_of_move(workload.in().dtype);
  if (!type) return {std::nullopt, "permutes no elements of 1 byte"};
  return {Job{Verb::permute, *type, modes_of(*workload.merged())}, ""};
}

Asked asked_reduction(const Workload& workload) {
  const Reduction& r = *workload.reduction();
  const auto type = element_type(r.in);
  const bool known = r.kind == "sum" || r.kind == "mean" || r.kind == "min" || r.kind == "max";
  if (!type || !known || r.in != r.out) return {std::nullopt, "reduces floats, to sums, means, minima and maxima"};
  Job job{Verb::reduce, *type, modes_of(r)};
  if (r.kind == "min") job.combine = minimum;
  if (r.kind == "max") job.combine = maximum;
  if (r.kind == "mean") job.factor = 1 / double(r.reduced);
  return {std::move(job), ""};
}

Asked asked_contraction(const Workload& workload) {
  const ops::Contraction contraction = ops::contraction_of(workload.op(), workload.views());
  const auto type = element_type(contraction.common);
  const bool plain = contraction.alpha == 1 && !contraction.addend && !contraction.relu;
  const bool one_type = workload.in().dtype == workload.out().dtype && workload.inputs() == 2 &&
                        workload.in(0).dtype == workload.in(1).dtype;
  if (!type || !plain || !one_type) return {std::nullopt, "is called for plain products of two arrays of floats"};
  return {Job{Verb::contract, *type, modes_of(contraction)}, ""};
}

Asked asked_of(const Workload& workload) {
  const std::string_view known_as = workload.entry().known_as;
  if (workload.merged()) return asked_move(workload);
  if (workload.reduction()) return asked_reduction(workload);
  if (known_as == "matmul" || known_as == "contraction") return asked_contraction(workload);
  return {std::nullopt, "has no call for this operation"};
}

}  // namespace
}  // namespace axisloom::bench::cutensor

namespace axisloom::bench {

Offer offer_cutensor(Workload& workload, Session&) {
  if (workload.device().info().api != axisloom::Api::cuda) return Offer::absent("runs on CUDA devices only");
  cutensor::Asked asked = cutensor::asked_of(workload);
  if (!asked.job) return Offer::absent(asked.why_not);
  if (asked.job->modes.has_negative_strides()) return Offer::absent("has no negative strides");
  if (const std::string& why = cutensor::opened().obstacle; !why.empty()) return Offer::absent(why);
  return Offer::unless_refused<cutensor::Call>(workload, std::move(*asked.job));
}

}  // namespace axisloom::bench
