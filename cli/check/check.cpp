// axisloom check: the driver of all cases.
#include "cli/check/programs.hpp"
#include "cli/messages.hpp"
#include "harness/minimise.hpp"
#include "harness/source.hpp"

#include "device/device.hpp"
#include "jit/jit.hpp"
#include "jit/lacking.hpp"
#include "model/profile.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>

namespace axisloom::cli {
namespace {

struct CheckOptions {
  Texts lines, files;
  i64 random = 0;
  std::string part;
  std::string index = "auto";
  int max_failures = 20;
  bool list = false, slow = false, slow_only = false;
  Programs programs;
  CheckSettings settings;  // but device, seed and index
};

// Each takes up to two hundred runs, so of a fault that shows everywhere only the first few are made smaller.
constexpr i64 most_minimised = 3;

bool contains(std::string_view text, std::string_view part) {
  const auto alike = [](char a, char b) { return std::tolower(u8(a)) == std::tolower(u8(b)); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), alike) != text.end();
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
  const bool automatic = device::is_automatic(context.device);
  const std::string asked = automatic && environment != nullptr ? environment : context.device;
  Device device = Device::open(asked);
  if (!satisfies(device.info(), device::parse_spec(asked)))
    throw Error(Errc::no_device, fmt::format("{} was asked for, but {} was opened", asked, device.info().label()));
  return device;
}

/// Runs cases, and keeps count of what comes of them.
class Tally {
 public:
  Tally(const CheckSettings& settings, Context& context) : settings_(settings), context_(context) {}

  void run_all(const CaseSource& cases, const CheckOptions& options) {
    for (i64 i = 0; i < cases.count(); ++i) {
      const Case c = cases.at(i);
      if (c.slow ? !options.slow && !options.slow_only : options.slow_only) {
        ++skipped_;
        continue;
      }
      ++cases_;
      count_words(c);
      if (!context_.quiet && cases_ % 16 == 1)
        show_progress(fmt::format("[{}/{}] {}", cases_, cases.count(), c.text.substr(0, 60)));
      if (!options.settings.keep.empty()) settings_.keep = concat(options.settings.keep, "/", cases_);
      for (const Outcome& outcome : run_case(c, settings_)) count(c, outcome);
      if (options.max_failures > 0 && failed_ >= options.max_failures) {
        say("stopped after {} failures (--max-failures)", failed_);
        break;
      }
    }
    show_progress("");
    report();
    if (failed_ > 0) context_.exit_code = exit_differs;
  }

 private:
  std::string repeat_command(const Case& c, const Outcome& outcome) const {
    std::string command =
        fmt::format("axisloom check --device {} --seed {}", settings_.device.info().spec(), settings_.seed);
    if (!settings_.profile.empty()) command += " --profile " + settings_.profile;
    if (!outcome.candidate.empty()) command += " --candidate " + outcome.candidate;
    if (settings_.index_64) command += " --index 64";
    if (settings_.checked) command += " --checked";
    if (settings_.tight && !settings_.checked) command += " --tight";
    if (settings_.repeat != 1) command += concat(" --repeat ", settings_.repeat);
    return command + " " + shell_quoted(c.text);
  }

  /// The simplest case that fails as this one does, with the command that repeats it.
  void add_minimised(const Case& c, const Outcome& outcome, Json& entry) const {
    Case like = c;
    like.options.candidate = outcome.candidate.empty() ? c.options.candidate : "";
    like.text = text_of(like);
    const Case smallest = minimise(like, [&](const Case& simpler) { return fails_alike(simpler, settings_, outcome); });
    if (smallest.text == like.text) return;
    const std::string command = repeat_command(smallest, outcome);
    entry["minimal"] = command;
    say("  smallest case that fails the same way: {}", command);
  }

  void count_failure(const Case& c, const Outcome& outcome) {
    ++failed_;
    const std::string command = repeat_command(c, outcome);
    Json entry{{"case", c.text}, {"candidate", outcome.candidate}, {"message", outcome.message}, {"repeat", command}};
    say("FAILED {}\n  {}\n  repeat: {}", c.text, outcome.message, command);
    if (failed_ <= most_minimised && !c.expect) add_minimised(c, outcome, entry);
    failures_.push_back(std::move(entry));
  }

  void count(const Case& c, const Outcome& outcome) {
    if (outcome.kind == Outcome::failed) return count_failure(c, outcome);
    ++(outcome.kind == Outcome::passed ? passed_ : refused_);
    lacking_ += outcome.message.find("was not compiled with the library") != std::string::npos;
    if (outcome.kind == Outcome::refused && context_.verbose)
      say("refused by {}: {}: {}", outcome.candidate, c.text, outcome.message);
  }

  // The operation, the dtypes, and what stands before "=" or is a word of its own, such as in-place.
  void count_words(const Case& c) {
    ++seen_[c.op.name];
    for (Dtype dtype : c.dtypes) ++seen_[std::string(name(dtype))];
    const Texts words = words_of(c.text);
    for (const auto& word : std::span(words).subspan(3 + c.op.arguments.size())) {
      const std::string key = word.substr(0, word.find('='));
      const bool length = std::ranges::any_of(c.op.lengths, [&](const auto& l) { return l.first == key; });
      if (!length) ++seen_[key == "expect" ? word : key];
    }
  }

  void report() const {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    const jit::CacheStats now = jit::cache_stats();
    const auto compiles = now.compiles - before_.compiles, disk_hits = now.disk_hits - before_.disk_hits;
    std::string place = settings_.device.impl()->compiled_for().label();
    if (!settings_.profile.empty()) place += ", planned as for " + settings_.profile;
    if (context_.format == Format::json)
      return print(json_text({{"passed", passed_},
                              {"failed", failed_},
                              {"refused", refused_},
                              {"skipped", skipped_},
                              {"cases", cases_},
                              {"seed", context_.seed},
                              {"seconds", seconds.count()},
                              {"compiles", compiles},
                              {"disk_hits", disk_hits},
                              {"device", place},
                              {"seen", seen_},
                              {"failures", failures_}}));
    if (lacking_ > 0)
      say("{} refused for kernels that were not compiled with the library: {}", lacking_, jit::compiler_remedy);
    if (context_.verbose)
      for (const auto& [word, times] : seen_) say("{:>8} {}", times, word);
    print(fmt::format(
        "{} passed, {} failed, {} refused; {} cases of seed {}, {} left out, in {:.1f} s on {}, "
        "{} compiles, {} programs from disk\n",
        passed_, failed_, refused_, cases_, context_.seed, skipped_, seconds.count(), place, compiles, disk_hits));
  }

  CheckSettings settings_;
  Context& context_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  jit::CacheStats before_ = jit::cache_stats();
  i64 cases_ = 0, passed_ = 0, failed_ = 0, refused_ = 0, skipped_ = 0;
  i64 lacking_ = 0;                  // refused since a kernel was not compiled with the library
  std::map<std::string, i64> seen_;  // how often an operation, a dtype or an option was named
  Json failures_ = Json::array();
};

void run_check(const CheckOptions& options, Context& context) {
  if (options.lines.empty() && options.files.empty() && options.random == 0 && options.programs.file.empty())
    refuse("give a case, --cases FILE, or --random N", "there is nothing to check");
  if (context.command->count("--seed") + context.command->get_parent()->count("--seed") == 0)
    context.seed = std::random_device()();  // new every time, and short enough to be typed
  const CaseSource cases({options.files, options.lines, options.random, parse_part(options.part)}, context.seed);
  if (options.list) {
    for (i64 i = 0; i < cases.count(); ++i) {
      const Case c = cases.at(i);
      print((c.slow ? "slow " : "") + c.text + "\n");
    }
    return;
  }
  CheckSettings settings = options.settings;
  settings.device = open_asked_device(context);
  if (!settings.profile.empty()) settings.device = model::profiled_device(settings.device, settings.profile);
  settings.seed = context.seed;
  settings.index_64 = parse_index(options.index) == IndexWidth::bits64;
  settings.tight = settings.tight || settings.checked;
  if (settings.checked && !settings.device.impl()->can_build())
    throw Error(Errc::unsupported, jit::no_checked_kernels, jit::compiler_remedy);
  if (!options.programs.file.empty()) {
    if (!check_programs(options.programs, settings)) context.exit_code = exit_differs;
    return;
  }
  Tally(settings, context).run_all(cases, options);
}

std::string fault_of_count(const std::string& text) {
  return parse_integer(text).value_or(-1) >= 0 ? "" : text + " is not a whole number of 0 or more";
}

Option* add_count(App& command, const std::string& name, auto& count, const std::string& help) {
  return add_value(command, name, count, "N", help)->check(CLI::Validator(fault_of_count, ""));
}

void add_check_options(App& command, CheckOptions& options) {
  add_value(command, "case", options.lines, "CASE", "Cases, each one argument");
  add_value(command, "--cases", options.files, "FILE", "Files of cases");
  add_count(command, "--random", options.random,
            "Number of random cases, drawn from --seed (default: a new seed each time)");
  add_value(command, "--part", options.part, "I/K", "Run part I of K: every K-th case from the I-th on");
  add_value(command, "--candidate", options.settings.candidate, "NAME",
            "Force this candidate; all: force each that accepts, in turn");
  add_value(command, "--profile", options.settings.profile, profile_value,
            "Plan for this profile of tuning/devices, and run the kernels on this device")
      ->check(CLI::IsMember(model::profile_names()).description(""));
  take_only(command.add_option("--index", options.index, "64: force 64-bit offsets"), "64|auto");
  command.add_flag("--checked", options.settings.checked,
                   "Check every access of the kernels against its bounds (slow)");
  command.add_flag("--tight", options.settings.tight,
                   "No canaries: each buffer ends with its array, so that a memory checker sees every overrun");
  add_count(command, "--repeat", options.settings.repeat, "Further runs of each case, which must give the same bits")
      ->type_name("R");
  add_count(command, "--max-failures", options.max_failures, "Stop after this many failures; 0: never");
  add_value(command, "--keep", options.settings.keep, "DIR",
            "Write the arrays of case N as DIR/N-in1.npy, ..., DIR/N-out.npy, for other programs to check")
      ->check(CLI::ExistingDirectory.description(""));
  command.add_flag("--slow", options.slow, "Run the lines marked slow too");
  command.add_flag("--slow-only", options.slow_only, "Run the lines marked slow, and no others");
  command.add_flag("--list", options.list, "Print the cases, expanded, and run nothing");
  add_program_options(command, options.programs);
}

}  // namespace

void add_check(App& app, Context& context) {
  const About about{
      "check",
      "Run cases and compare every byte with the oracle, twice. A case is: OP DTYPE SHAPE ARGUMENT... [NAME=VALUE...]",
      "axisloom check --cases tests/cases/transpose.cases\n"
      "axisloom check 'transpose f32 {1..40}x33'\n"
      "axisloom check --random 300 --seed 7 --candidate all\n"
      "axisloom check --random 2000 --part 1/4 --seed 7 --profile h200\n"
      "axisloom check 'permute u8 5x6x7 2,0,1 in-strides=-42,7,1 out-offset=3' --index 64",
      all_options};
  add_command<CheckOptions>(app, context, about, run_check, add_check_options);
}

}  // namespace axisloom::cli
