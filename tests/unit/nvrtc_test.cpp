// NVRTC: where it is looked for, which one is chosen, and what it makes of sources; none of this needs a card.
#include "device/cuda/nvrtc.hpp"

#include "device/cuda/compile.hpp"
#include "device/dynamic_library.hpp"
#include "device/opencl/functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace axisloom::device::cuda {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const Nvrtc> fake_nvrtc(Version version, std::vector<int> architectures = {75, 80, 90}) {
  auto nvrtc = std::make_shared<Nvrtc>();
  nvrtc->version = version;
  nvrtc->architectures = std::move(architectures);
  return nvrtc;
}

BuildRequest small_kernel() {
  return {.name = "test/double",
          .source =
              "extern \"C\" __global__ void twice(const int* a, int* b, long n) {\n"
              "  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n"
              "  if (i < n) b[i] = 2 * a[i];\n"
              "}\n",
          .options = {"--std=c++17", "-default-device"}};
}

/// Sets an environment variable until it goes.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// A folder of its own below the system's temporary one, removed with all that it holds.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "axisloom-nvrtc-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }
  std::string file(const std::string& name) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << "not a library";
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

std::ptrdiff_t position(const std::vector<std::string>& in, const std::string& what) {
  const auto found = std::ranges::find(in, what);
  return found == in.end() ? -1 : found - in.begin();
}

class NvrtcCompile : public testing::Test {
 protected:
  void SetUp() override {
    if (installed_nvrtc().found.empty()) GTEST_SKIP() << "INCOMPLETE: NVRTC is not installed";
  }
};

bool is_elf(const std::vector<std::byte>& binary) {
  return binary.size() > 64 && std::memcmp(binary.data(),
                                           "\x7f"
                                           "ELF",
                                           4) == 0;
}

TEST(NvrtcSearch, LooksInToolkitsCondaAndPipFolders) {
  const TemporaryFolder folder;
  const std::string toolkit = folder.file("toolkit/lib64/libnvrtc.so.12");
  const std::string home = folder.file("home_toolkit/lib/libnvrtc.so.13");
  const std::string conda = folder.file("conda/lib/libnvrtc.so.12");
  const std::string venv = folder.file("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const std::string pip = folder.file("python/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  folder.file("python/bin/python3");
  const Variable cuda_path("CUDA_PATH", (folder.path() / "toolkit").string());
  const Variable cuda_home("CUDA_HOME", (folder.path() / "home_toolkit").string());
  const Variable conda_prefix("CONDA_PREFIX", (folder.path() / "conda").string());
  const Variable virtual_env("VIRTUAL_ENV", (folder.path() / "venv").string());
  const Variable path("PATH", (folder.path() / "empty").string() + ":" + (folder.path() / "python/bin").string());

  const std::vector<std::string> candidates = nvrtc_candidates();
  EXPECT_EQ(candidates.front(), "libnvrtc.so.13");
  std::ptrdiff_t last = position(candidates, "libnvrtc.so");
  for (const std::string& expected : {toolkit, home, conda, venv, pip}) {
    const std::ptrdiff_t at = position(candidates, expected);
    EXPECT_GT(at, last) << expected;
    last = at;
  }
  std::vector<std::string> sorted = candidates;
  std::ranges::sort(sorted);
  EXPECT_TRUE(std::ranges::adjacent_find(sorted) == sorted.end()) << "a place is named twice";
}

/// Stands in a folder until it goes.
class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  ~WorkingFolder() { fs::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  fs::path before_;
};

TEST(NvrtcSearch, NeverLooksBelowTheWorkingFolder) {
  const TemporaryFolder folder;
  const std::string packages = "lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13";
  for (const std::string& file :
       {std::string("lib64/libnvrtc.so.12"), std::string("lib/libnvrtc.so.13"), packages, "venv/" + packages,
        ".local/" + packages, std::string("bin/python3"), std::string("venv/bin/python3"), std::string("python3")})
    folder.file(file);
  const WorkingFolder inside(folder.path());
  for (const char* relative : {"", ".", "./", "venv", "bin", "venv/bin", "./bin"}) {
    const Variable toolkit("CUDA_PATH", relative), home_toolkit("CUDA_HOME", relative), conda("CONDA_PREFIX", relative),
        venv("VIRTUAL_ENV", relative), home("HOME", relative), path("PATH", std::string(relative) + "::" + relative);
    for (const std::string& candidate : nvrtc_candidates())
      EXPECT_TRUE(candidate.starts_with('/') || candidate.find('/') == std::string::npos)
          << candidate << " by \"" << relative << '"';
    for (const std::string& candidate : opencl::library_candidates())
      EXPECT_TRUE(candidate.starts_with('/') || candidate.find('/') == std::string::npos)
          << candidate << " by \"" << relative << '"';
  }
}

TEST(DynamicLibrary, OpensNamesAndAbsolutePathsOnly) {
  const std::string name[] = {"libm.so.6"};
  const DynamicLibrary library(name);
  ASSERT_TRUE(library);
  ASSERT_TRUE(fs::path(library.path()).is_absolute());
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "sub");
  fs::copy_file(library.path(), folder.path() / "sub/libcopy.so");
  const WorkingFolder inside(folder.path());
  const std::string relative[] = {"sub/libcopy.so", "./sub/libcopy.so"}, absolute[] = {fs::absolute("sub/libcopy.so")};
  const DynamicLibrary refused(relative);
  EXPECT_FALSE(refused);
  ASSERT_EQ(refused.tried().size(), 2u);
  EXPECT_NE(refused.tried()[0].find("not an absolute path"), std::string::npos) << refused.tried()[0];
  EXPECT_TRUE(DynamicLibrary(absolute));
}

TEST(NvrtcSearch, ReportsFilesThatAreNoLibraries) {
  const TemporaryFolder folder;
  const std::string file = folder.file("libnvrtc.so.12");
  const NvrtcSearch search = find_nvrtc(std::vector<std::string>{file, "libnvrtc-that-is-not-there.so"});
  EXPECT_TRUE(search.found.empty());
  EXPECT_FALSE(search.status.found);
  ASSERT_EQ(search.status.tried.size(), 2u);
  EXPECT_NE(search.status.tried[0].find(file), std::string::npos);
  EXPECT_NE(search.status.remedy.find("pip install"), std::string::npos);
}

TEST(NvrtcSearch, ALibraryWithoutTheFunctionsIsNamed) {
  const NvrtcSearch search = find_nvrtc(std::vector<std::string>{"libm.so.6"});
  EXPECT_TRUE(search.found.empty());
  ASSERT_EQ(search.status.facts.size(), 1u);
  EXPECT_NE(search.status.facts[0].second.find("nvrtcVersion"), std::string::npos);
}

TEST(NvrtcChoice, TakesTheNewestThatTheDriverKnows) {
  NvrtcSearch search;
  search.found = {fake_nvrtc({13, 0}), fake_nvrtc({12, 9}), fake_nvrtc({12, 2})};
  EXPECT_EQ(choose_nvrtc(search, std::nullopt)->version, (Version{13, 0}));
  EXPECT_EQ(choose_nvrtc(search, Version{13, 1})->version, (Version{13, 0}));
  EXPECT_EQ(choose_nvrtc(search, Version{12, 4})->version, (Version{12, 9}));
  EXPECT_EQ(suitable_nvrtc(search, Version{11, 8}), nullptr);
  try {
    choose_nvrtc(search, Version{11, 8});
    FAIL() << "an NVRTC newer than the driver was chosen";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported);
    EXPECT_NE(error.parts().message.find("13.0"), std::string::npos);
    EXPECT_NE(error.parts().message.find("11.8"), std::string::npos);
    EXPECT_NE(error.parts().remedy.find("NVRTC 11"), std::string::npos);
  }
}

TEST(NvrtcChoice, SaysWhatToInstallWhenThereIsNone) {
  try {
    choose_nvrtc(NvrtcSearch{}, Version{12, 4});
    FAIL() << "an NVRTC was chosen out of none";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported);
    EXPECT_NE(error.parts().remedy.find("nvidia-cuda-nvrtc-cu12"), std::string::npos);
  }
}

TEST(NvrtcChoice, TargetsTheCardOrTheNewestThatItRuns) {
  const auto nvrtc = fake_nvrtc({12, 9}, {75, 80, 89, 90, 100});
  EXPECT_EQ(target_architecture(*nvrtc, 80), "sm_80");
  EXPECT_EQ(target_architecture(*nvrtc, 89), "sm_89");
  EXPECT_EQ(target_architecture(*nvrtc, 90), "sm_90a");
  EXPECT_EQ(target_architecture(*nvrtc, 100), "sm_100a");
  EXPECT_EQ(target_architecture(*nvrtc, 120), "compute_100");
  EXPECT_EQ(target_architecture(*nvrtc, 87), "compute_80");
  EXPECT_EQ(target_architecture(*fake_nvrtc({11, 8}), 90), "sm_90");
  try {
    target_architecture(*nvrtc, 61);
    FAIL() << "a card older than all was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported);
    EXPECT_NE(error.parts().message.find("6.1"), std::string::npos);
    EXPECT_NE(error.parts().message.find("7.5"), std::string::npos);
    EXPECT_NE(error.parts().message.find("12.9"), std::string::npos);
  }
}

TEST_F(NvrtcCompile, EveryInstalledOneTellsVersionAndArchitectures) {
  for (const auto& nvrtc : installed_nvrtc().found) {
    EXPECT_GE(nvrtc->version, (Version{11, 2})) << nvrtc->path();
    EXPECT_FALSE(nvrtc->architectures.empty()) << nvrtc->path();
    EXPECT_TRUE(std::ranges::is_sorted(nvrtc->architectures));
    EXPECT_TRUE(fs::exists(nvrtc->path())) << nvrtc->path();
  }
}

TEST_F(NvrtcCompile, MakesMachineCodeForEachCard) {
  for (const char* architecture : {"sm_80", "sm_90", "sm_90a", "sm_100", "sm_100a"}) {
    std::string log = "unchanged";
    EXPECT_TRUE(is_elf(compile_cuda(small_kernel(), architecture, &log))) << architecture;
    EXPECT_EQ(log, "") << architecture;
  }
}

TEST_F(NvrtcCompile, MakesPtxForAFamily) {
  const std::vector<std::byte> ptx = compile_cuda(small_kernel(), "compute_80", nullptr);
  ASSERT_FALSE(ptx.empty());
  EXPECT_EQ(ptx.back(), std::byte{0});
  const std::string text(reinterpret_cast<const char*>(ptx.data()));
  EXPECT_NE(text.find(".target sm_80"), std::string::npos);
  EXPECT_NE(text.find(".entry twice"), std::string::npos);
}

TEST_F(NvrtcCompile, TheSuffixUnlocksTheInstructionsOfOneCard) {
  BuildRequest request = small_kernel();
  request.source = "extern \"C\" __global__ void fence() { asm volatile(\"wgmma.fence.sync.aligned;\"); }\n";
  EXPECT_TRUE(is_elf(compile_cuda(request, "sm_90a", nullptr)));
  EXPECT_THROW(compile_cuda(request, "sm_90", nullptr), Error);
}

TEST_F(NvrtcCompile, AnErrorCarriesTheCompilersWords) {
  BuildRequest request = small_kernel();
  request.source =
      "#line 7 \"op/variant.kernel\"\nextern \"C\" __global__ void f(int* a) { a[0] = undeclared_name; }\n";
  std::string log;
  try {
    compile_cuda(request, "sm_80", &log);
    FAIL() << "it compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::device);
    EXPECT_EQ(error.parts().call, "nvrtcCompileProgram");
    EXPECT_EQ(error.parts().native, kNvrtcCompilation);
    EXPECT_NE(error.parts().message.find("undeclared_name"), std::string::npos);
    EXPECT_NE(error.parts().message.find("op/variant.kernel(7)"), std::string::npos);
    EXPECT_NE(log.find("undeclared_name"), std::string::npos);
  }
}

TEST_F(NvrtcCompile, WarningsOfASuccessReachTheLog) {
  BuildRequest request = small_kernel();
  request.source = "extern \"C\" __global__ void f(int* a) { int unused_value; a[0] = 1; }\n";
  std::string log;
  EXPECT_TRUE(is_elf(compile_cuda(request, "sm_80", &log)));
  EXPECT_NE(log.find("unused_value"), std::string::npos);
}

TEST_F(NvrtcCompile, AnUnknownOptionIsAnError) {
  BuildRequest request = small_kernel();
  request.options.push_back("--no-such-option");
  EXPECT_THROW(compile_cuda(request, "sm_80", nullptr), Error);
}

TEST_F(NvrtcCompile, RefusesArchitecturesItDoesNotKnow) {
  for (const char* wrong : {"", "sm_", "90", "sm_90x", "gfx90a", "compute_", "sm_0", "sm_-90"}) {
    try {
      compile_cuda(small_kernel(), wrong, nullptr);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::usage) << wrong;
    }
  }
  for (const char* unknown : {"sm_1", "sm_30"}) {
    try {
      compile_cuda(small_kernel(), unknown, nullptr);
      ADD_FAILURE() << unknown << " compiled";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::unsupported);
      EXPECT_NE(error.parts().message.find("sm_80"), std::string::npos);
    }
  }
}

/// Each function of NVRTC made to fail in turn, on a copy of the real table.
TEST_F(NvrtcCompile, EveryFailingCallIsNamed) {
  Nvrtc nvrtc = *installed_nvrtc().found.front();
  const auto expect_failure = [&](auto& entry, const char* architecture) {
    const auto saved = entry.function;
    entry.function = [](auto...) -> nvrtcResult { return kNvrtcOutOfMemory; };
    try {
      compile_cuda(nvrtc, small_kernel(), architecture, nullptr);
      ADD_FAILURE() << entry.name << " failed and nobody noticed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::out_of_memory) << entry.name;
      EXPECT_EQ(error.parts().call, entry.name);
    }
    entry.function = saved;
  };
  expect_failure(nvrtc.api.nvrtcCreateProgram, "sm_80");
  expect_failure(nvrtc.api.nvrtcCompileProgram, "sm_80");
  expect_failure(nvrtc.api.nvrtcGetProgramLogSize, "sm_80");
  expect_failure(nvrtc.api.nvrtcGetCUBINSize, "sm_80");
  expect_failure(nvrtc.api.nvrtcGetCUBIN, "sm_80");
  expect_failure(nvrtc.api.nvrtcGetPTXSize, "compute_80");
  expect_failure(nvrtc.api.nvrtcGetPTX, "compute_80");
  EXPECT_TRUE(is_elf(compile_cuda(nvrtc, small_kernel(), "sm_80", nullptr)));
}

}  // namespace
}  // namespace axisloom::device::cuda
