// OpenCV: cv::transpose for matrices, cv::split and cv::merge for the channels of a picture, cv::sum, cv::reduce,
// cv::minMaxIdx and cv::gemm for arithmetic.
#include "bench/peers/peers.hpp"

#ifdef AXISLOOM_BENCH_OPENCV

#include <axisloom/error.hpp>

#include <opencv2/core.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <vector>

namespace axisloom::bench {
namespace {

/// A call with its headers made before.
class OpenCv final : public HostCall {
 public:
  OpenCv(Workload& workload, const std::string& what, std::function<void()> call)
      : HostCall(workload, "opencv", what + ", OpenCV " + CV_VERSION), call_(std::move(call)) {}

 private:
  void call() override try { call_(); } catch (const cv::Exception& exception) {
    throw Error(Errc::unsupported, "OpenCV refuses: " + exception.msg);
  }

  std::function<void()> call_;
};

UniqueContestant opencv(Workload& workload, const std::string& what, std::function<void()> call) {
  return std::make_unique<OpenCv>(workload, what, std::move(call));
}

/// The type of the same size, for moves.
int cv_type_of_size(i64 element) {
  constexpr int types[] = {CV_8UC1, CV_16UC1, CV_32FC1, CV_64FC1, CV_64FC2};  // of 1, 2, 4, 8, 16 bytes
  return types[std::countr_zero(u64(element))];
}

/// One matrix becomes another; or its columns become planes, or planes its columns, where it is a picture's pixels.
UniqueContestant opencv_move(Workload& workload) {
  constexpr i64 most_channels = 4;
  const core::Move& move = *workload.merged();
  const auto what = matrix_transpose(move);
  if (!what) refuse("has no function for this move");
  const int type = cv_type_of_size(move.element), rows = what->rows, columns = what->columns;
  const size_t in_step = what->in_pitch * move.element, out_step = what->out_pitch * move.element;
  std::byte *const in = workload.move_from(), *const out = workload.move_to();
  // Pixels must follow each other without gaps to be the channels of a picture.
  const bool pixels = move.element <= 8;
  std::vector<cv::Mat> planes;
  if (pixels && what->columns <= most_channels && what->in_pitch == what->columns) {
    const cv::Mat picture(rows, 1, CV_MAKETYPE(type, columns), in, in_step);
    for (int c = 0; c < columns; ++c) planes.emplace_back(rows, 1, type, out + c * out_step);
    return opencv(workload, "cv::split", [=]() mutable { cv::split(picture, planes.data()); });
  }
  if (pixels && what->rows <= most_channels && what->out_pitch == what->rows) {
    for (int r = 0; r < rows; ++r) planes.emplace_back(columns, 1, type, in + r * in_step);
    const cv::Mat picture(columns, 1, CV_MAKETYPE(type, rows), out, out_step);
    return opencv(workload, "cv::merge", [=] { cv::merge(planes, picture); });
  }
  const cv::Mat from(rows, columns, type, in, in_step), to(columns, rows, type, out, out_step);
  return opencv(workload, "cv::transpose", [=] { cv::transpose(from, to); });
}

/// Real floats: of integers OpenCV's sums and products are others than NumPy's.
bool cv_float(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f64;
}

/// A matrix of such floats from an element of the workload's array `i` on, of which the last is the output.
cv::Mat cv_matrix(const Workload& workload, size_t i, i64 offset, int rows, int columns, size_t pitch) {
  const size_t size = size_of(workload.in().dtype);
  return {rows, columns, size == 4 ? CV_32FC1 : CV_64FC1, workload.host(i) + offset * size, pitch * size};
}

UniqueContestant opencv_scalar(Workload& workload, const cv::Mat& all, const std::string& kind) {
  const cv::Mat out = cv_matrix(workload, 1, workload.reduction()->out_offset, 1, 1, 1);
  const auto store = [out](double value) {
    if (out.type() == CV_32FC1)
      *reinterpret_cast<float*>(out.data) = float(value);
    else
      *reinterpret_cast<double*>(out.data) = value;
  };
  if (kind == "sum") return opencv(workload, "cv::sum", [=] { store(cv::sum(all)[0]); });
  if (kind == "mean") return opencv(workload, "cv::mean", [=] { store(cv::mean(all)[0]); });
  return opencv(workload, "cv::minMaxIdx", [=] {
    double least = 0, greatest = 0;
    cv::minMaxIdx(all, &least, &greatest);
    store(kind == "min" ? least : greatest);
  });
}

/// All elements, or the rows or columns of a matrix.
UniqueContestant opencv_reduction(Workload& workload) {
  const Reduction& r = *workload.reduction();
  const int what = r.kind == "sum"    ? cv::REDUCE_SUM
                   : r.kind == "mean" ? cv::REDUCE_AVG
                   : r.kind == "min"  ? cv::REDUCE_MIN
                   : r.kind == "max"  ? cv::REDUCE_MAX
                                      : -1;
  constexpr i64 most = std::numeric_limits<int>::max();
  if (r.lead > 1) refuse("reduces along one axis, or all");
  if (!cv_float(r.in) || what < 0 || (r.outer > 1 && r.inner > 1) || r.reduced * std::max(r.outer, r.inner) > most)
    refuse("has no function for this reduction");
  const bool down = r.inner > 1;
  const int rows = down ? r.reduced : r.outer, columns = down ? r.inner : r.reduced;
  const cv::Mat all = cv_matrix(workload, 0, r.in_offset, rows, columns, columns);
  if (r.results() == 1) return opencv_scalar(workload, all, r.kind);
  const cv::Mat out = cv_matrix(workload, 1, r.out_offset, r.outer, r.inner, r.inner);
  return opencv(workload, "cv::reduce", [=] { cv::reduce(all, out, down ? 0 : 1, what); });
}

/// One product; the flags of cv::gemm tell of transposed inputs.
UniqueContestant opencv_product(Workload& workload) {
  const auto gemm = gemm_of(*workload.product());
  if (!cv_float(workload.product()->in) || !gemm || gemm->batch > 1) refuse("has no function for this product");
  const auto matrix = [&](size_t i, const Stored& stored, int rows, int columns) {
    if (stored.transposed) std::swap(rows, columns);
    return cv_matrix(workload, i, stored.offset, rows, columns, stored.pitch);
  };
  const cv::Mat a = matrix(0, gemm->a, gemm->m, gemm->k), b = matrix(1, gemm->b, gemm->k, gemm->n),
                c = matrix(2, gemm->c, gemm->m, gemm->n);
  const int flags = (gemm->a.transposed ? cv::GEMM_1_T : 0) | (gemm->b.transposed ? cv::GEMM_2_T : 0);
  return opencv(workload, "cv::gemm", [=] { cv::gemm(a, b, 1, cv::noArray(), 0, c, flags); });
}

}  // namespace

UniqueContestant make_opencv(Workload& workload, Session&) {
  if (workload.host(0) == nullptr) refuse("works on host memory only");
  if (workload.merged()) return opencv_move(workload);
  if (workload.reduction()) return opencv_reduction(workload);
  if (workload.product()) return opencv_product(workload);
  refuse("has no function for this operation");
}

}  // namespace axisloom::bench

#else

namespace axisloom::bench {

UniqueContestant make_opencv(Workload&, Session&) {
  refuse("this program was built without OpenCV");
}

}  // namespace axisloom::bench

#endif
