// DLPack in C++: tensors of others as arguments, views and buffers, and arrays given away.
#include "ops_support.hpp"

#include <axisloom/axisloom.hpp>
#include <axisloom/dlpack.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace axisloom::ops_test {
namespace {

/// A tensor of floats, counted from 0, with the lists that it points to.
struct Floats {
  std::vector<float> values;
  std::vector<std::int64_t> shape, strides;
  DLTensor tensor{};

  explicit Floats(std::vector<std::int64_t> extents)
      : values(std::size_t(std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>()))),
        shape(std::move(extents)) {
    std::iota(values.begin(), values.end(), 0.0F);
    tensor = {values.data(), {kDLCPU, 0}, int(shape.size()), {kDLFloat, 32, 1}, shape.data(), nullptr, 0};
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  void set_strides(std::vector<std::int64_t> steps) {
    strides = std::move(steps);
    tensor.strides = strides.data();
  }
  /// As a library hands it over.
  DLManagedTensorVersioned managed(std::uint64_t flags = 0) const { return {{1, 3}, nullptr, nullptr, flags, tensor}; }
};

TEST(DLPackInCpp, TensorsAreArgumentsWithoutACopy) {
  Floats in({2, 3}), out({3, 2});
  run_into(output_array(out.tensor), transpose(), {input_array(in.tensor)});
  EXPECT_EQ(out.values, (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(input_array(in.tensor).begin(), in.values.data());
  run_into(output_array(out.managed()), transpose(), {input_array(in.managed(DLPACK_FLAG_BITMASK_READ_ONLY))});
  EXPECT_EQ(out.values, (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(sum(input_array(in.managed())).elements<float>()[0], 15);
}

TEST(DLPackInCpp, StridesMayBeNegativeAndTheFirstElementAnywhere) {
  Floats in({2, 3});
  in.set_strides({-3, 1});
  in.tensor.byte_offset = 3 * sizeof(float);
  const Array copied = copy(input_array(in.tensor));
  const std::span<const float> elements = copied.elements<float>();
  EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()), (std::vector<float>{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(view_of(in.tensor).offset, 3);
}

TEST(DLPackInCpp, RefusesWhatCannotBeUsed) {
  Floats in({2, 3});
  DLManagedTensorVersioned later = in.managed();
  later.version.major = 2;
  EXPECT_EQ(code_thrown([&] { input_array(later); }), Errc::unsupported);
  EXPECT_EQ(code_thrown([&] { output_array(later); }), Errc::unsupported);
  EXPECT_EQ(code_thrown([&] { output_array(in.managed(DLPACK_FLAG_BITMASK_READ_ONLY)); }), Errc::usage);
  DLTensor elsewhere = in.tensor;
  elsewhere.device.device_type = kDLCUDA;
  EXPECT_EQ(code_thrown([&] { input_array(elsewhere); }), Errc::unsupported);
  EXPECT_EQ(code_thrown([&] { buffer_of(Device::open("host"), elsewhere); }), Errc::usage);
  elsewhere.device.device_type = DLDeviceType(7);  // Vulkan's
  EXPECT_EQ(code_thrown([&] { view_of(elsewhere); }), Errc::unsupported);
  DLTensor lanes = in.tensor;
  lanes.dtype.lanes = 4;
  EXPECT_EQ(code_thrown([&] { input_array(lanes); }), Errc::dtype);
  DLTensor none = in.tensor;
  none.data = nullptr;
  EXPECT_NE(text_thrown([&] { input_array(none); }).find("the tensor has elements"), std::string::npos);
}

TEST(DLPackInCpp, DtypesGoThereAndBack) {
  for (const Dtype dtype : all_dtypes()) EXPECT_EQ(dtype_of(dlpack_dtype(dtype)), dtype) << name(dtype);
  EXPECT_EQ(dlpack_dtype(Dtype::c64).bits, 64);
  EXPECT_EQ(dlpack_dtype(Dtype::bf16).code, kDLBfloat);
  EXPECT_EQ(code_thrown([] { dtype_of(DLDataType{kDLFloat, 8, 1}); }), Errc::dtype);
}

TEST(DLPackInCpp, ArraysAreGivenAwayWithTheirMemory) {
  Array array(Dtype::i32, {2, 3, 4});
  std::iota(array.elements<std::int32_t>().begin(), array.elements<std::int32_t>().end(), 0);
  const void* const memory = array.data();
  DLManagedTensorVersioned* const given = to_dlpack(std::move(array));
  EXPECT_EQ(given->version.major, 1U);
  EXPECT_EQ(given->flags, 0U);
  EXPECT_EQ(given->dl_tensor.data, memory);
  EXPECT_EQ(given->dl_tensor.ndim, 3);
  EXPECT_EQ(given->dl_tensor.shape[2], 4);
  EXPECT_EQ(given->dl_tensor.strides[0], 12);
  EXPECT_EQ(dtype_of(given->dl_tensor.dtype), Dtype::i32);
  EXPECT_EQ(sum(input_array(*given)).elements<std::int64_t>()[0], 276);
  given->deleter(given);  // AddressSanitizer sees what stays behind
  DLManagedTensorVersioned* const scalar = to_dlpack(Array(Dtype::f64, {}));
  EXPECT_EQ(scalar->dl_tensor.ndim, 0);
  scalar->deleter(scalar);
}

TEST(DLPackInCpp, ClMemIsABufferOfItsDevice) {
  const auto is_opencl = [](const DeviceInfo& info) { return info.api == Api::opencl; };
  if (std::ranges::none_of(devices(), is_opencl)) GTEST_SKIP() << "there is no OpenCL device";
  const Device device = Device::open("opencl:0");
  const Queue queue = device.queue();
  Floats in({2, 3}), out({3, 2});
  const Buffer from = device.allocate(64 + 24), to = device.allocate(24);
  queue.write(from, 64, std::as_bytes(std::span(in.values))).wait();
  in.tensor.device.device_type = out.tensor.device.device_type = kDLOpenCL;
  in.tensor.data = from.impl()->native(), in.tensor.byte_offset = 64;
  out.tensor.data = to.impl()->native();
  const Plan turned = plan(transpose(), {view_of(in.tensor), view_of(out.tensor)}, device);
  const Buffer buffers[] = {buffer_of(device, in.tensor), buffer_of(device, out.tensor)};
  turned.run(queue, buffers).wait();
  queue.read(to, 0, std::as_writable_bytes(std::span(out.values))).wait();
  EXPECT_EQ(out.values, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

}  // namespace
}  // namespace axisloom::ops_test
