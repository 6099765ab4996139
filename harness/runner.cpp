// One case: fill, run, compare every byte, run again.
#include "harness/runner.hpp"

#include "harness/arena.hpp"
#include "harness/compare.hpp"
#include "harness/random.hpp"

#include "device/forwarding.hpp"
#include "io/io.hpp"
#include "planner/registry.hpp"

#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace axisloom::harness {
namespace {

using Bytes = std::vector<std::byte>;

/// Everything a case needs in memory, made once and shared by the candidates.
struct Stage {
  Stage(const Case& c, const CheckSettings& settings);
  /// Returns what the output's buffer holds after the first run.
  Bytes run(const Plan& plan, int repeat) const;
  /// The same by run_on_host.
  Bytes run_on_host(const Operation& op, const Device& device, const PlanOptions& options, int repeat) const;
  void keep(const std::string& prefix, const Bytes& result) const;
  const Bytes& before(std::size_t array) const { return contents[holder[array]]; }
  const Buffer& buffer(std::size_t array) const { return arenas[holder[array]].buffer(); }

  Queue queue;
  std::vector<View> views;          // inputs, then the output
  std::vector<std::size_t> holder;  // of each array, the number of the buffer that holds it
  std::vector<Arena> arenas;        // the buffers
  std::vector<Bytes> contents;      // of the buffers, before a run
  Bytes want;                       // of the output's buffer, after it
  std::vector<double> bound;

 private:
  void place(const Case& c, const CheckSettings& settings);
  void require_inputs_unchanged() const;
  void compare(const Bytes& first, const Bytes& got, int run) const;
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

// Buffer i holds array i, unless the output is the input or all arrays share one.
void Stage::place(const Case& c, const CheckSettings& settings) {
  const std::int64_t canaries = settings.tight ? 0 : canary_bytes;
  std::vector<std::size_t> bytes;
  std::vector<std::int64_t> align;
  const auto add = [&](const Place& place, std::size_t where) {
    views.push_back(place.view);
    holder.push_back(where);
    bytes.resize(std::max(bytes.size(), where + 1));
    align.resize(bytes.size(), place.view.align);
    bytes[where] = std::max(bytes[where], place.bytes);
    align[where] = std::min(align[where], place.view.align);
  };
  for (std::size_t i = 0; i < c.shapes.size(); ++i)
    add(Place(c.dtypes[i], c.shapes[i], c.inputs[i], canaries), c.one_buffer ? 0 : i);
  const View result = result_view(c.op, views);
  if (c.in_place) {
    views.push_back(view_in_place(views.front(), result));
    holder.push_back(0);
  } else {
    add(Place(result.dtype, result.shape, c.output, canaries), c.one_buffer ? 0 : c.shapes.size());
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) arenas.emplace_back(settings.device, bytes[i], align[i]);
  for (std::size_t i = 0; i < views.size(); ++i) views[i].align = arenas[holder[i]].align();
}

Stage::Stage(const Case& c, const CheckSettings& settings) : queue(settings.device.queue()) {
  place(c, settings);
  const ops::OpEntry& entry = ops::entry(c.op.name);
  Random random(settings.seed, c.text);
  std::vector<const std::byte*> starts;
  for (std::size_t i = 0; i < views.size(); ++i) {  // a buffer of several arrays has numbers of the first one's dtype
    if (holder[i] < contents.size()) continue;
    contents.push_back(random_bytes(random, entry, views[i].dtype, arenas[holder[i]].buffer().bytes()));
  }
  for (std::size_t i = 0; i + 1 < views.size(); ++i) starts.push_back(before(i).data());
  want = before(views.size() - 1);
  bound = ask_oracle(c.op, views, starts, want.data());
}

struct Differs {
  std::string message;
};

// The first run is held against the oracle, the others, bit for bit, against the first.
void Stage::compare(const Bytes& first, const Bytes& got, int run) const {
  const std::string difference =
      run == 0 ? describe_difference(views.back(), want, got, bound) : describe_difference(views.back(), first, got);
  if (!difference.empty()) throw Differs{run == 0 ? difference : fmt::format("in run {}: {}", run + 1, difference)};
}

Bytes Stage::run(const Plan& plan, int repeat) const {
  Bytes first(want.size()), got(want.size());
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < views.size(); ++i) buffers.push_back(buffer(i));
  for (std::size_t i = 0; i < arenas.size(); ++i) queue.write(arenas[i].buffer(), 0, contents[i]).wait();
  for (int run = 0; run <= repeat; ++run) {
    queue.write(buffers.back(), 0, before(views.size() - 1)).wait();
    plan.run(queue, buffers).wait();
    Bytes& bytes = run == 0 ? first : got;
    queue.read(buffers.back(), 0, bytes).wait();
    compare(first, bytes, run);
  }
  require_inputs_unchanged();
  return first;
}

Bytes Stage::run_on_host(const Operation& op, const Device& device, const PlanOptions& options, int repeat) const {
  std::vector<std::span<const std::byte>> in;
  for (std::size_t i = 0; i + 1 < views.size(); ++i) in.emplace_back(before(i));
  Bytes first;
  for (int run = 0; run <= repeat; ++run) {
    Bytes got = before(views.size() - 1);
    axisloom::run_on_host(op, views, in, got, device, options);
    compare(first, got, run);
    if (run == 0) first = std::move(got);
  }
  return first;
}

void Stage::keep(const std::string& prefix, const Bytes& result) const {
  const auto write = [&](const std::string& name, const View& view, const Bytes& bytes) {
    io::HostArray array = io::HostArray::allocate(view);
    std::copy_n(bytes.begin(), array.bytes, array.memory.get());
    io::write(fmt::format("{}-{}.npy", prefix, name), array);
  };
  for (std::size_t i = 0; i + 1 < views.size(); ++i) write(fmt::format("in{}", i + 1), views[i], before(i));
  write("out", views.back(), result);
}

void Stage::require_inputs_unchanged() const {
  for (std::size_t i = 0; i + 1 < views.size(); ++i) {
    if (holder[i] == holder.back()) continue;  // compared with the output
    Bytes after(before(i).size());
    queue.read(buffer(i), 0, after).wait();
    const std::string difference = describe_difference(views[i], before(i), after);
    if (!difference.empty()) throw Differs{fmt::format("input {} was changed: {}", i + 1, difference)};
  }
}

/// Whether the output has a byte in common with an input, byte by byte.
bool arrays_meet(const Stage& stage) {
  std::vector<bool> written(stage.want.size());
  const auto for_each_byte = [](const View& view, auto&& visit) {
    const auto size = static_cast<std::int64_t>(size_of(view.dtype));
    for_each_element(view, [&](const Dims&, std::int64_t offset) {
      for (std::int64_t byte = offset * size; byte < (offset + 1) * size; ++byte) visit(static_cast<std::size_t>(byte));
      return true;
    });
  };
  for_each_byte(stage.views.back(), [&](std::size_t byte) { written[byte] = true; });
  bool meet = false;
  for (std::size_t i = 0; i + 1 < stage.views.size(); ++i)
    for_each_byte(stage.views[i], [&](std::size_t byte) { meet = meet || written[byte]; });
  return meet;
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

// The code, and the message up to where it speaks of this case.
std::string kind_of(const Error& error) {
  const std::string& message = error.parts().message;
  return fmt::format("{} error: {}", name(error.code()), message.substr(0, message.find_first_of("0123456789;:'\"")));
}

Bytes run_as_planned(const Case& c, const Stage& stage, const CheckSettings& settings, const std::string& candidate) {
  const Plan plan = axisloom::plan(c.op, stage.views, settings.device, plan_options(c, settings, candidate));
  const PlanReport& report = plan.report();
  if (report.device != settings.device.info().label())
    throw Differs{fmt::format("planned for {} instead of {}", report.device, settings.device.info().label())};
  if (!candidate.empty() && report.candidate != candidate)
    throw Differs{fmt::format("candidate {} was used instead of {}", report.candidate, candidate)};
  return stage.run(plan, settings.repeat);
}

Bytes run_in_slices(const Case& c, const Stage& stage, const CheckSettings& settings, const std::string& candidate) {
  Device& small = (*settings.small)[*c.largest_buffer];
  if (!small)
    small = Device(
        std::make_shared<device::SmallBuffers>(settings.device.impl(), static_cast<std::size_t>(*c.largest_buffer)));
  return stage.run_on_host(c.op, small, plan_options(c, settings, candidate), settings.repeat);
}

/// Runs, or is refused because the arrays share memory, which they then must do.
Outcome attempt_in_one_buffer(const Case& c, const Stage& stage, const CheckSettings& settings,
                              const std::string& candidate) {
  const bool meet = arrays_meet(stage);
  try {
    run_as_planned(c, stage, settings, candidate);
  } catch (const Error& error) {
    if (error.code() != Errc::overlap) throw;
    if (!meet) throw Differs{"refused for sharing memory, which it does not"};
    return {Outcome::Kind::passed, candidate, "", {}};
  }
  if (meet) throw Differs{"output and input share memory, which went unnoticed"};
  return {Outcome::Kind::passed, candidate, "", {}};
}

Outcome attempt(const Case& c, const Stage& stage, const CheckSettings& settings, const std::string& candidate) {
  try {
    if (c.one_buffer) return attempt_in_one_buffer(c, stage, settings, candidate);
    const Bytes result =
        c.largest_buffer ? run_in_slices(c, stage, settings, candidate) : run_as_planned(c, stage, settings, candidate);
    if (!settings.keep.empty()) stage.keep(settings.keep, result);
    return {Outcome::Kind::passed, candidate, "", {}};
  } catch (const Differs& differs) {
    return {Outcome::Kind::failed, candidate, differs.message, {}};
  }
}

// The candidates to force, those that refuse already settled as outcomes.
std::vector<std::string> candidates_to_try(const Case& c, const Stage& stage, const CheckSettings& settings,
                                           std::vector<Outcome>& outcomes) {
  if (settings.candidate.empty() || c.largest_buffer) return {""};  // slices are planned one by one
  const Plan free_choice = axisloom::plan(c.op, stage.views, settings.device, plan_options(c, settings, ""));
  const auto& reports = free_choice.report().candidates;
  if (reports.empty()) return {""};  // nothing to do, so nobody was asked
  std::vector<std::string> accepted;
  for (const CandidateReport& report : reports) {
    if (settings.candidate != "all" && report.name != settings.candidate) continue;
    if (report.accepted)
      accepted.push_back(report.name);
    else
      outcomes.push_back({Outcome::Kind::refused, report.name, report.reason, {}});
  }
  return accepted;
}

/// A device may be refused by name for what it lacks, and buffers may be too small for what cannot be cut; all else has
/// to work.
bool is_refusal(const Error& error, const Case& c, const DeviceInfo& device) {
  if (error.code() == Errc::out_of_memory) return c.largest_buffer.has_value();
  const auto named = [&](const char* words) { return error.parts().message.find(words) != std::string::npos; };
  return error.code() == Errc::unsupported &&
         ((!device.f64 && named("f64")) || (!device.device_scope_order && named("cannot be ordered on this device")) ||
          named("its kernel is written for"));
}

Outcome expecting(const Case& c, const CheckSettings& settings) {
  const auto failed = [&](const std::string& instead) {
    return Outcome{Outcome::Kind::failed, "", fmt::format("want a {} error, got {}", name(*c.expect), instead), {}};
  };
  try {
    const Stage stage(c, settings);
    stage.run(axisloom::plan(c.op, stage.views, settings.device, plan_options(c, settings, "")), 0);
  } catch (const Differs& differs) {
    return failed("a wrong result: " + differs.message);
  } catch (const Error& error) {
    if (error.code() == *c.expect) return {};
    if (is_refusal(error, c, settings.device.info()))
      return {Outcome::Kind::refused, "", one_line(error), kind_of(error)};
    return failed("a " + one_line(error));
  }
  return failed("a result");
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
    const auto kind = is_refusal(error, c, settings.device.info()) ? Outcome::Kind::refused : Outcome::Kind::failed;
    outcomes.push_back({kind, candidate, one_line(error), kind_of(error)});
  }
  return outcomes;
}

}  // namespace axisloom::harness
