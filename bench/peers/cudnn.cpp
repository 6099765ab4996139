// cuDNN on CUDA devices, from a library opened at run time: transforms between layouts of tensors.
#include "bench/peers/cuda_call.hpp"
#include "bench/peers/cudnn_api.hpp"
#include "bench/peers/images.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <functional>

namespace axisloom::bench::cudnn {
namespace {

/// Looked for once.
const Api& functions() {
  static const auto opened =
      open_library<Api>(cuda_library_files, "AXISLOOM_CUDNN", {"libcudnn.so.9"}, [](OpenedLibrary<Api>& library) {
#define AXISLOOM_ENTRY(result, name, parameters) library.require(#name, library.api.name);
        AXISLOOM_CUDNN(AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
      });
  return opened.functions();
}

void require(Status code, const char* call) {
  if (code == 0) return;
  const std::string text = fmt::format("cuDNN fails: {}", functions().cudnnGetErrorString(code));
  throw Error(Errc::device, {.message = text, .call = call, .native = code});
}

struct ElementType {
  int number;  // cudnnDataType_t
  const char* name;
};
/// Integers travel as floats of their size, bytes as they are.
ElementType element_type(Dtype dtype) {
  if (dtype == Dtype::bf16) return {type_bfloat16, "bf16"};
  switch (size_of(dtype)) {
    case 1:
      return {type_int8, "i8"};
    case 2:
      return {type_half, "f16"};
    case 4:
      return {type_float, "f32"};
    case 8:
      return {type_double, "f64"};
  }
  refuse("transforms no elements of 16 bytes");
}

/// One of the ways in which a move can be told.
struct Telling {
  std::string name;
  std::function<Status(TensorDescriptor from, TensorDescriptor to)> set;
};

Telling told_with_blocks(const BlockedImages& images) {
  return {fmt::format("NCHW_VECT_C of i8x{}", images.block), [images](TensorDescriptor from, TensorDescriptor to) {
            const auto& [n, c, h, w, block, to_blocks, channels_last] = images;
            if (!to_blocks) std::swap(from, to);
            const auto set = functions().cudnnSetTensor4dDescriptor;
            const Status plain = set(from, channels_last ? nhwc : nchw, type_int8, n, c, h, w);
            return plain != 0 ? plain : set(to, nchw_vect_c, block == 4 ? type_int8x4 : type_int8x32, n, c, h, w);
          }};
}

Telling told_with_strides(const StridedImages& images, const ElementType& type) {
  return {fmt::format("strided {}", type.name), [images, type](TensorDescriptor from, TensorDescriptor to) {
            const auto set = [&](TensorDescriptor descriptor, const std::vector<int>& strides) {
              return functions().cudnnSetTensorNdDescriptor(descriptor, type.number, strides.size(),
                                                            images.extents.data(), strides.data());
            };
            const Status first = set(from, images.from);
            return first != 0 ? first : set(to, images.to);
          }};
}

/// Best first.
std::vector<Telling> tellings(const Workload& workload, const ElementType& type) {
  std::vector<Telling> list;
  const core::Move& move = *workload.merged();
  if (const auto images = blocked_images(workload.op(), workload.views()); images && move.element == 1)
    list.push_back(told_with_blocks(*images));
  const auto images = strided_images(move);
  if (images && images->extents.size() <= most_dimensions) list.push_back(told_with_strides(*images, type));
  return list;
}

class Call final : public CudaCall {
 public:
  Call(Workload& workload, const std::vector<Telling>& list) : CudaCall(workload, "cudnn", "cudnnTransformTensor") {
    const CurrentContext current(stream());
    const Api& api = functions();
    require(api.cudnnCreate(&handle_), "cudnnCreate");
    at_end([&api, handle = handle_] { api.cudnnDestroy(handle); });
    require(api.cudnnSetStream(handle_, stream()), "cudnnSetStream");
    for (TensorDescriptor* descriptor : {&from_, &to_}) {
      require(api.cudnnCreateTensorDescriptor(descriptor), "cudnnCreateTensorDescriptor");
      at_end([&api, created = *descriptor] { api.cudnnDestroyTensorDescriptor(created); });
    }
    choose(list);
  }

 private:
  /// The first telling that is accepted.
  void choose(const std::vector<Telling>& list) {
    Status refusal = 0;
    for (const Telling& telling : list) {
      Status status = telling.set(from_, to_);
      if (status == 0) status = transform();
      if (status == 0)
        return describe(fmt::format("cudnnTransformTensor, {}, cuDNN {}", telling.name,
                                    version_text(functions().cudnnGetVersion())));
      if (refusal == 0) refusal = status;
    }
    refuse(fmt::format("refuses the job: {}", functions().cudnnGetErrorString(refusal)));
  }

  Status transform() {
    const core::Move& move = *workload().merged();
    const bool wide = move.element == 8;
    const Factor one(1, wide), zero(0, wide);
    return functions().cudnnTransformTensor(handle_, one.address(), from_, address(0, move.in_offset), zero.address(),
                                            to_, address(1, move.out_offset));
  }

  void call() override { require(transform(), "cudnnTransformTensor"); }

  Handle handle_ = nullptr;
  TensorDescriptor from_ = nullptr, to_ = nullptr;
};

}  // namespace
}  // namespace axisloom::bench::cudnn

namespace axisloom::bench {

UniqueContestant make_cudnn(Workload& workload, Session&) {
  require_cuda(workload);
  if (!workload.merged()) refuse("is called for moves");
  const auto tellings = cudnn::tellings(workload, cudnn::element_type(workload.in().dtype));
  if (tellings.empty())
    refuse("transforms up to 8 axes with positive strides of 32 bits, and whole blocks of channels");
  return std::make_unique<cudnn::Call>(workload, tellings);
}

}  // namespace axisloom::bench
