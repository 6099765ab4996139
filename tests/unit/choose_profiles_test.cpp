// Typical problems on every profile: which candidate a plan takes for each and why, and that all of them fit.
#include "harness/arena.hpp"
#include "harness/case.hpp"
#include "model/profile.hpp"
#include "ops_support.hpp"
#include "planner/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace axisloom::ops_test {
namespace {

/// Winners by kind of device; `others` names profiles that differ: "h200=wgmma a100=mma". "none": the device lacks f64.
struct Typical {
  const char *text, *gpus, *cpus, *others, *reason;
};

const Typical typical_problems[] = {
    {"transpose f32 8192x8192", "tile", "block", "", "whole rows on both sides, turned in local memory or registers"},
    {"transpose u8 16384x16384", "tile", "block", "", "the same"},
    {"transpose u8 8191x8193", "tile", "block", "", "rows that begin anywhere, skewed"},
    {"transpose f16 8191x4097", "tile", "block", "", "the same"},
    {"transpose f32 4097x4095", "tile", "block", "", "the same"},
    {"transpose f16 8192x8192", "tile", "block", "", "aligned rows, also where groups have at most 256 items"},
    {"rearrange u8 4000x6000x3 \"h w c -> w h c\"", "tile_nd", "runs", "", "pixels of three bytes are no element"},
    {"rearrange u8 4000x6000x3 \"h w c -> c h w\"", "interleave", "interleave_cpu", "",
     "few lanes are picked out of whole words"},
    {"relayout f32 64x224x224x4 NHWC NCHW", "interleave", "interleave_cpu", "", "the same"},
    {"relayout f16 64x128x56x56 NCHW NHWC", "tile", "block", "", "many lanes are a transpose"},
    {"relayout f16 64x56x56x128 NHWC NCHW", "tile", "block", "", "the same"},
    {"permute f32 40x37x33x35x4x2x3x5 7,6,5,4,3,2,1,0", "tile_flat", "slab",
     "adreno=tile_nd apple=tile_nd mali-g52=tile_nd", "runs of several axes, of whole packets"},
    {"copy f32 4096x4096 in-strides=4097,1 out-strides=4099,1", "rows", "rows_cpu", "", "words need no shifting"},
    {"copy u8 8192x8192 in-strides=8193,1 out-strides=8195,1", "shift", "rows_cpu", "", "bytes that begin unlike do"},
    {"sum f32 8192x8192 axes=1", "rows", "rows_cpu", "", "runs of memory"},
    {"sum f32 8192x8192 axes=0", "columns", "columns_cpu", "", "the fastest axis is kept"},
    {"sum f32 1000003x33 axes=1", "short_rows", "rows_cpu", "", "runs shorter than a team's loads"},
    {"sum f32 4000000x7 axes=0", "few_columns", "columns_cpu", "", "packets across the ends of rows"},
    {"sum f32 67108864", "rows", "rows_cpu", "", "one run, in parts"},
    {"argmax f32 8192x8192 axes=1", "rows", "rows_cpu", "", "runs of memory"},
    {"matmul f32 2048x2048,2048x2048", "tile", "packed", "", "sums in registers"},
    {"matmul f16 2048x2048,2048x2048", "tile", "packed", "a100=mma b200=mma h200=wgmma",
     "tensor cores; a GeForce has them for f16 too, but reaches no more with mma than with tile"},
    {"matmul f64 2048x2048,2048x2048", "tile", "packed",
     "a100=mma b200=mma h200=mma adreno=none apple=none arc-a770=none mali-g52=none", "tensor cores of f64"},
    {"matmul c64 512x512,512x512", "tile", "packed", "", "sums in registers"},
    {"matmul f32 8192x8,8x8192", "tile", "packed", "", "an outer product is bound by its stores"},
    {"matmul f32 8192x8192,8192", "gemv", "gemv", "", "read once, in order"},
    {"matmul f32 1000x16x16,1000x16x16", "local16", "packed", "mi300x=plain",
     "larger tiles would be mostly empty; 16 x 16 fit, and an item loads a sixteenth of what plain does"},
};

std::string expected(const Typical& typical, const model::Profile& profile) {
  const std::string others = std::string(" ") + typical.others + " ", key = " " + profile.name + "=";
  const std::size_t at = others.find(key);
  if (at == std::string::npos) return profile.model.kind == Kind::cpu ? typical.cpus : typical.gpus;
  const std::size_t begin = at + key.size();
  return others.substr(begin, others.find(' ', begin) - begin);
}

class ChooseProfiles : public ::testing::Test {
  NoDiskCache memory_only_;
};

TEST_F(ChooseProfiles, TypicalProblemsHaveTheirWinnersAndFit) {
  for (const std::string& name : model::profile_names()) {
    const model::Profile& profile = model::profile_named(name);
    const Device device(std::make_shared<PretendedDevice>(as_seen(profile)));
    for (const Typical& typical : typical_problems) {
      SCOPED_TRACE(name + ": " + typical.text + ": " + typical.reason);
      const harness::Case what = harness::parse_case(typical.text);
      const std::string winner = expected(typical, profile);
      Plan made;
      const auto code = code_thrown([&] { made = plan(what.op, harness::views_of(what, 0), device, what.options); });
      if (winner == "none") {
        EXPECT_EQ(code, Errc::unsupported);
        continue;
      }
      ASSERT_TRUE(made.impl());
      EXPECT_EQ(made.report().candidate, winner);
      for (const Launch& launch : made.impl()->launches) {
        EXPECT_LE(launch.geometry.items, profile.model.max_group) << launch.kernel.file;
        EXPECT_LE(launch.geometry.local_bytes, profile.model.local_memory_max) << launch.kernel.file;
      }
    }
  }
}

// Whoever takes a problem could run it: forced, each of them makes launches that fit.
TEST_F(ChooseProfiles, WhoeverTakesAProblemFitsTheDevice) {
  for (const std::string& name : model::profile_names()) {
    const model::Profile& profile = model::profile_named(name);
    const Device device(std::make_shared<PretendedDevice>(as_seen(profile)));
    for (const Typical& typical : typical_problems) {
      if (expected(typical, profile) == "none") continue;
      const harness::Case what = harness::parse_case(typical.text);
      const std::vector<View> views = harness::views_of(what, 0);
      const PlanReport report = plan(what.op, views, device, what.options).report();
      for (const CandidateReport& candidate : report.candidates) {
        if (!candidate.accepted) continue;
        SCOPED_TRACE(name + ": " + typical.text + ": " + candidate.name);
        EXPECT_GT(candidate.seconds, 0);
        PlanOptions forced;
        forced.candidate = candidate.name;
        const Plan planned = plan(what.op, views, device, forced);
        for (const Launch& launch : planned.impl()->launches) {
          EXPECT_LE(launch.geometry.items, profile.model.max_group);
          EXPECT_LE(launch.geometry.local_bytes, profile.model.local_memory_max);
        }
      }
    }
  }
}

}  // namespace
}  // namespace axisloom::ops_test
