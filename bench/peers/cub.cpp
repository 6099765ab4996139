// CUB on CUDA devices: sums and maxima of whole arrays and of rows, from the module that cub.cu is built into.
#include "bench/peers/cub_module.hpp"
#include "bench/peers/cuda_call.hpp"
#include "bench/peers/peers.hpp"

#include "device/dynamic_library.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace axisloom::bench {
namespace {

constexpr const char* file_name = "axisloom_cub.so";

/// Null when there is no such module beside the program. Looked for once.
CubFunction* cub() {
  static CubFunction* const found = []() -> CubFunction* {
    std::vector<std::string> files;
    if (const char* named = std::getenv("AXISLOOM_CUB")) files.emplace_back(named);
    std::error_code failed;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
    if (!failed) files.push_back((program.parent_path() / file_name).string());
    const device::DynamicLibrary library(files);
    CubFunction* function = nullptr;
    library.find("axisloom_cub", function);
    return function;
  }();
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
  Cub(Workload& workload, const CubCall& what)
      : CudaCall(workload, "cub", what.segments == 1 ? "cub::DeviceReduce" : "cub::DeviceSegmentedReduce"),
        what_(what) {
    const CurrentContext current(stream());
    const Reduction& reduction = *workload.reduction();
    const auto bytes = [](i64 offset, Dtype dtype) { return offset * i64(size_of(dtype)); };
    what_.in = address<std::byte>(workload.buffer(0), bytes(reduction.in_offset, reduction.in));
    what_.out = address<std::byte>(workload.out_buffer(), bytes(reduction.out_offset, reduction.out));
    require(cub()(&what_, nullptr, &temp_bytes_, stream()));
    temp_ = workload.device().allocate(std::max<size_t>(1, temp_bytes_));
  }

 private:
  void call() override { require(cub()(&what_, address<std::byte>(temp_, 0), &temp_bytes_, stream())); }
  void require(int code) const {
    if (code != 0) throw Error(Errc::device, {.message = "CUB fails", .call = how(), .native = code});
  }

  CubCall what_;
  unsigned long temp_bytes_ = 0;
  Buffer temp_;
};

}  // namespace

Offer offer_cub(Workload& workload, Session&) {
  if (workload.device().info().api != Api::cuda) return Offer::absent("runs on CUDA devices only");
  const auto& reduction = workload.reduction();
  const auto number = reduction ? number_of(reduction->in) : std::nullopt;
  if (!number || reduction->inner != 1 || (reduction->kind != "sum" && reduction->kind != "max"))
    return Offer::absent("is called for sums and maxima of arrays and rows of u32, f32 and f64");
  if (cub() == nullptr)
    return Offer::absent(std::string(file_name) + " is not beside the program; it is built where nvcc is found");
  const CubKind kind = reduction->kind == "sum" ? CubKind::sum : CubKind::max;
  return {
      std::make_unique<Cub>(workload, CubCall{kind, *number, nullptr, nullptr, reduction->outer, reduction->reduced}),
      {}};
}

}  // namespace axisloom::bench
