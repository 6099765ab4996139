// One case: fill, run, compare every byte, run again.
#include "check/runner.hpp"

#include "check/arena.hpp"
#include "check/random.hpp"
#include "messages.hpp"

#include "io/io.hpp"
#include "ops/registry.hpp"

#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace axisloom::cli {
namespace {

using Bytes = std::vector<std::byte>;

/// Everything a case needs in memory, made once and shared by the candidates.
struct Stage {
  Stage(const Case& c, const CheckSettings& settings);
  /// Returns what the output's buffer holds after the first run.
  Bytes run(const Plan& plan, int repeat) const;
  void keep(const std::string& prefix, const Bytes& result) const;
  void require_inputs_unchanged() const;

  bool in_place;
  Queue queue;
  std::vector<Arena> inputs;
  std::optional<Arena> output;  // none in place
  std::vector<View> views;      // inputs, then the output
  std::vector<Buffer> buffers;
  std::vector<Bytes> inputs_before;
  Bytes output_before;
  Bytes want;
  std::vector<double> bound;
};

// Moves keep any bits; what computes is given numbers.
Bytes random_bytes(Random& random, const ops::OpEntry& entry, Dtype dtype, std::size_t count) {
  Bytes bytes(count);
  if (entry.bound)
    random.fill_numbers(dtype, bytes);
  else
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
  Random random(settings.seed, c.text);
  std::vector<const std::byte*> starts;
  for (std::size_t i = 0; i < c.shapes.size(); ++i) {
    const Arena& input = inputs.emplace_back(settings.device, c.dtypes[i], c.shapes[i], c.inputs[i], canaries);
    views.push_back(input.view());
    buffers.push_back(input.buffer());
    inputs_before.push_back(random_bytes(random, entry, c.dtypes[i], input.bytes()));
    starts.push_back(inputs_before.back().data());
  }
  const View result = result_view(c.op, views);
  if (!in_place) output.emplace(settings.device, result.dtype, result.shape, c.output, canaries);
  const Arena& target = in_place ? inputs.front() : *output;
  views.push_back(in_place ? view_in_place(views.front(), result) : target.view());
  buffers.push_back(target.buffer());
  output_before = in_place ? inputs_before.front() : random_bytes(random, entry, result.dtype, target.bytes());
  want = output_before;
  entry.oracle(c.op, views, starts, want.data());
  if (entry.bound) bound = entry.bound(c.op, views, starts);
}

struct Differs {
  std::string message;
};

Bytes Stage::run(const Plan& plan, int repeat) const {
  Bytes first(want.size()), got(want.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) queue.write(buffers[i], 0, inputs_before[i]).wait();
  for (int run = 0; run <= repeat; ++run) {
    queue.write(buffers.back(), 0, output_before).wait();
    plan.run(queue, buffers).wait();
    queue.read(buffers.back(), 0, run == 0 ? first : got).wait();
    // The first run is held against the oracle, the others, bit for bit, against the first.
    const std::string difference = run == 0 ? describe_difference(views.back(), want, first, bound)
                                            : describe_difference(views.back(), first, got);
    if (!difference.empty()) throw Differs{run == 0 ? difference : fmt::format("in run {}: {}", run + 1, difference)};
  }
  if (!in_place) require_inputs_unchanged();
  return first;
}

void Stage::keep(const std::string& prefix, const Bytes& result) const {
  const auto write = [&](const std::string& name, const View& view, const Bytes& bytes) {
    io::HostArray array = io::HostArray::allocate(view);
    std::copy_n(bytes.begin(), array.bytes, array.memory.get());
    io::write(fmt::format("{}-{}.npy", prefix, name), array);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) write(fmt::format("in{}", i + 1), views[i], inputs_before[i]);
  write("out", views.back(), result);
}

void Stage::require_inputs_unchanged() const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Bytes after(inputs_before[i].size());
    queue.read(buffers[i], 0, after).wait();
    const std::string difference = describe_difference(views[i], inputs_before[i], after);
    if (!difference.empty()) throw Differs{fmt::format("input {} was changed: {}", i + 1, difference)};
  }
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
    const Bytes result = stage.run(plan, settings.repeat);
    if (!settings.keep.empty()) stage.keep(settings.keep, result);
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

// A device refuses by name what it lacks a feature for; anything else that it refuses is a failure.
bool lacks_feature(const Error& error, const DeviceInfo& device) {
  const std::string_view text = error.what();
  const auto lacks = [text](bool feature, const char* words) { return !feature && text.find(words) != text.npos; };
  return error.code() == Errc::unsupported &&
         (lacks(device.f64, "the device has no f64") ||
          lacks(device.device_scope_order, "groups of one launch cannot be ordered on this device"));
}

Outcome outcome_of(const Error& error, const CheckSettings& settings, const std::string& candidate) {
  const bool refused = lacks_feature(error, settings.device.info());
  return {refused ? Outcome::Kind::refused : Outcome::Kind::failed, candidate, one_line(error)};
}

Outcome expecting(const Case& c, const CheckSettings& settings) {
  try {
    const Stage stage(c, settings);
    stage.run(axisloom::plan(c.op, stage.views, settings.device, plan_options(c, settings, "")), 0);
  } catch (const Differs& differs) {
    return {Outcome::Kind::failed, "", fmt::format("no {} error: {}", name(*c.expect), differs.message)};
  } catch (const Error& error) {
    if (error.code() == *c.expect) return {};
    if (lacks_feature(error, settings.device.info())) return outcome_of(error, settings, "");
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
    outcomes.push_back(outcome_of(error, settings, candidate));
  }
  return outcomes;
}

}  // namespace axisloom::cli
