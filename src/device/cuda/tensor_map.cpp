// Writing a tensor map is host code of the driver: it needs no current context and touches no memory of the card.
#include "device/cuda/tensor_map.hpp"

namespace axisloom::device::cuda {

namespace {

int type_of_bytes(size_t element) {
  switch (element) {
    case 1:
      return kTensorU8;
    case 2:
      return kTensorU16;
    case 4:
      return kTensorU32;
    case 8:
      return kTensorU64;
    default:
      throw Error(Errc::usage, concat("tensor maps have no elements of ", element, " bytes"));
  }
}

std::string text_of(const TensorMap& map) {
  return concat("mapping ", joined(map.extent, " x "), " elements of ", map.element, " bytes, pitches ",
                joined(map.pitch, " x "), ", in boxes of ", joined(map.box, " x "));
}

}  // namespace

CUtensorMap encode(const Context& context, CUdeviceptr buffer, const TensorMap& map) {
  const auto& entry = context.api->cuTensorMapEncodeTiled;
  if (!entry)
    context.refuse(Errc::unsupported, "the driver has no tensor maps", "install a driver for CUDA 12.0 or later");
  constexpr u32 kRank = 3;
  constexpr u32 kSteps[kRank] = {1, 1, 1};
  constexpr int kNone = 0;  // no interleaved layout; zeros where a box sticks out
  CUtensorMap encoded;
  const CUresult result =
      entry(&encoded, type_of_bytes(map.element), kRank, reinterpret_cast<void*>(buffer + map.begin), map.extent.data(),
            map.pitch.data(), map.box.data(), kSteps, kNone, kTensorSwizzle128, kTensorPromote128, kNone);
  if (result != kSuccess) context.check(result, entry.name, text_of(map));
  return encoded;
}

}  // namespace axisloom::device::cuda
