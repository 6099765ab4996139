// OpenCV's images: a Mat where it lies, and a UMat on OpenCV's own OpenCL queue.
#include <axisloom/axisloom.hpp>

#include <opencv2/core.hpp>
#include <opencv2/core/ocl.hpp>

#include <cstdio>

namespace {

axisloom::Dtype dtype_of(const cv::Mat& image) {
  using enum axisloom::Dtype;
  constexpr axisloom::Dtype depths[] = {u8, i8, u16, i16, i32, f32, f64, f16};  // in the order of CV_8U, CV_8S, ...
  return depths[image.depth()];
}

/// Rows, columns and channels; rows may be padded.
axisloom::OutputArray array_of(cv::Mat& image) {
  const axisloom::Dims shape = {image.rows, image.cols, image.channels()};
  const auto channel = std::int64_t(image.elemSize1());
  const axisloom::Dims bytes = {std::int64_t(image.step[0]), std::int64_t(image.step[1]), channel};
  return {dtype_of(image), image.data, shape, axisloom::element_strides(dtype_of(image), bytes)};
}

bool turns_a_mat() {
  cv::Mat image(48, 64, CV_8UC3), turned(64, 48, CV_8UC3), expected;
  cv::randu(image, 0, 256);
  axisloom::run_into(array_of(turned), axisloom::rearrange("h w c -> w h c"), {array_of(image)});
  cv::transpose(image, expected);
  return cv::norm(turned, expected, cv::NORM_INF) == 0;
}

/// Queued behind OpenCV's own work, and before what OpenCV does next.
bool turns_a_umat() {
  if (!cv::ocl::useOpenCL()) return std::puts("OpenCV has no OpenCL device here") > 0;
  const auto device =
      axisloom::Device::borrow_opencl(cv::ocl::Context::getDefault().ptr(), cv::ocl::Device::getDefault().ptr());
  const axisloom::Queue queue = device.borrow_queue(cv::ocl::Queue::getDefault().ptr());
  cv::UMat image(48, 64, CV_32F), turned(64, 48, CV_32F), expected;
  cv::randu(image, 0, 1);
  const auto view_of = [](const cv::UMat& m) {
    axisloom::View view{axisloom::Dtype::f32, {m.rows, m.cols}, {std::int64_t(m.step1()), 1}};
    view.offset = std::int64_t(m.offset / sizeof(float));
    return view;
  };
  const axisloom::Plan plan = axisloom::plan(axisloom::transpose(), {view_of(image), view_of(turned)}, device);
  const axisloom::Buffer buffers[] = {
      device.borrow_buffer(image.handle(cv::ACCESS_READ), image.offset + image.rows * image.step),
      device.borrow_buffer(turned.handle(cv::ACCESS_WRITE), turned.offset + turned.rows * turned.step)};
  plan.run(queue, buffers);
  cv::transpose(image, expected);
  return cv::norm(turned, expected, cv::NORM_INF) == 0;
}

}  // namespace

int main() {
  return turns_a_mat() && turns_a_umat() ? 0 : 1;
}
