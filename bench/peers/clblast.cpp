// CLBlast on OpenCL devices, on Axisloom's own buffers and queue, from a library opened at run time.
#include "bench/peers/libraries.hpp"
#include "bench/peers/peers.hpp"

#include "device/opencl/functions.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace axisloom::bench::clblast {

template <class Real>
struct Functions {
  int (*gemm)(int, int, int, size_t, size_t, size_t, Real, cl_mem, size_t, size_t, cl_mem, size_t, size_t, Real, cl_mem,
              size_t, size_t, cl_command_queue*, cl_event*) = nullptr;
  int (*batched)(int, int, int, size_t, size_t, size_t, Real, cl_mem, size_t, size_t, size_t, cl_mem, size_t, size_t,
                 size_t, Real, cl_mem, size_t, size_t, size_t, size_t, cl_command_queue*, cl_event*) = nullptr;
  int (*omatcopy)(int, int, size_t, size_t, Real, cl_mem, size_t, size_t, cl_mem, size_t, size_t, cl_command_queue*,
                  cl_event*) = nullptr;
};
namespace {

using Opened = OpenedLibrary<OfReals<Functions>>;

/// "CLBlastSgemm", for floats.
template <class Real>
std::string name_of(const char* what) {
  return fmt::format("CLBlast{}{}", sizeof(Real) == sizeof(float) ? 'S' : 'D', what);
}

template <class Real>
void require_all(const device::DynamicLibrary& library, Functions<Real>& functions, std::vector<std::string>& missing) {
  library.require(name_of<Real>("gemm").c_str(), functions.gemm, missing);
  library.require(name_of<Real>("gemmStridedBatched").c_str(), functions.batched, missing);
  library.require(name_of<Real>("omatcopy").c_str(), functions.omatcopy, missing);
}

/// Looked for once.
const Opened& opened() {
  constexpr const char *variable = "AXISLOOM_CLBLAST", *name = "libclblast.so.1";
  static const Opened& found = open_library<Opened>(library_files(variable, {name}), name, variable,
                                                    [](Opened& opened, std::vector<std::string>& missing) {
                                                      require_all(opened.library, opened.api.f32, missing);
                                                      require_all(opened.library, opened.api.f64, missing);
                                                    });
  return found;
}

void require(int code, const char* call) {
  if (code != 0) throw Error(Errc::device, {.message = "CLBlast fails", .call = call, .native = code});
}

/// The end of a command in nanoseconds by the device's clock.
cl_ulong end_of(cl_event event) {
  cl_ulong end = 0;
  require(
      device::opencl::cl().clGetEventProfilingInfo.function(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
      "clGetEventProfilingInfo");
  return end;
}

/// A call that queues kernels on the workload's queue.
class QueuedCall : public Contestant {
 public:
  QueuedCall(Workload& workload, const std::string& function)
      : Contestant(workload, "clblast", fmt::format("{}, {}", function, file_name()), Role::peer),
        mark_(workload.device().allocate(1)) {}

  Timing run() override {
    device::Queue& queue = *workload().queue().impl();
    const auto mark = queue.fill(*mark_.impl(), 0, 1, std::byte{0}, {});
    auto native = static_cast<cl_command_queue>(queue.native());
    cl_event event = nullptr;
    const double start = now();
    require(call(&native, &event), how().c_str());
    const cl_int waited = device::opencl::cl().clWaitForEvents.function(1, &event);
    const double stop = now();
    const Timing timing{stop - start, waited == CL_SUCCESS ? seconds_between(*mark, event) : 0};
    device::opencl::cl().clReleaseEvent.function(event);
    require(waited, "clWaitForEvents");
    return timing;
  }

 protected:
  virtual int call(cl_command_queue* queue, cl_event* event) = 0;

  static size_t size(i64 value) { return static_cast<size_t>(value); }
  static cl_mem memory(const Buffer& buffer) { return static_cast<cl_mem>(buffer.impl()->native()); }

 private:
  /// It has no function that tells its version, but files are named by it: "libclblast.so.1.5.3".
  static std::string file_name() {
    std::error_code failed;
    const auto file = std::filesystem::canonical(opened().library.path(), failed);
    return failed ? "CLBlast" : file.filename().string();
  }
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
    const Product& p = *workload().product();
    const cl_mem a = memory(workload().buffer(0)), b = memory(workload().buffer(1)),
                 c = memory(workload().out_buffer());
    const int ta = cblas::trans_if(gemm_.a_transposed), tb = cblas::trans_if(gemm_.b_transposed);
    const Functions<Real>& functions = opened().api.of<Real>();
    const size_t m = size(gemm_.m), n = size(gemm_.n), k = size(gemm_.k);
    const size_t lda = size(gemm_.lda), ldb = size(gemm_.ldb), ldc = size(gemm_.ldc);
    if (gemm_.batch == 1)
      return functions.gemm(cblas::row_major, ta, tb, m, n, k, 1, a, size(p.a.offset), lda, b, size(p.b.offset), ldb, 0,
                            c, size(p.c.offset), ldc, queue, event);
    return functions.batched(cblas::row_major, ta, tb, m, n, k, 1, a, size(p.a.offset), lda, size(p.a.batch), b,
                             size(p.b.offset), ldb, size(p.b.batch), 0, c, size(p.c.offset), ldc, size(p.c.batch),
                             size(gemm_.batch), queue, event);
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
    const core::Move& move = *workload().merged();
    return opened().api.of<Real>().omatcopy(cblas::row_major, cblas::trans, size(what_.rows), size(what_.columns), 1,
                                            memory(workload().buffer(0)), size(move.in_offset), size(what_.in_pitch),
                                            memory(workload().out_buffer()), size(move.out_offset),
                                            size(what_.out_pitch), queue, event);
  }

  MatrixTranspose what_;
};

template <class Real>
Offer offer_of(Workload& workload) {
  if (workload.merged()) {
    const auto what = matrix_transpose(*workload.merged());
    if (!what) return Offer::absent("omatcopy transposes matrices");
    return {std::make_unique<TransposeCall<Real>>(workload, *what), {}};
  }
  const auto gemm = gemm_of(*workload.product());
  if (!gemm) return Offer::absent("has no function for matrices that lie like this");
  return {std::make_unique<ProductCall<Real>>(workload, *gemm), {}};
}

}  // namespace
}  // namespace axisloom::bench::clblast

namespace axisloom::bench {

Offer offer_clblast(Workload& workload, Session&) {
  if (workload.device().info().api != Api::opencl) return Offer::absent("runs on OpenCL devices only");
  const Dtype dtype = workload.in().dtype;
  if ((!workload.merged() && !workload.product()) || (dtype != Dtype::f32 && dtype != Dtype::f64))
    return Offer::absent("is called to transpose and multiply matrices of f32 and f64");
  if (const std::string& why = clblast::opened().obstacle; !why.empty()) return Offer::absent(why);
  return with_real(dtype, [&](auto real) { return clblast::offer_of<decltype(real)>(workload); });
}

}  // namespace axisloom::bench
