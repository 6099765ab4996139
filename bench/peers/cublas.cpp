// cuBLAS on CUDA devices, from a library opened at run time: geam (C = A transposed) and gemm for f32 and f64.
#include "bench/peers/cuda_call.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

namespace axisloom::bench {
namespace {

using device::cuda::CUstream;

using Handle = struct cublasContext*;
using Status = int;                          // cublasStatus_t, 0 is success
constexpr int as_it_is = 0, transposed = 1;  // cublasOperation_t

template <class Real>
using Geam = Status(Handle, int, int, int, int, const Real*, const Real*, int, const Real*, const Real*, int, Real*,
                    int);

template <class Real>
using GemmBatched = Status(Handle, int, int, int, int, int, const Real*, const Real*, int, long long, const Real*, int,
                           long long, const Real*, Real*, int, long long, int);

/// The functions of cuBLAS that are used. Its column-major matrices are row-major ones with rows and columns exchanged.
struct Cublas {
  device::DynamicLibrary library;
  Status (*create)(Handle*) = nullptr;
  Status (*destroy)(Handle) = nullptr;
  Status (*set_stream)(Handle, CUstream) = nullptr;
  Status (*version)(Handle, int*) = nullptr;
  Geam<float>* sgeam = nullptr;
  Geam<double>* dgeam = nullptr;
  GemmBatched<float>* sgemm = nullptr;
  GemmBatched<double>* dgemm = nullptr;
};

/// Null when there is no such library or it lacks a function. Looked for once.
const Cublas* cublas() {
  static const Cublas* const found = []() -> const Cublas* {
    auto* loaded = new Cublas{
        device::DynamicLibrary(cuda_library_files("AXISLOOM_CUBLAS", {"libcublas.so.13", "libcublas.so.12"}))};
    std::vector<std::string> missing;
    loaded->library.require("cublasCreate_v2", loaded->create, missing);
    loaded->library.require("cublasDestroy_v2", loaded->destroy, missing);
    loaded->library.require("cublasSetStream_v2", loaded->set_stream, missing);
    loaded->library.require("cublasGetVersion_v2", loaded->version, missing);
    loaded->library.require("cublasSgeam", loaded->sgeam, missing);
    loaded->library.require("cublasDgeam", loaded->dgeam, missing);
    loaded->library.require("cublasSgemmStridedBatched", loaded->sgemm, missing);
    loaded->library.require("cublasDgemmStridedBatched", loaded->dgemm, missing);
    loaded->library.keep_loaded();
    return missing.empty() ? loaded : nullptr;
  }();
  return found;
}

void require_cublas(int code, const char* call) {
  if (code != 0) throw Error(Errc::device, {.message = "cuBLAS fails", .call = call, .native = code});
}

/// A call with a handle on the workload's stream.
class CublasCall : public CudaCall {
 public:
  CublasCall(Workload& workload, const char* how) : CudaCall(workload, "cublas", how) {
    const CurrentContext current(stream());
    require_cublas(cublas()->create(&handle_), "cublasCreate");
    require_cublas(cublas()->set_stream(handle_, stream()), "cublasSetStream");
    int version = 0;
    require_cublas(cublas()->version(handle_, &version), "cublasGetVersion");
    describe(fmt::format("{}, cuBLAS {}", how, version_text(static_cast<std::size_t>(version))));
  }
  ~CublasCall() override {
    try {
      const CurrentContext current(stream());
      cublas()->destroy(handle_);
    } catch (const Error&) {
      // A context that is gone has taken its handles along.
    }
  }

 protected:
  Handle handle() const noexcept { return handle_; }

 private:
  Handle handle_ = nullptr;
};

template <class Real>
class CublasGeam final : public CublasCall {
 public:
  CublasGeam(Workload& workload, const MatrixTranspose& what, Geam<Real>* function, const char* name)
      : CublasCall(workload, name), what_(what), function_(function), name_(name) {}

 private:
  void call() override {
    const Real one = 1, zero = 0;
    const core::Move& move = *workload().merged();
    const Real* const in = address<Real>(workload().buffer(0), move.in_offset);
    Real* const out = address<Real>(workload().out_buffer(), move.out_offset);
    const auto in_pitch = static_cast<int>(what_.in_pitch), out_pitch = static_cast<int>(what_.out_pitch);
    require_cublas(
        function_(handle(), transposed, as_it_is, static_cast<int>(what_.rows), static_cast<int>(what_.columns), &one,
                  in, in_pitch, &zero, out, out_pitch, out, out_pitch),
        name_);
  }

  MatrixTranspose what_;
  Geam<Real>* function_;
  const char* name_;
};

/// C = A B of row-major matrices as C' = B' A' of column-major ones.
template <class Real>
class CublasGemm final : public CublasCall {
 public:
  CublasGemm(Workload& workload, const Gemm& gemm, GemmBatched<Real>* function, const char* name)
      : CublasCall(workload, name), gemm_(gemm), function_(function), name_(name) {}

 private:
  void call() override {
    const Real one = 1, zero = 0;
    const Product& p = *workload().product();
    require_cublas(
        function_(handle(), gemm_.b_transposed ? transposed : as_it_is, gemm_.a_transposed ? transposed : as_it_is,
                  gemm_.n, gemm_.m, gemm_.k, &one, address<Real>(workload().buffer(1), p.b.offset), gemm_.ldb,
                  p.b.batch, address<Real>(workload().buffer(0), p.a.offset), gemm_.lda, p.a.batch, &zero,
                  address<Real>(workload().out_buffer(), p.c.offset), gemm_.ldc, p.c.batch, gemm_.batch),
        name_);
  }

  Gemm gemm_;
  GemmBatched<Real>* function_;
  const char* name_;
};

Offer offer_geam(Workload& workload) {
  const auto what = matrix_transpose(*workload.merged());
  if (!what) return Offer::absent("geam transposes matrices");
  if (!fits_int(*what)) return Offer::absent("the matrix is too large for its 32-bit sizes");
  if (workload.in().dtype == Dtype::f32)
    return {std::make_unique<CublasGeam<float>>(workload, *what, cublas()->sgeam, "cublasSgeam"), {}};
  return {std::make_unique<CublasGeam<double>>(workload, *what, cublas()->dgeam, "cublasDgeam"), {}};
}

Offer offer_gemm(Workload& workload) {
  const auto gemm = gemm_of(*workload.product());
  if (!gemm) return Offer::absent("has no function for matrices that lie like this");
  if (workload.in().dtype == Dtype::f32)
    return {std::make_unique<CublasGemm<float>>(workload, *gemm, cublas()->sgemm, "cublasSgemmStridedBatched"), {}};
  return {std::make_unique<CublasGemm<double>>(workload, *gemm, cublas()->dgemm, "cublasDgemmStridedBatched"), {}};
}

}  // namespace

Offer offer_cublas(Workload& workload, Session&) {
  if (workload.device().info().api != Api::cuda) return Offer::absent("runs on CUDA devices only");
  const Dtype dtype = workload.in().dtype;
  if ((!workload.merged() && !workload.product()) || (dtype != Dtype::f32 && dtype != Dtype::f64))
    return Offer::absent("is called to transpose and multiply matrices of f32 and f64");
  if (cublas() == nullptr) return Offer::absent("libcublas.so.13 or .12 was not found; AXISLOOM_CUBLAS can name it");
  return workload.merged() ? offer_geam(workload) : offer_gemm(workload);
}

}  // namespace axisloom::bench
