// NVIDIA's CUB as a small module of its own, since its templates need nvcc: bench/peers/cub.cpp opens it at run time.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "cub_module.hpp"

namespace {

/// Where a segment begins, as an offset iterator computes it.
struct Times {
  long long elements;
  __host__ __device__ long long operator()(long long segment) const { return segment * elements; }
};

template <CubKind kind, class In, class Out>
int reduce(const CubCall& call, void* temp, size_t& temp_bytes, cudaStream_t stream) {
  const In* const in = static_cast<const In*>(call.in);
  Out* const out = static_cast<Out*>(call.out);
  if (call.segments == 1) {
    if constexpr (kind == CubKind::sum)
      return cub::DeviceReduce::Sum(temp, temp_bytes, in, out, call.elements, stream);
    else
      return cub::DeviceReduce::Max(temp, temp_bytes, in, out, call.elements, stream);
  }
  const auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), Times{call.elements});
  if constexpr (kind == CubKind::sum)
    return cub::DeviceSegmentedReduce::Sum(temp, temp_bytes, in, out, call.segments, begin, begin + 1, stream);
  else
    return cub::DeviceSegmentedReduce::Max(temp, temp_bytes, in, out, call.segments, begin, begin + 1, stream);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int axisloom_cub(const CubCall* call, void* temp,
                                                                   size_t* temp_bytes, void* stream) {
  const auto run = [&](auto* reduction) { return reduction(*call, temp, *temp_bytes, static_cast<cudaStream_t>(stream)); };
  const bool sums = call->kind == CubKind::sum;
  switch (call->number) {
    case CubNumber::u32:
      return run(sums ? reduce<CubKind::sum, unsigned, unsigned long long> : reduce<CubKind::max, unsigned, unsigned>);
    case CubNumber::f32:
      return run(sums ? reduce<CubKind::sum, float, float> : reduce<CubKind::max, float, float>);
    case CubNumber::f64:
      return run(sums ? reduce<CubKind::sum, double, double> : reduce<CubKind::max, double, double>);
  }
  return -1;
}
