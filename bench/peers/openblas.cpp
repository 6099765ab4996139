// OpenBLAS on all cores: products of f32 and f64, from a library opened at run time.
#include "bench/peers/peers.hpp"

#include "device/dynamic_library.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace axisloom::bench {
namespace {

constexpr int row_major = 101, no_trans = 111, trans = 112;  // of CBLAS

template <class Real>
using Gemm_ = void(int, int, int, int, int, int, Real, const Real*, int, const Real*, int, Real, Real*, int);
template <class Real>
using Gemv = void(int, int, int, int, Real, const Real*, int, const Real*, int, Real, Real*, int);

struct OpenBlas {
  device::DynamicLibrary library;
  Gemm_<float>* sgemm = nullptr;
  Gemm_<double>* dgemm = nullptr;
  Gemv<float>* sgemv = nullptr;
  Gemv<double>* dgemv = nullptr;
  void (*set_num_threads)(int) = nullptr;
  char* (*get_config)() = nullptr;
};

/// What OpenBLAS reads when it is loaded, for as long as this lives: other processes are none of its business.
class LoadingVariables {
 public:
  LoadingVariables() {
    // After a call its threads spin for 2^26 cycles, while others have their turn. 2^20 are enough for them to be still
    // awake when a call follows the other.
    set("OPENBLAS_THREAD_TIMEOUT", "20");
#if defined(__x86_64__)
    // Version 0.3.21 takes an AMD CPU with AVX-512 for a Haswell, and an Intel Xeon younger than itself for a Prescott
    // without AVX. Told the better name it is several times as fast (f32 800 x 800 on two cores of an EPYC: 113 and 212
    // GFLOP/s).
    if (__builtin_cpu_supports("avx512f")) set("OPENBLAS_CORETYPE", "SkylakeX");
#endif
  }
  ~LoadingVariables() {
    for (const char* name : set_) unsetenv(name);
  }
  LoadingVariables(const LoadingVariables&) = delete;
  LoadingVariables& operator=(const LoadingVariables&) = delete;

 private:
  void set(const char* name, const char* value) {
    if (std::getenv(name) != nullptr) return;
    setenv(name, value, 0);
    set_.push_back(name);
  }

  std::vector<const char*> set_;
};

/// Null when there is no such library or it lacks a function. Looked for once.
const OpenBlas* openblas() {
  static const OpenBlas* const found = []() -> const OpenBlas* {
    const LoadingVariables variables;
    std::vector<std::string> files;
    if (const char* named = std::getenv("AXISLOOM_OPENBLAS")) files.emplace_back(named);
    files.emplace_back("libopenblas.so.0");
    auto* loaded = new OpenBlas{device::DynamicLibrary(files)};
    std::vector<std::string> missing;
    loaded->library.require("cblas_sgemm", loaded->sgemm, missing);
    loaded->library.require("cblas_dgemm", loaded->dgemm, missing);
    loaded->library.require("cblas_sgemv", loaded->sgemv, missing);
    loaded->library.require("cblas_dgemv", loaded->dgemv, missing);
    loaded->library.require("openblas_set_num_threads", loaded->set_num_threads, missing);
    loaded->library.require("openblas_get_config", loaded->get_config, missing);
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
    gemm_function_(row_major, no_trans, no_trans, side, side, side, 1, small_.data(), side, small_.data(), side, 0,
                   awake_.data(), side);
  }

  void multiply(int batch) {
    const Real* const a = reinterpret_cast<const Real*>(workload().host(0)) + product_.a.at(batch, 0, 0);
    const Real* const b = reinterpret_cast<const Real*>(workload().host(1)) + product_.b.at(batch, 0, 0);
    Real* const c = reinterpret_cast<Real*>(workload().host_out()) + product_.c.at(batch, 0, 0);
    const int trans_a = gemm_.a_transposed ? trans : no_trans, trans_b = gemm_.b_transposed ? trans : no_trans;
    if (by_vector(product_))
      gemv_function_(row_major, trans_a, gemm_.a_transposed ? gemm_.k : gemm_.m, gemm_.a_transposed ? gemm_.m : gemm_.k,
                     1, a, gemm_.lda, b, 1, 0, c, static_cast<int>(std::max<std::int64_t>(1, product_.c.row)));
    else
      gemm_function_(row_major, trans_a, trans_b, gemm_.m, gemm_.n, gemm_.k, 1, a, gemm_.lda, b, gemm_.ldb, 0, c,
                     gemm_.ldc);
  }

  Gemm gemm_;
  Product product_;
  Gemm_<Real>* gemm_function_;
  Gemv<Real>* gemv_function_;
  std::vector<Real> small_ = std::vector<Real>(96 * 96, Real{1}), awake_ = small_;
};

}  // namespace

Offer offer_openblas(Workload& workload, Session&) {
  if (workload.host(0) == nullptr) return Offer::absent("works on host memory only");
  const auto gemm = workload.product() ? gemm_of(*workload.product()) : std::nullopt;
  if (!gemm) return Offer::absent("multiplies matrices");
  const Dtype dtype = workload.product()->in;
  if (dtype != Dtype::f32 && dtype != Dtype::f64) return Offer::absent("has no product of this dtype");
  if (openblas() == nullptr) return Offer::absent("libopenblas.so.0 was not found; AXISLOOM_OPENBLAS can name it");
  if (dtype == Dtype::f32)
    return {std::make_unique<OpenBlasProduct<float>>(workload, *gemm, openblas()->sgemm, openblas()->sgemv), {}};
  return {std::make_unique<OpenBlasProduct<double>>(workload, *gemm, openblas()->dgemm, openblas()->dgemv), {}};
}

}  // namespace axisloom::bench
