// From rungs to contestants of one competition, and its result as a member of the document.
#include "bench/failure.hpp"
#include "bench/ladder/ladder.hpp"
#include "bench/peers/peers.hpp"
#include "bench/report.hpp"
#include "device/device.hpp"
#include "harness/arguments.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace axisloom::bench::ladder {
namespace {

/// With the last two axes in each other's place.
Dims exchanged(Dims dims) {
  if (dims.size() >= 2) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return dims;
}

std::string_view chosen(const std::string& by_user, std::string_view usual) {
  return by_user.empty() ? usual : by_user;
}

std::string_view default_shape(const Lesson& lesson, Size size, const DeviceInfo& device) {
  if (size == Size::lesson) return lesson.shapes.lesson;
  return device.kind == Kind::cpu ? lesson.shapes.large_on_cpu : lesson.shapes.large_on_gpu;
}

/// A rung on its way: its case, what it forces, and what became of it.
struct Step {
  const Rung* rung = nullptr;
  std::string text;
  PlanOptions options;
  UniqueContestant contestant;
  Entry entry;
};

/// The cases of a lesson, prepared when first asked for.
struct Workloads {
  const Device& device;
  Team& team;
  const Settings& settings;
  std::map<std::pair<std::string_view, std::string>, Workload> made = {};

  Workload& of(const std::string& text, std::string_view isa = {}) {
    if (const auto known = made.find({isa, text}); known != made.end()) return known->second;
    return made
        .try_emplace({isa, text}, parse_case(text), isa.empty() ? device : Device(device::host_limited_to(isa)), team,
                     settings.seed, settings.strength)
        .first->second;
  }
};

/// What the candidate itself said, out of a message that lists all.
std::string reason_of(const Error& error, std::string_view candidate) {
  const std::string& message = error.parts().message;
  const std::string mark = fmt::format("; {}: ", candidate);
  const size_t at = message.find(mark);
  return candidate.empty() || at == std::string::npos ? message : message.substr(at + mark.size());
}

/// Plans the rungs; one that the device or the job does not allow has its reason in its entry.
std::vector<Step> steps_of(const Lesson& lesson, const std::vector<Rung>& rungs, const Choice& choice,
                           const DeviceInfo& device, Dtype dtype, Workloads& workloads) {
  std::vector<Step> steps;
  for (const Rung& rung : rungs) {
    auto& [its_rung, text, options, contestant, entry] = steps.emplace_back();
    its_rung = &rung;
    text = case_text(lesson, choice, device, rung.change);
    options = options_of(rung, lesson.op, size_of(dtype));
    entry.name = rung.name;
    entry.role = Role::ours;
    try {
      contestant = make_ours(workloads.of(text, rung.isa), entry.name, options);
    } catch (const Error& error) {
      if (error.code() == Errc::device_lost) throw;
      entry.status = error.code() == Errc::unsupported ? Status::absent : Status::failed;
      entry.reason = reason_of(error, rung.candidate);
    }
  }
  return steps;
}

/// Whether two medians differ for certain and by more than what is worth a word: their intervals do not touch.
bool differ(const Summary& a, const Summary& b) {
  constexpr double worth_a_word = 0.02;
  return std::abs(a.median - b.median) > worth_a_word * b.median && (a.low > b.high || b.low > a.high);
}

/// The step that a rung is compared with: the one that it names, where that was timed, else the nearest one before.
const Step* step_before(const Step& step, const std::vector<Step>& steps) {
  const Step* nearest = nullptr;
  for (const Step& earlier : steps) {
    if (&earlier == &step) break;
    if (!earlier.entry.call) continue;
    if (earlier.rung->name == step.rung->over) return &earlier;
    nearest = &earlier;
  }
  return nearest;
}

void write_speed_up(Json& json, const Step& step, const Step* before, Clock clock) {
  if (before == nullptr || !step.entry.call) return;
  const double speed_up = before->entry.seconds / step.entry.seconds;
  const bool clear = differ(*step.entry.by(clock), *before->entry.by(clock));
  json["speed_up"] = std::round(speed_up * 1e4) / 1e4;
  json["over"] = before->rung->name;
  json["effect"] = !clear ? "unclear" : speed_up > 1 ? "faster" : "slower";
}

Json rung_json(const Step& step, const Step* before, const CaseResult& result, const DeviceInfo& device) {
  Json json = json_of(step.entry, result.reference_role);
  json.erase("role");
  json.erase("rank");
  json["case"] = step.text;
  json["candidate"] = step.options.candidate;
  json["configuration"] = step.options.configuration;
  json["sentence"] = sentence(*step.rung, device);
  write_speed_up(json, step, before, result.clock);
  return json;
}

Json climbed_json(const Lesson& lesson, const CaseResult& result, const std::vector<Step>& steps,
                  const DeviceInfo& device) {
  const Json measured = json_of(result);
  Json json{{"title", lesson.title}};
  for (const char* key : {"case", "op", "shapes", "bytes", "operations", "limit", "check", "clock", "cache"})
    json[key] = measured[key];
  json["yardstick"] = result.reference;
  json["rungs"] = Json::array();
  for (const Step& step : steps) json["rungs"].push_back(rung_json(step, step_before(step, steps), result, device));
  json["beside"] = measured["contestants"];
  return json;
}

/// The reference that shares refer to, first, and the ladder's peers; those that cannot take part go to `missing`.
Contestants others(const Ladder& ladder, Workload& workload, Session& session, const Settings& settings,
                   std::vector<Entry>& missing) {
  Contestants found;
  for (const PeerEntry& peer : peer_table()) {
    const bool shown = std::ranges::count(ladder.peers, peer.name) > 0;
    const bool wanted = is_reference(peer.role) ? found.empty() : shown && takes_part(peer, settings);
    if (peer.role == Role::ours || !wanted) continue;
    Offer offer;
    const auto failure = failure_of([&] { offer = peer.offer(workload, session); });
    if (offer.contestant)
      found.push_back(std::move(offer.contestant));
    else if (!is_reference(peer.role))
      missing.push_back({.name = std::string(peer.name),
                         .status = failure ? Status::failed : Status::absent,
                         .reason = failure.value_or(offer.reason)});
  }
  return found;
}

}  // namespace

std::string case_text(const Lesson& lesson, const Choice& choice, const DeviceInfo& device, Change change) {
  const bool product = lesson.op == "matmul";  // of two shapes, the second of which may be left out
  std::vector<Dims> shapes;
  for (std::string_view shape :
       split(chosen(choice.shape, default_shape(lesson, choice.size, device)), product ? "," : ""))
    shapes.push_back(parse_shape(shape));
  if (product && shapes.size() == 1) shapes.push_back(exchanged(shapes.front()));
  const Dtype dtype = parse_dtype(chosen(choice.dtype, lesson.dtype));
  std::string text = fmt::format("{} {} {}", change == Change::copy ? "copy" : lesson.op, name(dtype),
                                 joined(shapes, ",", shape_text));
  const std::string_view arguments = chosen(choice.arguments, lesson.arguments);
  if (!arguments.empty() && change != Change::copy) text += concat(" ", arguments);
  if (change == Change::misaligned) text += " in-offset=1 out-offset=1";
  if (change == Change::a_along_m && shapes.front().size() >= 2)
    text += " in-strides=" + joined(exchanged(contiguous_strides(exchanged(shapes.front()))), ",");
  return text;
}

std::vector<Rung> rungs_of(const Lesson& lesson, const Choice& choice) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"baseline", "tuned-baseline"}, {"v3", "tuned-v3"}, {"v4", "tuned-v4"}, {"neon", "tuned-neon"}};
  std::vector<Rung> rungs = lesson.rungs;
  for (const auto& [isa, name] : names)
    if (std::ranges::count(choice.isas, isa) > 0)
      rungs.push_back({.name = name,
                       .why = "What Axisloom chooses on a processor that has no more than this instruction set.",
                       .isa = isa});
  return rungs;
}

PlanOptions options_of(const Rung& rung, std::string_view op, i64 element_bytes) {
  PlanOptions options;
  options.candidate = rung.candidate;
  for (const auto& [tunable, wanted, unit] : rung.settings) {
    i64& value = options.configuration[std::string(tunable)];
    value = unit == Unit::elements ? wanted * element_bytes : wanted;
    for (const ops::CandidateInfo& info : ops::entry(op).candidates)
      if (info.name == rung.candidate && unit == Unit::elements)
        for (const ops::Tunable& known : info.tunables)
          if (known.name == tunable)
            value = *(std::upper_bound(known.values.begin() + 1, known.values.end(), value) - 1);
  }
  return options;
}

std::string_view sentence(const Rung& rung, const DeviceInfo& device) {
  if (device.kind == Kind::cpu && !rung.on_cpu.empty()) return rung.on_cpu;
  return device.api == Api::cuda && !rung.on_cuda.empty() ? rung.on_cuda : rung.why;
}

Json climb(const Ladder& ladder, const Lesson& lesson, const Choice& choice, const Device& device, Team& team,
           Session& session, const Settings& settings, const Progress& progress) {
  progress(concat(lesson.title, ": preparing"));
  const std::string text = case_text(lesson, choice, device.info(), Change::none);
  Workloads workloads{device, team, settings};
  Workload& workload = workloads.of(text);
  const std::vector<Rung> rungs = rungs_of(lesson, choice);
  auto steps = steps_of(lesson, rungs, choice, device.info(), workload.in().dtype, workloads);
  std::vector<Entry> missing;
  auto contestants = others(ladder, workload, session, settings, missing);
  const size_t first_rung = contestants.size();
  for (Step& step : steps)
    if (step.contestant) contestants.push_back(std::move(step.contestant));
  Settings warm = settings;
  warm.cache = CacheChoice::warm;  // as lessons measure; with large arrays it makes no difference
  CacheFlusher flusher(device, team);
  CaseResult result =
      std::move(compete(workload, std::string(lesson.title), contestants, flusher, warm, progress).front());
  auto entry = result.entries.begin() + first_rung;
  for (Step& step : steps)
    if (step.entry.status == Status::right) step.entry = std::move(*entry++);
  result.entries.resize(first_rung);
  result.entries.insert(result.entries.end(), missing.begin(), missing.end());
  return climbed_json(lesson, result, steps, device.info());
}

}  // namespace axisloom::bench::ladder
