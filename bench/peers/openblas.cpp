// OpenBLAS, from a library opened at run time: products of f32 and f64 on all cores, and transposes of float matrices.
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace axisloom::bench {
namespace {

constexpr const char* openblas_missing = "libopenblas.so.0 was not found; AXISLOOM_OPENBLAS can name it";

template <class Real>
using Gemm_ = void(int, int, int, int, int, int, Real, const Real*, int, const Real*, int, Real, Real*, int);
template <class Real>
using Gemv = void(int, int, int, int, Real, const Real*, int, const Real*, int, Real, Real*, int);

template <class Real>
using Omatcopy = void(int, int, int, int, Real, const Real*, int, Real*, int);
template <class Real>
using ComplexOmatcopy = void(int, int, int, int, const Real*, const Real*, int, Real*, int);

struct OpenBlas {
  device::DynamicLibrary library;
  Gemm_<float>* sgemm = nullptr;
  Gemm_<double>* dgemm = nullptr;
  Gemv<float>* sgemv = nullptr;
  Gemv<double>* dgemv = nullptr;
  Omatcopy<float>* somatcopy = nullptr;  // and the like: null in versions without
  Omatcopy<double>* domatcopy = nullptr;
  ComplexOmatcopy<float>* comatcopy = nullptr;
  ComplexOmatcopy<double>* zomatcopy = nullptr;
  void (*set_num_threads)(int) = nullptr;
  char* (*get_config)() = nullptr;
};

void set_variables(LoadingVariables& variables) {
  // After a call its threads spin for 2^26 cycles, while others have their turn. 2^20 are enough for them to be still
  // awake when a call follows the other.
  variables.set("OPENBLAS_THREAD_TIMEOUT", "20");
#if defined(__x86_64__)
  // Version 0.3.21 takes an AMD CPU with AVX-512 for a Haswell, and an Intel Xeon younger than itself for a Prescott
  // without AVX. Told the better name it is several times as fast (f32 800 x 800 on two cores of an EPYC: 113 and 212
  // GFLOP/s).
  if (__builtin_cpu_supports("avx512f")) variables.set("OPENBLAS_CORETYPE", "SkylakeX");
#endif
}

/// Null when there is no such library or it lacks a function. Looked for once.
const OpenBlas* openblas() {
  static const OpenBlas* const found = []() -> const OpenBlas* {
    LoadingVariables variables;
    set_variables(variables);
    auto* loaded = new OpenBlas{device::DynamicLibrary(library_files("AXISLOOM_OPENBLAS", {"libopenblas.so.0"}))};
    std::vector<std::string> missing;
    loaded->library.require("cblas_sgemm", loaded->sgemm, missing);
    loaded->library.require("cblas_dgemm", loaded->dgemm, missing);
    loaded->library.require("cblas_sgemv", loaded->sgemv, missing);
    loaded->library.require("cblas_dgemv", loaded->dgemv, missing);
    loaded->library.require("openblas_set_num_threads", loaded->set_num_threads, missing);
    loaded->library.require("openblas_get_config", loaded->get_config, missing);
    loaded->library.find("cblas_somatcopy", loaded->somatcopy);
    loaded->library.find("cblas_domatcopy", loaded->domatcopy);
    loaded->library.find("cblas_comatcopy", loaded->comatcopy);
    loaded->library.find("cblas_zomatcopy", loaded->zomatcopy);
    loaded->library.keep_loaded();
    return missing.empty() ? loaded : nullptr;
  }();
  return found;
}

template <class Real>
class OpenBlasProduct final : public Contestant {
 public:
  OpenBlasProduct(Workload& workload, const Gemm& gemm, Gemm_<Real>* gemm_function, Gemv<Real>* gemv_function)
      : Contestant(workload, "openblas", described(workload, gemm), Role::peer),
        gemm_(gemm),
        product_(*workload.product()),
        gemm_function_(gemm_function),
        gemv_function_(gemv_function) {
    openblas()->set_num_threads(static_cast<int>(workload.team().size()));
  }

  Timing run() override {
    wake_threads();
    const double start = now();
    for (int batch = 0; batch < gemm_.batch; ++batch) multiply(batch);
    return {now() - start, std::nullopt};
  }

 private:
  static bool by_vector(const Product& product) { return product.n == 1 && product.b.row == 1; }

  static std::string described(const Workload& workload, const Gemm& gemm) {
    const char letter = sizeof(Real) == 4 ? 's' : 'd';
    return fmt::format("cblas_{}{}{}, {} threads, {}", letter, by_vector(*workload.product()) ? "gemv" : "gemm",
                       gemm.batch > 1 ? " one after the other" : "", workload.team().size(), openblas()->get_config());
  }

  /// A product just large enough for all threads, which then wait for the one that counts.
  void wake_threads() {
    constexpr int side = 96;
    gemm_function_(cblas::row_major, cblas::no_trans, cblas::no_trans, side, side, side, 1, small_.data(), side,
                   small_.data(), side, 0, awake_.data(), side);
  }

  void multiply(int batch) {
    const Real* const a = reinterpret_cast<const Real*>(workload().host(0)) + product_.a.at(batch, 0, 0);
    const Real* const b = reinterpret_cast<const Real*>(workload().host(1)) + product_.b.at(batch, 0, 0);
    Real* const c = reinterpret_cast<Real*>(workload().host_out()) + product_.c.at(batch, 0, 0);
    const int trans_a = gemm_.a_transposed ? cblas::trans : cblas::no_trans,
              trans_b = gemm_.b_transposed ? cblas::trans : cblas::no_trans;
    if (by_vector(product_))
      gemv_function_(cblas::row_major, trans_a, gemm_.a_transposed ? gemm_.k : gemm_.m,
                     gemm_.a_transposed ? gemm_.m : gemm_.k, 1, a, gemm_.lda, b, 1, 0, c,
                     static_cast<int>(std::max<std::int64_t>(1, product_.c.row)));
    else
      gemm_function_(cblas::row_major, trans_a, trans_b, gemm_.m, gemm_.n, gemm_.k, 1, a, gemm_.lda, b, gemm_.ldb, 0, c,
                     gemm_.ldc);
  }

  Gemm gemm_;
  Product product_;
  Gemm_<Real>* gemm_function_;
  Gemv<Real>* gemv_function_;
  std::vector<Real> small_ = std::vector<Real>(96 * 96, Real{1}), awake_ = small_;
};

/// One matrix transposed, by the one thread that these functions have.
class OpenBlasTranspose final : public Contestant {
 public:
  OpenBlasTranspose(Workload& workload, const MatrixTranspose& what)
      : Contestant(workload, "openblas", described(workload.in().dtype), Role::peer), what_(what) {}

  Timing run() override {
    const core::Move& move = *workload().merged();
    const std::byte* const in = workload().host(0) + move.in_offset * move.element;
    std::byte* const out = workload().host_out() + move.out_offset * move.element;
    const double start = now();
    switch (workload().in().dtype) {
      case Dtype::f32:
        copy(openblas()->somatcopy, 1.0f, reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out));
        break;
      case Dtype::f64:
        copy(openblas()->domatcopy, 1.0, reinterpret_cast<const double*>(in), reinterpret_cast<double*>(out));
        break;
      case Dtype::c64:
        copy(openblas()->comatcopy, one_c64.data(), reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out));
        break;
      default:
        copy(openblas()->zomatcopy, one_c128.data(), reinterpret_cast<const double*>(in),
             reinterpret_cast<double*>(out));
    }
    return {now() - start, std::nullopt};
  }

  /// Whether the library has the function.
  static bool is_there(Dtype dtype) {
    const OpenBlas& library = *openblas();
    return (dtype == Dtype::f32 && library.somatcopy != nullptr) ||
           (dtype == Dtype::f64 && library.domatcopy != nullptr) ||
           (dtype == Dtype::c64 && library.comatcopy != nullptr) ||
           (dtype == Dtype::c128 && library.zomatcopy != nullptr);
  }

 private:
  static constexpr std::array<float, 2> one_c64{1, 0};
  static constexpr std::array<double, 2> one_c128{1, 0};

  static std::string described(Dtype dtype) {
    const char letter = dtype == Dtype::f32 ? 's' : dtype == Dtype::f64 ? 'd' : dtype == Dtype::c64 ? 'c' : 'z';
    return fmt::format("cblas_{}omatcopy, which has 1 thread, {}", letter, openblas()->get_config());
  }

  template <class Function, class One, class Real>
  void copy(Function* function, One one, const Real* in, Real* out) const {
    const auto size = [](std::int64_t value) { return static_cast<int>(value); };
    function(cblas::row_major, cblas::trans, size(what_.rows), size(what_.columns), one, in, size(what_.in_pitch), out,
             size(what_.out_pitch));
  }

  MatrixTranspose what_;
};

Offer offer_openblas_transpose(Workload& workload) {
  const auto what = matrix_transpose(*workload.merged());
  const Dtype dtype = workload.in().dtype;
  if (!what || !fits_int(*what) ||
      (dtype != Dtype::f32 && dtype != Dtype::f64 && dtype != Dtype::c64 && dtype != Dtype::c128))
    return Offer::absent("transposes matrices of floats of 4 bytes and more");
  if (openblas() == nullptr) return Offer::absent(openblas_missing);
  if (!OpenBlasTranspose::is_there(dtype)) return Offer::absent("this version has no omatcopy");
  return {std::make_unique<OpenBlasTranspose>(workload, *what), {}};
}

}  // namespace

Offer offer_openblas(Workload& workload, Session&) {
  if (workload.host(0) == nullptr) return Offer::absent("works on host memory only");
  if (workload.merged()) return offer_openblas_transpose(workload);
  const auto gemm = workload.product() ? gemm_of(*workload.product()) : std::nullopt;
  if (!gemm) return Offer::absent("multiplies and transposes matrices");
  const Dtype dtype = workload.product()->in;
  if (dtype != Dtype::f32 && dtype != Dtype::f64) return Offer::absent("has no product of this dtype");
  if (openblas() == nullptr) return Offer::absent(openblas_missing);
  if (dtype == Dtype::f32)
    return {std::make_unique<OpenBlasProduct<float>>(workload, *gemm, openblas()->sgemm, openblas()->sgemv), {}};
  return {std::make_unique<OpenBlasProduct<double>>(workload, *gemm, openblas()->dgemm, openblas()->dgemv), {}};
}

}  // namespace axisloom::bench
