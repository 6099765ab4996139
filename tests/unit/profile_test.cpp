// Profiles: how they are read, what a device that wears one claims, and kernels for GPUs that run on the CPU.
#include "ops_support.hpp"

#include "device/forwarding.hpp"
#include "jit/jit.hpp"
#include "model/profile.hpp"

#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace axisloom::ops_test {
namespace {

std::string h200_text() {
  return std::string(jit::embedded("tuning/devices/h200.json"));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// PoCL, whose groups and local memory hold every profile.
bool can_wear_profiles() {
  const DeviceInfo info = real_device().info();
  return info.api == Api::opencl && info.max_group >= 1024 && info.local_memory_max >= 256 << 10;
}

TEST(Profile, EveryShippedOneHoldsTogether) {
  const std::vector<std::string> names = model::profile_names();
  for (const char* name : {"a100", "adreno", "apple", "arc-a770", "b200", "epyc", "epyc-7003", "h200", "mali-g52",
                           "mi300x", "rtx-4090", "rx-7900-xtx", "xeon"})
    EXPECT_TRUE(std::find(names.begin(), names.end(), name) != names.end()) << name;
  for (const std::string& name : names) {
    const DeviceInfo& info = model::profile_named(name).model;
    EXPECT_GT(info.compute_units, 0u) << name;
    EXPECT_GE(info.max_group, 256u) << name;
    EXPECT_GE(info.local_memory_max, info.local_memory) << name;
    EXPECT_GE(info.global_memory, info.max_allocation) << name;
    const model::DeviceModel model = model::model_of(info);
    EXPECT_EQ(model.source, name);
    for (const model::Figure& figure : model::figures()) {
      const bool may_lack =
          figure.name.starts_with("tensor") || figure.name == "cache" || figure.name == (model.is_cpu() ? "" : "core");
      EXPECT_TRUE(may_lack || model.*figure.place > 0) << name << " " << figure.name;
    }
  }
  EXPECT_FALSE(model::profile_named("arc-a770").model.f64);
  EXPECT_THROW(model::profile_named("h201"), Error);
}

TEST(Profile, WhatIsMissingOrWrongIsNamed) {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      model::parse_profile("p", text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::usage);
      return error.parts().message;
    }
    return "accepted";
  };
  EXPECT_EQ(refused(h200_text()), "accepted");
  EXPECT_NE(refused("[]").find("no"), std::string::npos);
  EXPECT_NE(refused(replaced(h200_text(), "\"max_group\"", "\"group\"")).find("max_group"), std::string::npos);
  EXPECT_NE(refused(replaced(h200_text(), "\"value\": 132", "\"value\": -1")).find("compute_units"), std::string::npos);
  EXPECT_NE(refused(replaced(h200_text(), "\"f64\": {\"value\": true", "\"f64\": {\"value\": 1")).find("f64"),
            std::string::npos);
  EXPECT_NE(refused(replaced(h200_text(), "\"value\": 132, \"source\": \"driver\"",
                             "\"value\": 132, \"source\": \"hearsay\""))
                .find("compute_units"),
            std::string::npos);
  EXPECT_NE(refused(replaced(h200_text(), "\"kind\": \"gpu\"", "\"kind\": \"card\"")).find("card"), std::string::npos);
}

TEST(Profile, AMemberThatNobodyReadsYetIsNoFault) {
  EXPECT_NO_THROW(model::parse_profile("p", replaced(h200_text(), "\"limits\"", "\"costs\": {}, \"limits\"")));
}

TEST(Profile, ClaimsNoFeatureThatTheRealDeviceLacks) {
  DeviceInfo real = cpu_info();
  real.f16 = false;
  real.device_scope_order = false;
  const auto worn = model::profiled(std::make_shared<PretendedDevice>(real), model::profile_named("h200"));
  EXPECT_EQ(worn->info().name, "NVIDIA H200");
  EXPECT_EQ(worn->info().kind, Kind::gpu);
  EXPECT_EQ(worn->info().compute_units, 132u);
  EXPECT_EQ(worn->info().api, Api::opencl);
  EXPECT_FALSE(worn->info().f16);
  EXPECT_FALSE(worn->info().device_scope_order);
  EXPECT_EQ(worn->compiled_for().name, real.name);
  EXPECT_EQ(worn->compiled_for().platform, real.platform);
  const auto phone = model::profiled(std::make_shared<PretendedDevice>(real), model::profile_named("mali-g52"));
  EXPECT_FALSE(phone->compiled_for().f64) << "a kernel with doubles would compile here, and nowhere on the phone";
}

TEST(Profile, PromisesNoBetterAlignmentThanTheRealDeviceGives) {
  const model::Profile& h200 = model::profile_named("h200");
  for (const std::size_t granted : {h200.model.base_alignment / 2, 2 * h200.model.base_alignment}) {
    DeviceInfo real = cpu_info();
    real.base_alignment = granted;
    EXPECT_EQ(model::profiled(std::make_shared<PretendedDevice>(real), h200)->info().base_alignment,
              std::min(granted, h200.model.base_alignment));
  }
}

TEST(Profile, ADeviceWithSmallerGroupsCannotWearIt) {
  DeviceInfo real = cpu_info();
  real.max_group = 512;
  const auto small = std::make_shared<PretendedDevice>(real);
  EXPECT_THROW(model::profiled(small, model::profile_named("h200")), Error);
  EXPECT_NO_THROW(model::profiled(small, model::profile_named("mi300x")));
}

TEST(Profile, KernelsOfOneVendorRefuseByName) {
  if (!can_wear_profiles()) GTEST_SKIP() << "needs a device that holds the profile's groups";
  const Device h200 = profiled_device("h200");
  const View matrix = View::contiguous(Dtype::f16, {64, 64});
  const std::vector<View> views{matrix, matrix};
  const Plan product = plan(matmul(), views, h200);
  for (const CandidateReport& candidate : product.report().candidates)
    if (candidate.name == "mma" || candidate.name == "wgmma") {
      EXPECT_FALSE(candidate.accepted) << candidate.name;
      EXPECT_FALSE(candidate.reason.empty()) << candidate.name;
    }
  EXPECT_NE(product.report().candidate, "packed") << "which is the CPU's";
}

TEST(Profile, WhatNeedsDoublesIsRefusedByNameWhereThereAreNone) {
  if (!can_wear_profiles()) GTEST_SKIP() << "needs a device that holds the profile's groups";
  const Device arc = profiled_device("arc-a770");
  const auto refused = [](const auto& run) -> std::string {
    try {
      run();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::unsupported) << error.what();
      return error.parts().message;
    }
    return "accepted";
  };
  for (const char* name : {"any", "all", "count_nonzero", "sum"})  // truth values are read as doubles too
    for (Dtype dtype : {Dtype::f64, Dtype::c128}) {
      const View in = View::contiguous(dtype, {16});
      EXPECT_NE(refused([&] { plan(reduction(name), std::span(&in, 1), arc); }).find("no f64"), std::string::npos)
          << name;
    }
  const Device small(std::make_shared<device::SmallBuffers>(arc.impl(), 1000));
  const Operation mean = reduction("mean", {{"axes", "1"}});
  const std::vector<View> views = with_result(mean, View::contiguous(Dtype::i16, {7, 1056}));
  const Bytes in = random_bytes(buffer_bytes(views[0]), 1);
  const std::vector<std::span<const std::byte>> spans{in};
  Bytes out(static_cast<std::size_t>(buffer_bytes(views[1])));
  EXPECT_NE(refused([&] { run_on_host(mean, views, spans, out, small); }).find("no f64"), std::string::npos)
      << "in slices";
}

TEST(Profile, GroupsOfManyItemsAndTicketsBetweenGroupsRunHere) {
  if (!can_wear_profiles()) GTEST_SKIP() << "needs a device that holds the profile's groups";
  for (const char* name : {"h200", "mi300x"}) {  // with order between the groups of a launch, and without
    const Device device = profiled_device(name);
    const View in = View::contiguous(Dtype::u32, {300000}), out = View::contiguous(Dtype::u64, {});
    const std::vector<View> views{in, out};
    const Plan sum = plan(reduction("sum"), views, device);
    const bool ordered = device.info().device_scope_order;
    EXPECT_EQ(sum.impl()->launches.size(), ordered ? 1u : 2u) << name;
    EXPECT_GT(sum.impl()->launches[0].geometry.groups, 1u) << name;
    EXPECT_GT(sum.impl()->launches[0].geometry.items, 1u) << name;
    const Bytes bytes = random_bytes(buffer_bytes(in), 1);
    const std::vector<std::span<const std::byte>> spans{bytes};
    std::uint64_t want = 0, got = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
      std::uint32_t value;
      std::memcpy(&value, bytes.data() + at, 4);
      want += value;
    }
    run_on_host(reduction("sum"), views, spans, std::as_writable_bytes(std::span(&got, 1)), device);
    EXPECT_EQ(got, want) << name;
  }
}

}  // namespace
}  // namespace axisloom::ops_test
