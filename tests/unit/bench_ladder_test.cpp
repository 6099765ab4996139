// Ladders: the table of rungs is complete and true, a climb says what happened, and views show all of it.
#include "bench/ladder/views.hpp"

#include "bench/environment.hpp"
#include "bench/peers/peers.hpp"
#include "bench/schema.hpp"
#include "harness/case.hpp"

#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace axisloom::bench::ladder {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string_view>;

const Ladder& ladder_named(std::string_view name) {
  const auto all = ladders();
  return *std::find_if(all.begin(), all.end(), [&](const Ladder& known) { return known.name == name; });
}

Names rung_names(std::string_view ladder, std::size_t lesson) {
  Names names;
  for (const Rung& rung : ladder_named(ladder).lessons.at(lesson).rungs) names.push_back(rung.name);
  return names;
}

TEST(LadderTable, EveryRungOfTheLessonsIsThere) {
  EXPECT_EQ(rung_names("transpose", 0), (Names{"naive", "coalesced-in", "tiled-local", "tiled-local+4x4-per-item",
                                               "diagonal", "padded", "swizzled", "tuned"}));
  EXPECT_EQ(rung_names("transpose", 1),
            (Names{"copy", "naive-row", "naive-col", "tile", "tile+pad", "tile+rows", "tile+vec4", "tma", "tuned"}));
  EXPECT_EQ(rung_names("relayout", 0), (Names{"relayout-naive", "relayout-tiled", "relayout-packed", "tuned"}));
  EXPECT_EQ(rung_names("copy", 0),
            (Names{"scalar", "vec2", "vec3", "vec4", "vec8", "vec16", "misaligned", "async", "async+double-buffer",
                   "async-strided", "prefetch", "stream-store", "tuned"}));
  EXPECT_EQ(rung_names("reduce", 0), (Names{"atomic", "interleaved", "sequential", "add-on-load", "vec4+add-on-load",
                                            "unrolled", "shuffle", "one-launch", "tuned"}));
  EXPECT_EQ(rung_names("matmul", 0), (Names{"naive", "local16", "register-tile", "vectorised", "double-buffer", "async",
                                            "packed-cpu", "tuned"}));
  EXPECT_EQ(rung_names("matmul", 1), (Names{"naive", "register-tile", "tensor-core", "warpgroup", "tuned"}));
}

/// What is wrong with a rung's candidate and configuration for elements of that size; empty when nothing is.
std::string fault_of(const Rung& rung, std::string_view op, std::int64_t element) {
  const PlanOptions options = options_of(rung, op, element);
  if (rung.candidate.empty()) return options.configuration.empty() ? "" : "forces tunables of no candidate";
  for (const ops::CandidateInfo& info : ops::entry(op).candidates) {
    if (info.name != rung.candidate) continue;
    for (const auto& [name, value] : options.configuration) {
      const auto tunable = std::find_if(info.tunables.begin(), info.tunables.end(),
                                        [wanted = name](const ops::Tunable& known) { return known.name == wanted; });
      if (tunable == info.tunables.end()) return "no tunable " + name;
      if (std::find(tunable->values.begin(), tunable->values.end(), value) == tunable->values.end())
        return name + " must not be " + std::to_string(value);
    }
    return "";
  }
  return "no candidate " + std::string(rung.candidate);
}

TEST(LadderTable, CandidatesAndTunablesExist) {
  for (const Ladder& ladder : ladders())
    for (const Lesson& lesson : ladder.lessons)
      for (const Rung& rung : lesson.rungs)
        for (const std::int64_t element : {1, 2, 4, 8, 16})
          EXPECT_EQ(fault_of(rung, lesson.op, element), "") << ladder.name << " " << rung.name << " " << element;
  EXPECT_EQ(fault_of({.name = "x", .candidate = "tile", .settings = {{"no-such", 1}}, .why = ""}, "transpose", 1),
            "no tunable no-such");
  EXPECT_EQ(fault_of({.name = "x", .candidate = "no-such", .why = ""}, "transpose", 1), "no candidate no-such");
}

TEST(LadderTable, EveryRungHasItsOwnNameAndSentence) {
  for (const Ladder& ladder : ladders())
    for (const Lesson& lesson : ladder.lessons) {
      std::set<std::string_view> names, sentences;
      for (const Rung& rung : lesson.rungs) {
        EXPECT_TRUE(rung.over.empty() || names.contains(rung.over)) << rung.name;
        EXPECT_TRUE(names.insert(rung.name).second) << rung.name;
        EXPECT_TRUE(sentences.insert(rung.why).second) << rung.name;
        for (const std::string_view text : {rung.on_cpu, rung.on_cuda})
          EXPECT_TRUE(text.empty() || text.ends_with(".")) << rung.name;
        EXPECT_TRUE(rung.why.ends_with(".")) << rung.name;
      }
      EXPECT_EQ(lesson.rungs.back().name, "tuned");
    }
}

DeviceInfo device_of(Kind kind, Api api = Api::opencl) {
  DeviceInfo device;
  device.kind = kind;
  device.api = api;
  return device;
}

TEST(LadderTable, TheSentenceIsThatOfTheDevice) {
  const Rung rung{.name = "x", .why = "on a GPU", .on_cpu = "on a CPU", .on_cuda = "on CUDA"};
  EXPECT_EQ(sentence(rung, device_of(Kind::gpu)), "on a GPU");
  EXPECT_EQ(sentence(rung, device_of(Kind::cpu)), "on a CPU");
  EXPECT_EQ(sentence(rung, device_of(Kind::gpu, Api::cuda)), "on CUDA");
  const Rung everywhere{.name = "x", .why = "anywhere"};
  EXPECT_EQ(sentence(everywhere, device_of(Kind::cpu)), "anywhere");
  EXPECT_EQ(sentence(everywhere, device_of(Kind::gpu, Api::cuda)), "anywhere");
}

TEST(LadderTable, ValuesInElementsGrowAndStayAllowed) {
  const Rung rung{.name = "x",
                  .candidate = "tile",
                  .settings = {{"tile_in", 64, Unit::elements}, {"access", 4, Unit::elements}, {"items", 256}},
                  .why = ""};
  EXPECT_EQ(options_of(rung, "transpose", 1).configuration,
            (Configuration{{"access", 4}, {"items", 256}, {"tile_in", 64}}));
  EXPECT_EQ(options_of(rung, "transpose", 8).configuration,
            (Configuration{{"access", 16}, {"items", 256}, {"tile_in", 512}}));
}

TEST(LadderCases, SizesShapesAndTypes) {
  const Lesson& image = ladder_named("transpose").lessons.front();
  const DeviceInfo cpu = device_of(Kind::cpu), gpu = device_of(Kind::gpu);
  EXPECT_EQ(case_text(image, {}, gpu, Change::none), "transpose u8 256x256");
  EXPECT_EQ(case_text(image, {.size = Size::large}, gpu, Change::none), "transpose u8 32768x32768");
  EXPECT_EQ(case_text(image, {.size = Size::large}, cpu, Change::none), "transpose u8 8192x8192");
  EXPECT_EQ(case_text(image, {.shape = "3,4", .dtype = "float64"}, cpu, Change::none), "transpose f64 3x4");
  const Lesson& blocks = ladder_named("relayout").lessons.front();
  EXPECT_EQ(case_text(blocks, {.shape = "1x2x3x4", .arguments = "NCHW NHWC"}, cpu, Change::none),
            "relayout i8 1x2x3x4 NCHW NHWC");
}

TEST(LadderCases, ChangesOfTheCase) {
  const DeviceInfo device = device_of(Kind::cpu);
  const Lesson& floats = ladder_named("transpose").lessons.at(1);
  EXPECT_EQ(case_text(floats, {}, device, Change::copy), "copy f32 1024x1024");
  EXPECT_EQ(case_text(floats, {.shape = "5x6"}, device, Change::misaligned),
            "transpose f32 5x6 in-offset=1 out-offset=1");
  const Lesson& product = ladder_named("matmul").lessons.front();
  EXPECT_EQ(case_text(product, {.shape = "3x4"}, device, Change::none), "matmul f32 3x4,4x3");
  EXPECT_EQ(case_text(product, {.shape = "3x4,4x5"}, device, Change::a_along_m), "matmul f32 3x4,4x5 in-strides=1,3");
  EXPECT_EQ(case_text(product, {.shape = "2x3x4"}, device, Change::a_along_m),
            "matmul f32 2x3x4,2x4x3 in-strides=12,1,3");
}

TEST(LadderCases, EveryCaseCanBeRead) {
  for (const Kind kind : {Kind::cpu, Kind::gpu})
    for (const Ladder& ladder : ladders())
      for (const Lesson& lesson : ladder.lessons)
        for (const Rung& rung : lesson.rungs)
          for (const Size size : {Size::lesson, Size::large}) {
            const std::string text = case_text(lesson, {.size = size}, device_of(kind), rung.change);
            EXPECT_NO_THROW(harness::parse_case(text)) << text;
          }
}

TEST(LadderCases, WhatCannotBeReadIsAnError) {
  const Lesson& image = ladder_named("transpose").lessons.front();
  const DeviceInfo device = device_of(Kind::cpu);
  for (const char* shape : {"3x", "x", "3 x 4", "3x4 in-offset=1", "3x4,", "99999999999999999999x2"})
    EXPECT_THROW(harness::parse_case(case_text(image, {.shape = shape}, device, Change::none)), Error) << shape;
  EXPECT_THROW(case_text(image, {.dtype = "f33"}, device, Change::none), Error);
}

// --- a climb ---------------------------------------------------------------------------------------------------------

class LadderClimb : public testing::Test {
 protected:
  void SetUp() override try { device = Device::open("cpu"); } catch (const Error&) {
    GTEST_SKIP() << "no CPU device";
  }
  Json climbed(std::vector<Rung> rungs) {
    const Lesson lesson{"three rungs", "transpose", "", "u8", {"40x30", "", ""}, std::move(rungs)};
    Settings settings;
    settings.rules = Rules::with_min_seconds(0.001);
    return climb({"test", "", {lesson}}, lesson, {}, device, team, session, settings, [](const std::string&) {});
  }

  Device device;
  Team team;
  Session session;
};

TEST_F(LadderClimb, RungsAreTimedRefusedOnesNamedAndComparedWithTheNearestBefore) {
  const Json climbed = this->climbed({
      {.name = "first", .candidate = "plain", .why = "One."},
      {.name = "refused", .candidate = "swap", .why = "Two."},
      {.name = "elsewhere", .candidate = "plain", .why = "Three.", .change = Change::misaligned},
      {.name = "anew", .candidate = "plain", .why = "Four.", .over = "first"},
  });
  const Json& rungs = climbed["rungs"];
  ASSERT_EQ(rungs.size(), 4u);
  EXPECT_EQ(rungs[0]["status"], "right");
  EXPECT_FALSE(rungs[0].contains("speed_up"));
  EXPECT_EQ(rungs[1]["status"], "absent");
  EXPECT_EQ(rungs[1]["reason"], "works in place only");
  EXPECT_FALSE(rungs[1].contains("call"));
  EXPECT_EQ(rungs[2]["status"], "right");
  EXPECT_EQ(rungs[2]["case"], "transpose u8 40x30 in-offset=1 out-offset=1");
  EXPECT_EQ(rungs[2]["over"], "first");
  EXPECT_GT(rungs[2]["speed_up"].get<double>(), 0);
  EXPECT_EQ(rungs[3]["over"], "first");
  EXPECT_EQ(climbed["yardstick"], "memcpy");
  EXPECT_EQ(climbed["beside"].size(), 1u);
}

Json read(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

/// The first fault of a document by the schema, empty when it is valid.
std::string fault_by_schema(const Json& document) {
  return violation(read(AXISLOOM_SOURCE_DIR "/docs/ladder.schema.json"), document).value_or("");
}

TEST_F(LadderClimb, ItsDocumentIsValid) {
  const Json climbed = this->climbed({
      {.name = "first", .candidate = "plain", .why = "One."},
      {.name = "refused", .candidate = "swap", .why = "Two."},
      {.name = "second", .candidate = "plain", .settings = {{"order", 1}}, .why = "Three."},
  });
  const Surroundings around{environment(device), conditions(device), conditions(device)};
  Json made = document("transpose", around, {}, Json::array({climbed}));
  EXPECT_EQ(fault_by_schema(made), "");
  made["lessons"][0]["rungs"][0]["more"] = 1;
  EXPECT_NE(fault_by_schema(made), "");
}

TEST(LadderDocuments, ThoseThatAreKeptHereAreValid) {
  int documents = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(AXISLOOM_SOURCE_DIR "/docs/results")) {
    if (entry.path().extension() != ".json" || entry.path().parent_path().filename() != "ladder") continue;
    ++documents;
    const Json kept = read(entry.path().string());
    EXPECT_EQ(fault_by_schema(kept), "") << entry.path();
    EXPECT_NO_THROW(svg_of(kept)) << entry.path();
  }
  EXPECT_GT(documents, 0);
}

TEST_F(LadderClimb, ARungThatFailsIsNotTakenForRefused) {
  const Json climbed = this->climbed({{.name = "x", .candidate = "no-such", .why = "One."}});
  EXPECT_EQ(climbed["rungs"][0]["status"], "failed");
  EXPECT_FALSE(climbed["rungs"][0]["reason"].get<std::string>().empty());
}

// --- views -----------------------------------------------------------------------------------------------------------

Json entry(const char* name, const char* status) {
  return {{"name", name},
          {"status", status},
          {"case", "copy u8 9"},
          {"candidate", "tile"},
          {"configuration", {{"items", 64}}},
          {"sentence", "It <moves> & \"turns\"."}};
}

Json timed(const char* name, double gb_per_second) {
  Json json = entry(name, "right");
  json["call"] = {{"median_ms", 2.5}, {"low_ms", 2.4}, {"high_ms", 2.6}, {"samples", 9}};
  json["gb_per_second"] = gb_per_second;
  json["share_of_copy"] = 0.5;
  return json;
}

Json sample() {
  Json faster = timed("faster", 20), refused = entry("refused", "absent"), wrong = entry("wrong", "WRONG");
  faster["speed_up"] = 2.0;
  faster["over"] = "slow";
  faster["effect"] = "faster";
  refused["reason"] = "the device <lacks> it";
  wrong["reason"] = "3 wrong elements";
  Json copy = timed("memcpy", 40);
  copy.erase("candidate");
  copy["how"] = "memcpy by 2 threads";
  Json lesson{{"title", "a lesson"}, {"case", "copy u8 9"}, {"limit", "memory"},
              {"check", "full"},     {"clock", "call"},     {"yardstick", "memcpy"}};
  lesson["rungs"] = Json::array({timed("slow", 10), refused, wrong, faster});
  lesson["beside"] = Json::array({copy});
  Surroundings around{{{"device", {{"name", "a \xff card"}}}}, {{"time", "today"}}, {}};
  return document("copy", around, {}, Json::array({lesson}));
}

TEST(LadderViews, TheTableTellsEverything) {
  const std::string text = text_of(sample(), harness::Format::table);
  for (const char* part : {"a lesson: copy u8 9 (times of the call; results checked: full; share: of memcpy", "2.50 ms",
                           "2.00", "refused: the device <lacks> it", "WRONG: 3 wrong elements", "tile items=64",
                           "memcpy by 2 threads", "faster: It <moves>", "Here 2.00 times as fast as slow."})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_NE(text.find("\nslow     ########### 10.0 GB/s\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nfaster   ###################### 20.0 GB/s\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nrefused  refused\n"), std::string::npos) << text;
}

TEST(LadderViews, CsvHasARowForEachAndJsonIsTheDocument) {
  const std::string csv = text_of(sample(), harness::Format::csv);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 6);
  EXPECT_NE(csv.find("a lesson,copy u8 9,slow,2.5,10.0,,0.5,,right,tile items=64,"), std::string::npos) << csv;
  EXPECT_EQ(Json::parse(text_of(sample(), harness::Format::json))["ladder"], "copy");
  EXPECT_NE(text_of(sample(), harness::Format::md).find("| slow | 2.50 ms | 10.0 | 50.0% |  | tile items=64 |"),
            std::string::npos);
}

TEST(LadderViews, TheChartEscapesWhatItShows) {
  const std::string svg = svg_of(sample());
  EXPECT_TRUE(svg.starts_with("<?xml"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("the device &lt;lacks&gt; it"), std::string::npos);
  EXPECT_NE(svg.find("It &lt;moves&gt; &amp; &quot;turns&quot;."), std::string::npos);
  EXPECT_EQ(svg.find("<lacks>"), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
}

TEST(LadderViews, WhatIsNoDocumentIsAnErrorOfTheFile) {
  std::vector<Json> damaged(6, sample());
  damaged[0] = Json();
  damaged[1] = Json::array({1, 2});
  damaged[2]["schema"] = "axisloom-bench 1";
  damaged[3].erase("lessons");
  damaged[4]["lessons"][0]["rungs"][0]["call"] = 7;
  damaged[5]["lessons"][0]["rungs"][3]["speed_up"] = "much";
  for (const Json& document : damaged) {
    try {
      picture_of(document);
      ADD_FAILURE() << document;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::file);
    }
  }
}

}  // namespace
}  // namespace axisloom::bench::ladder
