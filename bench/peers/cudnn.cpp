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

using Opened = OpenedLibrary<Api>;

/// Looked for once.
const Opened& opened() {
  constexpr const char *variable = "AXISLOOM_CUDNN", *name = "libcudnn.so.9";
  static const Opened& found = open_library<Opened>(cuda_library_files(variable, {name}), name, variable,
                                                    [](Opened& loaded, std::vector<std::string>& missing) {
#define AXISLOOM_ENTRY(result, name, parameters) loaded.library.require(#name, loaded.api.name, missing);
                                                      AXISLOOM_CUDNN(AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
                                                    });
  return found;
}

const Api& functions() {
  return opened().api;
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
std::optional<ElementType> element_type(Dtype dtype) {
  if (dtype == Dtype::bf16) return ElementType{type_bfloat16, "bf16"};
  switch (size_of(dtype)) {
    case 1:
      return ElementType{type_int8, "i8"};
    case 2:
      return ElementType{type_half, "f16"};
    case 4:
      return ElementType{type_float, "f32"};
    case 8:
      return ElementType{type_double, "f64"};
    default:
      return std::nullopt;
  }
}

/// One of the ways in which a move can be told.
struct Telling {
  std::string name;
  std::function<Status(TensorDescriptor from, TensorDescriptor to)> set;
};

Telling told_with_blocks(const BlockedImages& images) {
  return {fmt::format("NCHW_VECT_C of i8x{}", images.block), [images](TensorDescriptor from, TensorDescriptor to) {
            const auto& [n, c, h, w, block, to_blocks, channels_last] = images;
            const Status plain = functions().cudnnSetTensor4dDescriptor(
                to_blocks ? from : to, channels_last ? nhwc : nchw, type_int8, n, c, h, w);
            if (plain != 0) return plain;
            return functions().cudnnSetTensor4dDescriptor(to_blocks ? to : from, nchw_vect_c,
                                                          block == 4 ? type_int8x4 : type_int8x32, n, c, h, w);
          }};
}

Telling told_with_strides(const StridedImages& images, const ElementType& type) {
  return {
      fmt::format("strided {}", type.name), [images, type](TensorDescriptor from, TensorDescriptor to) {
        const auto rank = int(images.extents.size());
        const Status first =
            functions().cudnnSetTensorNdDescriptor(from, type.number, rank, images.extents.data(), images.from.data());
        if (first != 0) return first;
        return functions().cudnnSetTensorNdDescriptor(to, type.number, rank, images.extents.data(), images.to.data());
      }};
}

/// Best first.
std::vector<Telling> tellings(const Workload& workload) {
  std::vector<Telling> list;
  const core::Move& move = *workload.merged();
  if (const auto images = blocked_images(workload.op(), workload.views()); images && move.element == 1)
    list.push_back(told_with_blocks(*images));
  const auto images = strided_images(move);
  if (images && images->extents.size() <= most_dimensions)
    list.push_back(told_with_strides(*images, *element_type(workload.in().dtype)));
  return list;
}

class Call final : public CudaCall {
 public:
  Call(Workload& workload, const std::vector<Telling>& list) : CudaCall(workload, "cudnn", "cudnnTransformTensor") {
    const CurrentContext current(stream());
    try {
      require(functions().cudnnCreate(&handle_), "cudnnCreate");
      require(functions().cudnnSetStream(handle_, stream()), "cudnnSetStream");
      for (TensorDescriptor* descriptor : {&from_, &to_})
        require(functions().cudnnCreateTensorDescriptor(descriptor), "cudnnCreateTensorDescriptor");
      choose(list);
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~Call() override {
    try {
      const CurrentContext current(stream());
      destroy();
    } catch (const Error&) {
      // A context that is gone has taken its handles along.
    }
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
    throw Error(Errc::unsupported, fmt::format("refuses the job: {}", functions().cudnnGetErrorString(refusal)));
  }

  Status transform() {
    // Factors are f64 for elements of f64, f32 for all others.
    static constexpr double one = 1, zero = 0;
    static constexpr float one_f32 = 1, zero_f32 = 0;
    const core::Move& move = *workload().merged();
    const bool wide = move.element == 8;
    const auto place = [&](const Buffer& buffer, i64 offset) {
      return address<std::byte>(buffer, offset * move.element);
    };
    return functions().cudnnTransformTensor(
        handle_, wide ? static_cast<const void*>(&one) : &one_f32, from_, place(workload().buffer(0), move.in_offset),
        wide ? static_cast<const void*>(&zero) : &zero_f32, to_, place(workload().out_buffer(), move.out_offset));
  }

  void call() override { require(transform(), "cudnnTransformTensor"); }

  void destroy() {
    for (TensorDescriptor descriptor : {from_, to_})
      if (descriptor != nullptr) functions().cudnnDestroyTensorDescriptor(descriptor);
    if (handle_ != nullptr) functions().cudnnDestroy(handle_);
  }

  Handle handle_ = nullptr;
  TensorDescriptor from_ = nullptr, to_ = nullptr;
};

}  // namespace
}  // namespace axisloom::bench::cudnn

namespace axisloom::bench {

Offer offer_cudnn(Workload& workload, Session&) {
  if (workload.device().info().api != Api::cuda) return Offer::absent("runs on CUDA devices only");
  if (!workload.merged()) return Offer::absent("is called for moves");
  if (!cudnn::element_type(workload.in().dtype)) return Offer::absent("transforms no elements of 16 bytes");
  const auto tellings = cudnn::tellings(workload);
  if (tellings.empty())
    return Offer::absent("transforms up to 8 axes with positive strides of 32 bits, and whole blocks of channels");
  if (const std::string& why = cudnn::opened().obstacle; !why.empty()) return Offer::absent(why);
  return Offer::unless_refused<cudnn::Call>(workload, tellings);
}

}  // namespace axisloom::bench
