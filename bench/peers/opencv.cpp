// OpenCV: cv::transpose for matrices, cv::split and cv::merge for the channels of a picture, cv::sum, cv::reduce,
// cv::minMaxIdx and cv::gemm for arithmetic.
#include "bench/peers/peers.hpp"

#ifdef AXISLOOM_BENCH_OPENCV

#include <axisloom/error.hpp>

#include <opencv2/core.hpp>

#include <functional>
#include <vector>

namespace axisloom::bench {
namespace {

/// A call with its headers made before.
class OpenCv final : public Contestant {
 public:
  OpenCv(Workload& workload, const std::string& what, std::function<void()> call)
      : Contestant(workload, "opencv", what + ", OpenCV " + CV_VERSION, Role::peer), call_(std::move(call)) {}

  Timing run() override try {
    const double start = now();
    call_();
    return {now() - start, std::nullopt};
  } catch (const cv::Exception& exception) {
    throw Error(Errc::unsupported, "OpenCV refuses: " + exception.msg);
  }

 private:
  std::function<void()> call_;
};

Offer offer(Workload& workload, const std::string& what, std::function<void()> call) {
  return {std::make_unique<OpenCv>(workload, what, std::move(call)), {}};
}

/// The type of the same size, for moves.
std::optional<int> cv_type_of_size(i64 element) {
  switch (element) {
    case 1:
      return CV_8UC1;
    case 2:
      return CV_16UC1;
    case 4:
      return CV_32FC1;
    case 8:
      return CV_64FC1;
    case 16:
      return CV_64FC2;
    default:
      return std::nullopt;
  }
}

/// One matrix becomes another; or its columns become planes, or planes its columns, where it is a picture's pixels.
Offer offer_move(Workload& workload) {
  constexpr i64 most_channels = 4;
  const core::Move& move = *workload.merged();
  const auto what = matrix_transpose(move);
  const auto type = cv_type_of_size(move.element);
  if (!what || !type) return Offer::absent("has no function for this move");
  std::byte *const in = workload.move_from(), *const out = workload.move_to();
  const auto step = [&](i64 pitch) { return size_t(pitch * move.element); };
  const auto rows = int(what->rows), columns = int(what->columns);
  // Pixels must follow each other without gaps to be the channels of a picture.
  const bool pixels = move.element <= 8;
  std::vector<cv::Mat> planes;
  if (pixels && what->columns <= most_channels && what->in_pitch == what->columns) {
    const cv::Mat picture(rows, 1, CV_MAKETYPE(*type, columns), in, step(what->in_pitch));
    for (int c = 0; c < columns; ++c) planes.emplace_back(rows, 1, *type, out + c * step(what->out_pitch));
    return offer(workload, "cv::split", [=]() mutable { cv::split(picture, planes.data()); });
  }
  if (pixels && what->rows <= most_channels && what->out_pitch == what->rows) {
    for (int r = 0; r < rows; ++r) planes.emplace_back(columns, 1, *type, in + r * step(what->in_pitch));
    const cv::Mat picture(columns, 1, CV_MAKETYPE(*type, rows), out, step(what->out_pitch));
    return offer(workload, "cv::merge", [=] { cv::merge(planes, picture); });
  }
  const cv::Mat from(rows, columns, *type, in, step(what->in_pitch)),
      to(columns, rows, *type, out, step(what->out_pitch));
  return offer(workload, "cv::transpose", [=] { cv::transpose(from, to); });
}

/// The type of real floats; of integers OpenCV's sums and products are others than NumPy's.
std::optional<int> cv_float(Dtype dtype) {
  if (dtype == Dtype::f32) return CV_32FC1;
  if (dtype == Dtype::f64) return CV_64FC1;
  return std::nullopt;
}

template <class Real>
Offer offer_scalar(Workload& workload, const cv::Mat& all, const std::string& kind) {
  Real* const out = reinterpret_cast<Real*>(workload.host_out()) + workload.reduction()->out_offset;
  if (kind == "sum") return offer(workload, "cv::sum", [=] { *out = static_cast<Real>(cv::sum(all)[0]); });
  if (kind == "mean") return offer(workload, "cv::mean", [=] { *out = static_cast<Real>(cv::mean(all)[0]); });
  return offer(workload, "cv::minMaxIdx", [=] {
    double least = 0, greatest = 0;
    cv::minMaxIdx(all, &least, &greatest);
    *out = static_cast<Real>(kind == "min" ? least : greatest);
  });
}

/// All elements, or the rows or columns of a matrix.
Offer offer_reduction(Workload& workload) {
  const Reduction& r = *workload.reduction();
  const auto type = cv_float(r.in);
  const bool known = r.kind == "sum" || r.kind == "mean" || r.kind == "min" || r.kind == "max";
  constexpr i64 most = std::numeric_limits<int>::max();
  if (!type || !known || (r.outer > 1 && r.inner > 1) || r.reduced * std::max(r.outer, r.inner) > most)
    return Offer::absent("has no function for this reduction");
  const auto rows = int(r.inner > 1 ? r.reduced : r.outer), columns = int(r.inner > 1 ? r.inner : r.reduced);
  const size_t size = size_of(r.in);
  const cv::Mat all(rows, columns, *type, workload.host(0) + size_t(r.in_offset) * size);
  if (r.results() == 1)
    return with_real(r.in, [&](auto real) { return offer_scalar<decltype(real)>(workload, all, r.kind); });
  const int along = r.inner > 1 ? 0 : 1;
  const int what = r.kind == "sum"    ? cv::REDUCE_SUM
                   : r.kind == "mean" ? cv::REDUCE_AVG
                   : r.kind == "min"  ? cv::REDUCE_MIN
                                      : cv::REDUCE_MAX;
  const cv::Mat out(along == 0 ? 1 : rows, along == 0 ? columns : 1, *type,
                    workload.host_out() + size_t(r.out_offset) * size);
  return offer(workload, "cv::reduce", [=] { cv::reduce(all, out, along, what); });
}

/// One product; the flags of cv::gemm tell of transposed inputs.
Offer offer_product(Workload& workload) {
  const Product& p = *workload.product();
  const auto gemm = gemm_of(p);
  const auto type = cv_float(p.in);
  if (!type || !gemm || gemm->batch > 1) return Offer::absent("has no function for this product");
  const size_t size = size_of(p.in);
  const auto matrix = [&](size_t i, const Matrix& place, int rows, int columns, int pitch) {
    return cv::Mat(rows, columns, *type, workload.host(i) + size_t(place.offset) * size, size_t(pitch) * size);
  };
  const auto [at, bt] = std::pair(gemm->a_transposed, gemm->b_transposed);
  const cv::Mat a = matrix(0, p.a, at ? gemm->k : gemm->m, at ? gemm->m : gemm->k, gemm->lda);
  const cv::Mat b = matrix(1, p.b, bt ? gemm->n : gemm->k, bt ? gemm->k : gemm->n, gemm->ldb);
  const cv::Mat c = matrix(2, p.c, gemm->m, gemm->n, gemm->ldc);
  const int flags = (at ? cv::GEMM_1_T : 0) | (bt ? cv::GEMM_2_T : 0);
  return offer(workload, "cv::gemm", [=] { cv::gemm(a, b, 1, cv::noArray(), 0, c, flags); });
}

}  // namespace

Offer offer_opencv(Workload& workload, Session&) {
  if (workload.host(0) == nullptr) return Offer::absent("works on host memory only");
  if (workload.merged()) return offer_move(workload);
  if (workload.reduction()) return offer_reduction(workload);
  if (workload.product()) return offer_product(workload);
  return Offer::absent("has no function for this operation");
}

}  // namespace axisloom::bench

#else

namespace axisloom::bench {

Offer offer_opencv(Workload&, Session&) {
  return Offer::absent("this program was built without OpenCV");
}

}  // namespace axisloom::bench

#endif
