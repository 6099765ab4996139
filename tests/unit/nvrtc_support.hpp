// Kernels compiled by NVRTC without a card: whether they compile without a message, and what PTX comes of them.
#pragma once

#include "device/cuda/compile.hpp"
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <future>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace axisloom::ops_test {

/// What is wrong with the machine code of a text; empty when nothing is.
inline std::string fault_of(const std::string& name, const std::string& text, const std::string& architecture) {
  try {
    std::string log;
    const std::vector<std::byte> code =
        device::cuda::compile_cuda({name, text, jit::build_options(gpu_info())}, architecture, &log);
    const std::string magic(reinterpret_cast<const char*>(code.data()), std::min<std::size_t>(4, code.size()));
    if (magic !=
        "\x7f"
        "ELF")
      return name + " for " + architecture + ": no machine code";
    return log.empty() ? "" : name + " for " + architecture + ":\n" + log;
  } catch (const Error& error) {
    return name + " for " + architecture + ": " + error.what();
  }
}

/// `texts`: what they are of, by text.
inline void compile_all(const std::map<std::string, std::string>& texts,
                        const std::vector<std::string>& architectures) {
  std::cout << texts.size() << " texts" << std::endl;
  std::vector<std::pair<const std::pair<const std::string, std::string>*, std::string>> jobs;
  for (const auto& text : texts)
    for (const std::string& architecture : architectures) jobs.emplace_back(&text, architecture);
  const auto every_second = [&jobs](std::size_t first) {
    std::string faults;
    for (std::size_t i = first; i < jobs.size(); i += 2)
      if (std::string fault = fault_of(jobs[i].first->second, jobs[i].first->first, jobs[i].second); !fault.empty())
        faults += fault + "\n";
    return faults;
  };
  auto odd = std::async(std::launch::async, every_second, 1);
  EXPECT_EQ(every_second(0), "");
  EXPECT_EQ(odd.get(), "");
}

inline std::string ptx_of(const Launch& launch) {
  const auto code = device::cuda::compile_cuda(
      {launch.kernel.file, jit::full_text(launch.kernel, Api::cuda), jit::build_options(gpu_info())}, "compute_90",
      nullptr);
  return {reinterpret_cast<const char*>(code.data()), code.size()};
}

inline std::ptrdiff_t occurrences(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator());
}

/// The assembler says on request what does not fit into registers.
inline std::string assembler_messages(const std::string& text) {
  std::vector<std::string> options = jit::build_options(gpu_info());
  options.push_back("--ptxas-options=--warn-on-spills");
  options.push_back("--ptxas-options=--warn-on-local-memory-usage");
  std::string log;
  device::cuda::compile_cuda({"kernel", text, options}, "sm_90", &log);
  return log;
}

/// Without NVRTC a run is incomplete, not green.
class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(device::cuda::installed_nvrtc().found.empty()) << "INCOMPLETE: no NVRTC; tools/nvrtc.sh installs it";
  }
};

}  // namespace axisloom::ops_test
