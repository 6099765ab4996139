// Reading programs, and running them: a plan per step, then all steps queued, then one wait.
#include "cli/check/programs.hpp"

#include "cli/app.hpp"
#include "cli/messages.hpp"
#include "harness/arguments.hpp"
#include "harness/case.hpp"

#include "io/file.hpp"
#include "jit/jit.hpp"
#include "planner/plan_cache.hpp"

#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace axisloom::cli {
namespace {

using harness::CheckSettings;

using Contents = std::vector<std::byte>;

constexpr size_t queues_of_a_program = 2;

struct ProgramArray {
  size_t buffer = 0;
  View view;
};

struct ProgramStep {
  harness::Case c;
  std::vector<size_t> inputs;    // arrays
  std::optional<size_t> output;  // likewise; none: has to be refused
  size_t queue = 0;
};

struct Program {
  std::string name;
  std::vector<size_t> buffers;  // bytes of each
  std::vector<ProgramArray> arrays;
  std::vector<ProgramStep> steps;
  size_t begin = 0, bytes = 0;  // in the file of data
};

// --- reading ---------------------------------------------------------------------------------------------------------

size_t index_below(const std::string& text, size_t count, const char* what) {
  const auto value = harness::parse_integer(text);
  if (!value || *value < 0 || size_t(*value) >= count)
    throw Error(Errc::usage, fmt::format("there is no {} {}", what, text));
  return size_t(*value);
}

i64 whole_number(const std::string& text) {
  const auto value = harness::parse_integer(text);
  if (!value) throw Error(Errc::usage, fmt::format("\"{}\" is not a number", text));
  return *value;
}

void require_words(const std::vector<std::string>& words, size_t count) {
  if (words.size() < count) throw Error(Errc::usage, "the line is too short");
}

void add_buffers(Program& program, const std::vector<std::string>& words) {
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    const i64 bytes = whole_number(*word);
    if (bytes < 0) throw Error(Errc::usage, "a buffer has 0 bytes or more");
    program.buffers.push_back(size_t(bytes));
    program.bytes += program.buffers.back();
  }
}

void add_array(Program& program, const std::vector<std::string>& words) {
  require_words(words, 6);
  View view{harness::parse_dtype(words[2]), harness::parse_shape(words[3]),
            words[4] == "-" ? Dims{} : harness::parse_strides(words[4]), whole_number(words[5])};
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
void add_step(Program& program, const std::vector<std::string>& words, std::string_view line) {
  require_words(words, 5);
  ProgramStep step;
  std::vector<std::string> dtypes, shapes;
  for (std::string_view number : harness::split(words[1], ",")) {
    step.inputs.push_back(index_below(std::string(number), program.arrays.size(), "array"));
    const View& view = program.arrays[step.inputs.back()].view;
    dtypes.emplace_back(name(view.dtype));
    shapes.push_back(harness::shape_text(view.shape));
  }
  if (words[2] != "-") step.output = index_below(words[2], program.arrays.size(), "array");
  step.queue = index_below(words[3], queues_of_a_program, "queue");
  step.c = harness::parse_case(
      fmt::format("{} {} {} {}", words[4], fmt::join(dtypes, ","), fmt::join(shapes, ","), after_words(line, 5)));
  program.steps.push_back(std::move(step));
}

void read_program_line(std::vector<Program>& programs, const std::string& line) {
  const std::vector<std::string> words = harness::words_of(line);
  const std::string& kind = words.front();
  if (kind == "program") {
    require_words(words, 2);
    const size_t begin = programs.empty() ? 0 : programs.back().begin + programs.back().bytes;
    programs.push_back({.name = words[1], .buffers = {}, .arrays = {}, .steps = {}, .begin = begin});
  } else if (programs.empty()) {
    throw Error(Errc::usage, "the file does not begin with a program");
  } else if (kind == "buffers") {
    add_buffers(programs.back(), words);
  } else if (kind == "array") {
    add_array(programs.back(), words);
  } else if (kind == "step") {
    add_step(programs.back(), words, line);
  } else {
    throw Error(Errc::usage, fmt::format("\"{}\" begins no line of a program", kind));
  }
}

std::vector<Program> read_programs(const std::string& path) {
  std::vector<Program> programs;
  for (const std::string& line : harness::read_case_lines(path)) {
    try {
      read_program_line(programs, line);
    } catch (const Error& error) {
      throw Error(Errc::usage, fmt::format("{}: {}\n  {}", path, error.parts().message, line), error.parts().remedy);
    }
  }
  return programs;
}

// --- running one -----------------------------------------------------------------------------------------------------

/// An error of the library, and the step whose it was.
struct StepRefused {
  size_t step;
  Error error;
};

/// One run of one program.
class ProgramRun {
 public:
  ProgramRun(const Program& program, std::span<const std::byte> data, const CheckSettings& settings)
      : program_(program), data_(data.subspan(program.begin, program.bytes)), settings_(settings) {
    for (Queue& queue : queues_) queue = settings.device.queue();
  }

  /// Makes every plan, or throws StepRefused. Returns whether there is something to run: false when a step without an
  /// output got its plan, which is the last one.
  bool plan_steps() {
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      plans_.push_back(attempt(i, [&] { return plan_of(program_.steps[i]); }));
      if (!program_.steps[i].output) return false;
    }
    return true;
  }

  size_t planned() const { return plans_.size(); }

  /// Queues everything, waits once, and returns what the buffers hold.
  Contents run() {
    Contents result(data_.begin(), data_.end());
    try {
      write_buffers();
      for (size_t i = 0; i < plans_.size(); ++i) attempt(i, [&] { return run_step(i); });
      read_buffers(result);
    } catch (...) {
      for (const Queue& queue : queues_) queue.finish();  // nothing may use this memory any longer
      throw;
    }
    return result;
  }

 private:
  template <class Do>
  auto attempt(size_t step, Do&& what) -> decltype(what()) {
    try {
      return what();
    } catch (const Error& error) {
      if (error.code() == Errc::device_lost) throw;
      throw StepRefused{step, error};
    }
  }

  Plan plan_of(const ProgramStep& step) const {
    std::vector<View> views;
    for (const size_t input : step.inputs) views.push_back(program_.arrays[input].view);
    views.push_back(step.output ? program_.arrays[*step.output].view : result_view(step.c.op, views));
    PlanOptions options = step.c.options;
    options.in_place = step.c.in_place;
    options.checked = settings_.checked;
    if (settings_.index_64) options.index = IndexWidth::bits64;
    return ops::cached_plan(step.c.op, views, settings_.device, options);
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

  Event run_step(size_t i) {
    const ProgramStep& step = program_.steps[i];
    std::vector<Buffer> buffers;
    for (const size_t input : step.inputs) buffers.push_back(buffers_[program_.arrays[input].buffer]);
    buffers.push_back(buffers_[program_.arrays[*step.output].buffer]);
    const Event event = plans_[i].run(queues_[step.queue], buffers, {}, others(step.queue));
    if (event.impl()) last_[step.queue] = event;  // none where there was nothing to do
    return event;
  }

  void read_buffers(Contents& result) {
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
  Contents result;
};

std::string one_line_of(const Error& error) {
  std::string text = error.what();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// The outcome of one run, and into `result` what it left.
std::string outcome_of(const Program& program, std::span<const std::byte> data, const CheckSettings& settings,
                       Contents& result) {
  result.assign(data.begin() + std::ptrdiff_t(program.begin),
                data.begin() + std::ptrdiff_t(program.begin + program.bytes));
  try {
    ProgramRun run(program, data, settings);
    if (!run.plan_steps()) return fmt::format("accepted {}", run.planned() - 1);
    result = run.run();
    return "done";
  } catch (const StepRefused& refused) {
    return fmt::format("refused {} {} {}", refused.step, name(refused.error.code()), one_line_of(refused.error));
  }
}

/// All runs of all programs, shared out among threads. The runs of one program follow each other, so that threads use
/// one plan at the same time.
class ProgramQueue {
 public:
  ProgramQueue(const std::vector<Program>& programs, std::span<const std::byte> data, const CheckSettings& settings)
      : programs_(programs), data_(data), settings_(settings), outcomes_(programs.size()) {}

  std::vector<ProgramOutcome> run(int thread_count) {
    std::vector<std::thread> threads;
    for (int i = 1; i < thread_count; ++i) threads.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(outcomes_);
  }

 private:
  void work() {
    try {
      const size_t runs = 1 + size_t(settings_.repeat);
      for (size_t i = next_++; i < runs * programs_.size(); i = next_++) settle(i / runs, i % runs);
    } catch (...) {
      const std::lock_guard lock(failure_mutex_);
      failure_ = std::current_exception();
      next_ = programs_.size() * (1 + size_t(settings_.repeat));  // for the others to stop
    }
  }

  void settle(size_t program, size_t run) {
    Contents result;
    const std::string text = outcome_of(programs_[program], data_, settings_, result);
    ProgramOutcome& outcome = outcomes_[program];
    const std::lock_guard lock(outcome.mutex);
    if (outcome.text.empty()) {
      outcome.text = text;
      outcome.result = std::move(result);
    } else if (text != outcome.text || result != outcome.result) {
      outcome.text = fmt::format("differs {}", run);
    }
  }

  const std::vector<Program>& programs_;
  std::span<const std::byte> data_;
  const CheckSettings& settings_;
  std::vector<ProgramOutcome> outcomes_;
  std::atomic<size_t> next_ = 0;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

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

void add_program_options(CLI::App& check, Programs& programs) {
  CLI::Option* const file =
      check.add_option("--programs", programs.file, "A file of chained operations, whose results are left in --keep")
          ->type_name("FILE")
          ->needs(option_of(check, "--keep"));
  for (const char* of_cases :
       {"case", "--cases", "--random", "--candidate", "--tight", "--max-failures", "--slow", "--list"})
    file->excludes(option_of(check, of_cases));
  check.add_option("--threads", programs.threads, "Number of programs to run at the same time")
      ->type_name("T")
      ->needs(file)
      ->check(CLI::PositiveNumber.description(""));
}

bool check_programs(const Programs& from, const CheckSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const jit::CacheStats before = jit::cache_stats();
  const std::vector<Program> programs = read_programs(from.file);
  const io::InputFile file(from.file + ".data");
  Contents data(file.size());
  file.read_at(0, data);
  const size_t bytes = programs.empty() ? 0 : programs.back().begin + programs.back().bytes;
  if (data.size() != bytes)
    throw Error(Errc::usage,
                fmt::format("the buffers of the programs have {} bytes, {}.data {}", bytes, from.file, data.size()));
  const std::vector<ProgramOutcome> outcomes = ProgramQueue(programs, data, settings).run(from.threads);
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
