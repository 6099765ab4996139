// cuda::copy of mdspans as a small module of its own, since its templates need nvcc: bench/peers/mdspan.cpp opens it at run
// time.
#include "mdspan_module.hpp"

#include <cuda/mdspan>
#include <cuda/std/array>
#include <cuda/stream>

#include <exception>

namespace {

struct alignas(16) Bytes16 {
  unsigned long long halves[2];
};

template <class Element, int rank>
void copy(const MdspanCopy& job, cudaStream_t stream) {
  using Extents = cuda::std::dextents<int, rank>;
  using Mapping = cuda::std::layout_stride::mapping<Extents>;
  cuda::std::array<int, rank> extents, in, out;
  for (int d = 0; d < rank; ++d) {
    extents[d] = job.extents[d];
    in[d] = job.in_strides[d];
    out[d] = job.out_strides[d];
  }
  using From = cuda::device_mdspan<const Element, Extents, cuda::std::layout_stride>;
  using To = cuda::device_mdspan<Element, Extents, cuda::std::layout_stride>;
  cuda::copy(From(static_cast<const Element*>(job.in), Mapping(Extents(extents), in)),
             To(static_cast<Element*>(job.out), Mapping(Extents(extents), out)), cuda::stream_ref(stream));
}

template <class Element, int rank = 1>
void copy_of(const MdspanCopy& job, cudaStream_t stream) {
  if (job.rank == rank) return copy<Element, rank>(job, stream);
  if constexpr (rank < mdspan_most_axes) copy_of<Element, rank + 1>(job, stream);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) bool axisloom_mdspan(const MdspanCopy* job, void* stream) try {
  const auto on = static_cast<cudaStream_t>(stream);
  switch (job->element) {
    case 1: copy_of<unsigned char>(*job, on); break;
    case 2: copy_of<unsigned short>(*job, on); break;
    case 4: copy_of<unsigned>(*job, on); break;
    case 8: copy_of<unsigned long long>(*job, on); break;
    case 16: copy_of<Bytes16>(*job, on); break;
    default: return false;
  }
  return true;
} catch (const std::exception&) {
  return false;
}
