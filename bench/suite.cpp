// The cases, and how they are picked.
#include "bench/suite.hpp"

#include "harness/arguments.hpp"
#include "harness/expand.hpp"

#include "core/text.hpp"
#include "jit/jit.hpp"

#include <algorithm>
#include <regex>

namespace axisloom::bench {
namespace {

constexpr std::string_view folder = "bench/suites/", ending = ".cases";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether the part is there without being cut out of longer words and numbers.
bool contains_words(std::string_view text, std::string_view part) {
  const auto goes_on = [](char left, char right) {
    const auto within = [](char c) { return core::is_letter(c) || core::is_digit(c); };
    return within(left) && within(right);
  };
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    const size_t end = at + part.size();
    const bool cut_before = at > 0 && goes_on(text[at - 1], part.front());
    const bool cut_behind = end < text.size() && goes_on(part.back(), text[end]);
    if (!cut_before && !cut_behind) return true;
  }
  return false;
}

bool has_blank(std::string_view text) {
  return contains(text, " ");
}

Variant variant_of(std::string_view text) {
  Variant variant{std::string(text), {}};
  const auto parts = split(text, ":");
  variant.options.candidate = parts.front();
  bool sense = !parts.front().empty() && parts.size() % 2 == 1;
  for (size_t i = 1; sense && i < parts.size(); i += 2) {
    const auto value = parse_integer(parts[i + 1]);
    sense = value.has_value();
    variant.options.configuration[std::string(parts[i])] = value.value_or(0);
  }
  if (!sense) harness::refuse("write it as also=candidate:tunable:value", "cannot read also={}", text);
  return variant;
}

}  // namespace

Job job_of(std::string_view label, std::string_view text) {
  constexpr std::string_view also = " also=";
  Job job{std::string(label), {}, {}};
  std::string rest(text);
  for (size_t at = rest.find(also); at != std::string::npos; at = rest.find(also)) {
    const size_t start = at + also.size(), end = std::min(rest.find(' ', start), rest.size());
    job.also.push_back(variant_of(std::string_view(rest).substr(start, end - start)));
    rest.erase(at, end - at);
  }
  job.what = parse_case(rest);
  return job;
}

std::vector<SuiteCase> read_suite_line(const std::string& suite, std::string_view line) {
  std::vector<SuiteCase> cases;
  for (const std::string& text : expand(line)) {
    static const std::regex grammar("(cpu|gpu|any) +(quick|full) +\"([^\"]+)\": +(.+)");
    std::smatch parts;
    if (!std::regex_match(text, parts, grammar))
      harness::refuse("write it as: cpu|gpu|any quick|full \"label\": case", "cannot read the line of the suite {}: {}",
                      suite, text);
    for (Scale scale : {Scale::cpu, Scale::gpu})
      if (parts[1] != (scale == Scale::cpu ? "gpu" : "cpu"))
        cases.push_back({suite, scale, parts[2] == "quick", parts[3].str(), parts[4].str()});
  }
  return cases;
}

const std::vector<SuiteCase>& suite_cases() {
  static const std::vector<SuiteCase> all = [] {
    std::vector<SuiteCase> cases;
    for (const std::string& suite : suite_names())
      for (std::string_view line : split(jit::embedded(concat(folder, suite, ending)), "\n"))
        if (line = without_comment(line); !line.empty())
          for (SuiteCase& c : read_suite_line(suite, line)) cases.push_back(std::move(c));
    return cases;
  }();
  return all;
}

Texts suite_names() {
  Texts names;
  for (std::string_view file : jit::embedded_files())
    if (file.starts_with(folder))
      names.emplace_back(file.substr(folder.size(), file.size() - folder.size() - ending.size()));
  return names;
}

std::vector<Job> jobs_of(const Choice& choice, const DeviceInfo& device) {
  const Scale scale = device.kind == Kind::cpu ? Scale::cpu : Scale::gpu;
  std::vector<Job> jobs;
  const auto pick = [&](const auto& wanted) {
    const size_t before = jobs.size();
    for (const SuiteCase& c : suite_cases())
      if (c.suite == choice.suite && c.scale == scale && (c.quick || !choice.quick) && wanted(c))
        jobs.push_back(job_of(c.label, c.text));
    return jobs.size() > before;
  };
  if (choice.wanted.empty()) pick([](const SuiteCase&) { return true; });
  for (const std::string& word : choice.wanted) {
    const auto is = [&](const SuiteCase& c) { return c.label == word; };
    const auto has_words = [&](const SuiteCase& c) {
      return contains_words(c.label, word) || contains_words(c.text, word);
    };
    const auto has = [&](const SuiteCase& c) { return contains(c.label, word) || contains(c.text, word); };
    if (pick(is) || (has_blank(word) ? pick(has_words) : pick(has))) continue;
    if (!has_blank(word))
      harness::refuse("name a part of one, or write a case such as \"transpose f32 4096x4096\"",
                      "the suite {} has no case \"{}\" for this device", choice.suite, word);
    jobs.push_back(job_of(word, word));
  }
  return jobs;
}

}  // namespace axisloom::bench
