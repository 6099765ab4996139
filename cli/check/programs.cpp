// Reading programs, and running them: a plan per step, then all steps queued, then one wait.
#include "cli/check/programs.hpp"

#include "cli/messages.hpp"
#include "harness/random.hpp"

#include "io/file.hpp"
#include "jit/jit.hpp"
#include "planner/plan_cache.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>

namespace axisloom::cli {
namespace {

constexpr size_t queues_of_a_program = 2;

struct ProgramArray {
  size_t buffer = 0;
  View view;
};

struct ProgramStep {
  Case c;
  std::vector<size_t> inputs;    // arrays
  std::optional<size_t> output;  // likewise; none: has to be refused
  size_t queue = 0;
};

struct Program {
  std::string name;
  std::vector<size_t> buffers = {};  // bytes of each
  std::vector<ProgramArray> arrays = {};
  std::vector<ProgramStep> steps = {};
  size_t begin = 0, bytes = 0;  // in the file of data
};

// --- reading ---------------------------------------------------------------------------------------------------------

size_t index_below(std::string_view text, size_t count, const char* what) {
  const auto value = parse_integer(text);
  if (!value || *value < 0 || size_t(*value) >= count) refuse("", "there is no {} {}", what, text);
  return *value;
}

void require_words(const Texts& words, size_t count) {
  if (words.size() < count) refuse("", "the line is too short");
}

void add_buffers(Program& program, const Texts& words) {
  for (const auto& word : std::span(words).subspan(1)) {
    const i64 bytes = integer_of(word);
    if (bytes < 0) refuse("", "a buffer has 0 bytes or more");
    program.buffers.push_back(bytes);
    program.bytes += program.buffers.back();
  }
}

void add_array(Program& program, const Texts& words) {
  require_words(words, 6);
  View view{parse_dtype(words[2]), parse_shape(words[3]), words[4] == "-" ? Dims{} : parse_strides(words[4]),
            integer_of(words[5])};
  program.arrays.push_back({index_below(words[1], program.buffers.size(), "buffer"), view});
}

/// The text of a line after so many words.
std::string_view after_words(std::string_view line, int count) {
  constexpr std::string_view blanks = " \t";
  for (; count > 0; --count) {
    line.remove_prefix(std::min(line.find_first_of(blanks), line.size()));
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  }
  return line;
}

/// The step as a case: what stands after OP is written as there, the inputs' dtypes and shapes are known.
void add_step(Program& program, const Texts& words, std::string_view line) {
  require_words(words, 5);
  ProgramStep step;
  Texts dtypes, shapes;
  for (const auto number : split(words[1], ",")) {
    step.inputs.push_back(index_below(number, program.arrays.size(), "array"));
    const View& view = program.arrays[step.inputs.back()].view;
    dtypes.emplace_back(name(view.dtype));
    shapes.push_back(shape_text(view.shape));
  }
  if (words[2] != "-") step.output = index_below(words[2], program.arrays.size(), "array");
  step.queue = index_below(words[3], queues_of_a_program, "queue");
  step.c =
      parse_case(fmt::format("{} {} {} {}", words[4], joined(dtypes, ","), joined(shapes, ","), after_words(line, 5)));
  program.steps.push_back(std::move(step));
}

void read_program_line(std::vector<Program>& programs, const std::string& line) {
  const Texts words = words_of(line);
  const std::string& kind = words.front();
  if (kind == "program") {
    require_words(words, 2);
    const size_t begin = programs.empty() ? 0 : programs.back().begin + programs.back().bytes;
    programs.push_back({.name = words[1], .begin = begin});
  } else if (programs.empty()) {
    refuse("", "the file does not begin with a program");
  } else if (kind == "buffers") {
    add_buffers(programs.back(), words);
  } else if (kind == "array") {
    add_array(programs.back(), words);
  } else if (kind == "step") {
    add_step(programs.back(), words, line);
  } else {
    refuse("", "\"{}\" begins no line of a program", kind);
  }
}

std::vector<Program> read_programs(const std::string& path) {
  std::vector<Program> programs;
  for (const auto& line : read_case_lines(path)) {
    try {
      read_program_line(programs, line);
    } catch (const Error& error) {
      refuse(error.parts().remedy, "{}: {}\n  {}", path, error.parts().message, line);
    }
  }
  return programs;
}

// --- running one -----------------------------------------------------------------------------------------------------

/// One run of one program.
class ProgramRun {
 public:
  ProgramRun(const Program& program, std::span<const std::byte> data, const CheckSettings& settings)
      : program_(program), data_(data.subspan(program.begin, program.bytes)), settings_(settings) {
    for (Queue& queue : queues_) queue = settings.device.queue();
  }

  /// Makes every plan. Returns whether there is something to run: false when a step without an output got its plan,
  /// which is the last one.
  bool plan_steps() {
    for (step_ = 0; *step_ < program_.steps.size(); ++*step_) {
      plans_.push_back(plan_of(program_.steps[*step_]));
      if (!program_.steps[*step_].output) return false;
    }
    return true;
  }

  /// The step that is being planned or queued, whose an error then is.
  std::optional<size_t> step() const { return step_; }

  /// Queues everything, waits once, and returns what the buffers hold.
  Bytes run() {
    Bytes result(data_.begin(), data_.end());
    try {
      step_.reset();
      write_buffers();
      for (step_ = 0; *step_ < plans_.size(); ++*step_) run_step(*step_);
      step_.reset();
      read_buffers(result);
    } catch (...) {
      for (const Queue& queue : queues_) queue.finish();  // nothing may use this memory any longer
      throw;
    }
    return result;
  }

 private:
  Plan plan_of(const ProgramStep& step) const {
    std::vector<View> views;
    for (const size_t input : step.inputs) views.push_back(program_.arrays[input].view);
    views.push_back(step.output ? program_.arrays[*step.output].view : result_view(step.c.op, views));
    return ops::cached_plan(step.c.op, views, settings_.device, plan_options_of(step.c, settings_));
  }

  void write_buffers() {
    size_t at = 0;
    for (const size_t bytes : program_.buffers) {
      buffers_.push_back(settings_.device.allocate(bytes));
      if (bytes > 0) last_.front() = queues_.front().write(buffers_.back(), 0, data_.subspan(at, bytes));
      at += bytes;
    }
  }

  /// The last commands of all queues but one.
  std::vector<Event> others(size_t queue) const {
    std::vector<Event> events;
    for (size_t i = 0; i < last_.size(); ++i)
      if (i != queue && last_[i].impl()) events.push_back(last_[i]);
    return events;
  }

  void run_step(size_t i) {
    const ProgramStep& step = program_.steps[i];
    std::vector<Buffer> buffers;
    for (const size_t input : step.inputs) buffers.push_back(buffers_[program_.arrays[input].buffer]);
    buffers.push_back(buffers_[program_.arrays[*step.output].buffer]);
    const Event event = plans_[i].run(queues_[step.queue], buffers, {}, others(step.queue));
    if (event.impl()) last_[step.queue] = event;  // none where there was nothing to do
  }

  void read_buffers(Bytes& result) {
    size_t at = 0;
    Event end;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const size_t bytes = program_.buffers[i];
      if (bytes > 0) end = queues_.front().read(buffers_[i], 0, std::span(result).subspan(at, bytes), others(0));
      at += bytes;
    }
    end.wait();
  }

  const Program& program_;
  std::span<const std::byte> data_;
  const CheckSettings& settings_;
  std::optional<size_t> step_;
  std::array<Queue, queues_of_a_program> queues_;
  std::array<Event, queues_of_a_program> last_;
  std::vector<Plan> plans_;
  std::vector<Buffer> buffers_;
};

// --- running all -----------------------------------------------------------------------------------------------------

/// What is known of one program, by its runs so far.
struct ProgramOutcome {
  std::mutex mutex;
  std::string text;
  Bytes result;
};

/// The outcome of one run, and into `result` what it left.
std::string outcome_of(const Program& program, std::span<const std::byte> data, const CheckSettings& settings,
                       Bytes& result) {
  const auto own = data.subspan(program.begin, program.bytes);
  result.assign(own.begin(), own.end());
  ProgramRun run(program, data, settings);
  try {
    if (!run.plan_steps()) return concat("accepted ", *run.step());
    result = run.run();
    return "done";
  } catch (const Error& error) {
    if (error.code() == Errc::device_lost || !run.step()) throw;
    return fmt::format("refused {} {} {}", *run.step(), name(error.code()), replaced(error.what(), "\n", " "));
  }
}

/// Does all runs of all programs, shared out among threads. The runs of one program follow each other, so that threads
/// use one plan at the same time.
std::vector<ProgramOutcome> run_programs(const std::vector<Program>& programs, std::span<const std::byte> data,
                                         const CheckSettings& settings, int threads) {
  const size_t runs = 1 + settings.repeat;
  std::vector<ProgramOutcome> outcomes(programs.size());
  std::atomic<size_t> next = 0;
  const auto settle = [&](size_t program, size_t run) {
    Bytes result;
    const std::string text = outcome_of(programs[program], data, settings, result);
    ProgramOutcome& outcome = outcomes[program];
    const std::lock_guard lock(outcome.mutex);
    if (outcome.text.empty()) {
      outcome.text = text;
      outcome.result = std::move(result);
    } else if (text != outcome.text || result != outcome.result) {
      outcome.text = concat("differs ", run);
    }
  };
  const auto work = [&] {
    try {
      for (size_t i = next++; i < runs * programs.size(); i = next++) settle(i / runs, i % runs);
    } catch (...) {
      next = runs * programs.size();  // for the others to stop
      throw;
    }
  };
  std::vector<std::future<void>> working;
  for (int i = 1; i < threads; ++i) working.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& done : working) done.get();
  return outcomes;
}

void write_outcomes(const std::string& folder, const std::vector<Program>& programs,
                    const std::vector<ProgramOutcome>& outcomes) {
  io::OutputFile results(folder + "/results"), lines(folder + "/outcomes");
  for (size_t i = 0; i < programs.size(); ++i) {
    results.write(outcomes[i].result);
    lines.write(fmt::format("{} {}\n", programs[i].name, outcomes[i].text));
  }
  results.commit();
  lines.commit();
}

}  // namespace

void add_program_options(App& check, Programs& programs) {
  Option* const file = add_value(check, "--programs", programs.file, "FILE",
                                 "A file of chained operations, whose results are left in --keep")
                           ->needs(option_of(check, "--keep"));
  for (const char* of_cases :
       {"case", "--cases", "--random", "--candidate", "--tight", "--max-failures", "--slow", "--list"})
    file->excludes(option_of(check, of_cases));
  add_value(check, "--threads", programs.threads, "T", "Number of programs to run at the same time")
      ->needs(file)
      ->check(CLI::PositiveNumber.description(""));
}

bool check_programs(const Programs& from, const CheckSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const jit::CacheStats before = jit::cache_stats();
  const std::vector<Program> programs = read_programs(from.file);
  const io::InputFile file(from.file + ".data");
  Bytes data(file.size());
  file.read_at(0, data);
  const size_t bytes = programs.empty() ? 0 : programs.back().begin + programs.back().bytes;
  if (data.size() != bytes)
    refuse("", "the buffers of the programs have {} bytes, {}.data {}", bytes, from.file, data.size());
  const std::vector<ProgramOutcome> outcomes = run_programs(programs, data, settings, from.threads);
  write_outcomes(settings.keep, programs, outcomes);
  const auto count = [&](std::string_view word) {
    return std::ranges::count_if(outcomes, [&](const auto& o) { return o.text.starts_with(word); });
  };
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  print(fmt::format(
      "{} programs: {} done, {} refused, {} accepted, {} differ from run to run; in {:.1f} s on {}, {} compiles\n",
      programs.size(), count("done"), count("refused"), count("accepted"), count("differs"), seconds.count(),
      settings.device.info().label(), jit::cache_stats().compiles - before.compiles));
  return count("differs") == 0;
}

}  // namespace axisloom::cli
