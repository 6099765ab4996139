// One subcommand per registered operation: files in, a file out.
#include "cli/app.hpp"
#include "cli/casting.hpp"
#include "cli/compiling.hpp"
#include "cli/delivery.hpp"
#include "cli/generated_text.hpp"
#include "cli/image_layouts.hpp"
#include "cli/messages.hpp"
#include "cli/picture_info.hpp"
#include "cli/ranks.hpp"
#include "cli/reading.hpp"
#include "cli/report.hpp"
#include "cli/sharing.hpp"
#include "cli/stack.hpp"
#include "cli/streams.hpp"
#include "harness/compare.hpp"

#include "device/device.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

namespace axisloom::cli {
namespace {

using io::HostArray;
using ops::OpEntry;

struct Job {
  Texts arguments;
  Texts values;            // of the operation's options, in its order
  std::deque<bool> flags;  // likewise
  Texts rest;
  std::string output, output_format;
  Reading reading;
  CastOptions cast;
  PlanOptions options;
  Texts configuration;
  std::string index = "auto";
  bool verify = false, keep_older = false;
  std::optional<int> quality;
  std::string mesh;
  i64 workspace = i64{256} << 20;
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
      refuse(known.empty() ? "leave out --config" : "one of " + joined(known, ", "), "there is no tunable \"{}\"",
             name);
}

PlanOptions plan_options(const OpEntry& entry, const Job& job) {
  PlanOptions options = job.options;
  options.configuration = parse_configuration(job.configuration);
  require_tunables(entry, options);
  options.index = parse_index(job.index);
  return options;
}

/// Refuses options that would have no effect on these files.
void refuse_pointless(const Job& job, const Texts& files, const Context& context) {
  refuse_pointless(job.reading, files);
  if (!job.output_format.empty() && job.output.empty())
    refuse("add -o FILE, or leave it out", "--output-format is for a file, and no output file is named");
  if (context.format_given && (job.output.empty() || job.output == "-"))
    refuse("add -o FILE, or leave it out", "--format prints the plan, but standard output holds the result");
  if (job.keep_older && (job.output.empty() || job.output == "-"))
    refuse("add -o FILE, or leave it out", "--no-clobber is for a file, and no output file is named");
  if (std::ranges::count(files, "-") > 1)
    refuse("name another file for all but one", "standard input is named as more than one input file");
}

/// Of an operation on one array by a pattern, several files are one more axis of it, as arrays in a list are in einops.
bool stacks(const OpEntry& entry, const Operation& op) {
  const bool by_pattern =
      entry.draw == ops::Draw::pattern || entry.draw == ops::Draw::new_axes || entry.draw == ops::Draw::reduced_pattern;
  return by_pattern && entry.inputs(op) == 1;
}

std::vector<HostArray> read_inputs(const Job& job, const Texts& files, bool stack) {
  const io::ReadOptions reading = read_options(job.reading);
  const auto read = [&](const std::string& file) { return read_file(open_input(file), reading); };
  if (stack) return {stacked(files, read)};
  std::vector<HostArray> inputs;
  for (const std::string& file : files) inputs.push_back(read(file));
  return inputs;
}

/// The shape of the result. Where files were stacked, a pattern that does not fit may not have been meant for that.
View result_of(const Operation& op, std::span<const HostArray> inputs, size_t files) {
  try {
    return result_view(op, views_of(inputs));
  } catch (const Error& error) {
    if (files == inputs.size() || (error.code() != Errc::shape && error.code() != Errc::pattern)) throw;
    ErrorParts parts = error.parts();
    parts.remedy = fmt::format(
        "{} files are stacked along a first axis, for which the pattern needs a name, as in \"b h w c -> h (b w) c\"; "
        "-o FOLDER/ takes one after the other",
        files);
    throw Error(error.code(), parts);
  }
}

Operation operation(const OpEntry& entry, const Job& job, const Rest& rest) {
  Operation op{std::string(entry.name), job.arguments, rest.lengths};
  for (size_t i = 0; i < entry.options.size(); ++i) {
    const ops::Option& option = entry.options[i];
    if (!job.flags[i] && job.values[i].empty()) continue;
    if (option.length)
      op.lengths.emplace_back(option.name, *parse_integer(job.values[i]));
    else
      op.options.emplace_back(option.name, job.values[i]);
  }
  return op;
}

bool verified(const Operation& op, std::span<const HostArray> inputs, const HostArray& result, const Context& context) {
  if (const auto difference = difference_from_oracle(op, inputs, result)) {
    say(error_text("the result differs from the oracle " + to_string(*difference),
                   "report this with the output of --verbose; --candidate names another candidate"));
    return false;
  }
  if (!context.quiet) say("passed");
  return true;
}

/// Calls `run`. A kernel that was asked for by name, and cannot do the job here, is a matter of the command line.
void run_as_asked(const PlanOptions& options, const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    const bool asked = !options.candidate.empty() || !options.configuration.empty();
    if (asked && error.code() == Errc::unsupported) throw Error(Errc::usage, error.parts());
    throw;
  }
}

/// Runs an operation into `result`; tells how on request.
PlanReport run_told(const Operation& op, std::span<const HostArray> inputs, const HostArray& result,
                    const PlanOptions& options, const Context& context) {
  auto views = views_of(inputs);
  views.push_back(result.view);
  std::vector<std::span<const std::byte>> bytes;
  for (const HostArray& input : inputs) bytes.push_back(input.span());
  const jit::CacheStats before = jit::cache_stats();
  const Device device =
      device::is_automatic(context.device) ? device_for(op, views, options) : Device::open(context.device);
  // Again: LLVM, which comes with a driver, puts handlers of its own in place, which serve one thread at a time only.
  if (std::ranges::any_of(inputs, &HostArray::mapped)) end_with_message_on_lost_pages();
  PlanReport report;
  const auto run = [&] { report = run_on_host(op, views, bytes, result.span(), device, options); };
  const double first = seconds_of([&] {
    const CompilingNotice notice(!context.quiet);
    run_as_asked(options, run);
  });
  if (!context.verbose) return report;
  explain(report, before);
  tell_times(report, first, run);
  return report;
}

/// What files and outputs have in common, be it one or many.
struct Task {
  const OpEntry& entry;
  const Job& job;
  Operation op;  // as typed
  PlanOptions options;
};

void carry_out(const Task& task, const Texts& files, const std::string& output, Context& context) {
  Delivery delivery(output, task.job.output_format, task.job.keep_older ? Older::kept : Older::replaced,
                    task.job.quality);
  std::vector<HostArray> inputs = read_inputs(task.job, files, files.size() > 1 && stacks(task.entry, task.op));
  Operation op = image_aware(task.entry, task.op, inputs.front());
  const ImageLayouts layouts(task.entry, op);
  layouts.enter(inputs.front());
  const View shape = result_of(op, inputs, files.size());
  const Cast cast(task.job.cast, inputs.front(), shape.dtype, delivery.becomes() && delivery.becomes()->images);
  delivery.require(layouts.leave(View::contiguous(cast.dtype(), shape.shape)));
  const HostArray result = io::allocate_for("the result", shape);
  const PlanReport report = run_told(op, inputs, result, task.options, context);
  if (task.job.verify && !verified(op, inputs, result, context)) {
    context.exit_code = exit_differs;
    return;
  }
  HostArray delivered = cast.of(result);
  delivered.view = layouts.leave(delivered.view);
  if (inputs.size() == 1) delivered.info = info_of_result({op, inputs.front(), shape, cast});
  delivery.deliver(delivered);
  if (context.verbose) tell_lost(inputs.front().info, delivered.info, delivery.becomes());
  if (context.format_given) print(report_table(report), context);
}

/// One file after the other. What goes wrong with one does not keep the others from their results.
void carry_out_each(const Task& task, const Texts& files, Context& context) {
  if (context.format_given) refuse("leave it out", "--format prints one plan, and -o names a folder");
  const Texts outputs = outputs_in(task.job.output, files, task.job.output_format);
  size_t kept = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (task.job.keep_older && std::filesystem::exists(outputs[i]) && ++kept > 0) continue;
    show_progress(fmt::format("{}/{}: {}", i + 1, files.size(), files[i]));
    try {
      carry_out(task, {files[i]}, outputs[i], context);
    } catch (const Error& error) {
      say(error_text(error));
      context.exit_code = exit_code(error.code());
    }
  }
  show_progress("");
  if (kept > 0 && !context.quiet)
    say("{} of {} results were there before and are kept (--no-clobber)", kept, files.size());
}

/// Options that say how one process works.
constexpr const char* not_for_ranks[] = {"--verify", "--quality",   "--candidate", "--config", "--index",
                                         "--format", "--out-dtype", "--normalize", "--scale"};

void refuse_to_ranks(const Context& context) {
  for (const Option* option : typed_options(*context.command))
    for (const char* name : not_for_ranks)
      if (option->count() > 0 && option->check_name(name)) refuse("leave it out", "{} is not for ranks", name);
  if (context.device != "auto" && context.device != "host" && context.device != "cpu")
    refuse("leave it out", "ranks work on the host, not on {}", context.device);
}

/// The ranks of a job share a move between files.
void run_on_ranks(const Launcher& launcher, const Task& task, const Texts& files, Context& context) {
  const Job& job = task.job;
  try {
    refuse_to_ranks(context);
    refuse_pointless(job, files, context);
    if (files.size() != 1) refuse("name one", "ranks share one input file, {} given", files.size());
  } catch (const Error& error) {
    throw NotForRanks{launcher, error};
  }
  const SharedWork work{.entry = task.entry,
                        .op = task.op,
                        .mesh = job.mesh,
                        .input = files[0],
                        .output = job.output,
                        .output_format = job.output_format,
                        .reading = read_options(job.reading),
                        .older = job.keep_older ? Older::kept : Older::replaced,
                        .workspace = job.workspace};
  context.exit_code = run_on_ranks(launcher, [&](const Ranks& ranks) {
    const std::string how = share(ranks, work);
    if (context.verbose && ranks.first()) say("{}", how);
  });
}

void run_operation(const OpEntry& entry, const Job& job, Context& context) {
  const Rest rest = split_rest(job.rest, entry.lengths);
  const Task task{entry, job, operation(entry, job, rest), plan_options(entry, job)};
  if (!can_share(entry)) refuse_several(std::string(entry.name));
  if (const auto started = launcher()) return run_on_ranks(*started, task, rest.files, context);
  if (!job.mesh.empty()) refuse("start it by mpirun, or leave it out", "--mesh is for several ranks");
  refuse_pointless(job, rest.files, context);
  const size_t takes = entry.inputs(task.op);
  const bool into_folder = is_folder(job.output);
  if (into_folder && takes == 1) return carry_out_each(task, rest.files, context);
  if (into_folder) refuse("name a file with -o", "{} makes one result of {} files", entry.name, takes);
  if (rest.files.size() != takes && !stacks(entry, task.op))
    refuse(concat(takes == 1 ? "-o FOLDER/ takes one after the other; " : "", "axisloom ", entry.name, " --help"),
           "{} takes {} input file{}, {} given", entry.name, takes, takes == 1 ? "" : "s", rest.files.size());
  carry_out(task, rest.files, job.output, context);
}

void add_job_options(App& command, const OpEntry& entry, Job& job) {
  add_value(
      command, "-o,--output", job.output, "FILE",
      "Output file, replaced only when the new one is complete (other hard links keep the old one); - "
      "writes .npy to standard output; a folder takes a file for each input; without it a small result is printed");
  add_reading_options(command, job.reading);
  add_value(command, "--output-format", job.output_format, format_names(&io::Format::writes),
            "Format of the output, if its name does not show it")
      ->group(file_group);
  add_value(command, "--quality", job.quality, "1..100", "Of a JPEG file that is written (default: 90)")
      ->check(CLI::Range(1, 100).description(""))
      ->group(file_group);
  command.add_flag("--no-clobber", job.keep_older, "Keep output files that are there, and do no work for them")
      ->group(file_group);
  add_cast_options(command, job.cast);
  command.add_flag("--verify", job.verify, "Compare with the oracle: prints passed, or the first difference (exit 1)")
      ->group(file_group);
  take_only(command.add_option("--candidate", job.options.candidate, "Use this candidate, or fail and say why"),
            joined(entry.candidates, "|", &ops::CandidateInfo::name));
  add_value(command, "--config", job.configuration, "NAME=VALUE",
            "Force one tunable of the candidate, as name=value; may be repeated")
      ->allow_extra_args(false)
      ->group(file_group);
  take_only(command.add_option("--index", job.index, "Width of offsets inside the kernel"), "32|64|auto")
      ->group(file_group);
}

void add_rank_options(App& command, Job& job) {
  add_value(command, "--mesh", job.mesh, "MESH",
            "Under mpirun, the grid of ranks that a pattern's cuts name, such as \"x=2 y=2\"");
  add_value(command, "--workspace", job.workspace, "BYTES",
            "Under mpirun on several hosts, the most memory of a rank for messages, each way")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
}

std::string fault_of_length(const std::string& text) {
  return parse_integer(text).value_or(0) > 0 ? "" : text + " is not a whole number above 0";
}

void add_operation_options(App& command, const OpEntry& entry, Job& job) {
  job.values.resize(entry.options.size());
  job.flags.resize(entry.options.size());
  for (size_t i = 0; i < entry.options.size(); ++i) {
    const ops::Option& option = entry.options[i];
    const std::string flag = "--" + std::string(option.name), help(option.help);
    if (option.value.empty()) {
      command.add_flag(flag, job.flags[i], help);
      continue;
    }
    Option* const added = command.add_option(flag, job.values[i], help);
    if (option.length) added->check(CLI::Validator(fault_of_length, ""));
    added->type_name(std::string(option.value));
  }
}

/// What an argument is called in help texts: operations take a layout twice, or begin with a reduction.
std::string kind_of_argument(const OpEntry& entry, size_t number) {
  if (entry.draw == ops::Draw::layouts) return layout_value;
  return entry.draw == ops::Draw::reduced_pattern && number == 0 ? reduction_value : "TEXT";
}

void declare_operation(App& command, const OpEntry& entry, Job& job) {
  job.arguments.resize(entry.arguments.size());
  for (size_t i = 0; i < entry.arguments.size(); ++i)
    command.add_option(std::string(entry.arguments[i].name), job.arguments[i], std::string(entry.arguments[i].help))
        ->type_name(kind_of_argument(entry, i))
        ->required();
  add_operation_options(command, entry, job);
  const std::string files = " input files (- reads standard input)";
  command
      .add_option(entry.lengths ? "lengths-and-file" : "file", job.rest,
                  (entry.lengths ? "Lengths of named axes such as x=32, then the" : "The") + files)
      ->type_name("FILE")
      ->required();
  add_job_options(command, entry, job);
  if (can_share(entry)) add_rank_options(command, job);
}

}  // namespace

void add_operations(App& app, Context& context) {
  for (const OpEntry& entry : ops::registry()) {
    const About about{std::string(entry.name),
                      concat(entry.summary, entry.image.note.empty() ? "" : " ", entry.image.note),
                      std::string(entry.examples),
                      {.device = true, .format = true, .verbose = true, .quiet = true}};
    add_command<Job>(
        app, context, about, [&entry](const Job& job, Context& shared) { run_operation(entry, job, shared); },
        [&entry](App& command, Job& job) { declare_operation(command, entry, job); });
  }
}

}  // namespace axisloom::cli
