// cuBLAS on CUDA devices, from a library opened at run time: geam (C = A transposed) and gemm for f32 and f64.
#include "bench/peers/cuda_call.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

namespace axisloom::bench::cublas {

using device::cuda::CUstream;

using Handle = struct cublasContext*;
using Status = int;                          // cublasStatus_t, 0 is success
constexpr int as_it_is = 0, transposed = 1;  // cublasOperation_t

/// The functions of cuBLAS that are used. Its column-major matrices are row-major ones with rows and columns exchanged.
template <class Real>
struct Functions {
  Status (*geam)(Handle, int, int, int, int, const Real*, const Real*, int, const Real*, const Real*, int, Real*,
                 int) = nullptr;
  Status (*gemm)(Handle, int, int, int, int, int, const Real*, const Real*, int, long long, const Real*, int, long long,
                 const Real*, Real*, int, long long, int) = nullptr;
};
struct Api : OfReals<Functions> {
  Status (*create)(Handle*) = nullptr;
  Status (*destroy)(Handle) = nullptr;
  Status (*set_stream)(Handle, CUstream) = nullptr;
  Status (*version)(Handle, int*) = nullptr;
};

namespace {

using Opened = OpenedLibrary<Api>;

void require_all(Opened& opened, std::vector<std::string>& missing) {
  const device::DynamicLibrary& library = opened.library;
  Api& api = opened.api;
  library.require("cublasCreate_v2", api.create, missing);
  library.require("cublasDestroy_v2", api.destroy, missing);
  library.require("cublasSetStream_v2", api.set_stream, missing);
  library.require("cublasGetVersion_v2", api.version, missing);
  library.require("cublasSgeam", api.f32.geam, missing);
  library.require("cublasDgeam", api.f64.geam, missing);
  library.require("cublasSgemmStridedBatched", api.f32.gemm, missing);
  library.require("cublasDgemmStridedBatched", api.f64.gemm, missing);
}

/// Looked for once.
const Opened& opened() {
  constexpr const char* variable = "AXISLOOM_CUBLAS";
  static const Opened& found =
      open_library<Opened>(cuda_library_files(variable, {"libcublas.so.13", "libcublas.so.12"}),
                           "libcublas.so.13 or .12", variable, require_all);
  return found;
}

const Api& functions() {
  return opened().api;
}

void require(int code, const char* call) {
  if (code != 0) throw Error(Errc::device, {.message = "cuBLAS fails", .call = call, .native = code});
}

/// A call with a handle on the workload's stream.
class HandleCall : public CudaCall {
 public:
  HandleCall(Workload& workload, const char* how) : CudaCall(workload, "cublas", how) {
    const CurrentContext current(stream());
    require(functions().create(&handle_), "cublasCreate");
    require(functions().set_stream(handle_, stream()), "cublasSetStream");
    int version = 0;
    require(functions().version(handle_, &version), "cublasGetVersion");
    describe(fmt::format("{}, cuBLAS {}", how, version_text(size_t(version))));
  }
  ~HandleCall() override {
    try {
      const CurrentContext current(stream());
      functions().destroy(handle_);
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
class GeamCall final : public HandleCall {
 public:
  GeamCall(Workload& workload, const MatrixTranspose& what) : HandleCall(workload, name), what_(what) {}

 private:
  static constexpr const char* name = sizeof(Real) == sizeof(float) ? "cublasSgeam" : "cublasDgeam";

  void call() override {
    const Real one = 1, zero = 0;
    const core::Move& move = *workload().merged();
    const Real* const in = address<Real>(workload().buffer(0), move.in_offset);
    Real* const out = address<Real>(workload().out_buffer(), move.out_offset);
    const auto in_pitch = int(what_.in_pitch), out_pitch = int(what_.out_pitch);
    require(functions().of<Real>().geam(handle(), transposed, as_it_is, int(what_.rows), int(what_.columns), &one, in,
                                        in_pitch, &zero, out, out_pitch, out, out_pitch),
            name);
  }

  MatrixTranspose what_;
};

/// C = A B of row-major matrices as C' = B' A' of column-major ones.
template <class Real>
class GemmCall final : public HandleCall {
 public:
  GemmCall(Workload& workload, const Gemm& gemm) : HandleCall(workload, name), gemm_(gemm) {}

 private:
  static constexpr const char* name =
      sizeof(Real) == sizeof(float) ? "cublasSgemmStridedBatched" : "cublasDgemmStridedBatched";

  void call() override {
    const Real one = 1, zero = 0;
    const Product& p = *workload().product();
    require(functions().of<Real>().gemm(
                handle(), gemm_.b_transposed ? transposed : as_it_is, gemm_.a_transposed ? transposed : as_it_is,
                gemm_.n, gemm_.m, gemm_.k, &one, address<Real>(workload().buffer(1), p.b.offset), gemm_.ldb, p.b.batch,
                address<Real>(workload().buffer(0), p.a.offset), gemm_.lda, p.a.batch, &zero,
                address<Real>(workload().out_buffer(), p.c.offset), gemm_.ldc, p.c.batch, gemm_.batch),
            name);
  }

  Gemm gemm_;
};

Offer offer_geam(Workload& workload) {
  const auto what = matrix_transpose(*workload.merged());
  if (!what) return Offer::absent("geam transposes matrices");
  if (!fits_int(*what)) return Offer::absent("the matrix is too large for its 32-bit sizes");
  return with_real(workload.in().dtype, [&](auto real) -> Offer {
    return {std::make_unique<GeamCall<decltype(real)>>(workload, *what), {}};
  });
}

Offer offer_gemm(Workload& workload) {
  const auto gemm = gemm_of(*workload.product());
  if (!gemm) return Offer::absent("has no function for matrices that lie like this");
  return with_real(workload.in().dtype, [&](auto real) -> Offer {
    return {std::make_unique<GemmCall<decltype(real)>>(workload, *gemm), {}};
  });
}

}  // namespace
}  // namespace axisloom::bench::cublas

namespace axisloom::bench {

Offer offer_cublas(Workload& workload, Session&) {
  if (workload.device().info().api != Api::cuda) return Offer::absent("runs on CUDA devices only");
  const Dtype dtype = workload.in().dtype;
  if ((!workload.merged() && !workload.product()) || (dtype != Dtype::f32 && dtype != Dtype::f64))
    return Offer::absent("is called to transpose and multiply matrices of f32 and f64");
  if (const std::string& why = cublas::opened().obstacle; !why.empty()) return Offer::absent(why);
  return workload.merged() ? cublas::offer_geam(workload) : cublas::offer_gemm(workload);
}

}  // namespace axisloom::bench
