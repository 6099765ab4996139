// OpenBLAS, from a library opened at run time: products of f32 and f64 on all cores, and transposes of float matrices.
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench::openblas {

/// The omatcopies are null in versions without.
template <class Real>
struct Functions {
  void (*gemm)(int, int, int, int, int, int, Real, const Real*, int, const Real*, int, Real, Real*, int) = nullptr;
  void (*gemv)(int, int, int, int, Real, const Real*, int, const Real*, int, Real, Real*, int) = nullptr;
  void (*omatcopy)(int, int, int, int, Real, const Real*, int, Real*, int) = nullptr;
  void (*complex_omatcopy)(int, int, int, int, const Real*, const Real*, int, Real*, int) = nullptr;
};
struct Api : OfReals<Functions> {
  void (*set_num_threads)(int) = nullptr;
  char* (*get_config)() = nullptr;
};

namespace {

using Opened = OpenedLibrary<Api>;

/// The letter that names have for elements of these: cblas_sgemm.
template <class Real>
char letter_of(bool complex) {
  return sizeof(Real) == sizeof(float) ? (complex ? 'c' : 's') : (complex ? 'z' : 'd');
}

template <class Real>
void require_all(const device::DynamicLibrary& library, Functions<Real>& functions, std::vector<std::string>& missing) {
  const auto named = [](const char* what, bool complex = false) {
    return fmt::format("cblas_{}{}", letter_of<Real>(complex), what);
  };
  library.require(named("gemm").c_str(), functions.gemm, missing);
  library.require(named("gemv").c_str(), functions.gemv, missing);
  library.find(named("omatcopy").c_str(), functions.omatcopy);
  library.find(named("omatcopy", true).c_str(), functions.complex_omatcopy);
}

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

/// Looked for once.
const Opened& opened() {
  static const Opened& found = []() -> const Opened& {
    constexpr const char *variable = "AXISLOOM_OPENBLAS", *name = "libopenblas.so.0";
    LoadingVariables variables;
    set_variables(variables);
    return open_library<Opened>(
        library_files(variable, {name}), name, variable, [](Opened& opened, std::vector<std::string>& missing) {
          require_all(opened.library, opened.api.f32, missing);
          require_all(opened.library, opened.api.f64, missing);
          opened.library.require("openblas_set_num_threads", opened.api.set_num_threads, missing);
          opened.library.require("openblas_get_config", opened.api.get_config, missing);
        });
  }();
  return found;
}

const Api& functions() {
  return opened().api;
}

template <class Real>
class ProductCall final : public Contestant {
 public:
  ProductCall(Workload& workload, const Gemm& gemm)
      : Contestant(workload, "openblas", described(workload, gemm), Role::peer),
        gemm_(gemm),
        product_(*workload.product()) {
    functions().set_num_threads(int(workload.team().size()));
  }

  Timing run() override {
    wake_threads();
    const double start = now();
    for (int batch = 0; batch < gemm_.batch; ++batch) multiply(batch);
    return {now() - start, std::nullopt};
  }

 private:
  static constexpr int side = 96;  // of a product just large enough for all threads

  static bool by_vector(const Product& product) { return product.n == 1 && product.b.row == 1; }

  static std::string described(const Workload& workload, const Gemm& gemm) {
    return fmt::format("cblas_{}{}{}, {} threads, {}", letter_of<Real>(false),
                       by_vector(*workload.product()) ? "gemv" : "gemm", gemm.batch > 1 ? " one after the other" : "",
                       workload.team().size(), functions().get_config());
  }

  /// All threads then wait for the product that counts.
  void wake_threads() {
    functions_.gemm(cblas::row_major, cblas::no_trans, cblas::no_trans, side, side, side, 1, small_.data(), side,
                    small_.data(), side, 0, awake_.data(), side);
  }

  void multiply(int batch) {
    const Real* const a = reinterpret_cast<const Real*>(workload().host(0)) + product_.a.at(batch, 0, 0);
    const Real* const b = reinterpret_cast<const Real*>(workload().host(1)) + product_.b.at(batch, 0, 0);
    Real* const c = reinterpret_cast<Real*>(workload().host_out()) + product_.c.at(batch, 0, 0);
    const auto& [m, n, k, batches, a_transposed, b_transposed, lda, ldb, ldc] = gemm_;
    if (by_vector(product_))
      functions_.gemv(cblas::row_major, cblas::trans_if(a_transposed), a_transposed ? k : m, a_transposed ? m : k, 1, a,
                      lda, b, 1, 0, c, int(std::max<i64>(1, product_.c.row)));
    else
      functions_.gemm(cblas::row_major, cblas::trans_if(a_transposed), cblas::trans_if(b_transposed), m, n, k, 1, a,
                      lda, b, ldb, 0, c, ldc);
  }

  Gemm gemm_;
  Product product_;
  const Functions<Real>& functions_ = functions().of<Real>();
  std::vector<Real> small_ = std::vector<Real>(side * side, Real{1}), awake_ = small_;
};

/// One matrix of real or complex elements transposed, by the one thread that these functions have.
template <class Real>
class TransposeCall final : public Contestant {
 public:
  TransposeCall(Workload& workload, const MatrixTranspose& what, bool complex)
      : Contestant(
            workload, "openblas",
            fmt::format("cblas_{}omatcopy, which has 1 thread, {}", letter_of<Real>(complex), functions().get_config()),
            Role::peer),
        what_(what),
        complex_(complex) {}

  Timing run() override {
    static constexpr Real one[] = {1, 0};
    const auto& own = functions().of<Real>();
    const double start = now();
    if (complex_)
      copy(own.complex_omatcopy, one);
    else
      copy(own.omatcopy, one[0]);
    return {now() - start, std::nullopt};
  }

 private:
  template <class Function, class One>
  void copy(Function* function, One one) const {
    function(cblas::row_major, cblas::trans, int(what_.rows), int(what_.columns), one,
             reinterpret_cast<const Real*>(workload().move_from()), int(what_.in_pitch),
             reinterpret_cast<Real*>(workload().move_to()), int(what_.out_pitch));
  }

  MatrixTranspose what_;
  bool complex_;
};

template <class Real>
Offer offer_transpose(Workload& workload, const MatrixTranspose& what, bool complex) {
  const auto& own = functions().of<Real>();
  if (complex ? own.complex_omatcopy == nullptr : own.omatcopy == nullptr)
    return Offer::absent("this version has no omatcopy");
  return {std::make_unique<TransposeCall<Real>>(workload, what, complex), {}};
}

Offer offer_transpose(Workload& workload) {
  const auto what = matrix_transpose(*workload.merged());
  const Dtype dtype = workload.in().dtype;
  const bool complex = dtype == Dtype::c64 || dtype == Dtype::c128;
  if (!what || !fits_int(*what) || (dtype != Dtype::f32 && dtype != Dtype::f64 && !complex))
    return Offer::absent("transposes matrices of floats of 4 bytes and more");
  if (const std::string& why = opened().obstacle; !why.empty()) return Offer::absent(why);
  return with_real(dtype == Dtype::c64 ? Dtype::f32 : dtype,
                   [&](auto real) { return offer_transpose<decltype(real)>(workload, *what, complex); });
}

}  // namespace
}  // namespace axisloom::bench::openblas

namespace axisloom::bench {

Offer offer_openblas(Workload& workload, Session&) {
  if (workload.host(0) == nullptr) return Offer::absent("works on host memory only");
  if (workload.merged()) return openblas::offer_transpose(workload);
  const auto gemm = workload.product() ? gemm_of(*workload.product()) : std::nullopt;
  if (!gemm) return Offer::absent("multiplies and transposes matrices");
  const Dtype dtype = workload.product()->in;
  if (dtype != Dtype::f32 && dtype != Dtype::f64) return Offer::absent("has no product of this dtype");
  if (const std::string& why = openblas::opened().obstacle; !why.empty()) return Offer::absent(why);
  return with_real(dtype, [&](auto real) -> Offer {
    return {std::make_unique<openblas::ProductCall<decltype(real)>>(workload, *gemm), {}};
  });
}

}  // namespace axisloom::bench
