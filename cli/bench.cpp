// axisloom bench: Axisloom, a reference and other libraries side by side on this machine.
#include "bench/environment.hpp"
#include "bench/peers/peers.hpp"
#include "bench/planning.hpp"
#include "bench/report.hpp"
#include "bench/sweep.hpp"
#include "cli/app.hpp"
#include "cli/bench_documents.hpp"
#include "cli/drivers.hpp"
#include "cli/messages.hpp"
#include "cli/results.hpp"
#include "harness/arguments.hpp"

#include "model/profile.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace axisloom::cli {
namespace {

using bench::CacheChoice;
using bench::CaseResult;
using bench::Entry;
using bench::Report;
using bench::Settings;
using bench::Status;
using bench::Strength;

constexpr std::array all_strengths{Strength::automatic, Strength::full, Strength::indexed, Strength::sampled};

/// A command of the bench, and the suite that it times when no other is named.
struct BenchCommand {
  const char* name;
  const char* suite;
  const char* summary;
};
constexpr BenchCommand bench_commands[] = {
    {"rearrange", "speed", "Time a few moves of each kind: transposes, layouts, copies."},
    {"transpose", "transpose", "Time transposes of matrices of all element sizes, square, ragged, tall and wide."},
    {"permute", "permute", "Time permutations of up to 12 axes: the 57 of TTC, and cuTT's hard ones."},
    {"relayout", "relayout", "Time changes of layout of a network's activations."},
    {"copy", "copy", "Time copies: element sizes, misalignments, rows with gaps."},
    {"reduce", "reduce", "Time reductions: sums and maxima of arrays, rows and columns."},
    {"matmul", "matmul", "Time products of matrices."},
    {"drawn", "drawn", "Time problems drawn by a seed, of all operations, on which the choice is tested."},
};

constexpr const char* all_peers = "all";
constexpr const char* every_candidate = "all";

constexpr std::array all_cache_choices{CacheChoice::cold, CacheChoice::warm, CacheChoice::both};

struct BenchOptions {
  std::vector<std::string> cases;
  bool quick = false;
  std::string cache;  // empty: both, of sweeps warm
  std::string suite = "speed";
  std::string peers = all_peers;
  double min_seconds = 0.5;
  std::string check = "auto";
  std::string output;
  std::string candidate;
  std::string profile;
  std::vector<std::string> configuration;
  std::string index = "auto";
  std::vector<std::string> sweeps;
};

/// The words for values of an enumeration.
template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(bench::name(value));
  return names;
}

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  for (const bench::PeerEntry& peer : bench::peer_table())
    if (peer.role == bench::Role::peer) names.emplace_back(peer.name);
  return names;
}

std::vector<std::string> split_peers(const std::string& text) {
  std::vector<std::string> names;
  const std::vector<std::string> known = peer_names();
  for (std::string_view name : harness::split(text, ",")) {
    if (std::ranges::find(known, name) == known.end())
      throw Error(Errc::usage, fmt::format("there is no peer \"{}\"", name),
                  fmt::format("all, none, or some of {}", fmt::join(known, ", ")));
    names.emplace_back(name);
  }
  return names;
}

Settings settings_of(const BenchOptions& options, const Context& context) {
  Settings settings;
  settings.rules = bench::Rules::with_min_seconds(options.min_seconds);
  settings.seed = context.seed;
  settings.every_candidate = options.candidate == every_candidate;
  settings.all_peers = options.peers == all_peers;
  if (!settings.all_peers && options.peers != "none") settings.peers = split_peers(options.peers);
  for (Strength strength : all_strengths)
    if (options.check == bench::name(strength)) settings.strength = strength;
  if (!options.sweeps.empty()) settings.cache = CacheChoice::warm;
  for (CacheChoice choice : all_cache_choices)
    if (options.cache == bench::name(choice)) settings.cache = choice;
  return settings;
}

std::vector<bench::Job> jobs_of(const BenchOptions& options, const Device& device) {
  std::vector<bench::Job> jobs = bench::jobs_of({options.suite, options.quick, options.cases}, device.info());
  for (bench::Job& job : jobs) {
    if (!options.candidate.empty() && options.candidate != every_candidate)
      job.what.options.candidate = options.candidate;
    for (const auto& [name, value] : harness::parse_configuration(options.configuration))
      job.what.options.configuration[name] = value;
    if (options.index != "auto") job.what.options.index = harness::parse_index(options.index);
  }
  return jobs;
}

/// Names who could not take part, and where, unless it was everywhere.
void tell_absent(const std::vector<CaseResult>& cases) {
  std::map<std::string, std::vector<std::string>>
      where;  // the cases of "without opencv: has no function for this move"
  for (const CaseResult& result : cases)
    for (const Entry& entry : result.entries)
      if (entry.status == Status::absent && !bench::is_reference(entry.role))
        where[fmt::format("without {}: {}", entry.name, entry.reason)].push_back(result.label);
  for (const auto& [line, labels] : where)
    say(labels.size() == cases.size() ? line : fmt::format("{} ({})", line, fmt::join(labels, "; ")));
}

/// Says which of Axisloom's own entries are wrong or failed, and what that leaves: a wrong result counts for more. An
/// entry that refuses a case is absent.
int tell_faults(const std::vector<CaseResult>& cases) {
  int code = exit_done;
  for (const CaseResult& result : cases)
    for (const Entry& entry : result.entries) {
      const bool wrong = entry.status == Status::wrong;
      if (entry.role != bench::Role::ours || (!wrong && entry.status != Status::failed)) continue;
      say(error_text(
          fmt::format("{}: {} {}: {}", result.label, entry.name, wrong ? "is wrong" : "failed", entry.reason), ""));
      if (code != exit_differs) code = wrong ? exit_differs : exit_code(Errc::device);
    }
  return code;
}

Report empty_report(const BenchOptions& options, const Settings& settings, const Device& device,
                    const bench::CacheFlusher& flusher) {
  Report report;
  report.environment = bench::environment(device);
  report.before = bench::conditions(device);
  report.settings = settings;
  report.suite = options.suite;
  report.quick = options.quick;
  report.cache_bytes = flusher.cache_bytes();
  return report;
}

/// A report of what there is so far, saved with every case that is added.
class GrowingReport {
 public:
  GrowingReport(Report report, const BenchOptions& options, const Context& context, Results& results)
      : report_(std::move(report)),
        format_(format_of_results(options.output, context.format, context.format_given)),
        results_(results) {}

  void add(std::vector<CaseResult> cases) {
    for (CaseResult& result : cases) report_.cases.push_back(std::move(result));
    report_.after = bench::moment();
    results_.save(bench::text_of(report_, format_));
  }
  void finish(nlohmann::ordered_json conditions) {
    report_.after = std::move(conditions);
    results_.finish(bench::text_of(report_, format_));
  }
  const std::vector<CaseResult>& cases() const noexcept { return report_.cases; }

 private:
  Report report_;
  harness::Format format_;
  Results& results_;
};

void run_suite(const BenchOptions& options, Context& context, const Device& device, Results& results) {
  const Settings settings = settings_of(options, context);
  const std::vector<bench::Job> jobs = jobs_of(options, device);
  bench::Team team;
  bench::Session session;
  bench::CacheFlusher flusher(device, team);
  GrowingReport report(empty_report(options, settings, device, flusher), options, context, results);
  const auto measure = [&] {
    for (const bench::Job& job : jobs)
      report.add(bench::time_case(job, device, team, session, flusher, settings, show_progress_or_stop));
  };
  measure_and_finish(measure, [&](bool complete) {
    if (!complete && report.cases().empty()) return;
    if (!context.quiet) {
      say(fmt::format("on {}", device.info().label()));
      tell_absent(report.cases());
    }
    report.finish(complete ? bench::conditions(device) : bench::moment());
  });
  context.exit_code = tell_faults(report.cases());
}

void refuse_for_sweep(const BenchOptions& options, const Context& context) {
  if (options.candidate.empty() || options.candidate == every_candidate)
    throw Error(Errc::usage, "--sweep needs the candidate whose tunables it changes", "name it with --candidate");
  if (context.format_given && context.format != harness::Format::json)
    throw Error(Errc::usage, "a sweep is printed as lines of JSON only", "leave out --format, or give json");
  if (options.peers != all_peers)
    throw Error(Errc::usage, "a sweep times Axisloom and the reference only", "leave out --peers");
}

void run_sweep(const BenchOptions& options, Context& context, const Device& device, Results& results) {
  refuse_for_sweep(options, context);
  std::vector<bench::SweptTunable> tunables;
  for (const std::string& text : options.sweeps) tunables.push_back(bench::parse_sweep(text));
  const Settings settings = settings_of(options, context);
  const auto add = [&](const nlohmann::ordered_json& json) {
    show_progress("");
    results.add_line(harness::json_text(json, -1));
  };
  add({{"schema", "axisloom-sweep 1"},
       {"environment", bench::environment(device)},
       {"before", bench::conditions(device)}});
  bench::Team team;
  bench::CacheFlusher flusher(device, team);
  const auto measure = [&] {
    for (const bench::Job& job : jobs_of(options, device))
      bench::sweep_case(job, device, team, flusher, tunables, settings, show_progress_or_stop, add);
  };
  measure_and_finish(measure, [&](bool) { results.finish_lines(); });
}

void tell_check(const std::string& label, const Entry& entry) {
  const std::string how = entry.how.empty() ? entry.name : fmt::format("{} {}", entry.name, entry.how);
  const char* const verdict = entry.status == Status::right ? "checked" : bench::name(entry.status);
  print(fmt::format("{}: {}: {}{}{}\n", label, how, verdict, entry.reason.empty() ? "" : ": ", entry.reason));
}

/// Results of a profile's plans are judged. They are not timed: what a run takes here says nothing of that device.
void run_profile(const BenchOptions& options, Context& context, const Device& real) {
  if (!options.sweeps.empty() || !options.output.empty() || !options.cache.empty() || context.format_given)
    throw Error(Errc::usage, "the cases of a profile are checked and not timed",
                "leave out --sweep, --output, --cache and --format");
  const Device device = model::profiled_device(real, options.profile);
  const Settings settings = settings_of(options, context);
  bench::Team team;
  i64 right = 0, wrong = 0;
  for (const bench::Job& job : jobs_of(options, device))
    for (const Entry& entry : bench::check_case(job, device, team, settings, show_progress)) {
      show_progress("");
      tell_check(job.label, entry);
      right += entry.status == Status::right;
      wrong += entry.status == Status::wrong || entry.status == Status::failed;
    }
  print(fmt::format("{} checked, {} wrong or failed; planned as for {}, run on {}, not timed\n", right, wrong,
                    options.profile, real.info().label()));
  if (wrong > 0) context.exit_code = exit_differs;
}

void run(const BenchOptions& options, Context& context) {
  Results results(options.output);
  const Device device = open_device(context.device);
  if (!options.profile.empty())
    run_profile(options, context, device);
  else if (options.sweeps.empty())
    run_suite(options, context, device, results);
  else
    run_sweep(options, context, device, results);
}

/// The quick cases of every suite whose labels hold a text.
void run_planning(const std::string& wanted, Context& context) {
  const Device device = open_device(context.device);
  harness::Table table({"case", "known", "new"});
  for (const BenchCommand& command : bench_commands)
    for (const bench::Job& job : bench::jobs_of({command.suite, true}, device.info())) {
      if (job.label.find(wanted) == std::string::npos) continue;
      show_progress(job.label);
      const bench::PlanningTimes times = bench::time_planning(job, device);
      table.add({job.label, harness::seconds_cell(times.known.median), harness::seconds_cell(times.fresh.median)});
    }
  show_progress("");
  if (table.rows() == 0)
    throw Error(Errc::usage, fmt::format("no quick case holds \"{}\" in its name", wanted), "leave the name out");
  print(table.text(context.format));
}

void add_planning(CLI::App& bench_command, Context& context) {
  CLI::App* command = bench_command.add_subcommand(
      "planning", "Time the planner on the host: problems planned before, and new ones whose kernels are in memory.");
  auto wanted = std::make_shared<std::string>();
  command->add_option("case", *wanted, "Part of the name of a quick case")->type_name("CASE");
  add_common_options(*command, context, measuring_options);
  set_action(*command, [wanted, &context] { run_planning(*wanted, context); });
  set_examples(*command, "axisloom bench planning --device cpu \"f32 1024\"");
}

void add_options(CLI::App& command, BenchOptions& options) {
  const auto suites = bench::suite_names();
  command
      .add_option("case", options.cases,
                  "Part of the name of a case of the suite, or a case such as \"transpose f32 4096x4096\"")
      ->type_name("CASE");
  take_only(command.add_option("--suite", options.suite, "Which cases"), suites)->capture_default_str();
  command.add_flag("--quick", options.quick, "Only the few cases that represent the suite");
  take_only(
      command.add_option(
          "--cache", options.cache,
          "How cases that fit into the last-level cache are measured: with the cache emptied before each run, as the "
          "previous runs leave it, or both ways (default: both; for a sweep warm)"),
      names_of(all_cache_choices));
  command
      .add_option("--peers", options.peers,
                  fmt::format("Peers to time: all, none, or some of {}", fmt::join(peer_names(), ", ")))
      ->type_name("NAMES")
      ->capture_default_str();
  command.add_option("--min-time", options.min_seconds, "Minimum seconds that each contestant runs")
      ->check(CLI::Range(0.001, 3600.0).description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  take_only(command.add_option("--check", options.check, "How results are judged"), names_of(all_strengths))
      ->capture_default_str();
  command
      .add_option("-o,--output", options.output,
                  "Output file, saved with every case: JSON, CSV or markdown where it ends in .json, .csv or .md; "
                  "standard output when none is given")
      ->type_name("FILE");
  command
      .add_option("--candidate", options.candidate,
                  "Time this candidate of Axisloom's; all: every candidate that takes the job")
      ->type_name("NAME");
  command
      .add_option("--profile", options.profile,
                  "Plan for this profile of tuning/devices and check the results here; nothing is timed")
      ->type_name("NAME")
      ->check(CLI::IsMember(model::profile_names()).description(""));
  command.add_option("--config", options.configuration, "Force one tunable of the candidate; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  take_only(command.add_option("--index", options.index, "Width of offsets inside Axisloom's kernels"),
            {"32", "64", "auto"});
  command
      .add_option("--sweep", options.sweeps,
                  "Time Axisloom at each of these values of a tunable; if repeated, at each combination")
      ->type_name("NAME=V1,V2")
      ->allow_extra_args(false);
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* bench_command = app.add_subcommand(
      "bench", "Time Axisloom, a reference and other libraries, checking every result. Without a suite: rearrange.");
  bench_command->require_subcommand(0, 1);
  add_common_options(*bench_command, context, measuring_options);
  add_bench_documents(*bench_command, context);
  add_planning(*bench_command, context);
  std::vector<std::pair<CLI::App*, std::shared_ptr<BenchOptions>>> timed;
  for (const BenchCommand& what : bench_commands) {
    CLI::App* command = bench_command->add_subcommand(what.name, what.summary);
    auto options = std::make_shared<BenchOptions>();
    options->suite = what.suite;
    add_options(*command, *options);
    add_common_options(*command, context, measuring_options);
    set_action(*command, [options, &context] { run(*options, context); });
    timed.emplace_back(command, options);
  }
  const std::string examples =
      "axisloom bench rearrange\n"
      "axisloom bench transpose --quick --peers none\n"
      "axisloom bench permute --device cpu \"TTC 210\"\n"
      "axisloom bench reduce --device cpu --cache warm\n"
      "axisloom bench matmul \"matmul f32 768x768,768x768 also=local16\"\n"
      "axisloom bench rearrange --device cuda --format json -o results.json \"transpose f32\"\n"
      "axisloom bench rearrange --candidate tile --sweep tile_in=32,64 --sweep tile_out=32,64 \"transpose f32 16384\"";
  set_examples(*bench_command, examples);
  for (const auto& [command, options] : timed) set_examples(*command, examples);
  bench_command->final_callback([=, &context] {
    if (!bench_command->get_subcommands().empty()) return;
    refuse_ignored(*bench_command);
    run(*timed.front().second, context);
  });
}

}  // namespace axisloom::cli
