// cuda::copy of mdspans on CUDA devices: moves of whole arrays, from the module that mdspan.cu is built into.
#include "bench/peers/cuda_call.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/mdspan_module.hpp"
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace axisloom::bench {
namespace {

constexpr const char* mdspan_file = "axisloom_mdspan.so";

/// Looked for once.
MdspanFunction* mdspan_copy() {
  static MdspanFunction* const found = from_module<MdspanFunction>("AXISLOOM_MDSPAN", mdspan_file, "axisloom_mdspan");
  return found;
}

class MdspanCall final : public CudaCall {
 public:
  explicit MdspanCall(Workload& workload) : CudaCall(workload, "mdspan", "cuda::copy, layout_stride, int extents") {
    for (const core::Loop& axis : workload.merged()->axes) {
      i64 beyond = 1;  // the last index of the side that is larger, which its `int`s must hold
      for (const i64 stride : {axis.in, axis.out}) {
        if (stride <= 0) refuse("copies arrays with positive strides");
        beyond = std::max(beyond, stride * axis.extent);
      }
      if (beyond > std::numeric_limits<int>::max()) refuse("is called for arrays of up to 2^31 elements");
      extents_.push_back(int(axis.extent));
      in_strides_.push_back(int(axis.in));
      out_strides_.push_back(int(axis.out));
    }
  }

 private:
  void call() override {
    const core::Move& move = *workload().merged();
    const auto side = [&](size_t i, i64 offset) { return address<std::byte>(i, 0) + offset * move.element; };
    const MdspanCopy job{int(move.element),
                         int(extents_.size()),
                         extents_.data(),
                         in_strides_.data(),
                         out_strides_.data(),
                         side(0, move.in_offset),
                         side(workload().inputs(), move.out_offset)};
    if (!mdspan_copy()(&job, stream())) throw Error(Errc::device, {.message = "cuda::copy fails", .call = how()});
  }

  std::vector<int> extents_, in_strides_, out_strides_;
};

}  // namespace

UniqueContestant make_mdspan(Workload& workload, Session&) {
  require_cuda(workload);
  const auto& move = workload.merged();
  if (!move || move->tail || move->axes.empty()) refuse("is called for moves without a tail of channels");
  if (move->axes.size() > mdspan_most_axes) refuse("is built for up to " + std::to_string(mdspan_most_axes) + " axes");
  if (mdspan_copy() == nullptr)
    refuse(std::string(mdspan_file) + " was not found beside the program; -DAXISLOOM_CCCL=FOLDER builds it");
  return std::make_unique<MdspanCall>(workload);
}

}  // namespace axisloom::bench
