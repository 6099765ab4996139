// What is said where a device is missing.
#include "device/device.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

#include <gtest/gtest.h>

namespace axisloom::device {
namespace {

TEST(DeviceRegistry, AMissingDeviceNamesWhatItsOwnRuntimeLacks) {
  for (const auto& [spec, own, other] : {std::tuple{"cuda:99", &cuda_runtime(), &opencl_runtime()},
                                         std::tuple{"opencl:99", &opencl_runtime(), &cuda_runtime()}}) {
    try {
      axisloom::Device::open(spec);
      ADD_FAILURE() << spec;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::no_device);
      const auto says = [&](const RuntimeStatus& status) {
        return error.parts().message.find(status.name + ": looked for") != std::string::npos;
      };
      for (const RuntimeStatus& status : own->status()) EXPECT_EQ(says(status), !status.remedy.empty()) << status.name;
      for (const RuntimeStatus& status : other->status()) EXPECT_FALSE(says(status)) << status.name;
    }
  }
}

}  // namespace
}  // namespace axisloom::device
