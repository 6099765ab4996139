// axisloom check: the driver of all cases.
#include "cli/app.hpp"
#include "cli/check/programs.hpp"
#include "cli/drivers.hpp"
#include "cli/messages.hpp"
#include "harness/arguments.hpp"
#include "harness/case.hpp"
#include "harness/minimise.hpp"
#include "harness/runner.hpp"
#include "harness/source.hpp"

#include "device/device.hpp"
#include "jit/jit.hpp"
#include "model/profile.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>

namespace axisloom::cli {
namespace {

using harness::Case;
using harness::CheckSettings;
using harness::Outcome;

struct CheckOptions {
  std::vector<std::string> lines;
  std::vector<std::string> files;
  i64 random = 0;
  std::string part;
  std::string candidate;
  std::string profile;
  std::string index = "auto";
  bool checked = false;
  bool tight = false;
  int repeat = 1;
  int max_failures = 20;
  std::string keep;
  bool list = false;
  bool slow = false;
  bool slow_only = false;
  Programs programs;
};

// Each takes up to two hundred runs, so of a fault that shows everywhere only the first few are made smaller.
constexpr i64 most_minimised = 3;

struct Tally {
  i64 cases = 0, passed = 0, failed = 0, refused = 0, skipped = 0;
  std::map<std::string, i64> seen;  // how often an operation, a dtype or an option was named
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

bool contains(std::string_view text, std::string_view part) {
  return lower(text).find(lower(part)) != std::string::npos;
}

bool satisfies(const DeviceInfo& info, const device::Spec& spec) {
  using Which = device::Spec::Which;
  if (spec.which == Which::automatic) return true;
  if (spec.which == Which::cpu) return info.kind == Kind::cpu;
  if (spec.which == Which::gpu) return info.kind == Kind::gpu;
  if (info.api != spec.api || (spec.index && info.index != *spec.index)) return false;
  return spec.name.empty() || contains(info.name, spec.name) || contains(info.platform, spec.name);
}

// A check that quietly ran somewhere else proves nothing, so the choice of device is checked by code of its own.
Device open_asked_device(const Context& context) {
  const char* environment = std::getenv("AXISLOOM_DEVICE");
  const bool automatic = context.device.empty() || context.device == "auto";
  const std::string asked = automatic && environment != nullptr ? environment : context.device;
  const Device device = open_device(asked);
  if (!satisfies(device.info(), device::parse_spec(asked)))
    throw Error(Errc::no_device, fmt::format("{} was asked for, but {} was opened", asked, device.info().label()));
  return device;
}

std::string repeat_command(const Case& c, const CheckSettings& settings, const Outcome& outcome) {
  std::string command =
      fmt::format("axisloom check --device {} --seed {}", settings.device.info().spec(), settings.seed);
  if (!settings.profile.empty()) command += " --profile " + settings.profile;
  if (!outcome.candidate.empty()) command += " --candidate " + outcome.candidate;
  if (settings.index_64) command += " --index 64";
  if (settings.checked) command += " --checked";
  if (settings.tight && !settings.checked) command += " --tight";
  if (settings.repeat != 1) command += fmt::format(" --repeat {}", settings.repeat);
  return command + " " + harness::shell_quoted(c.text);
}

/// The simplest case that fails as this one does, with the command that repeats it.
void add_minimised(const Case& c, const CheckSettings& settings, const Outcome& outcome,
                   nlohmann::ordered_json& entry) {
  Case like = c;
  like.options.candidate = outcome.candidate.empty() ? c.options.candidate : "";
  like.text = text_of(like);
  Case smallest =
      harness::minimise(like, [&](const Case& simpler) { return harness::fails_alike(simpler, settings, outcome); });
  if (smallest.text == like.text) return;
  const std::string command = repeat_command(smallest, settings, outcome);
  entry["minimal"] = command;
  say(fmt::format("  smallest case that fails the same way: {}", command));
}

void count_failure(const Case& c, const CheckSettings& settings, const Outcome& outcome, Tally& tally) {
  ++tally.failed;
  const std::string command = repeat_command(c, settings, outcome);
  nlohmann::ordered_json entry{
      {"case", c.text}, {"candidate", outcome.candidate}, {"message", outcome.message}, {"repeat", command}};
  say(fmt::format("FAILED {}\n  {}\n  repeat: {}", c.text, outcome.message, command));
  if (tally.failed <= most_minimised && !c.expect) add_minimised(c, settings, outcome, entry);
  tally.failures.push_back(std::move(entry));
}

void count(const Case& c, const CheckSettings& settings, const Outcome& outcome, const Context& context, Tally& tally) {
  switch (outcome.kind) {
    case Outcome::Kind::passed:
      ++tally.passed;
      break;
    case Outcome::Kind::refused:
      ++tally.refused;
      if (context.verbose) say(fmt::format("refused by {}: {}: {}", outcome.candidate, c.text, outcome.message));
      break;
    case Outcome::Kind::failed:
      count_failure(c, settings, outcome, tally);
      break;
  }
}

// The operation, the dtypes, and what stands before "=" or is a word of its own, such as in-place.
void count_words(const Case& c, Tally& tally) {
  ++tally.seen[c.op.name];
  for (Dtype dtype : c.dtypes) ++tally.seen[std::string(name(dtype))];
  const std::vector<std::string> words = harness::words_of(c.text);
  for (size_t i = 3 + c.op.arguments.size(); i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string key = words[i].substr(0, equals);
    const bool length = std::ranges::any_of(c.op.lengths, [&](const auto& l) { return l.first == key; });
    if (!length) ++tally.seen[key == "expect" ? words[i] : key];
  }
}

std::string place_of(const CheckSettings& settings) {
  const std::string place = settings.device.impl()->compiled_for().label();
  return settings.profile.empty() ? place : fmt::format("{}, planned as for {}", place, settings.profile);
}

void report(const Tally& tally, double seconds, const jit::CacheStats& before, const CheckSettings& settings,
            const Context& context) {
  const jit::CacheStats now = jit::cache_stats();
  if (context.format == harness::Format::json) {
    const nlohmann::ordered_json summary{{"passed", tally.passed},
                                         {"failed", tally.failed},
                                         {"refused", tally.refused},
                                         {"skipped", tally.skipped},
                                         {"cases", tally.cases},
                                         {"seed", context.seed},
                                         {"seconds", seconds},
                                         {"compiles", now.compiles - before.compiles},
                                         {"disk_hits", now.disk_hits - before.disk_hits},
                                         {"device", place_of(settings)},
                                         {"seen", tally.seen},
                                         {"failures", tally.failures}};
    print(harness::json_text(summary));
    return;
  }
  if (context.verbose)
    for (const auto& [word, times] : tally.seen) say(fmt::format("{:>8} {}", times, word));
  print(
      fmt::format("{} passed, {} failed, {} refused; {} cases of seed {}, {} left out, in {:.1f} s on {}, "
                  "{} compiles, {} programs from disk\n",
                  tally.passed, tally.failed, tally.refused, tally.cases, context.seed, tally.skipped, seconds,
                  place_of(settings), now.compiles - before.compiles, now.disk_hits - before.disk_hits));
}

void run_all(const harness::CaseSource& cases, CheckSettings settings, const CheckOptions& options, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const jit::CacheStats before = jit::cache_stats();
  Tally tally;
  for (i64 i = 0; i < cases.count(); ++i) {
    const Case c = cases.at(i);
    if (c.slow ? !options.slow && !options.slow_only : options.slow_only) {
      ++tally.skipped;
      continue;
    }
    ++tally.cases;
    count_words(c, tally);
    if (!context.quiet && tally.cases % 16 == 1)
      show_progress(fmt::format("[{}/{}] {}", tally.cases, cases.count(), c.text.substr(0, 60)));
    if (!options.keep.empty()) settings.keep = fmt::format("{}/{}", options.keep, tally.cases);
    for (const Outcome& outcome : harness::run_case(c, settings)) count(c, settings, outcome, context, tally);
    if (options.max_failures > 0 && tally.failed >= options.max_failures) {
      say(fmt::format("stopped after {} failures (--max-failures)", tally.failed));
      break;
    }
  }
  show_progress("");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  report(tally, seconds.count(), before, settings, context);
  if (tally.failed > 0) context.exit_code = exit_differs;
}

/// New every time, and short enough to be typed.
u64 fresh_seed() {
  return std::random_device()();
}

void run(const CheckOptions& options, Context& context, bool seed_given) {
  if (options.lines.empty() && options.files.empty() && options.random == 0 && options.programs.file.empty())
    throw Error(Errc::usage, "there is nothing to check", "give a case, --cases FILE, or --random N");
  if (!seed_given) context.seed = fresh_seed();
  const harness::CaseSource cases({options.files, options.lines, options.random, harness::parse_part(options.part)},
                                  context.seed);
  if (options.list) {
    for (i64 i = 0; i < cases.count(); ++i) {
      const Case c = cases.at(i);
      print(fmt::format("{}{}\n", c.slow ? "slow " : "", c.text));
    }
    return;
  }
  CheckSettings settings;
  settings.device = open_asked_device(context);
  settings.profile = options.profile;
  if (!options.profile.empty()) settings.device = model::profiled_device(settings.device, options.profile);
  settings.seed = context.seed;
  settings.candidate = options.candidate;
  settings.index_64 = harness::parse_index(options.index) == IndexWidth::bits64;
  settings.checked = options.checked;
  settings.tight = options.tight || options.checked;
  settings.repeat = options.repeat;
  if (!options.programs.file.empty()) {
    settings.keep = options.keep;
    if (!check_programs(options.programs, settings)) context.exit_code = exit_differs;
    return;
  }
  run_all(cases, settings, options, context);
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "check",
      "Run cases and compare every byte with the oracle, twice. A case is: OP DTYPE SHAPE ARGUMENT... [NAME=VALUE...]");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("case", options->lines, "Cases, each one argument")->type_name("CASE");
  command->add_option("--cases", options->files, "Files of cases")->type_name("FILE");
  command
      ->add_option("--random", options->random,
                   "Number of random cases, drawn from --seed (default: a new seed each time)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  command->add_option("--part", options->part, "Run part I of K: every K-th case from the I-th on")->type_name("I/K");
  command->add_option("--candidate", options->candidate, "Force this candidate; all: force each that accepts, in turn")
      ->type_name("NAME");
  command
      ->add_option("--profile", options->profile,
                   "Plan for this profile of tuning/devices, and run the kernels on this device")
      ->type_name("NAME")
      ->check(CLI::IsMember(model::profile_names()).description(""));
  take_only(command->add_option("--index", options->index, "64: force 64-bit offsets"), {"64", "auto"});
  command->add_flag("--checked", options->checked, "Check every access of the kernels against its bounds (slow)");
  command->add_flag("--tight", options->tight,
                    "No canaries: each buffer ends with its array, so that a memory checker sees every overrun");
  command->add_option("--repeat", options->repeat, "Further runs of each case, which must give the same bits")
      ->type_name("R")
      ->check(CLI::NonNegativeNumber.description(""));
  command->add_option("--max-failures", options->max_failures, "Stop after this many failures; 0: never")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  command
      ->add_option("--keep", options->keep,
                   "Write the arrays of case N as DIR/N-in1.npy, ..., DIR/N-out.npy, for other programs to check")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory.description(""));
  command->add_flag("--slow", options->slow, "Run the lines marked slow too");
  command->add_flag("--slow-only", options->slow_only, "Run the lines marked slow, and no others");
  command->add_flag("--list", options->list, "Print the cases, expanded, and run nothing");
  add_program_options(*command, options->programs);
  add_common_options(*command, context);
  set_examples(*command,
               "axisloom check --cases tests/cases/transpose.cases\n"
               "axisloom check 'transpose f32 {1..40}x33'\n"
               "axisloom check --random 300 --seed 7 --candidate all\n"
               "axisloom check --random 2000 --part 1/4 --seed 7 --profile h200\n"
               "axisloom check 'permute u8 5x6x7 2,0,1 in-strides=-42,7,1 out-offset=3' --index 64");
  set_action(*command, [options, command, &app, &context] {
    run(*options, context, command->count("--seed") + app.count("--seed") > 0);
  });
}

}  // namespace axisloom::cli
