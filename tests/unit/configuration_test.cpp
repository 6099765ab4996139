// Configurations and models of devices: the order of the stores, the order of matches, and lines that are skipped.
#include "planner/configuration.hpp"

#include <gtest/gtest.h>

#include "counting_device.hpp"
#include "model/device_model.hpp"
#include "model/store.hpp"

#include <sys/stat.h>

namespace axisloom::ops {
namespace {

namespace fs = std::filesystem;
using test::LoggedLines;

const std::vector<Tunable> tunables = {{"tile_in", 32, {16, 32, 64, 128}, "elements", "the tile"},
                                       {"layout", 0, {0, 1, 2}, "", "the order in local memory"}};
const Key key = {"rearrange/tile", "4B 8192x8192", "4B 2-d large"};

DeviceInfo h200() {
  DeviceInfo device;
  device.api = Api::cuda;
  device.kind = Kind::gpu;
  device.name = "NVIDIA H200";
  device.platform = "NVIDIA CUDA";
  device.architecture = "sm_90";
  return device;
}

DeviceInfo h100() {
  DeviceInfo device = h200();
  device.name = "NVIDIA H100";
  return device;
}

/// A line for tile_in, with whatever else is asked for.
std::string line(int tile_in, const std::string& more) {
  return R"({"candidate":"rearrange/tile","values":{"tile_in":)" + std::to_string(tile_in) + "}," + more + "}\n";
}

const std::string exact = R"("device":"NVIDIA H200","problem":"4B 8192x8192")";
const std::string of_its_class = R"("device":"NVIDIA H200","problem":"4B 4096x4096","shape_class":"4B 2-d large")";
const std::string device_family =
    R"("device":"NVIDIA H100 NVL","family":"nvidia sm_90","problem":"4B 4096x4096","shape_class":"4B 2-d large")";

class ConfigurationStore : public testing::Test {
 protected:
  ConfigurationStore() { model::reset_stores(); }
  ~ConfigurationStore() override { model::reset_stores(); }

  fs::path path(const std::string& name) const { return folder_ / ("axisloom/" + name); }
  void write(const std::string& text, const std::string& name = "mine.jsonl") const {
    test::write_file(path(name), text);
    model::reset_stores();
  }
  Found find(const Configuration& forced = {}, const DeviceInfo& device = h200()) const {
    return lookup(key, tunables, device, forced, model::stores());
  }
  std::int64_t tile_in() const { return find().values.at("tile_in"); }

  test::TemporaryFolder folder_;
  test::Variable data_home_{"XDG_DATA_HOME", folder_.path().string()};
};

TEST_F(ConfigurationStore, DefaultsWhereNothingIsKnown) {
  const Found found = find();
  EXPECT_EQ(found.source, "default");
  EXPECT_EQ(found.values, (Configuration{{"tile_in", 32}, {"layout", 0}}));
  EXPECT_EQ(to_string(found.values), "layout=0 tile_in=32");
  EXPECT_EQ(ops::to_string(Configuration{}), "");
}

TEST_F(ConfigurationStore, TheClosestMatchWinsWhateverTheOrder) {
  write(line(16, exact) + line(64, of_its_class) + line(128, device_family));
  EXPECT_EQ(find().source, "exact");
  EXPECT_EQ(tile_in(), 16);
  write(line(64, of_its_class) + line(128, device_family));
  EXPECT_EQ(find().source, "shape class");
  EXPECT_EQ(tile_in(), 64);
  write(line(128, device_family) + line(64, of_its_class));
  EXPECT_EQ(tile_in(), 64);
  write(line(128, device_family));
  EXPECT_EQ(find().source, "device family");
  EXPECT_EQ(tile_in(), 128);
  EXPECT_EQ(find({}, h100()).values.at("tile_in"), 128);

  DeviceInfo older = h100();
  older.architecture = "sm_80";
  EXPECT_EQ(find({}, older).source, "default");
  EXPECT_EQ(lookup({"rearrange/plain", key.problem, key.shape_class}, tunables, h200(), {}, model::stores()).source,
            "default");
  EXPECT_EQ(lookup({key.candidate, key.problem, "1B 2-d large"}, tunables, h200(), {}, model::stores()).source,
            "default");
}

TEST_F(ConfigurationStore, WhatIsUnknownMatchesNothing) {
  write(R"({"candidate":"rearrange/tile","values":{"tile_in":64},"device":"NVIDIA H200"})");
  EXPECT_EQ(lookup({"rearrange/tile", "", ""}, tunables, h200(), {}, model::stores()).source, "default");
  DeviceInfo nameless = h200();
  nameless.name = "";
  write(R"({"candidate":"rearrange/tile","values":{"tile_in":64},"family":"other","problem":"4B 8192x8192"})");
  EXPECT_EQ(find({}, nameless).source, "default");
}

TEST_F(ConfigurationStore, TunablesThatALineLeavesOutHaveTheirOwnValue) {
  write(R"({"candidate":"rearrange/tile","values":{"layout":2},)" + exact + "}\n");
  EXPECT_EQ(find().values, (Configuration{{"tile_in", 32}, {"layout", 2}}));
}

TEST_F(ConfigurationStore, TheFastestLineWinsAndTiesGoToTheLater) {
  write(line(16, exact + R"(,"seconds":2e-3)") + line(64, exact + R"(,"seconds":1e-3)") +
        line(128, exact + R"(,"seconds":3e-3)"));
  EXPECT_EQ(tile_in(), 64);
  write(line(16, exact + R"(,"seconds":1e-3)") + line(128, exact + R"(,"seconds":1e-3)"));
  EXPECT_EQ(tile_in(), 128);
  write(line(16, exact) + line(128, exact));
  EXPECT_EQ(tile_in(), 128);
  write(line(16, exact + R"(,"seconds":1e-3)") + line(128, exact));
  EXPECT_EQ(tile_in(), 16) << "measured before unmeasured";
}

TEST_F(ConfigurationStore, TimesOfDifferentProblemsAreNotCompared) {
  const std::string small = R"("device":"NVIDIA H200","problem":"4B 2048x2048","shape_class":"4B 2-d large")";
  write(line(16, small + R"(,"seconds":1e-5)") + line(128, of_its_class + R"(,"seconds":1e-4)") +
        line(64, of_its_class + R"(,"seconds":5e-5)"));
  EXPECT_EQ(tile_in(), 64) << "the problem measured last, by its fastest line";
}

TEST_F(ConfigurationStore, FilesAreReadInTheOrderOfTheirNames) {
  write(line(64, exact), "b.jsonl");
  write(line(16, exact), "a.jsonl");
  write(line(128, exact), "c.txt");
  EXPECT_EQ(tile_in(), 64);
}

TEST_F(ConfigurationStore, ForcedValuesOverrideAndAreChecked) {
  write(line(64, exact));
  const Found found = find({{"layout", 1}});
  EXPECT_EQ(found.source, "forced");
  EXPECT_EQ(found.values, (Configuration{{"tile_in", 64}, {"layout", 1}}));
  try {
    find({{"tile_in", 48}});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::usage);
    EXPECT_NE(std::string(error.what()).find("tile_in=48 is not allowed"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("tile_in in 16 32 64 128"), std::string::npos) << error.what();
  }
  EXPECT_THROW(find({{"tile", 64}}), Error);
}

TEST_F(ConfigurationStore, ValuesThatAreNotAllowedAreSkippedAndLoggedOnce) {
  LoggedLines log;
  write(line(64, exact) + line(48, exact + R"(,"seconds":1e-9)"));
  EXPECT_EQ(tile_in(), 64);
  EXPECT_EQ(tile_in(), 64);
  auto lines = log.take();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], path("mine.jsonl").string() + ":2 is skipped: tile_in=48 is not allowed for rearrange/tile");
  write(line(48, exact) + line(128, of_its_class));
  EXPECT_EQ(find().source, "shape class") << "a worse match that can be used";
  write(R"({"candidate":"rearrange/tile","values":{"tile_in":64,"banks":2},)" + exact + "}\n");
  EXPECT_EQ(find().source, "default");
}

TEST_F(ConfigurationStore, BrokenLinesAreSkippedAndNamed) {
  const std::vector<std::string> broken = {
      "{\"candidate\":",
      "[1,2]",
      "not json",
      "\x80\xff",
      R"({"values":{"tile_in":16},)" + exact + "}",
      R"({"candidate":7,"values":{"tile_in":16},)" + exact + "}",
      R"({"candidate":"rearrange/tile",)" + exact + "}",
      R"({"candidate":"rearrange/tile","values":[16],)" + exact + "}",
      R"({"candidate":"rearrange/tile","values":{"tile_in":16.5},)" + exact + "}",
      R"({"candidate":"rearrange/tile","values":{"tile_in":16},"problem":"4B 8192x8192"})",
      R"({"candidate":"rearrange/tile","values":{"tile_in":16},"seconds":-1,)" + exact + "}",
      R"({"candidate":"rearrange/tile","values":{"tile_in":16},"seconds":"fast",)" + exact + "}",
      R"({"candidate":"rearrange/tile","values":{"tile_in":16},"seconds":1e999,)" + exact + "}",
      R"({"candidate":"rearrange/tile","values":{"tile_in":16},"note":[[[[[[[[[]]]]]]]]],)" + exact + "}",
      R"({"candidate":"rearrange/tile","values":{"tile_in":16},"note":")" + std::string(70'000, 'x') + "\"," + exact +
          "}",
      std::string(60'000, '['),
      R"({"model":{"copies":1e12},"device":"NVIDIA H200"})",
      R"({"model":{"copy_rate":0,"launch":1e-6},"device":"NVIDIA H200"})",
      R"({"model":[1,2],"device":"NVIDIA H200"})",
      R"({"model":{"copy_rate":1e12,"launch":1e-6}})",
  };
  std::string text;
  for (const std::string& bad : broken) text += bad + "\n";
  LoggedLines log;
  write(text + "\n  \r\n" + line(64, exact));
  EXPECT_EQ(find().source, "exact");
  EXPECT_EQ(tile_in(), 64);
  EXPECT_EQ(model::model_of(h200()).copy_rate, 4.295e12) << "from the shipped profile";
  const auto lines = log.take();
  ASSERT_EQ(lines.size(), broken.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string place = path("mine.jsonl").string() + ":" + std::to_string(i + 1) + " is skipped: ";
    EXPECT_TRUE(lines[i].starts_with(place)) << lines[i] << " for " << broken[i].substr(0, 100);
  }
}

TEST_F(ConfigurationStore, BracketsInsideStringsAreNoNesting) {
  write(line(64, exact + R"(,"note":"[[[[[[[[[[[[ \" [[[[[[[[")"));
  EXPECT_EQ(tile_in(), 64);
}

TEST_F(ConfigurationStore, ALastLineWithoutAnEndCounts) {
  std::string text = line(64, exact);
  text.pop_back();
  write(text);
  EXPECT_EQ(tile_in(), 64);
}

TEST_F(ConfigurationStore, ChangedFilesAreReadAgain) {
  write(line(64, exact));
  EXPECT_EQ(tile_in(), 64);
  EXPECT_EQ(model::user_store(), model::user_store()) << "read once";
  test::write_file(path("mine.jsonl"), line(64, exact) + line(128, exact));
  EXPECT_EQ(tile_in(), 128);
  test::write_file(path("more.jsonl"), line(16, exact));
  EXPECT_EQ(tile_in(), 16);
  // The same size: only the time of the change tells.
  test::write_file(path("more.jsonl"), line(32, exact));
  fs::last_write_time(path("more.jsonl"), fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(tile_in(), 32);
  fs::remove_all(folder_ / "axisloom");
  EXPECT_EQ(find().source, "default");
}

TEST_F(ConfigurationStore, ManyThreadsLookUpWhileAFileChanges) {
  write(line(64, exact));
  std::atomic<int> wrong{0};
  std::vector<std::thread> crowd;
  for (int t = 0; t < 8; ++t) {
    crowd.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const std::int64_t value = tile_in();
        if (value != 64 && value != 128) ++wrong;
      }
    });
  }
  // Renamed into place, as a tuner does: half a file would be a broken line.
  for (int i = 0; i < 20; ++i) {
    test::write_file(folder_ / "next", line(i % 2 == 0 ? 128 : 64, exact));
    fs::rename(folder_ / "next", path("mine.jsonl"));
  }
  for (auto& thread : crowd) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(tile_in(), 64);
}

TEST_F(ConfigurationStore, FiguresOfTheDeviceThenOfItsFamilyThenOfItsKind) {
  model::DeviceModel found = model::model_of(h200());
  EXPECT_EQ(found.source, "h200");
  EXPECT_EQ(found.copy_rate, 4.295e12);
  EXPECT_EQ(found.launch, 4e-6);
  DeviceInfo half = h100();
  half.compute_units = 66;
  found = model::model_of(half);
  EXPECT_EQ(found.source, "family of h200");
  EXPECT_EQ(found.copy_rate, 4.295e12 / 2) << "half as many units";
  EXPECT_EQ(found.launch, 4e-6);

  write(
      R"({"model":{"copy_rate":1e12,"cached_rate":2e12,"launch":5e-6},"device":"NVIDIA H200","family":"nvidia sm_90"})"
      "\n"
      R"({"model":{"copy_rate":3e12,"cached_rate":4e12},"device":"NVIDIA H200"})");
  found = model::model_of(h200());
  EXPECT_EQ(found.source, "user's store");
  EXPECT_EQ(found.copy_rate, 3e12) << "the user's store first, the last line of it";
  EXPECT_EQ(found.cached_rate, 4e12);
  EXPECT_EQ(found.launch, 5e-6) << "what that line lacks is as of the kind";
  found = model::model_of(h100());
  EXPECT_EQ(found.source, "user's store, by family");
  EXPECT_EQ(found.copy_rate, 1e12);

  DeviceInfo cpu;
  cpu.kind = Kind::cpu;
  cpu.name = "cpu";
  const model::DeviceModel of_cpu = model::model_of(cpu);
  EXPECT_EQ(of_cpu.source, "generic-cpu");
  EXPECT_EQ(of_cpu.copy_rate, 4e10);
  EXPECT_EQ(of_cpu.launch, 2e-5);
  EXPECT_GT(of_cpu.cached_rate, of_cpu.copy_rate);
  for (const Kind kind : {Kind::gpu, Kind::other}) {
    cpu.kind = kind;
    EXPECT_EQ(model::model_of(cpu).copy_rate, 3e11);
    EXPECT_EQ(model::model_of(cpu).source, "generic-gpu");
  }
}

TEST_F(ConfigurationStore, WhatIsNoFileIsPassedOver) {
  write(line(64, exact));
  std::filesystem::create_directory(path("folder.jsonl"));
  ASSERT_EQ(::mkfifo(path("pipe.jsonl").c_str(), 0600), 0);  // whose reader would wait for ever
  std::filesystem::create_symlink("nowhere", path("link.jsonl"));
  EXPECT_EQ(tile_in(), 64);
}

TEST_F(ConfigurationStore, EveryShippedLineCanBeRead) {
  LoggedLines log;
  const auto store = model::shipped_store();
  EXPECT_EQ(model::shipped_store(), store);
  for (const std::string& entry : log.take()) ADD_FAILURE() << entry;
}

TEST(DeviceFamily, IsMakerAndArchitecture) {
  EXPECT_EQ(model::family(h200()), "nvidia sm_90");
  DeviceInfo device = h200();
  device.api = Api::opencl;
  EXPECT_EQ(model::family(device), "nvidia sm_90");
  device.platform = "Portable Computing Language";
  device.vendor = "GenuineIntel";
  device.architecture = "skylake-avx512";
  EXPECT_EQ(model::family(device), "genuineintel skylake-avx512");
  device.architecture = "pthread-x86_64-pc-linux-gnu-skylake-avx512";
  EXPECT_EQ(model::family(device), "genuineintel skylake-avx512");
  device.vendor = "ARM";
  device.architecture = "cpu-aarch64-unknown-linux-gnu-cortex-a72";
  EXPECT_EQ(model::family(device), "arm cortex-a72");
  device.platform = "Intel(R) OpenCL Graphics";
  device.vendor = "Intel(R) Corporation";
  device.architecture = "";
  EXPECT_EQ(model::family(device), "intel gpu");
  device.vendor = "Advanced Micro Devices, Inc.";
  device.architecture = "gfx1100";
  EXPECT_EQ(model::family(device), "amd gfx1100");
  device.architecture = "";
  device.name = "gfx942:sramecc+:xnack-";
  EXPECT_EQ(model::family(device), "amd gfx942");
  EXPECT_EQ(model::family(DeviceInfo{}), "unknown other");
}

}  // namespace
}  // namespace axisloom::ops
