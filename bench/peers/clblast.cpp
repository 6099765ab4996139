// CLBlast on OpenCL devices, on Axisloom's own buffers and queue, from a library opened at run time.
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include "device/opencl/functions.hpp"

#include <filesystem>

namespace axisloom::bench::clblast {

template <class Real>
struct Functions {
  int (*gemm)(int, int, int, size_t, size_t, size_t, Real, cl_mem, size_t, size_t, cl_mem, size_t, size_t, Real, cl_mem,
              size_t, size_t, cl_command_queue*, cl_event*);
  int (*batched)(int, int, int, size_t, size_t, size_t, Real, cl_mem, size_t, size_t, size_t, cl_mem, size_t, size_t,
                 size_t, Real, cl_mem, size_t, size_t, size_t, size_t, cl_command_queue*, cl_event*);
  int (*omatcopy)(int, int, size_t, size_t, Real, cl_mem, size_t, size_t, cl_mem, size_t, size_t, cl_command_queue*,
                  cl_event*);
};
struct Api : Functions<float>, Functions<double> {
  std::string library;  // "libclblast.so.1.5.3": it has no function that tells its version, but files are named by it
};

namespace {

/// "CLBlastSgemm", for floats.
template <class Real>
std::string name_of(const char* what) {
  return concat("CLBlast", sizeof(Real) == sizeof(float) ? 'S' : 'D', what);
}

template <class Real>
void require_reals(OpenedLibrary<Api>& opened) {
  Functions<Real>& functions = opened.api;
  opened.require(name_of<Real>("gemm"), functions.gemm);
  opened.require(name_of<Real>("gemmStridedBatched"), functions.batched);
  opened.require(name_of<Real>("omatcopy"), functions.omatcopy);
}

void require_all(OpenedLibrary<Api>& opened) {
  require_reals<float>(opened);
  require_reals<double>(opened);
  std::error_code failed;
  const auto file = std::filesystem::canonical(opened.library.path(), failed);
  opened.api.library = failed ? "CLBlast" : file.filename().string();
}

/// Looked for once.
const Api& functions() {
  static const auto opened = open_library<Api>(library_files, "AXISLOOM_CLBLAST", {"libclblast.so.1"}, require_all);
  return opened.functions();
}

constexpr Requirement require{"CLBlast"};

/// The end of a command in nanoseconds by the device's clock.
cl_ulong end_of(cl_event event) {
  cl_ulong end = 0;
  require(device::opencl::cl().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
          "clGetEventProfilingInfo");
  return end;
}

/// A call that queues kernels on the workload's queue.
class QueuedCall : public Contestant {
 public:
  QueuedCall(Workload& workload, const std::string& function)
      : Contestant(workload, "clblast", function + ", " + functions().library), mark_(workload.device().allocate(1)) {}

  Timing run() override {
    device::Queue& queue = *workload().queue().impl();
    const auto mark = queue.fill(*mark_.impl(), 0, 1, std::byte{0}, {});
    auto native = static_cast<cl_command_queue>(queue.native());
    cl_event event = nullptr;
    const double start = now();
    require(call(&native, &event), how().c_str());
    const cl_int waited = device::opencl::cl().clWaitForEvents(1, &event);
    const double stop = now();
    const Timing timing{stop - start, waited == CL_SUCCESS ? seconds_between(*mark, event) : 0};
    device::opencl::cl().clReleaseEvent(event);
    require(waited, "clWaitForEvents");
    return timing;
  }

 protected:
  virtual int call(cl_command_queue* queue, cl_event* event) = 0;

  /// The workload's array `i`, of which the last is the output.
  cl_mem memory(size_t i) const { return static_cast<cl_mem>(workload().buffer(i).impl()->native()); }

 private:
  /// It may launch several kernels and answers with the event of the last: its time begins with the end of the mark.
  static double seconds_between(device::Event& mark, cl_event event) {
    mark.wait();
    const cl_ulong begin = end_of(static_cast<cl_event>(mark.native())), end = end_of(event);
    return end > begin ? double(end - begin) * 1e-9 : 0;
  }

  Buffer mark_;
};

template <class Real>
class ProductCall final : public QueuedCall {
 public:
  ProductCall(Workload& workload, const Gemm& gemm)
      : QueuedCall(workload, name_of<Real>(gemm.batch > 1 ? "gemmStridedBatched" : "gemm")), gemm_(gemm) {}

 private:
  int call(cl_command_queue* queue, cl_event* event) override {
    const Functions<Real>& real = functions();
    const auto& [m, n, k, batch, a, b, c] = gemm_;
    if (batch == 1)
      return real.gemm(cblas::row_major, a.trans(), b.trans(), m, n, k, 1, memory(0), a.offset, a.pitch, memory(1),
                       b.offset, b.pitch, 0, memory(2), c.offset, c.pitch, queue, event);
    return real.batched(cblas::row_major, a.trans(), b.trans(), m, n, k, 1, memory(0), a.offset, a.pitch, a.batch,
                        memory(1), b.offset, b.pitch, b.batch, 0, memory(2), c.offset, c.pitch, c.batch, batch, queue,
                        event);
  }

  Gemm gemm_;
};

template <class Real>
class TransposeCall final : public QueuedCall {
 public:
  TransposeCall(Workload& workload, const MatrixTranspose& what)
      : QueuedCall(workload, name_of<Real>("omatcopy")), what_(what) {}

 private:
  int call(cl_command_queue* queue, cl_event* event) override {
    const Functions<Real>& real = functions();
    const auto& [rows, columns, in_pitch, out_pitch, in_offset, out_offset] = what_;
    return real.omatcopy(cblas::row_major, cblas::trans, rows, columns, 1, memory(0), in_offset, in_pitch, memory(1),
                         out_offset, out_pitch, queue, event);
  }

  MatrixTranspose what_;
};

}  // namespace
}  // namespace axisloom::bench::clblast

namespace axisloom::bench {

UniqueContestant make_clblast(Workload& workload, Session&) {
  if (workload.device().info().api != Api::opencl) refuse("runs on OpenCL devices only");
  require_real_matrices(workload);
  clblast::functions();
  if (workload.product()) {
    const auto gemm = gemm_of(*workload.product());
    if (!gemm) refuse("has no function for matrices that lie like this");
    return make_real<clblast::ProductCall>(workload, *gemm);
  }
  const auto what = matrix_transpose(*workload.merged());
  if (!what) refuse("omatcopy transposes matrices");
  return make_real<clblast::TransposeCall>(workload, *what);
}

}  // namespace axisloom::bench
