// One subcommand per registered operation: files in, a file out.
#include "app.hpp"
#include "arguments.hpp"
#include "compare.hpp"
#include "drivers.hpp"
#include "messages.hpp"
#include "report.hpp"
#include "streams.hpp"

#include "core/number.hpp"
#include "io/io.hpp"
#include "ops/registry.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>

namespace axisloom::cli {
namespace {

struct Job {
  std::vector<std::string> words;
  std::vector<std::string> values;  // of the operation's options, in its order
  std::deque<bool> flags;           // likewise
  std::vector<std::string> rest;
  std::string output;
  std::string output_format;
  io::ReadOptions reading;
  std::string shape;
  std::string dtype;
  std::int64_t channels = 0;
  PlanOptions options;
  std::vector<std::string> configuration;
  std::string index = "auto";
  bool verify = false;
};

const char* examples(std::string_view op) {
  static const std::map<std::string_view, const char*> all{
      {"rearrange",
       "axisloom rearrange \"h w -> w h\" in.png -o out.png\n"
       "axisloom rearrange \"n (c x) h w -> n c h w x\" x=32 in.npy -o out.npy --verify"},
      {"repeat", "axisloom repeat \"h w -> h w c\" c=3 grey.png -o colour.png"},
      {"copy", "axisloom copy fortran_order.npy -o c_order.npy\naxisloom copy photo.jpg -o photo.npy"},
      {"transpose",
       "axisloom transpose in.png -o out.png\n"
       "axisloom transpose --shape 256x256 --dtype u16 scan.raw -o turned.raw"},
      {"permute", "axisloom permute 2,0,1 photo.jpg -o planes.npy\naxisloom permute -1,0,1 in.npy -o out.npy"},
      {"relayout",
       "axisloom relayout NCHW NC/32HW32 in.npy -o out.npy\n"
       "axisloom relayout NC/32HW32 NCHW --channels 50 out.npy -o back.npy"},
      {"reduce",
       "axisloom reduce sum \"h w ->\" in.npy\n"
       "axisloom reduce max \"b c (h h2) (w w2) -> b c h w\" h2=2 w2=2 in.npy -o pooled.npy"},
      {"sum", "axisloom sum in.npy\naxisloom sum --axes 0,2 --keepdims in.npy -o out.npy --verify"},
      {"mean", "axisloom mean --axes 0,1 photo.jpg -o colour.npy"},
      {"prod", "axisloom prod in.npy\naxisloom prod --axes 0 in.npy -o out.npy"},
      {"min", "axisloom min photo.png --axes 0,1 -o darkest.npy"},
      {"max", "axisloom max in.npy\naxisloom max --axes -1 --keepdims in.npy -o out.npy --verify"},
      {"argmin", "axisloom argmin --axes -1 in.npy -o nearest.npy"},
      {"argmax", "axisloom argmax --axes -1 in.npy -o labels.npy"},
      {"any", "axisloom any --axes 0 mask.npy -o touched.npy"},
      {"all", "axisloom all mask.npy"},
      {"count_nonzero", "axisloom count_nonzero mask.npy"},
      {"norm", "axisloom norm --ord 1 in.npy"},
      {"einsum",
       "axisloom einsum \"i k, k j -> i j\" a.npy b.npy -o c.npy\n"
       "axisloom einsum \"b h i d, b h j d -> b h i j\" q.npy k.npy --alpha 0.125 -o scores.npy\n"
       "axisloom einsum ik,kl,lj a.npy b.npy c.npy -o d.npy --verbose"},
      {"matmul",
       "axisloom matmul a.npy b.npy -o c.npy --verify\n"
       "axisloom matmul --transpose-b x.npy weights.npy --beta 1 bias.npy --activation relu -o y.npy"},
      {"dot", "axisloom dot x.npy y.npy"}};
  const auto found = all.find(op);
  return found == all.end() ? "" : found->second;
}

// A colour image is an h w c array whose last axis nobody means when asking for its transpose.
Operation image_aware(const Operation& op, const io::HostArray& input) {
  if (op.name == "transpose" && input.image && input.view.rank() == 3) return rearrange("h w c -> w h c");
  return op;
}

// A tunable that no candidate has is a slip of the pen; without this it would read as a move that nobody can do.
void require_tunables(const ops::OpEntry& entry, const PlanOptions& options) {
  std::set<std::string_view> known;
  for (const ops::CandidateInfo& candidate : entry.candidates)
    if (options.candidate.empty() || candidate.name == options.candidate)
      for (const tune::Tunable& tunable : candidate.tunables) known.insert(tunable.name);
  for (const auto& [name, value] : options.configuration)
    if (!known.contains(name))
      throw Error(Errc::usage, fmt::format("there is no tunable \"{}\"", name),
                  known.empty() ? "leave --config away" : fmt::format("one of {}", fmt::join(known, ", ")));
}

PlanOptions plan_options(const ops::OpEntry& entry, const Job& job) {
  PlanOptions options = job.options;
  options.configuration = parse_configuration(job.configuration);
  require_tunables(entry, options);
  options.index = parse_index(job.index);
  return options;
}

/// Only of raw files shape and dtype have to be said.
bool is_raw(const std::string& file, const std::string& format) {
  if (!format.empty()) return format == "raw";
  const auto raw = std::find_if(io::formats().begin(), io::formats().end(),
                                [](const io::Format& known) { return known.name == "raw"; });
  return std::find(raw->extensions.begin(), raw->extensions.end(), io::extension_of(file)) != raw->extensions.end();
}

/// Refuses options that would have no effect on these files.
void refuse_pointless(const Job& job, const std::vector<std::string>& files, const Context& context) {
  const auto refuse = [](const char* what, const char* remedy) { throw Error(Errc::usage, what, remedy); };
  const auto raw = [&](const std::string& file) { return is_raw(file, job.reading.format); };
  if ((!job.shape.empty() || !job.dtype.empty()) && std::none_of(files.begin(), files.end(), raw))
    refuse("--shape and --dtype are for raw files; other formats say them themselves",
           "leave them out, or add --input-format raw");
  if (!job.output_format.empty() && job.output.empty())
    refuse("--output-format is for a file, and no output file is named", "add -o FILE, or leave it out");
  if (context.format_given && (job.output.empty() || job.output == "-"))
    refuse("--format prints the plan, and standard output has the result", "add -o FILE, or leave it out");
  if (std::count(files.begin(), files.end(), "-") > 1)
    refuse("standard input is named as more than one input file", "name another file for all but one");
}

std::vector<io::HostArray> read_inputs(const Job& job, const std::vector<std::string>& files) {
  io::ReadOptions reading = job.reading;
  if (!job.shape.empty()) reading.shape = parse_shape(job.shape);
  if (!job.dtype.empty()) reading.dtype = parse_dtype(job.dtype);
  std::vector<io::HostArray> inputs;
  for (const std::string& file : files) inputs.push_back(read_file(file, reading));
  return inputs;
}

Operation operation(const ops::OpEntry& entry, const Job& job, const Rest& rest) {
  Operation op{std::string(entry.name), job.words, rest.lengths};
  if (job.channels != 0) op.lengths.emplace_back("channels", job.channels);
  for (std::size_t i = 0; i < entry.options.size(); ++i)
    if (job.flags[i] || !job.values[i].empty()) op.options.emplace_back(entry.options[i].name, job.values[i]);
  return op;
}

bool verified(const Operation& op, std::span<const io::HostArray> inputs, const io::HostArray& result,
              const Context& context) {
  const OracleResult oracle = oracle_result(op, inputs, result.view);
  const auto difference = first_difference(result.view, oracle.want.memory.get(), result.memory.get(), oracle.bound);
  if (difference)
    say(error_text(fmt::format("the result differs from the oracle {}", to_string(*difference)),
                   "report this with the output of --verbose; --candidate names another variant"));
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

  void deliver(const io::HostArray& result) {
    if (!file_) return print(core::number_text(result.view.dtype, result.memory.get()) + "\n");
    io::write(*file_, result, format_);
    file_->commit();
  }

 private:
  std::string format_;
  std::unique_ptr<io::OutputFile> file_;
};

void run(const ops::OpEntry& entry, const Job& job, Context& context) {
  const Rest rest = split_rest(job.rest, entry.lengths);
  const Operation typed = operation(entry, job, rest);
  if (const auto takes = static_cast<std::size_t>(entry.inputs(typed)); rest.files.size() != takes)
    throw Error(
        Errc::usage,
        fmt::format("{} takes {} input file{}, {} given", entry.name, takes, takes == 1 ? "" : "s", rest.files.size()),
        fmt::format("axisloom {} --help", entry.name));
  refuse_pointless(job, rest.files, context);
  const PlanOptions options = plan_options(entry, job);
  Delivery delivery(job);
  const std::vector<io::HostArray> inputs = read_inputs(job, rest.files);
  const Operation op = image_aware(typed, inputs.front());

  std::vector<View> views;
  std::vector<std::span<const std::byte>> bytes;
  for (const io::HostArray& input : inputs) {
    views.push_back(input.view);
    bytes.push_back(input.span());
  }
  const View result_shape = result_view(op, views);
  delivery.require(result_shape);
  const io::HostArray result = io::allocate_for("the result", result_shape);
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

std::vector<std::string> candidate_names(const ops::OpEntry& entry) {
  std::vector<std::string> names;
  for (const ops::CandidateInfo& candidate : entry.candidates) names.emplace_back(candidate.name);
  return names;
}

void add_job_options(CLI::App& command, const ops::OpEntry& entry, Job& job) {
  command
      .add_option("-o,--output", job.output,
                  "Output file; when complete it takes an older one's place, of which other hard links remain; - "
                  "writes .npy to standard "
                  "output; a scalar is printed without")
      ->type_name("FILE");
  command.add_option("--input-format", job.reading.format, "Format of the input, when its name does not tell")
      ->type_name(format_names(&io::Format::reads));
  command.add_option("--output-format", job.output_format, "Format of the output, when its name does not tell")
      ->type_name(format_names(&io::Format::writes));
  command.add_option("--shape", job.shape, "Shape of a raw input, such as 256x256")->type_name("SHAPE");
  command.add_option("--dtype", job.dtype, "Element type of a raw input, such as u8 or float32")->type_name("DTYPE");
  command.add_flag("--verify", job.verify, "Compare with the oracle: prints passed, or the first difference (exit 1)");
  command.add_option("--candidate", job.options.candidate, "Use this variant, or fail saying why it cannot be used")
      ->check(CLI::IsMember(candidate_names(entry)).description(""))
      ->type_name(fmt::format("{}", fmt::join(candidate_names(entry), "|")));
  command
      .add_option("--config", job.configuration, "Force one tunable of the candidate, as name=value; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--index", job.index, "Width of offsets inside the kernel")
      ->check(CLI::IsMember({"32", "64", "auto"}).description(""))
      ->type_name("32|64|auto");
}

void add_operation_options(CLI::App& command, const ops::OpEntry& entry, Job& job) {
  job.values.resize(entry.options.size());
  job.flags.resize(entry.options.size());
  for (std::size_t i = 0; i < entry.options.size(); ++i) {
    const ops::Option& option = entry.options[i];
    const std::string flag = "--" + std::string(option.name), help(option.help);
    if (option.value.empty())
      command.add_flag(flag, job.flags[i], help);
    else
      command.add_option(flag, job.values[i], help)->type_name(std::string(option.value));
  }
}

void add_operation(CLI::App& app, Context& context, const ops::OpEntry& entry) {
  CLI::App* command = app.add_subcommand(std::string(entry.name), std::string(entry.summary));
  auto job = std::make_shared<Job>();
  job->words.resize(entry.words.size());
  for (std::size_t i = 0; i < entry.words.size(); ++i)
    command->add_option(std::string(entry.words[i].name), job->words[i], std::string(entry.words[i].help))
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
  if (entry.name == "relayout")
    command->add_option("--channels", job->channels, "True number of channels, when a blocked layout is undone")
        ->check(CLI::PositiveNumber.description(""))
        ->type_name("C");
  if (entry.name == "transpose")
    command->description(std::string(entry.summary) +
                         " A colour image has its h and w exchanged and keeps its colour axis last.");
  add_common_options(*command, context, {.device = true, .format = true, .verbose = true, .quiet = true});
  set_examples(*command, examples(entry.name));
  set_action(*command, [&entry, job, &context] { run(entry, *job, context); });
}

}  // namespace

void add_operations(CLI::App& app, Context& context) {
  for (const ops::OpEntry& entry : ops::registry()) add_operation(app, context, entry);
}

}  // namespace axisloom::cli
