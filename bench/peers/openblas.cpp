// OpenBLAS, from a library opened at run time: products of f32 and f64 on all cores, and transposes of float matrices.
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include <fmt/format.h>

namespace axisloom::bench::openblas {

/// The omatcopies are null in versions without.
template <class Real>
struct Functions {
  void (*gemm)(int, int, int, int, int, int, Real, const Real*, int, const Real*, int, Real, Real*, int);
  void (*gemv)(int, int, int, int, Real, const Real*, int, const Real*, int, Real, Real*, int);
  void (*omatcopy)(int, int, int, int, Real, const Real*, int, Real*, int);
  void (*complex_omatcopy)(int, int, int, int, const Real*, const Real*, int, Real*, int);
};
struct Api : Functions<float>, Functions<double> {
  void (*set_num_threads)(int);
  char* (*get_config)();
};

namespace {

/// "cblas_sgemm": functions have a letter for the elements that they take.
template <class Real>
std::string name_of(const char* what, bool complex = false) {
  const char letter = sizeof(Real) == sizeof(float) ? (complex ? 'c' : 's') : (complex ? 'z' : 'd');
  return concat("cblas_", letter, what);
}

template <class Real>
void require_reals(OpenedLibrary<Api>& opened) {
  Functions<Real>& functions = opened.api;
  opened.require(name_of<Real>("gemm"), functions.gemm);
  opened.require(name_of<Real>("gemv"), functions.gemv);
  opened.library.find(name_of<Real>("omatcopy").c_str(), functions.omatcopy);
  opened.library.find(name_of<Real>("omatcopy", true).c_str(), functions.complex_omatcopy);
}

void require_all(OpenedLibrary<Api>& opened) {
  require_reals<float>(opened);
  require_reals<double>(opened);
  opened.require("openblas_set_num_threads", opened.api.set_num_threads);
  opened.require("openblas_get_config", opened.api.get_config);
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
const Api& functions() {
  static const auto opened = [] {
    LoadingVariables variables;
    set_variables(variables);
    return open_library<Api>(library_files, "AXISLOOM_OPENBLAS", {"libopenblas.so.0"}, require_all);
  }();
  return opened.functions();
}

template <class Real>
class ProductCall final : public HostCall {
 public:
  ProductCall(Workload& workload, const Gemm& gemm) : HostCall(workload, "openblas", {}), gemm_(gemm) {
    const int threads = workload.team().size();
    functions().set_num_threads(threads);
    describe(fmt::format("{}{}, {} threads, {}", name_of<Real>(by_vector() ? "gemv" : "gemm"),
                         gemm.batch > 1 ? " one after the other" : "", threads, functions().get_config()));
  }

 private:
  bool by_vector() const { return gemm_.n == 1 && gemm_.b.pitch == 1; }

  void call() override {
    for (int batch = 0; batch < gemm_.batch; ++batch) multiply(batch);
  }

  Real* matrix(size_t i, const Stored& stored, int batch) const {
    return reinterpret_cast<Real*>(workload().host(i)) + stored.offset + batch * stored.batch;
  }

  void multiply(int batch) {
    const auto& [m, n, k, batches, a, b, c] = gemm_;
    const Real *const a_at = matrix(0, a, batch), *const b_at = matrix(1, b, batch);
    Real* const c_at = matrix(2, c, batch);
    if (by_vector())
      functions_.gemv(cblas::row_major, a.trans(), a.transposed ? k : m, a.transposed ? m : k, 1, a_at, a.pitch, b_at,
                      1, 0, c_at, c.pitch);
    else
      functions_.gemm(cblas::row_major, a.trans(), b.trans(), m, n, k, 1, a_at, a.pitch, b_at, b.pitch, 0, c_at,
                      c.pitch);
  }

  Gemm gemm_;
  const Functions<Real>& functions_ = functions();
};

bool is_complex(const Workload& workload) {
  return workload.in().dtype == Dtype::c64 || workload.in().dtype == Dtype::c128;
}

/// One matrix of real or complex elements transposed, by the one thread that these functions have.
template <class Real>
class TransposeCall final : public HostCall {
 public:
  TransposeCall(Workload& workload, const MatrixTranspose& what)
      : HostCall(workload, "openblas",
                 concat(name_of<Real>("omatcopy", is_complex(workload)), ", which has 1 thread, ",
                        functions().get_config())),
        what_(what) {
    if (complex_ ? functions_.complex_omatcopy == nullptr : functions_.omatcopy == nullptr)
      refuse("this version has no omatcopy");
  }

 private:
  void call() override {
    static constexpr Real one[] = {1, 0};
    const auto copy = [&](auto* function, auto factor) {
      function(cblas::row_major, cblas::trans, what_.rows, what_.columns, factor,
               reinterpret_cast<const Real*>(workload().move_from()), what_.in_pitch,
               reinterpret_cast<Real*>(workload().move_to()), what_.out_pitch);
    };
    if (complex_)
      copy(functions_.complex_omatcopy, one);
    else
      copy(functions_.omatcopy, 1);
  }

  const Functions<Real>& functions_ = functions();
  MatrixTranspose what_;
  bool complex_ = is_complex(workload());
};

}  // namespace
}  // namespace axisloom::bench::openblas

namespace axisloom::bench {

UniqueContestant make_openblas(Workload& workload, Session&) {
  if (workload.host(0) == nullptr) refuse("works on host memory only");
  const Dtype dtype = workload.in().dtype;
  const bool real = dtype == Dtype::f32 || dtype == Dtype::f64;
  if (workload.merged()) {
    const auto what = matrix_transpose(*workload.merged());
    if (!what || !fits_int(*what) || (!real && !openblas::is_complex(workload)))
      refuse("transposes matrices of floats of 4 bytes and more");
    return make_real<openblas::TransposeCall>(workload, *what);
  }
  const auto gemm = workload.product() ? gemm_of(*workload.product()) : std::nullopt;
  if (!gemm) refuse("multiplies and transposes matrices");
  if (!real) refuse("has no product of this dtype");
  return make_real<openblas::ProductCall>(workload, *gemm);
}

}  // namespace axisloom::bench
