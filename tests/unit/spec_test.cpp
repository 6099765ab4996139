// The device grammar and the choice of a device among those present.
#include "device/registry.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace axisloom::device {
namespace {

DeviceInfo make(Api api, Kind kind, int index, const std::string& name, const std::string& platform) {
  DeviceInfo info;
  info.api = api;
  info.kind = kind;
  info.index = index;
  info.name = name;
  info.platform = platform;
  info.compiler = "some compiler";
  return info;
}

// A machine whose one card is offered by both runtimes, beside a CPU; CUDA first, as the registry lists them.
std::vector<DeviceInfo> machine() {
  return {make(Api::cuda, Kind::gpu, 0, "NVIDIA H200", "NVIDIA CUDA"),
          make(Api::opencl, Kind::cpu, 0, "pthread-skylake", "Portable Computing Language"),
          make(Api::opencl, Kind::gpu, 1, "NVIDIA H200", "NVIDIA CUDA")};
}

std::string chosen(std::string_view text, const std::vector<DeviceInfo>& present) {
  const DeviceInfo* info = select(parse_spec(text), present);
  return info ? info->spec() : "none";
}

TEST(DeviceSpec, ReadsEveryForm) {
  EXPECT_EQ(parse_spec("auto").which, Spec::Which::automatic);
  EXPECT_EQ(parse_spec("cpu").which, Spec::Which::cpu);
  EXPECT_EQ(parse_spec("GPU").which, Spec::Which::gpu);
  const Spec cuda = parse_spec("cuda:12");
  EXPECT_EQ(cuda.which, Spec::Which::api);
  EXPECT_EQ(cuda.api, Api::cuda);
  EXPECT_EQ(cuda.index, 12);
  EXPECT_FALSE(parse_spec("opencl").index);
  EXPECT_EQ(parse_spec("opencl").api, Api::opencl);
  EXPECT_EQ(parse_spec("HOST").api, Api::host);
  EXPECT_EQ(parse_spec("host:0").index, 0);
  EXPECT_EQ(parse_spec("opencl:0").index, 0);
  const Spec named = parse_spec("opencl:Portable Computing");
  EXPECT_FALSE(named.index);
  EXPECT_EQ(named.name, "Portable Computing");
  EXPECT_EQ(parse_spec("opencl:3090:x").name, "3090:x");
}

TEST(DeviceSpec, RefusesTheRestAndShowsTheGrammar) {
  for (const char* text : {"", "gpus", "cuda:", "opencl:", "cuda:x", "cuda:1x", "cuda:-1", "opencl:-1", "auto:0",
                           "cpu:1", "opencl:99999999999", "cuda:99999999999", " cpu", "vulkan", "rocm:0"}) {
    try {
      parse_spec(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::usage) << text;
      const std::string what = error.what();
      EXPECT_NE(what.find("auto | cpu | gpu | cuda[:N] | opencl[:N] | opencl:NAME | host"), std::string::npos) << what;
      EXPECT_NE(what.find('"' + std::string(text) + '"'), std::string::npos) << what;
    }
  }
}

TEST(DeviceSpec, ChoosesAmongThosePresent) {
  EXPECT_EQ(chosen("auto", machine()), "cuda:0");
  EXPECT_EQ(chosen("gpu", machine()), "cuda:0");
  EXPECT_EQ(chosen("cpu", machine()), "opencl:0");
  EXPECT_EQ(chosen("opencl", machine()), "opencl:0");
  EXPECT_EQ(chosen("opencl:1", machine()), "opencl:1");
  EXPECT_EQ(chosen("opencl:h200", machine()), "opencl:1");
  EXPECT_EQ(chosen("opencl:PORTABLE", machine()), "opencl:0");
  EXPECT_EQ(chosen("cuda", machine()), "cuda:0");
  EXPECT_EQ(chosen("cuda:1", machine()), "none");
  EXPECT_EQ(chosen("opencl:mali", machine()), "none");
}

TEST(DeviceSpec, AutomaticTakesGpuThenHostThenAnything) {
  const DeviceInfo other = make(Api::opencl, Kind::other, 0, "accelerator", "X");
  const DeviceInfo cpu = make(Api::opencl, Kind::cpu, 1, "cpu", "X");
  const DeviceInfo gpu = make(Api::opencl, Kind::gpu, 2, "gpu", "X");
  EXPECT_EQ(chosen("auto", {other, cpu, gpu}), "opencl:2");
  EXPECT_EQ(chosen("auto", {other, cpu}), "opencl:1");
  EXPECT_EQ(chosen("auto", {other}), "opencl:0");
  EXPECT_EQ(chosen("auto", {}), "none");
  EXPECT_EQ(chosen("gpu", {other, cpu}), "none");
  const DeviceInfo host = make(Api::host, Kind::cpu, 0, "cpu", "host");
  EXPECT_EQ(chosen("auto", {other, cpu, gpu, host}), "opencl:2");
  EXPECT_EQ(chosen("auto", {other, cpu, host}), "host");
  EXPECT_EQ(chosen("cpu", {other, cpu, host}), "host");
  EXPECT_EQ(chosen("auto", {other, host}), "host");
  EXPECT_EQ(chosen("cpu", {other, host}), "host");
  EXPECT_EQ(chosen("host", {other, cpu, host}), "host");
  EXPECT_EQ(chosen("host:0", {other, cpu, host}), "host");
  EXPECT_EQ(chosen("host:1", {other, cpu, host}), "none");
  EXPECT_EQ(chosen("gpu", {host}), "none");
}

TEST(DeviceSpec, PassesOverACardWhoseRuntimeCannotCompile) {
  std::vector<DeviceInfo> present = machine();
  present[0].compiler.clear();
  EXPECT_EQ(chosen("auto", present), "opencl:1");
  EXPECT_EQ(chosen("cuda", present), "cuda:0");
  present.pop_back();
  EXPECT_EQ(chosen("gpu", present), "cuda:0");
}

TEST(DeviceSpec, SpellsDevices) {
  EXPECT_EQ(machine()[2].spec(), "opencl:1");
  EXPECT_EQ(machine()[0].label(), "cuda:0 (NVIDIA H200)");
  EXPECT_EQ(make(Api::opencl, Kind::gpu, -1, "x", "y").spec(), "opencl");
}

class EnvironmentDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* value = std::getenv("AXISLOOM_DEVICE");
    if (value) before_ = value;
  }
  void TearDown() override {
    if (before_) {
      setenv("AXISLOOM_DEVICE", before_->c_str(), 1);
    } else {
      unsetenv("AXISLOOM_DEVICE");
    }
  }
  std::optional<std::string> before_;
};

TEST_F(EnvironmentDevice, IsNamedWhenItCannotBeRead) {
  setenv("AXISLOOM_DEVICE", "quantum:0", 1);
  for (const char* text : {"", "auto"}) {
    try {
      open(text);
      ADD_FAILURE() << "opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::usage);
      EXPECT_NE(std::string(error.what()).find("AXISLOOM_DEVICE"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("quantum:0"), std::string::npos) << error.what();
    }
  }
}

TEST_F(EnvironmentDevice, StandsInForAutoOnly) {
  setenv("AXISLOOM_DEVICE", "opencl:no such device", 1);
  try {
    open("auto");
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::no_device);
    EXPECT_NE(std::string(error.what()).find("opencl:no such device"), std::string::npos) << error.what();
  }
  try {
    open("opencl:nor this");
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::no_device);
    EXPECT_NE(std::string(error.what()).find("opencl:nor this"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace axisloom::device
