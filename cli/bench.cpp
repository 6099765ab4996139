// axisloom bench: Axisloom, a yardstick and other libraries side by side on this machine.
#include "app.hpp"
#include "arguments.hpp"
#include "messages.hpp"

#include "bench/environment.hpp"
#include "bench/report.hpp"
#include "bench/sweep.hpp"
#include "io/file.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace axisloom::cli {
namespace {

constexpr std::array all_strengths{bench::Strength::automatic, bench::Strength::full, bench::Strength::indexed,
                                   bench::Strength::sampled};

/// A command of the bench, and the suite that it times when no other is named.
struct BenchCommand {
  const char* name;
  const char* suite;
  const char* summary;
};
constexpr std::array bench_commands{
    BenchCommand{"rearrange", "speed", "Time the moves: transposes, layouts, copies."},
    BenchCommand{"reduce", "reduce", "Time reductions: sums and maxima of arrays, rows and columns."},
    BenchCommand{"matmul", "matmul", "Time products of matrices."},
};

struct BenchOptions {
  std::vector<std::string> cases;
  std::string suite = "speed";
  std::string peers = "all";
  double min_seconds = 0.5;
  std::string check = "auto";
  std::string output;
  std::string candidate;
  std::vector<std::string> configuration;
  std::string index = "auto";
  std::vector<std::string> sweeps;
};

std::vector<std::string> strength_names() {
  std::vector<std::string> names;
  for (bench::Strength strength : all_strengths) names.emplace_back(bench::name(strength));
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
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    names.push_back(text.substr(start, end - start));
    if (std::find(known.begin(), known.end(), names.back()) == known.end())
      throw Error(Errc::usage, fmt::format("there is no peer \"{}\"", names.back()),
                  fmt::format("all, none, or some of {}", fmt::join(known, ", ")));
    start = end + 1;
  }
  return names;
}

bench::Settings settings_of(const BenchOptions& options, const Context& context) {
  bench::Settings settings;
  settings.rules = bench::Rules::with_min_seconds(options.min_seconds);
  settings.seed = context.seed;
  settings.all_peers = options.peers == "all";
  if (!settings.all_peers && options.peers != "none") settings.peers = split_peers(options.peers);
  for (bench::Strength strength : all_strengths)
    if (options.check == bench::name(strength)) settings.strength = strength;
  return settings;
}

std::vector<bench::Job> jobs_of(const BenchOptions& options, const Device& device) {
  std::vector<bench::Job> jobs = bench::jobs_of(options.suite, device.info(), options.cases);
  for (bench::Job& job : jobs) {
    if (!options.candidate.empty()) job.what.options.candidate = options.candidate;
    for (const auto& [name, value] : parse_configuration(options.configuration))
      job.what.options.configuration[name] = value;
    if (options.index != "auto") job.what.options.index = parse_index(options.index);
  }
  return jobs;
}

/// Results go to a file or to standard output; a file appears when it is complete.
void deliver(const std::string& text, const std::string& path) {
  if (path.empty() || path == "-") return print(text);
  const InterruptsHeld held;
  io::OutputFile file(path);
  file.write(text);
  file.commit();
}

/// Names who could not take part, and where, unless it was everywhere.
void tell_absent(const std::vector<bench::CaseResult>& cases) {
  std::map<std::string, std::vector<std::string>>
      where;  // the cases of "without opencv: has no function for this move"
  for (const bench::CaseResult& result : cases)
    for (const bench::Entry& entry : result.entries)
      if (entry.status == bench::Status::absent && !bench::is_yardstick(entry.role))
        where[fmt::format("without {}: {}", entry.name, entry.reason)].push_back(result.label);
  for (const auto& [line, labels] : where)
    say(labels.size() == cases.size() ? line : fmt::format("{} ({})", line, fmt::join(labels, "; ")));
}

bool ours_is_right(const bench::CaseResult& result) {
  const auto bad = [](const bench::Entry& entry) {  // a candidate that refuses the case is absent
    return entry.role == bench::Role::ours &&
           (entry.status == bench::Status::wrong || entry.status == bench::Status::failed);
  };
  return std::none_of(result.entries.begin(), result.entries.end(), bad);
}

void run_suite(const BenchOptions& options, Context& context, const Device& device) {
  const bench::Settings settings = settings_of(options, context);
  bench::Report report{bench::environment(device), bench::conditions(device), {}, settings, options.suite, {}};
  bench::Team team;
  bench::Session session;
  for (const bench::Job& job : jobs_of(options, device)) {
    report.cases.push_back(bench::time_case(job, device, team, session, settings, show_progress));
    if (!ours_is_right(report.cases.back())) context.exit_code = exit_differs;
  }
  show_progress("");
  report.after = bench::conditions(device);
  if (!context.quiet) {
    say(fmt::format("on {}", device.info().label()));
    tell_absent(report.cases);
  }
  deliver(bench::text_of(report, context.format), options.output);
}

void run_sweep(const BenchOptions& options, Context& context, const Device& device) {
  if (options.candidate.empty())
    throw Error(Errc::usage, "--sweep needs the candidate whose tunables it changes", "name it with --candidate");
  if (context.format_given && context.format != Format::json)
    throw Error(Errc::usage, "a sweep is printed as lines of JSON only", "leave out --format, or give json");
  std::vector<bench::SweptTunable> tunables;
  for (const std::string& text : options.sweeps) tunables.push_back(bench::parse_sweep(text));
  const bench::Settings settings = settings_of(options, context);
  const auto line_of = [](const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  };
  std::string all = line_of({{"schema", "axisloom-sweep 1"},
                             {"environment", bench::environment(device)},
                             {"before", bench::conditions(device)}});
  const bool to_file = !options.output.empty() && options.output != "-";
  if (!to_file) print(all);
  bench::Team team;
  for (const bench::Job& job : jobs_of(options, device))
    bench::sweep_case(job, device, team, tunables, settings, show_progress, [&](const nlohmann::ordered_json& json) {
      show_progress("");
      if (to_file)
        all += line_of(json);
      else
        print(line_of(json));
    });
  show_progress("");
  if (to_file) deliver(all, options.output);
}

void run(const BenchOptions& options, Context& context) {
  const Device device = Device::open(context.device);
  if (options.sweeps.empty())
    run_suite(options, context, device);
  else
    run_sweep(options, context, device);
}

void print_stored(const std::string& path) {
  const std::vector<std::byte> bytes = io::InputFile(path).contents();
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  const auto document = nlohmann::ordered_json::parse(text, text + bytes.size(), nullptr, false);
  try {
    print(bench::markdown_of(document));
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.parts().message, error.parts().remedy);
  }
}

void add_options(CLI::App& command, BenchOptions& options) {
  const auto suites = bench::suite_names();
  command
      .add_option("case", options.cases,
                  "Part of the name of a case of the suite, or a case such as \"transpose f32 4096x4096\"")
      ->type_name("CASE");
  command.add_option("--suite", options.suite, "Which cases")
      ->check(CLI::IsMember(suites).description(""))
      ->type_name(fmt::format("{}", fmt::join(suites, "|")))
      ->capture_default_str();
  command
      .add_option("--peers", options.peers,
                  fmt::format("Who else takes part: all, none, or some of {}", fmt::join(peer_names(), ", ")))
      ->type_name("NAMES")
      ->capture_default_str();
  command.add_option("--min-time", options.min_seconds, "Seconds that each contestant runs at least")
      ->check(CLI::Range(0.001, 3600.0).description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  command.add_option("--check", options.check, "How results are judged")
      ->check(CLI::IsMember(strength_names()).description(""))
      ->type_name(fmt::format("{}", fmt::join(strength_names(), "|")))
      ->capture_default_str();
  command.add_option("-o,--output", options.output, "Output file; standard output when none is given")
      ->type_name("FILE");
  command.add_option("--candidate", options.candidate, "Use this variant of Axisloom's")->type_name("NAME");
  command.add_option("--config", options.configuration, "Force one tunable of the candidate; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--index", options.index, "Width of offsets inside Axisloom's kernels")
      ->check(CLI::IsMember({"32", "64", "auto"}).description(""))
      ->type_name("32|64|auto");
  command
      .add_option("--sweep", options.sweeps,
                  "Time Axisloom at each of these values of a tunable; repeated: at each combination")
      ->type_name("NAME=V1,V2")
      ->allow_extra_args(false);
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* bench_command = app.add_subcommand(
      "bench", "Time Axisloom beside a yardstick and other libraries, checking every result. Alone: rearrange.");
  bench_command->require_subcommand(0, 1);
  add_common_options(*bench_command, context);
  CLI::App* stored = bench_command->add_subcommand("table", "Print a stored JSON document as a table for a README.");
  auto path = std::make_shared<std::string>();
  stored->add_option("file", *path, "What axisloom bench --format json wrote")->type_name("FILE")->required();
  std::vector<std::pair<CLI::App*, std::shared_ptr<BenchOptions>>> timed;
  for (const BenchCommand& what : bench_commands) {
    CLI::App* command = bench_command->add_subcommand(what.name, what.summary);
    auto options = std::make_shared<BenchOptions>();
    options->suite = what.suite;
    add_options(*command, *options);
    add_common_options(*command, context);
    timed.emplace_back(command, options);
  }
  const std::string examples =
      "axisloom bench rearrange\n"
      "axisloom bench rearrange --suite quick --peers none\n"
      "axisloom bench reduce --device cpu\n"
      "axisloom bench matmul \"matmul f32 768x768,768x768 also=local16\"\n"
      "axisloom bench rearrange --device cuda --format json -o results.json \"transpose f32\"\n"
      "axisloom bench rearrange --candidate tile --sweep tile_in=32,64 --sweep tile_out=32,64 \"transpose f32 16384\"";
  set_examples(*bench_command, examples);
  for (const auto& [command, options] : timed) set_examples(*command, examples);
  bench_command->final_callback([=, &context] {
    if (stored->parsed()) return print_stored(*path);
    for (const auto& [command, options] : timed)
      if (command->parsed()) return run(*options, context);
    run(*timed.front().second, context);
  });
}

}  // namespace axisloom::cli
