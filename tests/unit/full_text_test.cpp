// What the compiler sees: constants, prelude, includes and line marks; build options; the embedded files themselves.
#include "jit/full_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "counting_device.hpp"
#include "jit/embedded.hpp"

namespace axisloom::jit {
namespace {

using Tree = std::map<std::string, std::string, std::less<>>;

std::string text_of(const Tree& tree, const Specialisation& what, Api api = Api::opencl) {
  const Sources sources = [&tree](std::string_view name) -> std::optional<std::string_view> {
    const auto at = tree.find(name);
    if (at == tree.end()) return std::nullopt;
    return at->second;
  };
  return full_text(what, api, sources);
}

Specialisation specialisation(std::string file) {
  Specialisation what;
  what.file = std::move(file);
  what.kernel = "turn";
  what.items = 128;
  return what;
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(FullText, HasConstantsThenPreludeThenKernel) {
  const Tree tree = {{"dialect/on_opencl.h", "opencl prelude\n"},
                     {"dialect/on_cuda.h", "cuda prelude\n"},
                     {"rearrange/tile.kernel", "kernel text"}};
  Specialisation what = specialisation("rearrange/tile.kernel");
  what.defines.set("TILE", 64);
  EXPECT_EQ(text_of(tree, what),
            "// Axisloom: kernel turn of rearrange/tile.kernel\n"
            "#define AXL_OPENCL 1\n#define GROUP 128\n#define TILE 64\n"
            "#line 1 \"dialect/on_opencl.h\"\nopencl prelude\n"
            "#line 1 \"rearrange/tile.kernel\"\nkernel text\n");
  what.checked = true;
  EXPECT_EQ(text_of(tree, what, Api::cuda),
            "// Axisloom: kernel turn of rearrange/tile.kernel\n"
            "#define AXL_CHECKED 1\n#define AXL_CUDA 1\n#define GROUP 128\n#define TILE 64\n"
            "#line 1 \"dialect/on_cuda.h\"\ncuda prelude\n"
            "#line 1 \"rearrange/tile.kernel\"\nkernel text\n");
}

TEST(FullText, ReplacesIncludesOnceAndKeepsLineNumbers) {
  const Tree tree = {
      {"dialect/on_opencl.h", "#if defined(AXL_CHECKED)\n#include \"checked.h\"\n#endif\nend of prelude\n"},
      {"dialect/checked.h", "checked text\n"},
      {"rearrange/tile.kernel",
       "first\n  #  include \"move.params.h\"  // the parameters\nthird\n#include \"checked.h\"\n"
       "#include \"rearrange/move.params.h\"\nsixth\n"},
      {"rearrange/move.params.h", "#pragma once\n#include <stdint.h>\nstruct params\n"}};
  EXPECT_EQ(text_of(tree, specialisation("rearrange/tile.kernel")),
            "// Axisloom: kernel turn of rearrange/tile.kernel\n"
            "#define AXL_OPENCL 1\n#define GROUP 128\n"
            "#line 1 \"dialect/on_opencl.h\"\n#if defined(AXL_CHECKED)\n"
            "#line 1 \"dialect/checked.h\"\nchecked text\n"
            "#line 3 \"dialect/on_opencl.h\"\n#endif\nend of prelude\n"
            "#line 1 \"rearrange/tile.kernel\"\nfirst\n"
            "#line 1 \"rearrange/move.params.h\"\n\n#include <stdint.h>\nstruct params\n"
            "#line 3 \"rearrange/tile.kernel\"\nthird\n\n\nsixth\n");
}

TEST(FullText, FindsIncludesBesideTheIncluderThenTheKernelThenInTheDialect) {
  Tree tree = {{"dialect/on_opencl.h", ""},
               {"copy/a.kernel", "#include \"rearrange/walk.h\"\n#include \"../reduce/tree.h\"\n"},
               {"rearrange/walk.h", "#include \"both.h\"\n#include \"beside_kernel.h\"\n"},
               {"reduce/tree.h", "tree\n"},
               {"rearrange/both.h", "beside the includer\n"},
               {"copy/both.h", "beside the kernel\n"},
               {"copy/beside_kernel.h", "kernel's own\n"},
               {"dialect/both.h", "of the dialect\n"}};
  const std::string text = text_of(tree, specialisation("copy/a.kernel"));
  EXPECT_EQ(occurrences(text, "beside the includer"), 1u);
  EXPECT_EQ(occurrences(text, "kernel's own"), 1u);
  EXPECT_EQ(occurrences(text, "\ntree\n"), 1u);
  EXPECT_EQ(occurrences(text, "beside the kernel"), 0u);
  tree.erase("rearrange/both.h");
  EXPECT_EQ(occurrences(text_of(tree, specialisation("copy/a.kernel")), "beside the kernel"), 1u);
  tree.erase("copy/both.h");
  EXPECT_EQ(occurrences(text_of(tree, specialisation("copy/a.kernel")), "of the dialect"), 1u);
}

TEST(FullText, FilesThatIncludeEachOtherEnd) {
  const Tree tree = {{"dialect/on_opencl.h", ""},
                     {"copy/a.kernel", "#include \"b.h\"\nthe body\n"},
                     {"copy/b.h", "#include \"c.h\"\n"},
                     {"copy/c.h", "#include \"b.h\"\n#include \"a.kernel\"\nc\n"}};
  EXPECT_EQ(occurrences(text_of(tree, specialisation("copy/a.kernel")), "the body\n"), 1u);
}

TEST(FullText, AMissingIncludeIsNamedWithItsPlace) {
  const Tree tree = {{"dialect/on_opencl.h", ""}, {"copy/a.kernel", "\n#include \"absent.h\"\n"}};
  try {
    text_of(tree, specialisation("copy/a.kernel"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::file);
    EXPECT_NE(std::string(error.what()).find("copy/a.kernel includes \"absent.h\" on line 2"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(text_of(tree, specialisation("copy/b.kernel")), Error);
  EXPECT_THROW(text_of(tree, specialisation("copy/a.kernel"), Api::cuda), Error);
}

TEST(FullText, AConstantCannotContradictTheGroupSize) {
  const Tree tree = {{"dialect/on_opencl.h", ""}, {"copy/a.kernel", ""}};
  Specialisation what = specialisation("copy/a.kernel");
  what.defines.set("GROUP", 64);
  EXPECT_THROW(text_of(tree, what), Error);
}

TEST(FullText, EveryEmbeddedKernelPutsTogether) {
  const auto files = embedded_files();
  EXPECT_TRUE(std::ranges::is_sorted(files));
  int kernels = 0;
  for (const std::string_view file : files) {
    if (!file.ends_with(".kernel")) continue;
    ++kernels;
    for (const Api api : {Api::opencl, Api::cuda}) {
      const std::string text = full_text(specialisation(std::string(file)), api);
      EXPECT_EQ(occurrences(text, "#pragma once"), 0u) << file;
      for (std::size_t at = 0; at != std::string::npos; at = text.find('\n', at + 1)) {
        EXPECT_FALSE(text.substr(at + 1).starts_with("#include \"")) << file;
      }
    }
  }
  EXPECT_GT(kernels, 0);
}

TEST(FullText, EmbeddedFilesAreThoseOfTheTree) {
  for (const EmbeddedFile& file : embedded_table()) EXPECT_EQ(find_embedded(file.name), file.text);
  EXPECT_EQ(find_embedded("rearrange/absent.kernel"), std::nullopt);
  EXPECT_THROW(embedded("rearrange/absent.kernel"), Error);
  EXPECT_TRUE(embedded("tuning/nvidia.jsonl").find("\"rates\"") != std::string_view::npos);
#ifdef AXISLOOM_SOURCE_DIR
  std::vector<std::string_view> embedded_names;
  for (const EmbeddedFile& file : embedded_table()) embedded_names.push_back(file.name);
  EXPECT_EQ(names_in_tree(AXISLOOM_SOURCE_DIR), embedded_names);
  for (const EmbeddedFile& file : embedded_table()) {
    EXPECT_EQ(read_from_tree(AXISLOOM_SOURCE_DIR, file.name), file.text) << file.name;
  }
#endif
}

TEST(FullText, ATreeOnDiskUsesTheSameNames) {
  const test::TemporaryFolder tree;
  test::write_file(tree / "src/dialect/on_cuda.h", "prelude");
  test::write_file(tree / "src/dialect/selftest/words.kernel", "words");
  test::write_file(tree / "src/ops/copy/plain.kernel", "plain");
  test::write_file(tree / "src/ops/copy/copy.params.h", "params");
  test::write_file(tree / "src/ops/copy/plain.cpp", "host");
  test::write_file(tree / "tuning/nvidia.jsonl", "{}");
  const std::vector<std::string_view> names = {"copy/copy.params.h", "copy/plain.kernel", "dialect/on_cuda.h",
                                               "dialect/selftest/words.kernel", "tuning/nvidia.jsonl"};
  EXPECT_EQ(names_in_tree(tree.path()), names);
  EXPECT_EQ(read_from_tree(tree.path(), "copy/copy.params.h"), "params");
  EXPECT_EQ(read_from_tree(tree.path(), "dialect/on_cuda.h"), "prelude");
  EXPECT_EQ(read_from_tree(tree.path(), "tuning/nvidia.jsonl"), "{}");
  EXPECT_EQ(read_from_tree(tree.path(), "copy/absent.kernel"), std::nullopt);

  const auto before = read_from_tree(tree.path(), "copy/plain.kernel");
  test::write_file(tree / "src/ops/copy/plain.kernel", "edited");
  EXPECT_EQ(read_from_tree(tree.path(), "copy/plain.kernel"), "edited");
  EXPECT_EQ(before, "plain") << "the text that was read before the edit is still there";
}

bool contains(const std::vector<std::string>& options, const std::string& option) {
  return std::ranges::find(options, option) != options.end();
}

/// Devices that lead through every branch of the list.
std::vector<DeviceInfo> every_sort_of_device() {
  std::vector<DeviceInfo> devices;
  for (const Api api : {Api::opencl, Api::cuda}) {
    for (const char* platform : {"NVIDIA CUDA", "Portable Computing Language"}) {
      for (const char* version : {"OpenCL 1.2 x", "OpenCL 3.0 y"}) {
        for (const bool has : {false, true}) {
          DeviceInfo device;
          device.api = api;
          device.platform = platform;
          device.api_version = version;
          device.compiler = has ? "NVRTC 13.0" : "NVRTC 11.2";
          device.f64 = has;
          device.device_scope_order = has;
          devices.push_back(device);
        }
      }
    }
  }
  return devices;
}

TEST(BuildOptions, NeverRelaxArithmetic) {
  for (const DeviceInfo& device : every_sort_of_device()) {
    for (const bool contract : {false, true}) {
      for (const std::string& option : build_options(device, contract)) {
        for (const char* word : {"fast", "unsafe", "finite", "denorm", "mad-enable", "ftz", "relaxed", "prec-div=false",
                                 "prec-sqrt=false", "no-signed-zeros", "single-precision-constant"}) {
          EXPECT_EQ(option.find(word), std::string::npos) << option;
        }
        EXPECT_TRUE(contract || option != "--fmad=true");
      }
    }
    EXPECT_EQ(contains(build_options(device), "--fmad=false"), device.api == Api::cuda);
  }
}

TEST(BuildOptions, MakeWarningsErrors) {
  DeviceInfo device;
  EXPECT_TRUE(contains(build_options(device), "-Werror"));
  device.api = Api::cuda;
  device.compiler = "NVRTC 13.0";
  EXPECT_TRUE(contains(build_options(device), "--diag-error=174,549,940"));
  device.compiler = "NVRTC 11.2";
  EXPECT_FALSE(contains(build_options(device), "--diag-error=174,549,940"));
}

TEST(BuildOptions, FaultsOfCompilersAreWorkedAround) {
  DeviceInfo device;
  device.platform = "rusticl";
  EXPECT_TRUE(contains(build_options(device), "-DAXL_CONSTANT_INDICES=1"));
  EXPECT_EQ(device::workarounds(device).size(), 1u);
  device.platform = "Oclgrind";
  EXPECT_TRUE(contains(build_options(device), "-cl-opt-disable"));
  EXPECT_TRUE(contains(build_options(device), "-disable-llvm-passes"));
  EXPECT_FALSE(contains(build_options(device), "-DAXL_CONSTANT_INDICES=1"));
  device.platform = "Portable Computing Language";
  EXPECT_TRUE(device::workarounds(device).empty());
}

TEST(BuildOptions, CheckedKernelsCompileSoonWithPocl) {
  DeviceInfo device;
  device.platform = "Portable Computing Language";
  EXPECT_TRUE(contains(build_options(device, false, true), "-cl-opt-disable"));
  EXPECT_FALSE(contains(build_options(device, false, false), "-cl-opt-disable"));
  device.platform = "NVIDIA CUDA";
  EXPECT_FALSE(contains(build_options(device, false, true), "-cl-opt-disable"));
}

TEST(BuildOptions, OpenClVersionFollowsTheOrderBetweenGroups) {
  DeviceInfo device;
  device.api_version = "OpenCL 3.0 PoCL HSTR";
  EXPECT_TRUE(contains(build_options(device), "-cl-std=CL1.2"));
  EXPECT_FALSE(contains(build_options(device), "-DAXL_DEVICE_SCOPE=1"));
  device.device_scope_order = true;
  EXPECT_TRUE(contains(build_options(device), "-cl-std=CL3.0"));
  EXPECT_TRUE(contains(build_options(device), "-DAXL_DEVICE_SCOPE=1"));
  device.platform = "NVIDIA CUDA";
  EXPECT_TRUE(contains(build_options(device), "-cl-std=CL1.2"));
  EXPECT_TRUE(contains(build_options(device), "-DAXL_DEVICE_SCOPE=1"));
  device.platform = "Some OpenCL";
  device.api_version = "OpenCL 1.2";
  EXPECT_TRUE(contains(build_options(device), "-cl-std=CL1.2"));
  EXPECT_FALSE(contains(build_options(device), "-DAXL_DEVICE_SCOPE=1"));
  device.f64 = true;
  EXPECT_TRUE(contains(build_options(device), "-DAXL_HAS_F64=1"));
}

}  // namespace
}  // namespace axisloom::jit
