// CUB on CUDA devices: sums and maxima of whole arrays and of rows, from the module that cub.cu is built into.
#include "bench/peers/cub_module.hpp"
#include "bench/peers/cuda_call.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include <algorithm>

namespace axisloom::bench {
namespace {

constexpr const char* file_name = "axisloom_cub.so";

/// Looked for once.
CubFunction* cub() {
  static CubFunction* const found = from_module<CubFunction>("AXISLOOM_CUB", file_name, "axisloom_cub");
  return found;
}

std::optional<CubNumber> number_of(Dtype dtype) {
  if (dtype == Dtype::u32) return CubNumber::u32;
  if (dtype == Dtype::f32) return CubNumber::f32;
  if (dtype == Dtype::f64) return CubNumber::f64;
  return std::nullopt;
}

class Cub final : public CudaCall {
 public:
  Cub(Workload& workload, const Reduction& r, CubNumber number)
      : CudaCall(workload, "cub", r.outer == 1 ? "cub::DeviceReduce" : "cub::DeviceSegmentedReduce"),
        what_{.kind = r.kind == "sum" ? CubKind::sum : CubKind::max,
              .number = number,
              .in = address(0, r.in_offset),
              .out = address(1, r.out_offset),
              .segments = r.outer,
              .elements = r.reduced} {
    const CurrentContext current(stream());
    call();
    temp_ = workload.device().allocate(std::max<size_t>(1, temp_bytes_));
  }

 private:
  /// Without memory of its own it only finds how much it needs.
  void call() override {
    void* const temp = temp_ ? temp_.impl()->native() : nullptr;
    const int code = cub()(&what_, temp, &temp_bytes_, stream());
    if (code != 0) throw Error(Errc::device, {.message = "CUB fails", .call = how(), .native = code});
  }

  CubCall what_;
  unsigned long temp_bytes_ = 0;
  Buffer temp_;
};

}  // namespace

UniqueContestant make_cub(Workload& workload, Session&) {
  require_cuda(workload);
  const auto& reduction = workload.reduction();
  const auto number = reduction ? number_of(reduction->in) : std::nullopt;
  const bool rows = number && reduction->inner == 1 && reduction->lead == 1;
  if (!rows || (reduction->kind != "sum" && reduction->kind != "max"))
    refuse("is called for sums and maxima of arrays and rows of u32, f32 and f64");
  if (cub() == nullptr) refuse(std::string(file_name) + " is not beside the program; it is built where nvcc is found");
  return std::make_unique<Cub>(workload, *reduction, *number);
}

}  // namespace axisloom::bench
