// The cases, and how they are picked.
#include "bench/suite.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace axisloom::bench {
namespace {

// speed: both arrays together are far larger than any cache (200 MB and more on CPUs, 1 to 8 GiB on GPUs).
// quick: the same kinds of moves in sizes that take seconds in all.
constexpr std::array cases{
    SuiteCase{"speed", Scale::cpu, "transpose f32 8192", "transpose f32 8192x8192"},
    SuiteCase{"speed", Scale::cpu, "transpose u8 16384", "transpose u8 16384x16384"},
    SuiteCase{"speed", Scale::cpu, "transpose u16 8192", "transpose u16 8192x8192"},
    SuiteCase{"speed", Scale::cpu, "transpose f64 4096", "transpose f64 4096x4096"},
    SuiteCase{"speed", Scale::cpu, "transpose c128 4096", "transpose c128 4096x4096"},
    SuiteCase{"speed", Scale::cpu, "photo HWC to CHW u8", "rearrange u8 4000x6000x3 \"h w c -> c h w\""},
    SuiteCase{"speed", Scale::cpu, "photo CHW to HWC u8", "rearrange u8 3x4000x6000 \"c h w -> h w c\""},
    SuiteCase{"speed", Scale::cpu, "NCHW to NC/32HW32 i8", "relayout i8 32x256x112x112 NCHW NC/32HW32"},
    SuiteCase{"speed", Scale::cpu, "NCHW to NHWC f32", "relayout f32 32x128x112x112 NCHW NHWC"},

    SuiteCase{"speed", Scale::gpu, "transpose f32 8192", "transpose f32 8192x8192"},
    SuiteCase{"speed", Scale::gpu, "transpose f32 16384", "transpose f32 16384x16384"},
    SuiteCase{"speed", Scale::gpu, "transpose f32 32768", "transpose f32 32768x32768"},
    SuiteCase{"speed", Scale::gpu, "transpose u8 32768", "transpose u8 32768x32768"},
    SuiteCase{"speed", Scale::gpu, "transpose u16 32768", "transpose u16 32768x32768"},
    SuiteCase{"speed", Scale::gpu, "transpose f64 16384", "transpose f64 16384x16384"},
    SuiteCase{"speed", Scale::gpu, "transpose c128 8192", "transpose c128 8192x8192"},
    SuiteCase{"speed", Scale::gpu, "NCHW to NC/32HW32 i8", "relayout i8 64x256x112x112 NCHW NC/32HW32"},
    SuiteCase{"speed", Scale::gpu, "NCHW to NHWC f16", "relayout f16 64x512x112x112 NCHW NHWC"},
    SuiteCase{"speed", Scale::gpu, "NHWC to NCHW f16", "relayout f16 64x112x112x512 NHWC NCHW"},
    SuiteCase{"speed", Scale::gpu, "copy f32, rows padded by 1 and 3",
              "copy f32 16384x16384 in-strides=16385,1 out-strides=16387,1"},
    SuiteCase{"speed", Scale::gpu, "copy u8, rows padded by 1 and 3",
              "copy u8 32768x32767 in-strides=32768,1 out-strides=32771,1"},
    SuiteCase{"speed", Scale::gpu, "photos HWC to CHW u8", "rearrange u8 16x4000x6000x3 \"n h w c -> n c h w\""},

    SuiteCase{"quick", Scale::cpu, "transpose f32 4096", "transpose f32 4096x4096"},
    SuiteCase{"quick", Scale::cpu, "photo HWC to CHW u8", "rearrange u8 4000x6000x3 \"h w c -> c h w\""},
    SuiteCase{"quick", Scale::cpu, "NCHW to NC/32HW32 i8", "relayout i8 16x256x112x112 NCHW NC/32HW32"},

    SuiteCase{"quick", Scale::gpu, "transpose f32 16384", "transpose f32 16384x16384"},
    SuiteCase{"quick", Scale::gpu, "transpose u8 32768", "transpose u8 32768x32768"},
    SuiteCase{"quick", Scale::gpu, "NCHW to NC/32HW32 i8", "relayout i8 64x256x112x112 NCHW NC/32HW32"},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Job job_of(std::string_view label, std::string_view text) {
  return {std::string(label), cli::parse_case(text)};
}

}  // namespace

std::span<const SuiteCase> suite_cases() {
  return cases;
}

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const SuiteCase& c : cases)
    if (std::find(names.begin(), names.end(), c.suite) == names.end()) names.emplace_back(c.suite);
  return names;
}

std::vector<Job> jobs_of(std::string_view suite, const DeviceInfo& device, const std::vector<std::string>& wanted) {
  const Scale scale = device.kind == Kind::cpu ? Scale::cpu : Scale::gpu;
  const auto picked_by = [&](const SuiteCase& c, std::string_view part) {
    return c.suite == suite && c.scale == scale && (contains(c.label, part) || contains(c.text, part));
  };
  std::vector<Job> jobs;
  if (wanted.empty())
    for (const SuiteCase& c : cases)
      if (picked_by(c, "")) jobs.push_back(job_of(c.label, c.text));
  for (const std::string& word : wanted) {
    const std::size_t before = jobs.size();
    for (const SuiteCase& c : cases)
      if (picked_by(c, word)) jobs.push_back(job_of(c.label, c.text));
    if (jobs.size() == before && contains(word, " ")) jobs.push_back(job_of(word, word));
    if (jobs.size() == before)
      throw Error(Errc::usage, fmt::format("the suite {} has no case \"{}\" for this device", suite, word),
                  "name a part of one, or write a case such as \"transpose f32 4096x4096\"");
  }
  return jobs;
}

}  // namespace axisloom::bench
