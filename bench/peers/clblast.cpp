// CLBlast on OpenCL devices, on Axisloom's own buffers and queue, from a library opened at run time.
#include "bench/peers/peers.hpp"

#include "device/dynamic_library.hpp"
#include "device/opencl/functions.hpp"

#include <axisloom/error.hpp>

#include <cstdlib>

namespace axisloom::bench {
namespace {

constexpr int row_major = 101, no_trans = 111, trans = 112;  // CLBlastLayout, CLBlastTranspose

using std::size_t;
template <class Real>
using ClblastGemm = int(int, int, int, size_t, size_t, size_t, Real, cl_mem, size_t, size_t, size_t, cl_mem, size_t,
                        size_t, size_t, Real, cl_mem, size_t, size_t, size_t, size_t, cl_command_queue*, cl_event*);
template <class Real>
using ClblastSingle = int(int, int, int, size_t, size_t, size_t, Real, cl_mem, size_t, size_t, cl_mem, size_t, size_t,
                          Real, cl_mem, size_t, size_t, cl_command_queue*, cl_event*);

template <class Real>
struct Functions {
  ClblastSingle<Real>* gemm = nullptr;
  ClblastGemm<Real>* batched = nullptr;
};
struct Clblast {
  device::DynamicLibrary library;
  Functions<float> single_precision;
  Functions<double> double_precision;
};

/// Null when there is no such library or it lacks a function. Looked for once.
const Clblast* clblast() {
  static const Clblast* const found = []() -> const Clblast* {
    std::vector<std::string> files;
    if (const char* named = std::getenv("AXISLOOM_CLBLAST")) files.emplace_back(named);
    files.emplace_back("libclblast.so.1");
    auto* loaded = new Clblast{device::DynamicLibrary(files), {}, {}};
    std::vector<std::string> missing;
    loaded->library.require("CLBlastSgemm", loaded->single_precision.gemm, missing);
    loaded->library.require("CLBlastDgemm", loaded->double_precision.gemm, missing);
    loaded->library.require("CLBlastSgemmStridedBatched", loaded->single_precision.batched, missing);
    loaded->library.require("CLBlastDgemmStridedBatched", loaded->double_precision.batched, missing);
    loaded->library.keep_loaded();
    return missing.empty() ? loaded : nullptr;
  }();
  return found;
}

void require_clblast(int code, const char* call) {
  if (code != 0) throw Error(Errc::device, {.message = "CLBlast fails", .call = call, .native = code});
}

/// The end of a command in nanoseconds by the device's clock.
cl_ulong end_of(cl_event event) {
  cl_ulong end = 0;
  require_clblast(
      device::opencl::cl().clGetEventProfilingInfo.function(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
      "clGetEventProfilingInfo");
  return end;
}

template <class Real>
class ClblastProduct final : public Contestant {
 public:
  ClblastProduct(Workload& workload, const Gemm& gemm, const Functions<Real>& functions)
      : Contestant(workload, "clblast", name_of(gemm), Role::peer),
        gemm_(gemm),
        functions_(functions),
        mark_(workload.device().allocate(1)) {}

  Timing run() override {
    device::Queue& queue = *workload().queue().impl();
    const auto mark = queue.fill(*mark_.impl(), 0, 1, std::byte{0}, {});
    auto native = static_cast<cl_command_queue>(queue.native());
    cl_event event = nullptr;
    const double start = now();
    require_clblast(multiply(&native, &event), how().c_str());
    const cl_int waited = device::opencl::cl().clWaitForEvents.function(1, &event);
    const double stop = now();
    const Timing timing{stop - start, waited == CL_SUCCESS ? seconds_between(*mark, event) : 0};
    device::opencl::cl().clReleaseEvent.function(event);
    require_clblast(waited, "clWaitForEvents");
    return timing;
  }

 private:
  static std::string name_of(const Gemm& gemm) {
    return std::string(sizeof(Real) == 4 ? "CLBlastSgemm" : "CLBlastDgemm") + (gemm.batch > 1 ? "StridedBatched" : "");
  }
  /// It may launch several kernels and answers with the event of the last: its time begins with the end of the mark.
  static double seconds_between(device::Event& mark, cl_event event) {
    mark.wait();
    const cl_ulong begin = end_of(static_cast<cl_event>(mark.native())), end = end_of(event);
    return end > begin ? static_cast<double>(end - begin) * 1e-9 : 0;
  }

  cl_mem memory(const Buffer& buffer) const { return static_cast<cl_mem>(buffer.impl()->native()); }

  int multiply(cl_command_queue* queue, cl_event* event) {
    const Product& p = *workload().product();
    const auto size = [](std::int64_t value) { return static_cast<size_t>(value); };
    const cl_mem a = memory(workload().buffer(0)), b = memory(workload().buffer(1)),
                 c = memory(workload().out_buffer());
    const int ta = gemm_.a_transposed ? trans : no_trans, tb = gemm_.b_transposed ? trans : no_trans;
    const size_t m = size(gemm_.m), n = size(gemm_.n), k = size(gemm_.k);
    const size_t lda = size(gemm_.lda), ldb = size(gemm_.ldb), ldc = size(gemm_.ldc);
    if (gemm_.batch == 1)
      return functions_.gemm(row_major, ta, tb, m, n, k, 1, a, size(p.a.offset), lda, b, size(p.b.offset), ldb, 0, c,
                             size(p.c.offset), ldc, queue, event);
    return functions_.batched(row_major, ta, tb, m, n, k, 1, a, size(p.a.offset), lda, size(p.a.batch), b,
                              size(p.b.offset), ldb, size(p.b.batch), 0, c, size(p.c.offset), ldc, size(p.c.batch),
                              size(gemm_.batch), queue, event);
  }

  Gemm gemm_;
  const Functions<Real>& functions_;
  Buffer mark_;
};

}  // namespace

Offer offer_clblast(Workload& workload, Session&) {
  if (workload.device().info().api != Api::opencl) return Offer::absent("runs on OpenCL devices only");
  const auto gemm = workload.product() ? gemm_of(*workload.product()) : std::nullopt;
  const Dtype dtype = workload.in().dtype;
  if (!gemm || (dtype != Dtype::f32 && dtype != Dtype::f64))
    return Offer::absent("is called to multiply matrices of f32 and f64");
  if (clblast() == nullptr) return Offer::absent("libclblast.so.1 was not found; AXISLOOM_CLBLAST can name it");
  if (dtype == Dtype::f32)
    return {std::make_unique<ClblastProduct<float>>(workload, *gemm, clblast()->single_precision), {}};
  return {std::make_unique<ClblastProduct<double>>(workload, *gemm, clblast()->double_precision), {}};
}

}  // namespace axisloom::bench
