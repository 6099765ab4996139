// axisloom bench: Axisloom, a reference and other libraries side by side on this machine.
#include "bench/environment.hpp"
#include "bench/peers/peers.hpp"
#include "bench/planning.hpp"
#include "bench/report.hpp"
#include "bench/sweep.hpp"
#include "cli/bench_documents.hpp"
#include "cli/results.hpp"
#include "cli/suggestions.hpp"

#include "model/profile.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace axisloom::cli {
namespace {

using bench::CacheChoice, bench::CaseResult, bench::Entry, bench::Settings, bench::Status, bench::Strength;

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
    {"odd", "odd", "Time moves and sums of odd shapes: unaligned rows, short runs, few columns, small planes."},
    {"drawn", "drawn", "Time problems drawn by a seed, of all operations, on which the choice is tested."},
};

constexpr const char* every_candidate = "all";

constexpr std::array all_cache_choices{CacheChoice::cold, CacheChoice::warm, CacheChoice::both};

struct BenchOptions {
  Texts cases, configuration, sweeps;
  bool quick = false, list = false;
  std::string cache;  // empty: both, of sweeps warm
  std::string suite = "speed";
  std::string peers = all_peers;
  double min_seconds = 0.5;
  std::string check = "auto";
  std::string output, candidate, profile;
  std::string index = "auto";
};

/// The words for values of an enumeration, as take_only takes them.
template <class Values>
std::string names_of(const Values& values) {
  return joined(values, "|", [](auto value) { return bench::name(value); });
}

Texts split_peers(const std::string& text) {
  Texts names;
  const Texts known = peer_names();
  for (const auto name : split(text, ",")) {
    if (std::ranges::count(known, name) == 0)
      refuse("all, none, or some of " + joined(known, ", "), "there is no peer \"{}\"", name);
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
  if (!settings.all_peers && options.peers != no_peers) settings.peers = split_peers(options.peers);
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
    for (const auto& [name, value] : parse_configuration(options.configuration))
      job.what.options.configuration[name] = value;
    if (options.index != "auto") job.what.options.index = parse_index(options.index);
  }
  return jobs;
}

/// Calls `act(job, progress)` for each.
void for_each_job(const std::vector<bench::Job>& jobs, const auto& act) {
  Steps steps("case", jobs.size());
  const bench::Progress progress = [&](const std::string& line) { steps.show(line); };
  for (const bench::Job& job : jobs) {
    steps.begin();
    act(job, progress);
  }
}

/// Names who could not take part, and where, unless it was everywhere.
void tell_absent(const std::vector<CaseResult>& cases) {
  std::map<std::string, Texts> where;  // the cases of "without opencv: has no function for this move"
  for (const CaseResult& result : cases)
    for (const Entry& entry : result.entries)
      if (entry.status == Status::absent && !bench::is_reference(entry.role))
        where[fmt::format("without {}: {}", entry.name, entry.reason)].push_back(result.label);
  for (const auto& [line, labels] : where)
    say(labels.size() == cases.size() ? line : fmt::format("{} ({})", line, joined(labels, "; ")));
}

/// Says which of Axisloom's own entries are wrong or failed. An entry that refuses a case is absent.
void tell_faults(const std::vector<CaseResult>& cases, Context& context) {
  for (const CaseResult& result : cases)
    for (const Entry& entry : result.entries) {
      const bool wrong = entry.status == Status::wrong;
      if (entry.role != bench::Role::ours || (!wrong && entry.status != Status::failed)) continue;
      tell_fault(fmt::format("{}: {} {}: {}", result.label, entry.name, wrong ? "is wrong" : "failed", entry.reason),
                 wrong, context);
    }
}

/// The report of what there is so far is saved with every case that is added.
void run_suite(const BenchOptions& options, Context& context, const Device& device, Results& results) {
  const Format format = format_of_results(options.output, context);
  bench::Report report;
  report.settings = settings_of(options, context);
  report.suite = options.suite;
  report.quick = options.quick;
  const std::vector<bench::Job> jobs = jobs_of(options, device);
  bench::Team team;
  bench::Session session;
  bench::CacheFlusher flusher(device, team);
  report.environment = bench::environment(device);
  report.before = bench::conditions(device);
  report.cache_bytes = flusher.cache_bytes();
  const auto measure = [&] {
    for_each_job(jobs, [&](const bench::Job& job, const bench::Progress& progress) {
      for (CaseResult& result : bench::time_case(job, device, team, session, flusher, report.settings, progress))
        report.cases.push_back(std::move(result));
      report.after = bench::moment();
      results.save(bench::text_of(report, format));
    });
  };
  measure_and_finish(measure, [&](bool complete) {
    if (!complete && report.cases.empty()) return;
    if (!context.quiet) {
      say("on {}", device.info().label());
      tell_absent(report.cases);
    }
    report.after = complete ? bench::conditions(device) : bench::moment();
    results.finish(bench::text_of(report, format));
  });
  tell_faults(report.cases, context);
}

void refuse_for_sweep(const BenchOptions& options, const Context& context) {
  if (options.candidate.empty() || options.candidate == every_candidate)
    refuse("name it with --candidate", "--sweep needs the candidate whose tunables it changes");
  if (context.format_given && context.format != Format::json)
    refuse("leave out --format, or give json", "a sweep is printed as lines of JSON only");
  require_extension(options.output, {".json", ".jsonl"});
  if (options.peers != all_peers) refuse("leave out --peers", "a sweep times Axisloom and the reference only");
}

void run_sweep(const BenchOptions& options, Context& context, const Device& device, Results& results) {
  refuse_for_sweep(options, context);
  std::vector<bench::SweptTunable> tunables;
  for (const auto& text : options.sweeps) tunables.push_back(bench::parse_sweep(text));
  const Settings settings = settings_of(options, context);
  const auto add = [&](const Json& json) {
    show_progress("");
    results.add_line(json_text(json, -1));
  };
  add({{"schema", "axisloom-sweep 1"},
       {"environment", bench::environment(device)},
       {"before", bench::conditions(device)}});
  bench::Team team;
  bench::CacheFlusher flusher(device, team);
  const auto measure = [&] {
    for_each_job(jobs_of(options, device), [&](const bench::Job& job, const bench::Progress& progress) {
      bench::sweep_case(job, device, team, flusher, tunables, settings, progress, add);
    });
  };
  measure_and_finish(measure, [&](bool) { results.finish_lines(); });
}

void tell_check(const std::string& label, const Entry& entry) {
  const std::string how = entry.how.empty() ? entry.name : entry.name + " " + entry.how;
  const char* const verdict = entry.status == Status::right ? "checked" : bench::name(entry.status);
  print(fmt::format("{}: {}: {}{}{}\n", label, how, verdict, entry.reason.empty() ? "" : ": ", entry.reason));
}

/// Results of a profile's plans are judged. They are not timed: what a run takes here says nothing of that device.
void run_profile(const BenchOptions& options, Context& context, const Device& real) {
  if (!options.sweeps.empty() || !options.output.empty() || !options.cache.empty() || context.format_given)
    refuse("leave out --sweep, --output, --cache and --format", "the cases of a profile are checked and not timed");
  const Device device = model::profiled_device(real, options.profile);
  const Settings settings = settings_of(options, context);
  bench::Team team;
  i64 right = 0, wrong = 0;
  for_each_job(jobs_of(options, device), [&](const bench::Job& job, const bench::Progress& progress) {
    for (const Entry& entry : bench::check_case(job, device, team, settings, progress)) {
      show_progress("");
      tell_check(job.label, entry);
      right += entry.status == Status::right;
      wrong += entry.status == Status::wrong || entry.status == Status::failed;
    }
  });
  print(fmt::format("{} checked, {} wrong or failed; planned as for {}, run on {}, not timed\n", right, wrong,
                    options.profile, real.info().label()));
  if (wrong > 0) context.exit_code = exit_differs;
}

/// The cases that would run, each with the text that asks for it.
void list_cases(const BenchOptions& options, const Context& context, const Device& device, Results& results) {
  Table table({"name", "case"});
  for (const bench::Job& job : jobs_of(options, device)) table.add({job.label, job.what.text});
  results.finish(table.text(format_of_results(options.output, context)));
}

void run_bench(const BenchOptions& options, Context& context) {
  Results results(options.output);
  const Device device = Device::open(context.device);
  if (options.list)
    list_cases(options, context, device, results);
  else if (!options.profile.empty())
    run_profile(options, context, device);
  else if (options.sweeps.empty())
    run_suite(options, context, device, results);
  else
    run_sweep(options, context, device, results);
}

/// The quick cases of every suite whose labels hold a text.
void run_planning(const std::string& wanted, const Context& context) {
  const Device device = Device::open(context.device);
  Table table({"case", "known", "new"});
  for (const BenchCommand& command : bench_commands)
    for (const bench::Job& job : bench::jobs_of({command.suite, true}, device.info())) {
      if (job.label.find(wanted) == std::string::npos) continue;
      show_progress(job.label);
      const bench::PlanningTimes times = bench::time_planning(job, device);
      table.add({job.label, seconds_cell(times.known.median), seconds_cell(times.fresh.median)});
    }
  show_progress("");
  if (table.rows() == 0) refuse("leave the name out", "no quick case holds \"{}\" in its name", wanted);
  print(table, context);
}

void add_bench_options(App& command, BenchOptions& options) {
  add_value(command, "case", options.cases, case_value,
            "Words of the name of a case of the suite, or a case such as \"transpose f32 4096x4096\"");
  take_only(command.add_option("--suite", options.suite, "Which cases"), joined(bench::suite_names(), "|"))
      ->capture_default_str();
  command.add_flag("--quick", options.quick, "Only the few cases that represent the suite");
  take_only(
      command.add_option(
          "--cache", options.cache,
          "How cases that fit into the last-level cache are measured: with the cache emptied before each run, as the "
          "previous runs leave it, or both ways (default: both; for a sweep warm)"),
      names_of(all_cache_choices));
  command.add_option("--peers", options.peers, "Peers to time: all, none, or some of " + joined(peer_names(), ", "))
      ->type_name(peers_value)
      ->capture_default_str();
  add_min_seconds(command, options.min_seconds, "Minimum seconds that each contestant runs");
  take_only(command.add_option("--check", options.check, "How results are judged"), names_of(all_strengths))
      ->capture_default_str();
  add_value(command, "-o,--output", options.output, "FILE",
            "Output file, saved with every case: JSON, CSV, markdown or a table where it ends in .json, .csv, "
            ".md or .txt; standard output when none is given");
  add_value(command, "--candidate", options.candidate, "NAME",
            "Time this candidate of Axisloom's; all: every candidate that takes the job");
  add_value(command, "--profile", options.profile, profile_value,
            "Plan for this profile of tuning/devices and check the results here; nothing is timed")
      ->check(CLI::IsMember(model::profile_names()).description(""));
  add_value(command, "--config", options.configuration, "NAME=VALUE",
            "Force one tunable of the candidate; may be repeated")
      ->allow_extra_args(false);
  take_only(command.add_option("--index", options.index, "Width of offsets inside Axisloom's kernels"), "32|64|auto");
  add_value(command, "--sweep", options.sweeps, "NAME=V1,V2",
            "Time Axisloom at each of these values of a tunable; if repeated, at each combination")
      ->allow_extra_args(false);
  command.add_flag("--list", options.list, "Print the cases that would run on this device, and run nothing")
      ->excludes(option_of(command, "--sweep"))
      ->excludes(option_of(command, "--profile"));
}

}  // namespace

void add_bench(App& app, Context& context) {
  const std::string examples =
      "axisloom bench rearrange\n"
      "axisloom bench transpose --quick --peers none\n"
      "axisloom bench permute --device cpu \"TTC 210\"\n"
      "axisloom bench reduce --device cpu --cache warm\n"
      "axisloom bench matmul \"matmul f32 768x768,768x768 also=local16\"\n"
      "axisloom bench rearrange --device cuda --format json -o results.json \"transpose f32\"\n"
      "axisloom bench rearrange --candidate tile --sweep tile_in=32,64 --sweep tile_out=32,64 \"transpose f32 16384\"";
  App& group = add_group(
      app, context,
      {"bench", "Time Axisloom, a reference and other libraries, checking every result. Without a suite: rearrange.",
       examples, measuring_options});
  add_bench_documents(group, context);
  add_command<std::string>(
      group, context,
      {"planning", "Time the planner on the host: problems planned before, and new ones whose kernels are in memory.",
       "axisloom bench planning --device cpu \"f32 1024\"", measuring_options},
      run_planning, [](App& command, std::string& wanted) {
        add_value(command, "case", wanted, "CASE", "Part of the name of a quick case");
      });
  for (const BenchCommand& what : bench_commands)
    add_command<BenchOptions>(group, context, {what.name, what.summary, examples, measuring_options}, run_bench,
                              [&](App& command, BenchOptions& options) {
                                options.suite = what.suite;
                                add_bench_options(command, options);
                              });
  group.require_subcommand(0, 1);
  group.final_callback([&group, &context] {
    if (!group.get_subcommands().empty()) return;
    refuse_ignored(group);
    run_bench({}, context);
  });
}

}  // namespace axisloom::cli
