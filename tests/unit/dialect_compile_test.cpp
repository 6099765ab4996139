// What can be told of the dialect without a card: its kernels compile for CUDA, the machine code is what the words
// promise, and intrinsics.md lists the words that exist and are tested.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "device/cuda/compile.hpp"
#include "dialect_support.hpp"

namespace axisloom::dialect_test {
namespace {

struct Case {
  const char* file;
  const char* kernel;
  std::size_t params_size;
  jit::Defines defines;
};

std::vector<Case> cases() {
  const auto defines = [](const char* name, const char* value) { return jit::Defines().set(name, std::string(value)); };
  std::vector<Case> all = {
      {"mixed", "mixed", 32, {}},          {"packets", "packets", 8, {}},
      {"arithmetic", "arithmetic", 8, {}}, {"convert", "narrow", 8, {}},
      {"ieee", "running_sum", 16, {}},     {"faults", "faults", 8, jit::Defines().set("FAULT", 4)}};
  for (const char* type : {"u8", "u32"}) all.push_back({"access", "widths", 8, defines("ELEMENT", type)});
  for (const char* type : {"u32", "f64"}) {
    all.push_back({"order", "last_group_sums", 16, defines("SLOT_TYPE", type)});
  }
  all.push_back({"together", "together", 8, {}});
  all.push_back({"local", "fetched", 16, defines("ELEMENT", "u8").set("ELEMENT_BYTES", 1)});
  all.push_back({"local", "fetched", 16, defines("ELEMENT", "u64").set("ELEMENT_BYTES", 8)});
  return all;
}

DeviceInfo cuda_info() {
  DeviceInfo info;
  info.api = Api::cuda;
  info.compiler = "NVRTC 13.0";
  return info;
}

/// PTX or machine code of a selftest kernel; a warning fails the test.
std::string compiled(const Case& what, Prelude prelude, const std::string& architecture) {
  const auto specialisation = selftest(what.file, what.kernel, what.defines, what.params_size, prelude);
  std::string messages;
  const auto code = device::cuda::compile_cuda(
      {what.file, jit::full_text(specialisation, Api::cuda), jit::build_options(cuda_info())}, architecture, &messages);
  EXPECT_EQ(messages.find("warning"), std::string::npos) << messages;
  return {reinterpret_cast<const char*>(code.data()), code.size()};
}

/// The PTX of one kernel of a program.
std::string entry(const std::string& ptx, const std::string& kernel) {
  const std::size_t start = ptx.find(".entry " + kernel + "(");
  return ptx.substr(start, ptx.find(".entry ", start + 1) - start);
}

bool has_nvrtc() {
  return !device::cuda::installed_nvrtc().found.empty();
}

#define NEEDS_NVRTC() \
  if (!has_nvrtc()) GTEST_SKIP() << "INCOMPLETE: no NVRTC on this machine"

TEST(DialectCompile, EveryKernelCompilesForCuda) {
  NEEDS_NVRTC();
  for (const Case& what : cases()) {
    SCOPED_TRACE(what.file);
    for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
      EXPECT_FALSE(compiled(what, Prelude::plain, architecture).empty());
    }
    EXPECT_FALSE(compiled(what, Prelude::checked, "sm_90").empty());
    EXPECT_FALSE(compiled(what, Prelude::traced, "sm_90").empty());
  }
}

std::size_t occurrences(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

TEST(DialectCompile, PacketsBecomeTheWidestAccesses) {
  NEEDS_NVRTC();
  const auto widths = [](const char* type) {
    const auto defines = jit::Defines().set("ELEMENT", std::string(type));
    return entry(compiled({"access", "widths", 8, defines}, Prelude::plain, "compute_90"), "widths");
  };
  const std::string bytes = widths("u8");
  EXPECT_EQ(occurrences(bytes, R"(ld\.global(\.nc)?\.v4\.u32)"), 1u) << "the packet of sixteen bytes";
  EXPECT_EQ(occurrences(bytes, R"(ld\.global\.cs\.v4\.u32)"), 1u);
  EXPECT_EQ(occurrences(bytes, R"(st\.global\.v4\.u32)"), 1u);
  EXPECT_EQ(occurrences(bytes, R"(st\.global\.cs\.v4\.u32)"), 1u);
  // Loose accesses alone go byte by byte: 1 + 2 + 3 + 4 + 8 + 16 of them, and one packet of one.
  EXPECT_EQ(occurrences(bytes, R"(ld\.global(\.nc)?\.u8)"), 35u);
  const std::string doubles = widths("f64");
  EXPECT_EQ(occurrences(doubles, R"(st\.global\.v4\.u32)"), 1u + 2 + 2 + 4 + 8) << "16, 32, 32, 64 and 128 bytes";
}

TEST(DialectCompile, TicketsAreOrderedForTheDevice) {
  NEEDS_NVRTC();
  const std::string ptx =
      compiled({"order", "last_group_sums", 16, jit::Defines().set("SLOT_TYPE", std::string("u32"))}, Prelude::plain,
               "compute_90");
  const std::size_t published = ptx.find("st.relaxed.gpu"), ticket = ptx.find("atom.acq_rel.gpu.global.add.u32");
  const std::size_t collected = ptx.find("ld.relaxed.gpu");
  ASSERT_NE(collected, std::string::npos);
  EXPECT_LT(published, ticket);
  EXPECT_LT(ticket, collected);
  EXPECT_EQ(occurrences(ptx, "membar"), 0u);
}

TEST(DialectCompile, NothingIsContractedAndCopiesAreAsynchronous) {
  NEEDS_NVRTC();
  const std::string sums = compiled({"ieee", "running_sum", 16, {}}, Prelude::plain, "compute_90");
  EXPECT_EQ(occurrences(sums, "fma"), 0u);
  EXPECT_GT(occurrences(sums, R"(mul\.(rn\.)?f32)"), 0u);
  const std::string copies =
      compiled({"local", "fetched", 16, jit::Defines().set("ELEMENT", std::string("u64")).set("ELEMENT_BYTES", 8)},
               Prelude::plain, "compute_90");
  EXPECT_GT(occurrences(copies, R"(cp\.async\.cg\.shared\.global \[[^\]]*\], \[[^\]]*\], 16)"), 0u);
  EXPECT_GT(occurrences(copies, R"(cp\.async\.wait_all)"), 0u);
}

std::string text_of(const std::string& name) {
  std::ifstream in(std::string(AXISLOOM_SOURCE_DIR) + "/src/dialect/" + name);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> identifiers(const std::string& text) {
  static const std::regex identifier("[A-Za-z_][A-Za-z0-9_]*");
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), identifier), end; at != end; ++at) found.insert(at->str());
  return found;
}

/// The words in the first column of the tables of intrinsics.md: `word(arguments)` or `word word word`.
std::set<std::string> listed_words() {
  std::set<std::string> words;
  std::istringstream lines(text_of("intrinsics.md"));
  static const std::regex span("`([^`]*)`");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string column = line.substr(0, line.find(" | ", 2));
    for (std::sregex_iterator at(column.begin(), column.end(), span), end; at != end; ++at) {
      const std::string text = (*at)[1];
      const auto some = identifiers(text.substr(0, text.find('(')));
      words.insert(some.begin(), some.end());
    }
  }
  return words;
}

std::string all_selftests() {
  std::string text;
  for (const std::string_view name : jit::embedded_files()) {
    if (name.starts_with("dialect/selftest/")) text += jit::embedded(name);
  }
  return text;
}

TEST(DialectCompile, EveryListedWordIsTested) {
  const auto used = identifiers(all_selftests());
  const auto listed = listed_words();
  EXPECT_GT(listed.size(), 80u);
  for (const std::string& word : listed) EXPECT_TRUE(used.contains(word)) << word << " is in no selftest kernel";
}

TEST(DialectCompile, EveryWordIsListed) {
  const auto listed = listed_words();
  static const std::regex defined(R"((?:#define|\bINLINE \w+) ([A-Za-z]\w*)\()");
  for (const char* header :
       {"on_opencl.h", "opencl_vectors.h", "opencl_lines.h", "on_cuda.h", "on_hip.h", "cpp.h", "on_host.h",
        "host_types.h", "host_vectors.h", "host_conversions.h", "intrinsics.h", "convert.h"}) {
    const std::string text = text_of(header);
    for (std::sregex_iterator at(text.begin(), text.end(), defined), end; at != end; ++at) {
      const std::string word = (*at)[1];
      if (word.starts_with("AXL_") || word.starts_with("axl_") || word.ends_with('_')) continue;
      EXPECT_TRUE(listed.contains(word)) << word << " of " << header << " is not in intrinsics.md";
    }
  }
}

}  // namespace
}  // namespace axisloom::dialect_test
