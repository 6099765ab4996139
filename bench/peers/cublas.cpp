// cuBLAS on CUDA devices, from a library opened at run time: geam (C = A transposed) and gemm for f32 and f64.
#include "bench/peers/cuda_call.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include <fmt/format.h>

namespace axisloom::bench::cublas {

using Handle = struct cublasContext*;
using Status = int;                          // cublasStatus_t, 0 is success
constexpr int as_it_is = 0, transposed = 1;  // cublasOperation_t

/// The functions of cuBLAS that are used. Its column-major matrices are row-major ones with rows and columns exchanged.
template <class Real>
struct Functions {
  Status (*geam)(Handle, int, int, int, int, const Real*, const Real*, int, const Real*, const Real*, int, Real*, int);
  Status (*gemm)(Handle, int, int, int, int, int, const Real*, const Real*, int, long long, const Real*, int, long long,
                 const Real*, Real*, int, long long, int);
};
struct Api : Functions<float>, Functions<double> {
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*set_stream)(Handle, cuda::CUstream);
  Status (*version)(Handle, int*);
};

namespace {

template <class Real>
constexpr bool is_single = sizeof(Real) == sizeof(float);
template <class Real>
constexpr const char* geam_name = is_single<Real> ? "cublasSgeam" : "cublasDgeam";
template <class Real>
constexpr const char* gemm_name = is_single<Real> ? "cublasSgemmStridedBatched" : "cublasDgemmStridedBatched";

template <class Real>
void require_reals(OpenedLibrary<Api>& opened) {
  Functions<Real>& functions = opened.api;
  opened.require(geam_name<Real>, functions.geam);
  opened.require(gemm_name<Real>, functions.gemm);
}

void require_all(OpenedLibrary<Api>& opened) {
  opened.require("cublasCreate_v2", opened.api.create);
  opened.require("cublasDestroy_v2", opened.api.destroy);
  opened.require("cublasSetStream_v2", opened.api.set_stream);
  opened.require("cublasGetVersion_v2", opened.api.version);
  require_reals<float>(opened);
  require_reals<double>(opened);
}

/// Looked for once.
const Api& functions() {
  static const auto opened =
      open_library<Api>(cuda_library_files, "AXISLOOM_CUBLAS", {"libcublas.so.13", "libcublas.so.12"}, require_all);
  return opened.functions();
}

constexpr Requirement require{"cuBLAS"};

/// A call with a handle on the workload's stream.
class HandleCall : public CudaCall {
 public:
  HandleCall(Workload& workload, const char* how) : CudaCall(workload, "cublas", how) {
    const CurrentContext current(stream());
    require(functions().create(&handle_), "cublasCreate");
    at_end([handle = handle_] { functions().destroy(handle); });
    require(functions().set_stream(handle_, stream()), "cublasSetStream");
    int version = 0;
    require(functions().version(handle_, &version), "cublasGetVersion");
    describe(fmt::format("{}, cuBLAS {}", how, version_text(version)));
  }

 protected:
  Handle handle() const noexcept { return handle_; }

 private:
  Handle handle_ = nullptr;
};

template <class Real>
class GeamCall final : public HandleCall {
 public:
  GeamCall(Workload& workload, const MatrixTranspose& what) : HandleCall(workload, geam_name<Real>), what_(what) {}

 private:
  void call() override {
    const Functions<Real>& real = functions();
    const Real one = 1, zero = 0;
    const auto& [rows, columns, in_pitch, out_pitch, in_offset, out_offset] = what_;
    Real* const out = address<Real>(1, out_offset);
    require(real.geam(handle(), transposed, as_it_is, rows, columns, &one, address<Real>(0, in_offset), in_pitch, &zero,
                      out, out_pitch, out, out_pitch),
            geam_name<Real>);
  }

  MatrixTranspose what_;
};

/// C = A B of row-major matrices as C' = B' A' of column-major ones.
template <class Real>
class GemmCall final : public HandleCall {
 public:
  GemmCall(Workload& workload, const Gemm& gemm) : HandleCall(workload, gemm_name<Real>), gemm_(gemm) {}

 private:
  void call() override {
    const Functions<Real>& real = functions();
    const Real one = 1, zero = 0;
    const auto& [m, n, k, batch, a, b, c] = gemm_;
    require(real.gemm(handle(), b.transposed ? transposed : as_it_is, a.transposed ? transposed : as_it_is, n, m, k,
                      &one, address<Real>(1, b.offset), b.pitch, b.batch, address<Real>(0, a.offset), a.pitch, a.batch,
                      &zero, address<Real>(2, c.offset), c.pitch, c.batch, batch),
            gemm_name<Real>);
  }

  Gemm gemm_;
};

}  // namespace
}  // namespace axisloom::bench::cublas

namespace axisloom::bench {

UniqueContestant make_cublas(Workload& workload, Session&) {
  require_cuda(workload);
  require_real_matrices(workload);
  cublas::functions();
  if (workload.product()) {
    const auto gemm = gemm_of(*workload.product());
    if (!gemm) refuse("has no function for matrices that lie like this");
    return make_real<cublas::GemmCall>(workload, *gemm);
  }
  const auto what = matrix_transpose(*workload.merged());
  if (!what) refuse("geam transposes matrices");
  if (!fits_int(*what)) refuse("the matrix is too large for its 32-bit sizes");
  return make_real<cublas::GeamCall>(workload, *what);
}

}  // namespace axisloom::bench
