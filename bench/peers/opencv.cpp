// OpenCV: cv::transpose for matrices, cv::split and cv::merge for the channels of a picture.
#include "bench/peers/peers.hpp"

#ifdef AXISLOOM_BENCH_OPENCV

#include <axisloom/error.hpp>

#include <opencv2/core.hpp>

#include <vector>

namespace axisloom::bench {
namespace {

std::optional<int> cv_type(std::int64_t element) {
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

constexpr std::int64_t most_channels = 4;

/// One matrix becomes another; or its columns become planes, or planes its columns, where it is a picture's pixels.
class OpenCv final : public Contestant {
 public:
  enum class Call { transpose, split, merge };

  OpenCv(Workload& workload, const MatrixTranspose& what, Call call)
      : Contestant(workload, "opencv", std::string(call_name(call)) + ", OpenCV " + CV_VERSION, Role::peer),
        call_(call) {
    const core::Move& move = workload.merged();
    const int type = *cv_type(move.element);
    std::byte* const in = workload.host_in() + move.in_offset * move.element;
    std::byte* const out = workload.host_out() + move.out_offset * move.element;
    const auto step = [&](std::int64_t pitch) { return static_cast<std::size_t>(pitch * move.element); };
    const auto rows = static_cast<int>(what.rows), columns = static_cast<int>(what.columns);
    if (call == Call::split) {
      in_ = cv::Mat(rows, 1, CV_MAKETYPE(type, columns), in, step(what.in_pitch));
      for (int c = 0; c < columns; ++c) planes_.emplace_back(rows, 1, type, out + c * step(what.out_pitch));
    } else if (call == Call::merge) {
      for (int r = 0; r < rows; ++r) planes_.emplace_back(columns, 1, type, in + r * step(what.in_pitch));
      out_ = cv::Mat(columns, 1, CV_MAKETYPE(type, rows), out, step(what.out_pitch));
    } else {
      in_ = cv::Mat(rows, columns, type, in, step(what.in_pitch));
      out_ = cv::Mat(columns, rows, type, out, step(what.out_pitch));
    }
  }

  Timing run() override try {
    const double start = now();
    if (call_ == Call::split)
      cv::split(in_, planes_.data());
    else if (call_ == Call::merge)
      cv::merge(planes_, out_);
    else
      cv::transpose(in_, out_);
    return {now() - start, std::nullopt};
  } catch (const cv::Exception& exception) {
    throw Error(Errc::unsupported, "OpenCV refuses: " + exception.msg);
  }

 private:
  static const char* call_name(Call call) {
    return call == Call::split ? "cv::split" : call == Call::merge ? "cv::merge" : "cv::transpose";
  }

  Call call_;
  cv::Mat in_, out_;
  std::vector<cv::Mat> planes_;
};

}  // namespace

Offer offer_opencv(Workload& workload, Session&) {
  if (workload.host_in() == nullptr) return Offer::absent("works on host memory only");
  const auto what = matrix_transpose(workload.merged());
  if (!what || !cv_type(workload.merged().element)) return Offer::absent("has no function for this move");
  // Pixels must follow each other without gaps to be the channels of a picture.
  const bool pixels = workload.merged().element <= 8;
  const bool split = pixels && what->columns <= most_channels && what->in_pitch == what->columns;
  const bool merge = pixels && what->rows <= most_channels && what->out_pitch == what->rows;
  const auto call = split ? OpenCv::Call::split : merge ? OpenCv::Call::merge : OpenCv::Call::transpose;
  return {std::make_unique<OpenCv>(workload, *what, call), {}};
}

}  // namespace axisloom::bench

#else

namespace axisloom::bench {

Offer offer_opencv(Workload&, Session&) {
  return Offer::absent("this program was built without OpenCV");
}

}  // namespace axisloom::bench

#endif
