// One case: fill, run, compare every byte, run again.
#include "check/runner.hpp"

#include "check/arena.hpp"
#include "check/random.hpp"
#include "messages.hpp"

#include "ops/registry.hpp"

#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace axisloom::cli {
namespace {

using Bytes = std::vector<std::byte>;

/// Everything a case needs in memory, made once and shared by the candidates.
struct Stage {
  Stage(const Case& c, const CheckSettings& settings);
  void run(const Plan& plan, int repeat) const;

  bool in_place;
  Queue queue;
  std::unique_ptr<Arena> input;
  std::unique_ptr<Arena> output;  // none in place
  std::vector<View> views;
  std::vector<Buffer> buffers;
  Bytes input_before;
  Bytes output_before;
  Bytes want;
};

Bytes random_bytes(Random& random, std::size_t count) {
  Bytes bytes(count);
  random.fill(bytes);
  return bytes;
}

// The very view of the input where the shapes agree; else one that a plan has to refuse.
View view_in_place(const View& input, View result) {
  if (result.shape == input.shape) return input;
  if (result.count() != input.count())
    throw Error(Errc::usage, "a result of another size than the input cannot be in place");
  result.offset = input.offset;
  return result;
}

Stage::Stage(const Case& c, const CheckSettings& settings) : in_place(c.in_place), queue(settings.device.queue()) {
  const ops::OpEntry& entry = ops::entry(c.op.name);
  const std::int64_t canaries = settings.tight ? 0 : canary_bytes;
  input = std::make_unique<Arena>(settings.device, c.dtype, c.shape, c.input, canaries);
  const View input_view = input->view();
  const View result = entry.result(c.op, std::span(&input_view, 1));
  if (!in_place) output = std::make_unique<Arena>(settings.device, result.dtype, result.shape, c.output, canaries);
  const Arena& target = in_place ? *input : *output;
  views = {input_view, in_place ? view_in_place(input_view, result) : target.view()};
  buffers = {input->buffer(), target.buffer()};

  Random random(settings.seed, c.text);
  input_before = random_bytes(random, input->bytes());
  output_before = in_place ? input_before : random_bytes(random, target.bytes());
  want = output_before;
  const std::vector<const std::byte*> starts{input_before.data()};
  entry.oracle(c.op, views, starts, want.data());
}

struct Differs {
  std::string message;
};

void Stage::run(const Plan& plan, int repeat) const {
  Bytes got(want.size());
  queue.write(buffers[0], 0, input_before).wait();
  for (int run = 0; run <= repeat; ++run) {
    queue.write(buffers[1], 0, output_before).wait();
    plan.run(queue, buffers).wait();
    queue.read(buffers[1], 0, got).wait();
    const std::string difference = describe_difference(views[1], want, got);
    if (!difference.empty()) throw Differs{run == 0 ? difference : fmt::format("in run {}: {}", run + 1, difference)};
  }
  if (in_place) return;
  Bytes after(input_before.size());
  queue.read(buffers[0], 0, after).wait();
  const std::string difference = describe_difference(views[0], input_before, after);
  if (!difference.empty()) throw Differs{"the input was changed: " + difference};
}

PlanOptions plan_options(const Case& c, const CheckSettings& settings, const std::string& candidate) {
  PlanOptions options = c.options;
  if (!candidate.empty()) options.candidate = candidate;
  if (settings.index_64) options.index = IndexWidth::bits64;
  options.in_place = c.in_place;
  options.checked = settings.checked;
  return options;
}

std::string one_line(const Error& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return fmt::format("{} error: {}", name(error.code()), text);
}

Outcome attempt(const Case& c, const Stage& stage, const CheckSettings& settings, const std::string& candidate) {
  try {
    const Plan plan = axisloom::plan(c.op, stage.views, settings.device, plan_options(c, settings, candidate));
    const PlanReport& report = plan.report();
    if (report.device != settings.device.info().label())
      throw Differs{fmt::format("planned for {} instead of {}", report.device, settings.device.info().label())};
    if (!candidate.empty() && report.candidate != candidate)
      throw Differs{fmt::format("candidate {} was used instead of {}", report.candidate, candidate)};
    stage.run(plan, settings.repeat);
    return {Outcome::Kind::passed, candidate, ""};
  } catch (const Differs& differs) {
    return {Outcome::Kind::failed, candidate, differs.message};
  }
}

// The candidates to force, those that refuse already settled as outcomes.
std::vector<std::string> candidates_to_try(const Case& c, const Stage& stage, const CheckSettings& settings,
                                           std::vector<Outcome>& outcomes) {
  if (settings.candidate.empty()) return {""};
  const Plan free_choice = axisloom::plan(c.op, stage.views, settings.device, plan_options(c, settings, ""));
  const auto& reports = free_choice.report().candidates;
  if (reports.empty()) return {""};  // nothing to do, so nobody was asked
  std::vector<std::string> accepted;
  for (const CandidateReport& report : reports) {
    if (settings.candidate != "all" && report.name != settings.candidate) continue;
    if (report.accepted)
      accepted.push_back(report.name);
    else
      outcomes.push_back({Outcome::Kind::refused, report.name, report.reason});
  }
  return accepted;
}

Outcome expecting(const Case& c, const CheckSettings& settings) {
  try {
    const Stage stage(c, settings);
    stage.run(axisloom::plan(c.op, stage.views, settings.device, plan_options(c, settings, "")), 0);
  } catch (const Differs& differs) {
    return {Outcome::Kind::failed, "", fmt::format("no {} error: {}", name(*c.expect), differs.message)};
  } catch (const Error& error) {
    if (error.code() == *c.expect) return {};
    return {Outcome::Kind::failed, "", fmt::format("want a {} error, got a {}", name(*c.expect), one_line(error))};
  }
  return {Outcome::Kind::failed, "", fmt::format("want a {} error, got a result", name(*c.expect))};
}

}  // namespace

std::vector<Outcome> run_case(const Case& c, const CheckSettings& settings) {
  if (c.expect) return {expecting(c, settings)};
  std::vector<Outcome> outcomes;
  std::string candidate;
  try {
    const Stage stage(c, settings);
    for (const std::string& name : candidates_to_try(c, stage, settings, outcomes)) {
      candidate = name;
      outcomes.push_back(attempt(c, stage, settings, name));
    }
  } catch (const Error& error) {
    if (error.code() == Errc::device_lost) throw;
    outcomes.push_back({Outcome::Kind::failed, candidate, one_line(error)});
  }
  return outcomes;
}

}  // namespace axisloom::cli
