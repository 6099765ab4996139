// Stored documents: the schema, comparing two of them, and the page made from them.
#include "bench/bench.hpp"
#include "bench/comparison.hpp"
#include "bench/environment.hpp"
#include "bench/page.hpp"
#include "bench/peers/peers.hpp"
#include "bench/report.hpp"
#include "bench/schema.hpp"
#include "bench/standings.hpp"
#include "bench/svg.hpp"

#include "io_support.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>

namespace axisloom::bench {
namespace {

using Json = nlohmann::ordered_json;

Summary times(double median, double spread) {
  return {median, median * (1 - spread), median * (1 + spread), 100};
}

Entry right(std::string name, Role role, double seconds, double spread, const Work& work) {
  Entry entry;
  entry.name = std::move(name);
  entry.how = "acts";
  entry.role = role;
  entry.call = times(seconds, spread);
  entry.seconds = seconds;
  entry.rate = {work.bytes / seconds, work.operations / seconds};
  entry.rank = is_reference(role) ? 0 : 1;
  return entry;
}

Entry without_times(std::string name, Status status) {
  Entry entry;
  entry.name = std::move(name);
  entry.status = status;
  entry.reason = "because";
  return entry;
}

/// A case in which Axisloom takes so many seconds, and a copy 1 second.
CaseResult result_of(const std::string& text, double ours, double spread, Clock clock = Clock::call,
                     Cache cache = Cache::beyond) {
  CaseResult result;
  result.label = "label of " + text;
  result.text = text;
  result.op = "copy";
  result.shapes = "f32[8] -> f32[8]";
  result.work = {64e9, 16e9};
  result.elements = 8;
  result.strength = Strength::full;
  result.clock = clock;
  result.cache = cache;
  result.reference = "memcpy";
  result.entries = {right("axisloom", Role::ours, ours, spread, result.work),
                    right("memcpy", Role::copy, 1, spread, {64e9, 0}), without_times("bad", Status::wrong),
                    without_times("gone", Status::absent)};
  for (Entry& entry : result.entries) {
    if (!entry.call) continue;
    entry.share = 1 / entry.seconds;
    if (clock == Clock::device) entry.device = entry.call;
  }
  return result;
}

Document document_of(std::vector<CaseResult> cases, const std::string& device = "a device") {
  Report report;
  report.environment =
      Json::parse(R"({"axisloom": "0.1.0", "built_with": "12", "host": {"threads": 2}, "device": {"spec": "opencl:0",
    "name": "", "vendor": "", "platform": "", "driver": "", "api_version": ""}})");
  report.environment["device"]["name"] = device;
  report.before = report.after = {{"time", "2026-11-21T00:00:00Z"}};
  report.suite = "copy";
  report.cases = std::move(cases);
  return json_of(report);
}

TEST(BenchSchema, KeywordsAreChecked) {
  const auto fault = [](const char* schema, const char* value) {
    return violation(Json::parse(schema), Json::parse(value)).value_or("");
  };
  EXPECT_EQ(fault(R"({"type": "integer", "minimum": 3})", "3"), "");
  EXPECT_EQ(fault(R"({"type": "integer"})", "3.0"), "");
  EXPECT_EQ(fault(R"({"type": ["string", "null"]})", "null"), "");
  EXPECT_EQ(fault(R"({"type": "integer"})", "3.5"), "/: is of type number, not \"integer\"");
  EXPECT_EQ(fault(R"({"minimum": 3})", "2"), "/: is below 3");
  EXPECT_EQ(fault(R"({"exclusiveMinimum": 0})", "0"), "/: is not above 0");
  EXPECT_EQ(fault(R"({"enum": ["a", 1]})", "2"), "/: is none of [\"a\",1]");
  EXPECT_EQ(fault(R"({"const": "a"})", "\"b\""), "/: is not \"a\"");
  EXPECT_EQ(fault(R"({"minLength": 1})", "\"\""), "/: is shorter than 1");
  EXPECT_EQ(fault(R"({"items": {"type": "string"}})", R"(["a", 7])"), "/1: is of type number, not \"string\"");
  EXPECT_EQ(fault(R"({"minItems": 2})", "[1]"), "/: has fewer than 2 items");
  EXPECT_EQ(fault(R"({"required": ["a"]})", "{}"), "/: lacks \"a\"");
  EXPECT_EQ(fault(R"({"properties": {"a": {"type": "null"}}})", R"({"a": 1})"), "/a: is of type number, not \"null\"");
  EXPECT_EQ(fault(R"({"properties": {"a": true}, "additionalProperties": false})", R"({"a": 1})"), "");
  EXPECT_EQ(fault(R"({"properties": {"a": true}, "additionalProperties": false})", R"({"b": 1})"),
            "/b: is not known here");
  EXPECT_EQ(fault(R"({"anyOf": [{"const": 1}, {"const": 2}]})", "2"), "");
  EXPECT_EQ(fault(R"({"anyOf": [{"const": 1}, {"const": 2}]})", "3"), "/: is not 1");
  const char* const list =
      R"({"$defs": {"l": {"anyOf": [{"type": "null"}, {"items": {"$ref": "#/$defs/l"}, "type": "array"}]}}, "$ref": "#/$defs/l"})";
  EXPECT_EQ(fault(list, "[null, [null]]"), "");
  EXPECT_NE(fault(list, "[1]"), "");
  EXPECT_NE(fault(R"({"$ref": "#/$defs/none"})", "1"), "");
  EXPECT_NE(fault(R"({"maximum": 3})", "1").find("\"maximum\" is not understood"), std::string::npos);
}

TEST(BenchDocuments, WhatTheProgramPrintsIsValid) {
  Device device;
  try {
    device = Device::open("cpu");
  } catch (const Error&) {
    GTEST_SKIP() << "no CPU device";
  }
  Team team(2);
  Session session;
  Settings settings;
  settings.rules = {0, 0, 0, 0.02, 6, 6};
  settings.all_peers = false;
  Report report;
  report.environment = environment(device);
  report.before = report.after = conditions(device);
  report.suite = "copy";
  CacheFlusher flusher(device, team, std::size_t{1} << 20);
  for (const char* text : {"copy u8 1000", "sum f32 4096", "matmul f32 64x64,64x64 also=nonsense"})
    for (CaseResult& result :
         time_case(job_of(text, text), device, team, session, flusher, settings, [](const std::string&) {}))
      report.cases.push_back(std::move(result));
  EXPECT_EQ(report.cases.size(), 6u);
  const Document document = json_of(report);
  EXPECT_EQ(fault_of(document).value_or(""), "") << document.dump(1);
  for (const Json& result : document.at("cases")) {  // what checking took can be held against what measuring did
    EXPECT_GT(result.at("checking_ms"), 0) << result.at("label");
    EXPECT_GT(result.at("measuring_ms"), 0) << result.at("label");
  }
  EXPECT_EQ(fault_of(document_of({result_of("copy f32 8", 2, 0.01)})).value_or(""), "");
}

TEST(BenchDocuments, ThoseThatAreKeptHereAreValid) {
  int documents = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(AXISLOOM_SOURCE_DIR "/docs/results")) {
    static const std::set<std::string> others = {"ladder", "choice", "mpi", "nccl", "python"};
    const bool other = others.contains(entry.path().parent_path().filename().string());
    if (entry.path().extension() != ".json" || other) continue;
    ++documents;
    EXPECT_NO_THROW(load_document(entry.path().string())) << entry.path();
  }
  EXPECT_GT(documents, 0);
}

TEST(BenchDocuments, FaultsAreNamedWithTheirPlace) {
  const Document good = document_of({result_of("copy f32 8", 2, 0.01)});
  const std::pair<std::function<void(Json&)>, const char*> faults[] = {
      {[](Json& d) { d["schema"] = "axisloom-bench 2"; }, "/schema: is not \"axisloom-bench 1\""},
      {[](Json& d) { d.erase("cases"); }, "/: lacks \"cases\""},
      {[](Json& d) { d["cases"][0]["clock"] = "sundial"; }, "/cases/0/clock: is none of [\"call\",\"device\"]"},
      {[](Json& d) { d["cases"][0]["contestants"] = Json::array(); }, "/cases/0/contestants: has fewer than 1 items"},
      {[](Json& d) { d["cases"][0]["contestants"][0].erase("call"); }, "/cases/0/contestants/0: lacks \"call\""},
      {[](Json& d) { d["cases"][0]["contestants"][0]["call"]["median_ms"] = "1"; },
       "/cases/0/contestants/0/call/median_ms: is of type string, not \"number\""},
      {[](Json& d) { d["cases"][0]["contestants"][0]["call"]["low_ms"] = 0; },
       "/cases/0/contestants/0/call/low_ms: is not above 0"},
      {[](Json& d) { d["cases"][0]["colour"] = "red"; }, "/cases/0/colour: is not known here"},
      {[](Json& d) { d["cases"][0]["contestants"][2]["rank"] = 1; }, "/cases/0/contestants/2"},
  };
  for (const auto& [damage, message] : faults) {
    Json bad = good;
    damage(bad);
    EXPECT_EQ(fault_of(bad).value_or("").substr(0, std::string_view(message).size()), message);
  }
  for (const char* text : {"", "{", "7", "null", "[]"}) {
    const io_support::TemporaryFolder folder;
    const std::string path = folder.put("bad.json", text);
    try {
      load_document(path);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::file);
      EXPECT_NE(std::string(error.what()).find("bad.json"), std::string::npos) << error.what();
    }
  }
}

TEST(BenchCompare, QuotientsAddTheSquaresOfTheirDistances) {
  const Estimate q = quotient({6, 6 / 1.03, 6 * 1.03}, {3, 3 / 1.04, 3 * 1.04});
  EXPECT_DOUBLE_EQ(q.median, 2);
  const double distance = std::hypot(std::log(1.03), std::log(1.04));
  EXPECT_NEAR(q.low, 2 * std::exp(-distance), 1e-12);
  EXPECT_NEAR(q.high, 2 * std::exp(distance), 1e-12);
  const Estimate exact = quotient({1, 1, 1}, {4, 4, 4});
  EXPECT_DOUBLE_EQ(exact.low, 0.25);
  EXPECT_DOUBLE_EQ(exact.high, 0.25);
  const Estimate one_sided = quotient({2, 1, 2}, {1, 1, 1});
  EXPECT_NEAR(one_sided.low, 1, 1e-12);
  EXPECT_NEAR(one_sided.high, 2, 1e-12);
}

TEST(BenchCompare, Verdicts) {
  const std::pair<Estimate, Verdict> known[] = {
      {{1.00, 0.99, 1.01}, Verdict::same},    {{1.015, 1.01, 1.019}, Verdict::same},
      {{1.05, 1.03, 1.07}, Verdict::slower},  {{1.03, 1.01, 1.05}, Verdict::slower},
      {{1.05, 0.99, 1.12}, Verdict::unclear}, {{1.015, 1.001, 1.03}, Verdict::unclear},
      {{0.90, 0.88, 0.92}, Verdict::faster},  {{0.97, 0.95, 0.99}, Verdict::faster},
      {{0.90, 0.80, 1.01}, Verdict::unclear}, {{1.00, 0.90, 1.10}, Verdict::unclear},
  };
  for (const auto& [ratio, verdict] : known)
    EXPECT_STREQ(name(judged(ratio, 0.02)), name(verdict)) << ratio.median << " " << ratio.low;
  EXPECT_EQ(judged({1.05, 1.03, 1.07}, 0.1), Verdict::same);
  EXPECT_EQ(judged({1, 1, 1}, 0), Verdict::same);
  EXPECT_EQ(judged({1.001, 1.0005, 1.002}, 0), Verdict::slower);
}

TEST(BenchCompare, CasesAreFoundAndNamed) {
  const Document before = document_of({result_of("a", 1, 0.001), result_of("b", 1, 0.001), result_of("c", 1, 0.001),
                                       result_of("d", 1, 0.2), result_of("gone", 1, 0.001), result_of("e", 1, 0.001)});
  Document after =
      document_of({result_of("e", 1, 0.001), result_of("d", 1.1, 0.2), result_of("c", 1.5, 0.001),
                   result_of("b", 0.5, 0.001), result_of("a", 1.001, 0.001), result_of("young", 1, 0.001)});
  after["cases"][0]["contestants"][0] = {
      {"name", "axisloom"}, {"role", "ours"}, {"status", "WRONG"}, {"reason", "bits"}};
  const Comparison comparison = compared(before, after, 0.02);
  std::string verdicts;
  for (const Change& change : comparison.changes) verdicts += change.text + ":" + name(change.verdict) + " ";
  EXPECT_EQ(verdicts, "e:BROKEN d:UNCLEAR c:SLOWER b:FASTER a:SAME young:NEW gone:MISSING ");
  EXPECT_TRUE(comparison.regression());
  const std::string table = text_of(comparison, harness::Format::table);
  EXPECT_NE(table.find("1 FASTER, 1 SLOWER, 1 SAME, 1 UNCLEAR, 1 MISSING, 1 NEW, 1 BROKEN; threshold 2%"),
            std::string::npos);
  const Json rows = Json::parse(text_of(comparison, harness::Format::json));
  EXPECT_EQ(rows[2]["verdict"], "SLOWER");
  EXPECT_NEAR(rows[2]["time_ratio"].get<double>(), 1.5, 1e-9);
  EXPECT_NE(text_of(comparison, harness::Format::csv).find("label of gone,MISSING"), std::string::npos);
  EXPECT_NE(text_of(comparison, harness::Format::md).find("| label of b | FASTER |"), std::string::npos);
  EXPECT_FALSE(compared(before, before, 0.02).regression());
}

TEST(BenchCompare, OnCpusTheShareCountsAndOnGpusTheSeconds) {
  // The machine is half as fast as it was, for the copy too.
  const auto slowed = [](CaseResult result) {
    for (Entry& entry : result.entries)
      for (auto* clock : {&entry.call, &entry.device})
        if (*clock) *clock = Summary{2 * (*clock)->median, 2 * (*clock)->low, 2 * (*clock)->high, (*clock)->samples};
    return result;
  };
  for (Clock clock : {Clock::call, Clock::device}) {
    const CaseResult once = result_of("a", 1, 0.001, clock);
    const Comparison comparison = compared(document_of({once}), document_of({slowed(once)}), 0.02);
    EXPECT_EQ(comparison.changes[0].of_share, clock == Clock::call);
    EXPECT_EQ(comparison.changes[0].verdict, clock == Clock::call ? Verdict::same : Verdict::slower);
  }
  CaseResult alone = result_of("a", 1, 0.001);
  alone.reference.clear();
  for (Entry& entry : alone.entries) entry.share.reset();
  const Comparison by_seconds = compared(document_of({alone}), document_of({slowed(alone)}), 0.02);
  EXPECT_FALSE(by_seconds.changes[0].of_share);
  EXPECT_EQ(by_seconds.changes[0].verdict, Verdict::slower);
}

TEST(BenchCompare, ColdAndWarmAreCasesOfTheirOwn) {
  const auto cases = [](double warm, double cold) {
    return std::vector{result_of("a", warm, 0.001, Clock::call, Cache::warm),
                       result_of("a", cold, 0.001, Clock::call, Cache::cold)};
  };
  const Comparison comparison = compared(document_of(cases(1, 2)), document_of(cases(2, 1)), 0.02);
  EXPECT_EQ(comparison.changes[0].label, "label of a, warm");
  EXPECT_EQ(comparison.changes[0].verdict, Verdict::slower);
  EXPECT_EQ(comparison.changes[1].verdict, Verdict::faster);
  Document old = document_of({result_of("a", 1, 0.001)});
  old["cases"][0].erase("cache");  // as documents were before
  const Comparison with_old = compared(old, document_of(cases(1, 2)), 0.02);
  EXPECT_EQ(with_old.changes[0].verdict, Verdict::same);
  EXPECT_EQ(with_old.changes[1].verdict, Verdict::added);
  EXPECT_EQ(with_old.changes.size(), 2u);
}

TEST(BenchCompare, DevicesAreToldApart) {
  const auto cases = std::vector{result_of("a", 1, 0.001)};
  EXPECT_TRUE(compared(document_of(cases), document_of(cases), 0.02).same_device());
  EXPECT_FALSE(compared(document_of(cases), document_of(cases, "another"), 0.02).same_device());
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(BenchPage, HoldsEverythingAndNeedsNothing) {
  CaseResult strange = result_of("copy f32 8", 2, 0.01);
  strange.label = "<script>alert(\"x\")</script> & more";
  CaseResult product = result_of("matmul f32 64x64,64x64", 3, 0.01);
  product.limit = Limit::arithmetic;
  const NamedDocument documents[] = {{"one.json", document_of({strange, product})},
                                     {"two.json", document_of({strange}, "another")}};
  const std::string page = page_of(documents);
  EXPECT_EQ(occurrences(page, "<script"), 1u);  // its own
  EXPECT_EQ(occurrences(page, "<figure data-case="), 3u);
  EXPECT_NE(page.find("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; more"), std::string::npos);
  for (const char* link : {"http:", "https:", "src=", "url(", "@import", "<link"})
    EXPECT_EQ(page.find(link), std::string::npos) << link;
  EXPECT_EQ(occurrences(page, "<svg class=\"bars\""), 3u);
  EXPECT_EQ(occurrences(page, "<svg class=\"roofline\""), 2u);
  EXPECT_EQ(occurrences(page, "<svg"), occurrences(page, "</desc>"));
  for (const char* text : {"a device (opencl)", "another (opencl)", "one.json", "two.json", "WRONG", "memcpy"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
  std::set<std::string> ids;
  for (std::size_t at = page.find(" id=\""); at != std::string::npos; at = page.find(" id=\"", at + 1)) {
    const std::string id = page.substr(at + 5, page.find('"', at + 5) - at - 5);
    EXPECT_TRUE(ids.insert(id).second) << id;
  }
  for (std::size_t at = page.find("aria-labelledby=\""); at != std::string::npos;
       at = page.find("aria-labelledby=\"", at + 1)) {
    const std::size_t start = at + 17, end = page.find_first_of(" \"", start);
    EXPECT_TRUE(ids.contains(page.substr(start, end - start))) << page.substr(start, end - start);
  }
}

TEST(BenchPage, EverybodyLooksTheSameInAllRooflines) {
  const auto named = [](const char* peer, const std::string& device) {
    CaseResult result = result_of("a", 1, 0.01);
    result.entries.push_back(right(peer, Role::peer, 2, 0.01, {64e9, 16e9}));
    return NamedDocument{"a.json", document_of({result}, device)};
  };
  const NamedDocument documents[] = {named("first", "one"), named("second", "two")};
  const std::string page = page_of(documents);
  const std::string second = page.substr(page.find("Roofline of two"));
  EXPECT_NE(second.find("<path class=\"mark s2\""), std::string::npos);  // as in the order of the whole page
  EXPECT_EQ(second.substr(0, second.find("</svg>")).find("first"), std::string::npos);
  EXPECT_NE(page.find(">10⁻¹<"), std::string::npos);
  EXPECT_EQ(page.find(">0.1<"), std::string::npos);
}

TEST(BenchPage, CeilingsHaveTheirNamesApart) {
  Roofline roofline{"r", "title", {"axisloom"}, {}, {{"axisloom", "a", 1, 100}}};
  for (const double value : {500.0, 501.0, 502.0}) roofline.ceilings.push_back({"peak", value, false});
  const std::string svg = svg_of(roofline);
  std::vector<double> heights;
  for (std::size_t at = svg.find("class=\"ceiling-name\""); at != std::string::npos;
       at = svg.find("class=\"ceiling-name\"", at + 1))
    heights.push_back(std::stod(svg.substr(svg.find(" y=\"", at) + 4)));
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_GE(heights[1] - heights[0], 15);
  EXPECT_GE(heights[2] - heights[1], 15);
}

TEST(BenchPage, AMoveHasNoPlaceInARoofline) {
  CaseResult move = result_of("copy f32 8", 2, 0.01);
  move.work.operations = 0;
  for (Entry& entry : move.entries) entry.rate.operations = 0;
  const NamedDocument documents[] = {{"one.json", document_of({move})}};
  const std::string page = page_of(documents);
  EXPECT_EQ(occurrences(page, "class=\"roofline\""), 0u);
  EXPECT_NE(page.find("No case here does arithmetic"), std::string::npos);
}

TEST(BenchPage, EmptyDocumentsMakeAPage) {
  const NamedDocument documents[] = {{"one.json", document_of({})}};
  EXPECT_NE(page_of(documents).find("</html>"), std::string::npos);
}

TEST(BenchTable, TheFastestIsBold) {
  const auto table = [](double ours, double peer) {
    CaseResult result = result_of("a", ours, 0.001);
    result.entries.push_back(right("p", Role::peer, peer, 0.001, {64e9, 0}));
    return markdown_of(document_of({result}));
  };
  EXPECT_NE(table(1, 2).find("| **64.0** (100%) | 64.0 | WRONG | 32.0 |"), std::string::npos) << table(1, 2);
  EXPECT_NE(table(2, 1).find("| 32.0 (50%) | 64.0 | WRONG | **64.0** |"), std::string::npos) << table(2, 1);
}

TEST(BenchTable, SharesThatSayNothingAreLeftOut) {
  const auto shown = [](double ours, Role reference) {
    CaseResult result = result_of("a", ours, 0.001);
    result.reference_role = reference;
    const Document document = document_of({result});
    const NamedDocument named[] = {{"one.json", document}};
    const std::string table = table_of(std::span(&result, 1)).text(Format::csv), page = page_of(named);
    const std::string share = fmt::format("{:.0f}", 100 / ours);
    const bool in_markdown = markdown_of(document).find("(" + share + "%)") != std::string::npos;
    EXPECT_EQ(table.find("," + Json(1 / ours).dump() + ",") != std::string::npos, in_markdown);
    EXPECT_EQ(page.find(">" + share + ".0%<") != std::string::npos, in_markdown);
    EXPECT_NE(json_text(document).find(share_key(reference)), std::string::npos);
    return in_markdown;
  };
  EXPECT_TRUE(shown(0.5, Role::copy));
  EXPECT_FALSE(shown(0.25, Role::copy));
  EXPECT_TRUE(shown(0.8, Role::peak));
  EXPECT_FALSE(shown(0.5, Role::peak));
}

TEST(BenchStandings, PeersAreCountedWhereBothAreRight) {
  const auto against = [](const std::string& label, double ours, std::vector<Entry> peers) {
    CaseResult result = result_of(label, ours, 0.001);
    for (Entry& peer : peers) result.entries.push_back(std::move(peer));
    return result;
  };
  const auto peer = [](const char* name, double seconds) { return right(name, Role::peer, seconds, 0.001, {64e9, 0}); };
  const Document document = document_of({against("a", 2, {peer("p", 3), peer("q", 1)}),
                                         against("b", 2, {peer("p", 1.5), without_times("q", Status::wrong)}),
                                         against("c", 2, {peer("p", 8)})});
  EXPECT_EQ(standings_of(std::array{document}).text(harness::Format::md),
            "| suite | peer | cases | faster in | median | lowest | where |\n|---|---|---|---|---|---|---|\n"
            "| copy | p | 3 | 1 | 1.50 | 0.75 | label of b |\n"
            "| copy | q | 1 | 1 | 0.50 | 0.50 | label of a |\n");
  EXPECT_EQ(standings_of({}).text(harness::Format::md).find("| copy"), std::string::npos);
}

TEST(BenchStandings, OfALibrarysWaysTheFastestCounts) {
  const auto peer = [](const char* name, double seconds) { return right(name, Role::peer, seconds, 0.001, {64e9, 0}); };
  const auto against = [](const std::string& label, std::vector<Entry> peers) {
    CaseResult result = result_of(label, 2, 0.001);
    for (Entry& entry : peers) result.entries.push_back(std::move(entry));
    return result;
  };
  const Document both[] = {document_of({against("a", {peer("p", 9), peer("p-out", 3), peer("q", 1)})}),
                           document_of({against("b", {peer("p", 5)})})};
  const std::vector<Standing> standings = standings_by_library(both);
  ASSERT_EQ(standings.size(), 2u);
  EXPECT_EQ(standings[0].peer, "p");
  ASSERT_EQ(standings[0].ratios.size(), 2u) << "documents of one suite together";
  EXPECT_EQ(standings[0].ratios[0].value, 1.5);
  EXPECT_EQ(standings[0].ratios[1].value, 2.5);
  EXPECT_EQ(standings[1].ratios[0].value, 0.5);

  const std::string chart = standings_chart(both);
  EXPECT_TRUE(chart.starts_with("<?xml"));
  EXPECT_TRUE(chart.ends_with("</svg>\n"));
  EXPECT_EQ(occurrences(chart, "<rect"), 2u);
  EXPECT_EQ(occurrences(chart, "class=\"slower\""), 1u) << "where the library is faster";
  EXPECT_NE(chart.find("p 2.5 times; "), std::string::npos) << "in words, too";
  EXPECT_NE(chart.find(">copy, 2 cases<"), std::string::npos);
  EXPECT_TRUE(standings_chart({}).ends_with("</svg>\n"));
}

}  // namespace
}  // namespace axisloom::bench
