// One subcommand per registered operation: files in, a file out.
#include "cli/app.hpp"
#include "cli/drivers.hpp"
#include "cli/messages.hpp"
#include "cli/report.hpp"
#include "cli/streams.hpp"
#include "harness/arguments.hpp"
#include "harness/compare.hpp"

#include "core/number.hpp"
#include "io/io.hpp"
#include "planner/registry.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>

namespace axisloom::cli {
namespace {

using io::HostArray;
using ops::OpEntry;

struct Job {
  std::vector<std::string> arguments;
  std::vector<std::string> values;  // of the operation's options, in its order
  std::deque<bool> flags;           // likewise
  std::vector<std::string> rest;
  std::string output;
  std::string output_format;
  io::ReadOptions reading;
  std::string shape;
  std::string dtype;
  PlanOptions options;
  std::vector<std::string> configuration;
  std::string index = "auto";
  bool verify = false;
};

// A colour image is an h w c array whose last axis nobody means when asking for its transpose.
Operation image_aware(const OpEntry& entry, const Operation& op, const HostArray& input) {
  const bool is_colour = input.image && input.view.rank() == 3;
  return is_colour && !entry.image.pattern.empty() ? rearrange(entry.image.pattern) : op;
}

// A tunable that no candidate has is a slip of the pen; without this it would read as a move that nobody can do.
void require_tunables(const OpEntry& entry, const PlanOptions& options) {
  std::set<std::string_view> known;
  for (const ops::CandidateInfo& candidate : entry.candidates)
    if (options.candidate.empty() || candidate.name == options.candidate)
      for (const ops::Tunable& tunable : candidate.tunables) known.insert(tunable.name);
  for (const auto& [name, value] : options.configuration)
    if (!known.contains(name))
      throw Error(Errc::usage, fmt::format("there is no tunable \"{}\"", name),
                  known.empty() ? "leave out --config" : fmt::format("one of {}", fmt::join(known, ", ")));
}

PlanOptions plan_options(const OpEntry& entry, const Job& job) {
  PlanOptions options = job.options;
  options.configuration = harness::parse_configuration(job.configuration);
  require_tunables(entry, options);
  options.index = harness::parse_index(job.index);
  return options;
}

/// Only of raw files shape and dtype have to be said.
bool is_raw(const std::string& file, const std::string& format) {
  if (!format.empty()) return format == "raw";
  const auto raw = std::ranges::find_if(io::formats(), [](const io::Format& known) { return known.name == "raw"; });
  return std::ranges::find(raw->extensions, io::extension_of(file)) != raw->extensions.end();
}

/// Refuses options that would have no effect on these files.
void refuse_pointless(const Job& job, const std::vector<std::string>& files, const Context& context) {
  const auto refuse = [](const char* what, const char* remedy) { throw Error(Errc::usage, what, remedy); };
  const auto raw = [&](const std::string& file) { return is_raw(file, job.reading.format); };
  if ((!job.shape.empty() || !job.dtype.empty()) && std::ranges::none_of(files, raw))
    refuse("--shape and --dtype are for raw files; other formats hold their own",
           "leave them out, or add --input-format raw");
  if (!job.output_format.empty() && job.output.empty())
    refuse("--output-format is for a file, and no output file is named", "add -o FILE, or leave it out");
  if (context.format_given && (job.output.empty() || job.output == "-"))
    refuse("--format prints the plan, but standard output holds the result", "add -o FILE, or leave it out");
  if (std::ranges::count(files, "-") > 1)
    refuse("standard input is named as more than one input file", "name another file for all but one");
}

std::vector<HostArray> read_inputs(const Job& job, const std::vector<std::string>& files) {
  io::ReadOptions reading = job.reading;
  if (!job.shape.empty()) reading.shape = harness::parse_shape(job.shape);
  if (!job.dtype.empty()) reading.dtype = harness::parse_dtype(job.dtype);
  std::vector<HostArray> inputs;
  for (const std::string& file : files) inputs.push_back(read_file(file, reading));
  return inputs;
}

Operation operation(const OpEntry& entry, const Job& job, const harness::Rest& rest) {
  Operation op{std::string(entry.name), job.arguments, rest.lengths};
  for (size_t i = 0; i < entry.options.size(); ++i) {
    const ops::Option& option = entry.options[i];
    if (!job.flags[i] && job.values[i].empty()) continue;
    if (option.length)
      op.lengths.emplace_back(option.name, *harness::parse_integer(job.values[i]));
    else
      op.options.emplace_back(option.name, job.values[i]);
  }
  return op;
}

bool verified(const Operation& op, std::span<const HostArray> inputs, const HostArray& result, const Context& context) {
  const harness::OracleResult oracle = harness::oracle_result(op, inputs, result.view);
  const auto difference =
      harness::first_difference(result.view, oracle.want.memory.get(), result.memory.get(), oracle.bound);
  if (difference)
    say(error_text(fmt::format("the result differs from the oracle {}", to_string(*difference)),
                   "report this with the output of --verbose; --candidate names another candidate"));
  else if (!context.quiet)
    say("passed");
  return !difference;
}

/// Where a result goes: to a file, or, as text, to standard output. What cannot be written is said before any work.
class Delivery {
 public:
  explicit Delivery(const Job& job) : format_(format_of_output(job.output, job.output_format)) {
    if (job.output.empty()) return;
    io::check_format(job.output, format_);
    file_ = open_output(job.output);
  }

  /// A result of one element is printed when no file is asked for; an array needs one.
  void require(const View& result) const {
    if (file_) return io::check_writable(file_->path(), result, format_);
    if (result.rank() > 0)
      throw Error(Errc::usage, fmt::format("the result is {}, and no output file is named", to_string(result)),
                  "add -o FILE, or -o - for .npy on standard output");
  }

  void deliver(const HostArray& result) {
    if (!file_) return print(core::number_text(result.view.dtype, result.memory.get()) + "\n");
    io::write(*file_, result, format_);
    file_->commit();
  }

 private:
  std::string format_;
  std::unique_ptr<io::OutputFile> file_;
};

void run(const OpEntry& entry, const Job& job, Context& context) {
  const harness::Rest rest = harness::split_rest(job.rest, entry.lengths);
  const Operation typed = operation(entry, job, rest);
  if (const auto takes = size_t(entry.inputs(typed)); rest.files.size() != takes)
    throw Error(
        Errc::usage,
        fmt::format("{} takes {} input file{}, {} given", entry.name, takes, takes == 1 ? "" : "s", rest.files.size()),
        fmt::format("axisloom {} --help", entry.name));
  refuse_pointless(job, rest.files, context);
  const PlanOptions options = plan_options(entry, job);
  Delivery delivery(job);
  const std::vector<HostArray> inputs = read_inputs(job, rest.files);
  const Operation op = image_aware(entry, typed, inputs.front());

  std::vector<View> views;
  std::vector<std::span<const std::byte>> bytes;
  for (const HostArray& input : inputs) {
    views.push_back(input.view);
    bytes.push_back(input.span());
  }
  const View result_shape = result_view(op, views);
  delivery.require(result_shape);
  const HostArray result = io::allocate_for("the result", result_shape);
  views.push_back(result.view);

  Explanation explanation;
  const PlanReport report = run_on_host(op, views, bytes, result.span(), open_device(context.device), options);
  if (context.verbose) explanation.tell(report);
  if (job.verify && !verified(op, inputs, result, context)) {
    context.exit_code = exit_differs;
    return;
  }
  delivery.deliver(result);
  if (context.format_given) print(report_table(report).text(context.format));
}

std::vector<std::string> candidate_names(const OpEntry& entry) {
  std::vector<std::string> names;
  for (const ops::CandidateInfo& candidate : entry.candidates) names.emplace_back(candidate.name);
  return names;
}

void add_job_options(CLI::App& command, const OpEntry& entry, Job& job) {
  command
      .add_option("-o,--output", job.output,
                  "Output file, replaced only when the new one is complete (other hard links keep the old one); - "
                  "writes .npy to "
                  "standard output; without it a scalar is printed")
      ->type_name("FILE");
  command.add_option("--input-format", job.reading.format, "Format of the input, if its name does not show it")
      ->type_name(format_names(&io::Format::reads));
  command.add_option("--output-format", job.output_format, "Format of the output, if its name does not show it")
      ->type_name(format_names(&io::Format::writes));
  command.add_option("--shape", job.shape, "Shape of a raw input, such as 256x256")->type_name("SHAPE");
  command.add_option("--dtype", job.dtype, "Element type of a raw input, such as u8 or float32")->type_name("DTYPE");
  command.add_flag("--verify", job.verify, "Compare with the oracle: prints passed, or the first difference (exit 1)");
  take_only(command.add_option("--candidate", job.options.candidate, "Use this candidate, or fail and say why"),
            candidate_names(entry));
  command
      .add_option("--config", job.configuration, "Force one tunable of the candidate, as name=value; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  take_only(command.add_option("--index", job.index, "Width of offsets inside the kernel"), {"32", "64", "auto"});
}

std::string fault_of_length(const std::string& text) {
  return harness::parse_integer(text).value_or(0) > 0 ? "" : fmt::format("{} is not a whole number above 0", text);
}

void add_operation_options(CLI::App& command, const OpEntry& entry, Job& job) {
  job.values.resize(entry.options.size());
  job.flags.resize(entry.options.size());
  for (size_t i = 0; i < entry.options.size(); ++i) {
    const ops::Option& option = entry.options[i];
    const std::string flag = "--" + std::string(option.name), help(option.help);
    if (option.value.empty()) {
      command.add_flag(flag, job.flags[i], help);
      continue;
    }
    CLI::Option* const added = command.add_option(flag, job.values[i], help);
    if (option.length) added->check(CLI::Validator(fault_of_length, ""));
    added->type_name(std::string(option.value));
  }
}

std::string description(const OpEntry& entry) {
  return fmt::format("{}{}{}", entry.summary, entry.image.note.empty() ? "" : " ", entry.image.note);
}

void add_operation(CLI::App& app, Context& context, const OpEntry& entry) {
  CLI::App* command = app.add_subcommand(std::string(entry.name), description(entry));
  auto job = std::make_shared<Job>();
  job->arguments.resize(entry.arguments.size());
  for (size_t i = 0; i < entry.arguments.size(); ++i)
    command->add_option(std::string(entry.arguments[i].name), job->arguments[i], std::string(entry.arguments[i].help))
        ->type_name("TEXT")
        ->required();
  add_operation_options(*command, entry, *job);
  const std::string files = "the input files (- reads standard input)";
  command
      ->add_option(entry.lengths ? "lengths-and-file" : "file", job->rest,
                   entry.lengths ? "Lengths of named axes such as x=32, then " + files : "The" + files.substr(3))
      ->type_name("FILE")
      ->required();
  add_job_options(*command, entry, *job);
  add_common_options(*command, context, {.device = true, .format = true, .verbose = true, .quiet = true});
  set_examples(*command, std::string(entry.examples));
  set_action(*command, [&entry, job, &context] { run(entry, *job, context); });
}

}  // namespace

void add_operations(CLI::App& app, Context& context) {
  for (const OpEntry& entry : ops::registry()) add_operation(app, context, entry);
}

}  // namespace axisloom::cli
