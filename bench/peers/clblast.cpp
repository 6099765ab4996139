// CLBlast on OpenCL devices, on Axisloom's own buffers and queue, from a library opened at run time.
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include "device/opencl/functions.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace axisloom::bench {
namespace {

using std::size_t;
template <class Real>
using ClblastGemm = int(int, int, int, size_t, size_t, size_t, Real, cl_mem, size_t, size_t, size_t, cl_mem, size_t,
                        size_t, size_t, Real, cl_mem, size_t, size_t, size_t, size_t, cl_command_queue*, cl_event*);
template <class Real>
using ClblastSingle = int(int, int, int, size_t, size_t, size_t, Real, cl_mem, size_t, size_t, cl_mem, size_t, size_t,
                          Real, cl_mem, size_t, size_t, cl_command_queue*, cl_event*);
template <class Real>
using ClblastOmatcopy = int(int, int, size_t, size_t, Real, cl_mem, size_t, size_t, cl_mem, size_t, size_t,
                            cl_command_queue*, cl_event*);

template <class Real>
struct ClblastFunctions {
  ClblastSingle<Real>* gemm = nullptr;
  ClblastGemm<Real>* batched = nullptr;
  ClblastOmatcopy<Real>* omatcopy = nullptr;
};
struct Clblast {
  device::DynamicLibrary library;
  ClblastFunctions<float> single_precision;
  ClblastFunctions<double> double_precision;
};

/// Null when there is no such library or it lacks a function. Looked for once.
const Clblast* clblast() {
  static const Clblast* const found = []() -> const Clblast* {
    auto* loaded = new Clblast{device::DynamicLibrary(library_files("AXISLOOM_CLBLAST", {"libclblast.so.1"})), {}, {}};
    std::vector<std::string> missing;
    loaded->library.require("CLBlastSgemm", loaded->single_precision.gemm, missing);
    loaded->library.require("CLBlastDgemm", loaded->double_precision.gemm, missing);
    loaded->library.require("CLBlastSgemmStridedBatched", loaded->single_precision.batched, missing);
    loaded->library.require("CLBlastDgemmStridedBatched", loaded->double_precision.batched, missing);
    loaded->library.require("CLBlastSomatcopy", loaded->single_precision.omatcopy, missing);
    loaded->library.require("CLBlastDomatcopy", loaded->double_precision.omatcopy, missing);
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

/// A call that queues kernels on the workload's queue.
class ClblastCall : public Contestant {
 public:
  ClblastCall(Workload& workload, const std::string& function)
      : Contestant(workload, "clblast", fmt::format("{}, {}", function, file_name()), Role::peer),
        mark_(workload.device().allocate(1)) {}

  Timing run() override {
    device::Queue& queue = *workload().queue().impl();
    const auto mark = queue.fill(*mark_.impl(), 0, 1, std::byte{0}, {});
    auto native = static_cast<cl_command_queue>(queue.native());
    cl_event event = nullptr;
    const double start = now();
    require_clblast(call(&native, &event), how().c_str());
    const cl_int waited = device::opencl::cl().clWaitForEvents.function(1, &event);
    const double stop = now();
    const Timing timing{stop - start, waited == CL_SUCCESS ? seconds_between(*mark, event) : 0};
    device::opencl::cl().clReleaseEvent.function(event);
    require_clblast(waited, "clWaitForEvents");
    return timing;
  }

 protected:
  virtual int call(cl_command_queue* queue, cl_event* event) = 0;

  static size_t size(std::int64_t value) { return static_cast<size_t>(value); }
  static cl_mem memory(const Buffer& buffer) { return static_cast<cl_mem>(buffer.impl()->native()); }

 private:
  /// It has no function that tells its version, but files are named by it: "libclblast.so.1.5.3".
  static std::string file_name() {
    std::error_code failed;
    const auto file = std::filesystem::canonical(clblast()->library.path(), failed);
    return failed ? "CLBlast" : file.filename().string();
  }
  /// It may launch several kernels and answers with the event of the last: its time begins with the end of the mark.
  static double seconds_between(device::Event& mark, cl_event event) {
    mark.wait();
    const cl_ulong begin = end_of(static_cast<cl_event>(mark.native())), end = end_of(event);
    return end > begin ? static_cast<double>(end - begin) * 1e-9 : 0;
  }

  Buffer mark_;
};

template <class Real>
class ClblastProduct final : public ClblastCall {
 public:
  ClblastProduct(Workload& workload, const Gemm& gemm, const ClblastFunctions<Real>& functions)
      : ClblastCall(workload, name_of(gemm)), gemm_(gemm), functions_(functions) {}

 private:
  static std::string name_of(const Gemm& gemm) {
    return std::string(sizeof(Real) == 4 ? "CLBlastSgemm" : "CLBlastDgemm") + (gemm.batch > 1 ? "StridedBatched" : "");
  }

  int call(cl_command_queue* queue, cl_event* event) override {
    const Product& p = *workload().product();
    const cl_mem a = memory(workload().buffer(0)), b = memory(workload().buffer(1)),
                 c = memory(workload().out_buffer());
    const int ta = gemm_.a_transposed ? cblas::trans : cblas::no_trans,
              tb = gemm_.b_transposed ? cblas::trans : cblas::no_trans;
    const size_t m = size(gemm_.m), n = size(gemm_.n), k = size(gemm_.k);
    const size_t lda = size(gemm_.lda), ldb = size(gemm_.ldb), ldc = size(gemm_.ldc);
    if (gemm_.batch == 1)
      return functions_.gemm(cblas::row_major, ta, tb, m, n, k, 1, a, size(p.a.offset), lda, b, size(p.b.offset), ldb,
                             0, c, size(p.c.offset), ldc, queue, event);
    return functions_.batched(cblas::row_major, ta, tb, m, n, k, 1, a, size(p.a.offset), lda, size(p.a.batch), b,
                              size(p.b.offset), ldb, size(p.b.batch), 0, c, size(p.c.offset), ldc, size(p.c.batch),
                              size(gemm_.batch), queue, event);
  }

  Gemm gemm_;
  const ClblastFunctions<Real>& functions_;
};

template <class Real>
class ClblastTranspose final : public ClblastCall {
 public:
  ClblastTranspose(Workload& workload, const MatrixTranspose& what, const ClblastFunctions<Real>& functions)
      : ClblastCall(workload, sizeof(Real) == 4 ? "CLBlastSomatcopy" : "CLBlastDomatcopy"),
        what_(what),
        functions_(functions) {}

 private:
  int call(cl_command_queue* queue, cl_event* event) override {
    const core::Move& move = *workload().merged();
    return functions_.omatcopy(cblas::row_major, cblas::trans, size(what_.rows), size(what_.columns), 1,
                               memory(workload().buffer(0)), size(move.in_offset), size(what_.in_pitch),
                               memory(workload().out_buffer()), size(move.out_offset), size(what_.out_pitch), queue,
                               event);
  }

  MatrixTranspose what_;
  const ClblastFunctions<Real>& functions_;
};

template <class Real>
Offer offer_clblast_of(Workload& workload, const ClblastFunctions<Real>& functions) {
  if (workload.merged()) {
    const auto what = matrix_transpose(*workload.merged());
    if (!what) return Offer::absent("omatcopy transposes matrices");
    return {std::make_unique<ClblastTranspose<Real>>(workload, *what, functions), {}};
  }
  const auto gemm = gemm_of(*workload.product());
  if (!gemm) return Offer::absent("has no function for matrices that lie like this");
  return {std::make_unique<ClblastProduct<Real>>(workload, *gemm, functions), {}};
}

}  // namespace

Offer offer_clblast(Workload& workload, Session&) {
  if (workload.device().info().api != Api::opencl) return Offer::absent("runs on OpenCL devices only");
  const Dtype dtype = workload.in().dtype;
  if ((!workload.merged() && !workload.product()) || (dtype != Dtype::f32 && dtype != Dtype::f64))
    return Offer::absent("is called to transpose and multiply matrices of f32 and f64");
  if (clblast() == nullptr) return Offer::absent("libclblast.so.1 was not found; AXISLOOM_CLBLAST can name it");
  if (dtype == Dtype::f32) return offer_clblast_of(workload, clblast()->single_precision);
  return offer_clblast_of(workload, clblast()->double_precision);
}

}  // namespace axisloom::bench
