// The cases, and how they are picked.
#include "bench/suite.hpp"

#include "arguments.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace axisloom::bench {
namespace {

// Of moves. speed: both arrays together are far larger than any cache (200 MB and more on CPUs, 1 to 8 GiB on GPUs).
// quick: the same kinds of moves in sizes that take seconds in all.
// reduce: whole arrays beyond any cache and, on GPUs, down to what a launch takes; rows and columns of a square matrix.
// matmul: squares from those that fit into caches to those that fill a machine; batches, a vector, a transposed input.
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

    SuiteCase{"reduce", Scale::cpu, "sum u32 1 GiB", "sum u32 268435456"},
    SuiteCase{"reduce", Scale::cpu, "sum f32 1 GiB", "sum f32 268435456"},
    SuiteCase{"reduce", Scale::cpu, "sum f64 1 GiB", "sum f64 134217728"},
    SuiteCase{"reduce", Scale::cpu, "max f32 1 GiB", "max f32 268435456"},
    SuiteCase{"reduce", Scale::cpu, "argmax f32 1 GiB", "argmax f32 268435456"},
    SuiteCase{"reduce", Scale::cpu, "row sums f32 16384", "sum f32 16384x16384 axes=1"},
    SuiteCase{"reduce", Scale::cpu, "column sums f32 16384", "sum f32 16384x16384 axes=0"},

    SuiteCase{"reduce", Scale::gpu, "sum u32 2^30", "sum u32 1073741824"},
    SuiteCase{"reduce", Scale::gpu, "sum f32 2^28", "sum f32 268435456"},
    SuiteCase{"reduce", Scale::gpu, "sum f32 2^24", "sum f32 16777216"},
    SuiteCase{"reduce", Scale::gpu, "sum f32 2^20", "sum f32 1048576"},
    SuiteCase{"reduce", Scale::gpu, "sum u32 4096", "sum u32 4096 also=lesson"},
    SuiteCase{"reduce", Scale::gpu, "row sums f32 16384", "sum f32 16384x16384 axes=1"},
    SuiteCase{"reduce", Scale::gpu, "column sums f32 16384", "sum f32 16384x16384 axes=0"},

    SuiteCase{"matmul", Scale::cpu, "f32 256", "matmul f32 256x256,256x256"},
    SuiteCase{"matmul", Scale::cpu, "f32 512", "matmul f32 512x512,512x512"},
    SuiteCase{"matmul", Scale::cpu, "f32 768", "matmul f32 768x768,768x768 also=plain also=local16"},
    SuiteCase{"matmul", Scale::cpu, "f32 1024", "matmul f32 1024x1024,1024x1024"},
    SuiteCase{"matmul", Scale::cpu, "f32 1536", "matmul f32 1536x1536,1536x1536 also=local16"},
    SuiteCase{"matmul", Scale::cpu, "f32 2048", "matmul f32 2048x2048,2048x2048"},
    SuiteCase{"matmul", Scale::cpu, "f64 1024", "matmul f64 1024x1024,1024x1024"},
    SuiteCase{"matmul", Scale::cpu, "i8 1024", "matmul i8 1024x1024,1024x1024"},
    SuiteCase{"matmul", Scale::cpu, "f32 64 times 128", "matmul f32 64x128x128,64x128x128"},
    SuiteCase{"matmul", Scale::cpu, "f32 16384 by vector", "matmul f32 16384x16384,16384"},

    SuiteCase{"matmul", Scale::gpu, "f32 768", "matmul f32 768x768,768x768 also=plain also=local16"},
    SuiteCase{"matmul", Scale::gpu, "f32 1024", "matmul f32 1024x1024,1024x1024"},
    SuiteCase{"matmul", Scale::gpu, "f32 2048", "matmul f32 2048x2048,2048x2048"},
    SuiteCase{"matmul", Scale::gpu, "f32 4096", "matmul f32 4096x4096,4096x4096"},
    SuiteCase{"matmul", Scale::gpu, "f32 8192", "matmul f32 8192x8192,8192x8192"},
    SuiteCase{"matmul", Scale::gpu, "f64 4096", "matmul f64 4096x4096,4096x4096"},
    SuiteCase{"matmul", Scale::gpu, "f32 512 times 256", "matmul f32 512x256x256,512x256x256"},
    SuiteCase{"matmul", Scale::gpu, "f32 4096, A transposed", "matmul f32 4096x4096,4096x4096 in-strides=1,4096"},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Variant variant_of(std::string_view text) {
  Variant variant{std::string(text), {}};
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(':', start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  variant.options.candidate = parts.front();
  bool sense = !parts.front().empty() && parts.size() % 2 == 1;
  for (std::size_t i = 1; sense && i < parts.size(); i += 2) {
    const auto value = cli::parse_integer(parts[i + 1]);
    sense = value.has_value();
    if (sense) variant.options.configuration[parts[i]] = *value;
  }
  if (!sense)
    throw Error(Errc::usage, fmt::format("cannot read also={}", text), "write it as also=candidate:tunable:value");
  return variant;
}

}  // namespace

Job job_of(std::string_view label, std::string_view text) {
  constexpr std::string_view also = " also=";
  Job job{std::string(label), {}, {}};
  std::string rest(text);
  for (std::size_t at = rest.find(also); at != std::string::npos; at = rest.find(also)) {
    const std::size_t start = at + also.size(), end = std::min(rest.find(' ', start), rest.size());
    job.also.push_back(variant_of(std::string_view(rest).substr(start, end - start)));
    rest.erase(at, end - at);
  }
  job.what = cli::parse_case(rest);
  return job;
}

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
