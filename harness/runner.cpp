// One case: fill, run, compare every byte, run again.
#include "harness/runner.hpp"

#include "harness/arena.hpp"
#include "harness/compare.hpp"
#include "harness/random.hpp"

#include "device/forwarding.hpp"

#include <algorithm>

namespace axisloom::harness {
namespace {

// Moves keep any bits; what computes is given numbers.
Bytes random_bytes(Random& random, const ops::OpEntry& entry, Dtype dtype, size_t count) {
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
  if (result.count() != input.count()) refuse("", "a result of another size than the input cannot be in place");
  result.offset = input.offset;
  return result;
}

struct Differs {
  std::string message;
};

/// Everything a case needs in memory, made once and shared by the candidates.
struct Stage {
  Stage(const Case& c, const CheckSettings& settings) : queue(settings.device.queue()) {
    place(c, settings);
    const ops::OpEntry& entry = ops::entry(c.op.name);
    Random random(settings.seed, c.text);
    std::vector<const std::byte*> starts;
    for (size_t i = 0; i < views.size(); ++i) {  // a buffer of several arrays has numbers of the first one's dtype
      if (holder[i] < contents.size()) continue;
      contents.push_back(random_bytes(random, entry, views[i].dtype, arenas[holder[i]].buffer().bytes()));
    }
    for (size_t i = 0; i < inputs(); ++i) starts.push_back(before(i).data());
    want = before(inputs());
    bound = ask_oracle(c.op, views, starts, want.data());
  }

  /// Returns what the output's buffer holds after the first run.
  Bytes run(const Plan& plan, int repeat) const {
    std::vector<Buffer> buffers;
    for (size_t arena : holder) buffers.push_back(arenas[arena].buffer());
    for (size_t i = 0; i < arenas.size(); ++i) queue.write(arenas[i].buffer(), 0, contents[i]).wait();
    Bytes first = first_of_runs(repeat, [&](Bytes& output) {
      queue.write(buffers.back(), 0, output).wait();
      plan.run(queue, buffers).wait();
      queue.read(buffers.back(), 0, output).wait();
    });
    require_inputs_unchanged();
    return first;
  }

  /// The same by run_on_host.
  Bytes run_on_host(const Operation& op, const Device& device, const PlanOptions& options, int repeat) const {
    std::vector<std::span<const std::byte>> in;
    for (size_t i = 0; i < inputs(); ++i) in.emplace_back(before(i));
    return first_of_runs(repeat, [&](Bytes& output) { axisloom::run_on_host(op, views, in, output, device, options); });
  }

  void keep(const std::string& prefix, const Bytes& result) const {
    const auto write = [&](const std::string& name, const View& view, const Bytes& bytes) {
      io::HostArray array = io::HostArray::allocate(view);
      std::copy_n(bytes.begin(), array.bytes, array.memory.get());
      io::write(fmt::format("{}-{}.npy", prefix, name), array);
    };
    for (size_t i = 0; i < inputs(); ++i) write(concat("in", i + 1), views[i], before(i));
    write("out", views.back(), result);
  }

  size_t inputs() const { return views.size() - 1; }
  const Bytes& before(size_t array) const { return contents[holder[array]]; }

  Queue queue;
  std::vector<View> views;      // inputs, then the output
  std::vector<size_t> holder;   // of each array, the number of the buffer that holds it
  std::vector<Arena> arenas;    // the buffers
  std::vector<Bytes> contents;  // of the buffers, before a run
  Bytes want;                   // of the output's buffer, after it
  std::vector<double> bound;

 private:
  // Buffer i holds array i, unless the output is the input or all arrays share one.
  void place(const Case& c, const CheckSettings& settings) {
    const i64 canaries = settings.tight ? 0 : canary_bytes;
    std::vector<size_t> bytes;
    std::vector<i64> align;
    const auto add = [&](const Place& place, size_t where) {
      views.push_back(place.view);
      holder.push_back(where);
      bytes.resize(std::max(bytes.size(), where + 1));
      align.resize(bytes.size(), place.view.align);
      bytes[where] = std::max(bytes[where], place.bytes);
      align[where] = std::min(align[where], place.view.align);
    };
    for (size_t i = 0; i < c.shapes.size(); ++i)
      add(Place(c.dtypes[i], c.shapes[i], c.inputs[i], canaries), c.one_buffer ? 0 : i);
    const View result = result_view(c.op, views);
    if (c.in_place) {
      views.push_back(view_in_place(views.front(), result));
      holder.push_back(0);
    } else {
      add(Place(result.dtype, result.shape, c.output, canaries), c.one_buffer ? 0 : c.shapes.size());
    }
    for (size_t i = 0; i < bytes.size(); ++i) arenas.emplace_back(settings.device, bytes[i], align[i]);
    for (size_t i = 0; i < views.size(); ++i) views[i].align = arenas[holder[i]].align();
  }

  void require_inputs_unchanged() const {
    for (size_t i = 0; i < inputs(); ++i) {
      if (holder[i] == holder.back()) continue;  // compared with the output
      Bytes after(before(i).size());
      queue.read(arenas[holder[i]].buffer(), 0, after).wait();
      const std::string difference = describe_difference(views[i], before(i), after);
      if (!difference.empty()) throw Differs{fmt::format("input {} was changed: {}", i + 1, difference)};
    }
  }

  // Each makes of the output's buffer before what it is after. The first is held against the oracle, the others, bit
  // for bit, against the first.
  template <class Run>
  Bytes first_of_runs(int repeat, const Run& run) const {
    Bytes first;
    for (int number = 0; number <= repeat; ++number) {
      Bytes got = before(inputs());
      run(got);
      const std::string difference = number == 0 ? describe_difference(views.back(), want, got, bound)
                                                 : describe_difference(views.back(), first, got);
      if (!difference.empty())
        throw Differs{number == 0 ? difference : fmt::format("in run {}: {}", number + 1, difference)};
      if (number == 0) first = std::move(got);
    }
    return first;
  }
};

/// Whether the output has a byte in common with an input, byte by byte.
bool arrays_meet(const Stage& stage) {
  std::vector<bool> written(stage.want.size());
  const auto for_each_byte = [](const View& view, auto&& visit) {
    const i64 size = size_of(view.dtype);
    for_each_element(view, [&](const Dims&, i64 offset) {
      for (i64 byte = offset * size; byte < (offset + 1) * size; ++byte) visit(byte);
      return true;
    });
  };
  for_each_byte(stage.views.back(), [&](size_t byte) { written[byte] = true; });
  bool meet = false;
  for (size_t i = 0; i < stage.inputs(); ++i)
    for_each_byte(stage.views[i], [&](size_t byte) { meet = meet || written[byte]; });
  return meet;
}

std::string one_line(const Error& error) {
  return concat(name(error.code()), " error: ", replaced(error.what(), "\n", " "));
}

// The code, and the message up to where it speaks of this case.
std::string kind_of(const Error& error) {
  const std::string& message = error.parts().message;
  return concat(name(error.code()), " error: ", message.substr(0, message.find_first_of("0123456789;:'\"")));
}

/// A case on its way with one candidate, or with the planner's own choice.
struct Attempt {
  const Case& c;
  const Stage& stage;
  const CheckSettings& settings;
  std::string candidate = {};

  PlanOptions options() const {
    PlanOptions options = plan_options_of(c, settings);
    if (!candidate.empty()) options.candidate = candidate;
    return options;
  }

  Plan plan() const { return axisloom::plan(c.op, stage.views, settings.device, options()); }

  Bytes run_as_planned() const {
    const Plan planned = plan();
    const PlanReport& report = planned.report();
    const std::string device = settings.device.info().label();
    if (report.device != device) throw Differs{fmt::format("planned for {} instead of {}", report.device, device)};
    if (!candidate.empty() && report.candidate != candidate)
      throw Differs{fmt::format("candidate {} was used instead of {}", report.candidate, candidate)};
    return stage.run(planned, settings.repeat);
  }

  Bytes run_in_slices() const {
    Device& small = (*settings.small)[*c.largest_buffer];
    if (!small) small = Device(std::make_shared<device::SmallBuffers>(settings.device.impl(), *c.largest_buffer));
    return stage.run_on_host(c.op, small, options(), settings.repeat);
  }

  /// Runs, or is refused because the arrays share memory, which they then must do.
  void run_in_one_buffer() const {
    const bool meet = arrays_meet(stage);
    try {
      run_as_planned();
    } catch (const Error& error) {
      if (error.code() != Errc::overlap) throw;
      if (!meet) throw Differs{"refused for sharing memory, which it does not"};
      return;
    }
    if (meet) throw Differs{"output and input share memory, which went unnoticed"};
  }

  Outcome outcome() const {
    try {
      if (c.one_buffer) {
        run_in_one_buffer();
      } else {
        const Bytes result = c.largest_buffer ? run_in_slices() : run_as_planned();
        if (!settings.keep.empty()) stage.keep(settings.keep, result);
      }
      return {Outcome::passed, candidate};
    } catch (const Differs& differs) {
      return {Outcome::failed, candidate, differs.message};
    }
  }
};

// The candidates to force, those that refuse already settled as outcomes.
Texts candidates_to_try(const Attempt& free_choice, std::vector<Outcome>& outcomes) {
  const std::string& wanted = free_choice.settings.candidate;
  if (wanted.empty() || free_choice.c.largest_buffer) return {""};  // slices are planned one by one
  const Plan plan = free_choice.plan();
  const auto& reports = plan.report().candidates;
  if (reports.empty()) return {""};  // nothing to do, so nobody was asked
  Texts accepted;
  for (const CandidateReport& report : reports) {
    if (wanted != "all" && report.name != wanted) continue;
    if (report.accepted)
      accepted.push_back(report.name);
    else
      outcomes.push_back({Outcome::refused, report.name, report.reason});
  }

  return accepted;
}

/// Whether a case forces what no plan chooses by itself: the host has those kernels only where it may compile.
bool asks_by_name(const Case& c, const CheckSettings& settings) {
  return !settings.candidate.empty() || settings.checked || !c.options.candidate.empty() ||
         !c.options.configuration.empty() || c.options.checked;
}

/// A device may be refused by name for what it lacks, and buffers may be too small for what cannot be cut. A candidate
/// that is forced on three arrays and more may be none for a step beyond the one that accepted it. All else has to
/// work.
bool is_refusal(const Error& error, const Case& c, const CheckSettings& settings) {
  const DeviceInfo& device = settings.device.info();
  if (error.code() == Errc::out_of_memory) return c.largest_buffer.has_value();
  const auto named = [&](const char* words) { return error.parts().message.find(words) != std::string::npos; };
  const size_t steps = std::max<size_t>(c.shapes.size(), 2) - 1;  // of an einsum, two arrays each
  return error.code() == Errc::unsupported &&
         ((steps > 1 && !settings.candidate.empty() && named("no candidate can do this")) ||
          (!device.f64 && named("f64")) || (!device.device_scope_order && named("cannot order the groups")) ||
          named("its kernel is written for") ||
          (asks_by_name(c, settings) && named("was not compiled with the library")));
}

Outcome expecting(const Case& c, const CheckSettings& settings) {
  const auto failed = [&](const std::string& instead) {
    return Outcome{Outcome::failed, "", fmt::format("want a {} error, got {}", name(*c.expect), instead)};
  };
  try {
    const Stage stage(c, settings);
    stage.run(Attempt{c, stage, settings}.plan(), 0);
  } catch (const Differs& differs) {
    return failed("a wrong result: " + differs.message);
  } catch (const Error& error) {
    if (error.code() == *c.expect) return {};
    if (is_refusal(error, c, settings)) return {Outcome::refused, "", one_line(error), kind_of(error)};
    return failed("a " + one_line(error));
  }

  return failed("a result");
}

}  // namespace

PlanOptions plan_options_of(const Case& c, const CheckSettings& settings) {
  PlanOptions options = c.options;
  if (settings.index_64) options.index = IndexWidth::bits64;
  options.in_place = c.in_place;
  options.checked = settings.checked;
  return options;
}

std::vector<Outcome> run_case(const Case& c, const CheckSettings& settings) {
  if (c.expect) return {expecting(c, settings)};
  std::vector<Outcome> outcomes;
  const auto note = [&](const Error& error, const std::string& candidate) {
    if (error.code() == Errc::device_lost) throw error;
    const auto kind = is_refusal(error, c, settings) ? Outcome::refused : Outcome::failed;
    outcomes.push_back({kind, candidate, one_line(error), kind_of(error)});
  };
  try {
    const Stage stage(c, settings);
    for (const auto& name : candidates_to_try({c, stage, settings}, outcomes)) try {
        outcomes.push_back(Attempt{c, stage, settings, name}.outcome());
      } catch (const Error& error) {
        note(error, name);
      }
  } catch (const Error& error) {
    note(error, "");
  }
  return outcomes;
}

}  // namespace axisloom::harness
