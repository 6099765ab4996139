// The kernel of einsum's own, elementwise, compiles by NVRTC for every generation of cards. Needs no card.
#include "ops_support.hpp"

#include "device/cuda/compile.hpp"
#include "device/cuda/nvrtc.hpp"

#include <gtest/gtest.h>

namespace axisloom::ops_test {
namespace {

/// The sources that plans for a card ask to compile.
std::set<std::string> sources_of(const std::vector<std::pair<Operation, std::vector<View>>>& jobs, bool checked) {
  const auto card = std::make_shared<PretendedDevice>(gpu_info());
  const NoDiskCache memory_only;
  PlanOptions options;
  options.checked = checked;
  for (const auto& [op, views] : jobs) plan(op, views, Device(card), options);
  return card->sources;
}

std::vector<std::pair<Operation, std::vector<View>>> elementwise_jobs() {
  std::vector<std::pair<Operation, std::vector<View>>> jobs;
  const auto array = [](Dtype dtype) { return View::contiguous(dtype, {300, 400}); };
  const auto turned = [](const Options& options) { return einsum("i j -> j i", options); };
  for (const Dtype dtype : all_dtypes()) {
    jobs.push_back({turned({{"beta", "1"}}), {array(dtype), View::contiguous(dtype, {400, 300})}});
    if (dtype != Dtype::i8 && dtype != Dtype::u8) jobs.push_back({turned({{"out-dtype", "c128"}}), {array(dtype)}});
  }
  jobs.erase(std::remove_if(jobs.begin(), jobs.end(),
                            [](const auto& job) { return job.second.size() > 1 && size_of(job.second[0].dtype) == 1; }),
             jobs.end());
  const View bytes = array(Dtype::i8), sum = View::contiguous(Dtype::i32, {400, 300});
  jobs.push_back({turned({{"alpha", "3"}, {"beta", "2"}, {"activation", "relu"}}), {bytes, sum}});
  jobs.push_back({turned({{"alpha", "3"}, {"activation", "relu"}}), {array(Dtype::bf16)}});
  const Operation multiply = einsum("i j, i j -> i j");
  for (const Dtype dtype : {Dtype::i8, Dtype::f16, Dtype::f32, Dtype::c128, Dtype::boolean})
    jobs.push_back({multiply, {array(dtype), array(dtype)}});
  return jobs;
}

void compile(const std::set<std::string>& sources, const std::string& architecture) {
  for (const std::string& source : sources) {
    std::string log;
    try {
      EXPECT_FALSE(
          device::cuda::compile_cuda({"map", source, jit::build_options(gpu_info())}, architecture, &log).empty());
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    EXPECT_EQ(log, "");
  }
}

TEST(EinsumCuda, ElementwiseKernelsCompileForEveryGeneration) {
  ASSERT_FALSE(device::cuda::installed_nvrtc().found.empty()) << "INCOMPLETE: no NVRTC; tools/nvrtc.sh installs it";
  const std::set<std::string> sources = sources_of(elementwise_jobs(), false);
  EXPECT_GE(sources.size(), 25u);
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) compile(sources, architecture);
}

TEST(EinsumCuda, ElementwiseKernelsCompileChecked) {
  ASSERT_FALSE(device::cuda::installed_nvrtc().found.empty()) << "INCOMPLETE: no NVRTC; tools/nvrtc.sh installs it";
  const View array = View::contiguous(Dtype::f32, {300, 400}), addend = View::contiguous(Dtype::f32, {400, 300});
  compile(sources_of({{einsum("i j -> j i", {{"beta", "1"}}), {array, addend}}}, true), "sm_90");
}

}  // namespace
}  // namespace axisloom::ops_test
