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
  const Tree tree = {{"dialect/on_opencl.h", "CONSTANT(GROUP, size)\nopencl prelude\n"},
                     {"dialect/on_cuda.h", "CONSTANT(GROUP, size)\nCONSTANT(AXL_CHECKED, flag)\ncuda prelude\n"},
                     {"rearrange/tile.kernel", "CONSTANT(TILE, size)\nkernel text"}};
  Specialisation what = specialisation("rearrange/tile.kernel");
  what.defines.set("TILE", 64);
  EXPECT_EQ(text_of(tree, what),
            "// Axisloom: kernel turn of rearrange/tile.kernel\n"
            "#define GROUP 128\n#define TILE 64\n"
            "#line 1 \"dialect/on_opencl.h\"\n\nopencl prelude\n"
            "#line 1 \"rearrange/tile.kernel\"\n\nkernel text\n");
  what.checked = true;
  EXPECT_EQ(text_of(tree, what, Api::cuda),
            "// Axisloom: kernel turn of rearrange/tile.kernel\n"
            "#define AXL_CHECKED 1\n#define GROUP 128\n#define TILE 64\n"
            "#line 1 \"dialect/on_cuda.h\"\n\n\ncuda prelude\n"
            "#line 1 \"rearrange/tile.kernel\"\n\nkernel text\n");
}

TEST(FullText, ReplacesIncludesOnceAndKeepsLineNumbers) {
  const Tree tree = {{"dialect/on_opencl.h",
                      "#if AXL_CHECKED\n#include \"checked.h\"\n#endif\nCONSTANT(GROUP, size)\nend of prelude\n"},
                     {"dialect/checked.h", "checked text\n"},
                     {"rearrange/tile.kernel",
                      "first\n  #  include \"move.params.h\"  // the parameters\nthird\n#include \"checked.h\"\n"
                      "#include \"rearrange/move.params.h\"\nsixth\n"},
                     {"rearrange/move.params.h", "#pragma once\n#include <stdint.h>\nstruct params\n"}};
  EXPECT_EQ(text_of(tree, specialisation("rearrange/tile.kernel")),
            "// Axisloom: kernel turn of rearrange/tile.kernel\n"
            "#define GROUP 128\n"
            "#line 1 \"dialect/on_opencl.h\"\n#if AXL_CHECKED\n"
            "#line 1 \"dialect/checked.h\"\nchecked text\n"
            "#line 3 \"dialect/on_opencl.h\"\n#endif\n\nend of prelude\n"
            "#line 1 \"rearrange/tile.kernel\"\nfirst\n"
            "#line 1 \"rearrange/move.params.h\"\n\n#include <stdint.h>\nstruct params\n"
            "#line 3 \"rearrange/tile.kernel\"\nthird\n\n\nsixth\n");
}

TEST(FullText, HelpersAreCalledOnTheHostAlone) {
  const std::string kernel = "CALLED int helper() {\n}\nCALLED_TOO  // CALLED\n";
  const Tree tree = {{"dialect/on_opencl.h", "CONSTANT(GROUP, size)\n"},
                     {"dialect/on_host.h", "CONSTANT(GROUP, size)\n"},
                     {"dialect/host_end.h", ""},
                     {"turn.kernel", kernel}};
  EXPECT_TRUE(text_of(tree, specialisation("turn.kernel"), Api::host).find(kernel) != std::string::npos);
  EXPECT_TRUE(
      text_of(tree, specialisation("turn.kernel")).ends_with("INLINE int helper() {\n}\nCALLED_TOO  // CALLED\n"));
}

TEST(FullText, FindsIncludesBesideTheIncluderThenTheKernelThenInTheDialect) {
  Tree tree = {{"dialect/on_opencl.h", "CONSTANT(GROUP, size)\n"},
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
  const Tree tree = {{"dialect/on_opencl.h", "CONSTANT(GROUP, size)\n"},
                     {"copy/a.kernel", "#include \"b.h\"\nthe body\n"},
                     {"copy/b.h", "#include \"c.h\"\n"},
                     {"copy/c.h", "#include \"b.h\"\n#include \"a.kernel\"\nc\n"}};
  EXPECT_EQ(occurrences(text_of(tree, specialisation("copy/a.kernel")), "the body\n"), 1u);
}

TEST(FullText, AMissingIncludeIsNamedWithItsPlace) {
  const Tree tree = {{"dialect/on_opencl.h", "CONSTANT(GROUP, size)\n"},
                     {"copy/a.kernel", "\n#include \"absent.h\"\n"}};
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
  const Tree tree = {{"dialect/on_opencl.h", "CONSTANT(GROUP, size)\n"}, {"copy/a.kernel", ""}};
  Specialisation what = specialisation("copy/a.kernel");
  what.defines.set("GROUP", 64);
  EXPECT_THROW(text_of(tree, what), Error);
}

/// What putting a kernel of these declarations together says about constants; empty where they fit.
std::string refusal_of(const std::string& declarations, const Defines& set) {
  const Tree tree = {{"dialect/on_opencl.h", "CONSTANT(GROUP, size)\n"},
                     {"copy/a.kernel", "#include \"a.h\"\n\n" + declarations},
                     {"copy/a.h", "CONSTANT(TILE, size, 8)  // elements\n"}};
  Specialisation what = specialisation("copy/a.kernel");
  what.defines = set;
  try {
    text_of(tree, what);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void expect_refused(const std::string& declarations, const Defines& set, const std::vector<std::string>& words) {
  const std::string message = refusal_of(declarations, set);
  EXPECT_FALSE(message.empty()) << declarations << " takes " << set.text();
  for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
}

TEST(FullText, AConstantThatIsNotSetIsRefused) {
  expect_refused("CONSTANT(WIDTH, count)  // elements\n", Defines(),
                 {"copy/a.kernel needs the constant WIDTH", "copy/a.kernel, line 3", "a number from 0 on"});
  EXPECT_EQ(refusal_of("CONSTANT(WIDTH, count)\n", Defines().set("WIDTH", 0)), "");
}

TEST(FullText, AConstantThatNoLineDeclaresIsRefused) {
  expect_refused("CONSTANT(WIDTH, count)\n", Defines().set("WIDTH", 1).set("WITDH", 1),
                 {"copy/a.kernel does not declare the constant WITDH"});
}

TEST(FullText, AConstantOfAnotherKindIsRefused) {
  struct Kind {
    const char* name;
    std::vector<std::string> fit, unfit;
  };
  const Kind kinds[] = {
      {"flag", {"0", "1"}, {"2", "(-1)", "u8", "true", ""}},
      {"count", {"0", "1", "9223372036854775807"}, {"(-1)", "A", "1u", "((index_t)p.n)", ""}},
      {"size", {"1", "10"}, {"0", "(-1)", "u8", ""}},
      {"number", {"0", "7", "(-7)", "(-9223372036854775807-1)"}, {"A", "(7)", "1.5", ""}},
      {"type", {"u8", "f64", "i16x2", "u32x16"}, {"int", "u24", "u8x5", "u8x", "8", "", "f16"}},
      {"one_of(LEFT RIGHT 32)", {"LEFT", "RIGHT", "32"}, {"0", "LEF", "LEFT RIGHT", "33", ""}},
      {"like(MODEL)", {"0", "1"}, {"2"}},
  };
  for (const Kind& kind : kinds) {
    const std::string declared = "CONSTANT(MODEL, flag, 0)\nCONSTANT(IT, " + std::string(kind.name) + ")\n";
    for (const std::string& token : kind.fit)
      EXPECT_EQ(refusal_of(declared, Defines().set("IT", token)), "") << kind.name;
    for (const std::string& token : kind.unfit)
      expect_refused(declared, Defines().set("IT", token), {"cannot have " + token + " as the constant IT", "line 4"});
  }
}

TEST(FullText, DefaultsAndWordsBecomeConstants) {
  const Tree tree = {{"dialect/on_opencl.h", "CONSTANT(GROUP, size)\n"},
                     {"copy/a.kernel",
                      "CONSTANT(TILE, size, 8)  // elements, of (x, y)\n"
                      "CONSTANT(SIDE, one_of(LEFT RIGHT 32), RIGHT)\nCONSTANT(FACE, like(SIDE))\nbody\n"}};
  Specialisation what = specialisation("copy/a.kernel");
  what.defines.set("FACE", "32");
  EXPECT_EQ(text_of(tree, what),
            "// Axisloom: kernel turn of copy/a.kernel\n#define FACE 32\n#define GROUP 128\n#define LEFT 0\n"
            "#define RIGHT 1\n#define SIDE RIGHT\n#define TILE 8\n"
            "#line 1 \"dialect/on_opencl.h\"\n\n#line 1 \"copy/a.kernel\"\n\n\n\nbody\n");
}

TEST(FullText, DeclarationsThatSayNothingOrTwiceAreRefused) {
  for (const char* declaration :
       {"CONSTANT(IT)", "CONSTANT(IT, flag", "CONSTANT(IT, integer)", "CONSTANT(IT, one_of)",
        "CONSTANT(IT, like(NONE))", "CONSTANT(IT, like(IT))", "CONSTANT(IT, flag, 2)", "CONSTANT(TILE, size)"})
    expect_refused(declaration + std::string("  // meaning\n"), Defines(), {"copy/a.kernel"});
}

/// A value that fits the kind of a constant, for texts that nobody compiles.
std::string any_value(const Constant& constant) {
  if (constant.kind == "type") return "u32";
  const std::size_t words = constant.kind.find('(');
  if (words == std::string_view::npos) return "1";
  return std::string(constant.kind.substr(words + 1, constant.kind.find_first_of(" )", words) - words - 1));
}

Specialisation with_any_constants(const std::string& file, Api api) {
  Specialisation what = specialisation(file);
  for (const Constant& constant : declared_constants(file, api))
    if (!constant.otherwise && constant.name != "GROUP")
      what.defines.set(std::string(constant.name), any_value(constant));
  return what;
}

TEST(FullText, EveryConstantSaysWhatItIs) {
  int declared = 0;
  for (const EmbeddedFile& file : embedded_table()) {
    std::string_view before;
    for (std::size_t at = 0; at < file.text.size(); at = file.text.find('\n', at) + 1) {
      const std::string_view line = file.text.substr(at, file.text.find('\n', at) - at);
      const bool declares = line.starts_with("CONSTANT(") || line.starts_with("SETTING(");
      declared += declares;
      EXPECT_TRUE(!declares || line.find("  // ") != line.npos || before.starts_with("// "))
          << file.name << ": " << line;
      before = line;
    }
  }
  EXPECT_GT(declared, 150);
}

TEST(FullText, EveryEmbeddedKernelPutsTogether) {
  const auto files = embedded_files();
  EXPECT_TRUE(std::ranges::is_sorted(files));
  int kernels = 0;
  for (const std::string_view file : files) {
    if (!file.ends_with(".kernel")) continue;
    ++kernels;
    for (const Api api : {Api::opencl, Api::cuda}) {
      const std::string text = full_text(with_any_constants(std::string(file), api), api);
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
  EXPECT_TRUE(embedded("tuning/devices/h200.json").find("\"limits\"") != std::string_view::npos);
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
  test::write_file(tree / "tuning/mine.jsonl", "{}");
  const std::vector<std::string_view> names = {"copy/copy.params.h", "copy/plain.kernel", "dialect/on_cuda.h",
                                               "dialect/selftest/words.kernel", "tuning/mine.jsonl"};
  EXPECT_EQ(names_in_tree(tree.path()), names);
  EXPECT_EQ(read_from_tree(tree.path(), "copy/copy.params.h"), "params");
  EXPECT_EQ(read_from_tree(tree.path(), "dialect/on_cuda.h"), "prelude");
  EXPECT_EQ(read_from_tree(tree.path(), "tuning/mine.jsonl"), "{}");
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
