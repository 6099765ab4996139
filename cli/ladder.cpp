// axisloom ladder: one job from the textbook's first kernel to the tuned one, rung by rung.
#include "bench/document.hpp"
#include "bench/environment.hpp"
#include "bench/ladder/views.hpp"
#include "bench/peers/peers.hpp"
#include "cli/results.hpp"

#include <algorithm>

namespace axisloom::cli {
namespace {

namespace ladder = bench::ladder;

struct LadderOptions {
  ladder::Choice choice;
  std::string size = "lesson";
  std::string from, to;
  Texts peers{"all"};
  double min_seconds = 0.2;
  std::string output;
};

constexpr const char* chart_extension = ".svg";

/// A chart goes to its file, and the text to standard output; any other file takes the text's place there.
class LadderResults {
 public:
  LadderResults(const std::string& path, const Context& context)
      : results_(path),
        chart_(io::extension_of(path) == chart_extension),
        format_(format_of_results(path, context, {chart_extension})) {}

  void save(const Json& document) { results_.save(file_text(document)); }
  void finish(const Json& document) {
    results_.finish(file_text(document));
    if (chart_) print(ladder::text_of(document, format_));
  }

 private:
  std::string file_text(const Json& document) const {
    return chart_ ? ladder::svg_of(document) : ladder::text_of(document, format_);
  }

  Results results_;
  bool chart_;
  Format format_;
};

bench::Settings ladder_settings(const LadderOptions& options, const Context& context) {
  bench::Settings settings;
  settings.rules = bench::Rules::with_min_seconds(options.min_seconds);
  settings.seed = context.seed;
  const auto asks_for = [&](const char* word) { return std::ranges::count(options.peers, word) > 0; };
  settings.all_peers = asks_for("all");
  const bool none = asks_for("none");
  if ((none || settings.all_peers) && options.peers.size() > 1)
    refuse("leave out the rest", "all and none cannot be combined with other --peers");
  if (!none) settings.peers = options.peers;
  return settings;
}

void tell_missing_peers(const Json& climbed) {
  for (const auto& entry : climbed["beside"])
    if (entry["status"] == "absent")
      say("without {}: {}", bench::text_at(entry, "name"), bench::text_at(entry, "reason"));
}

ladder::Choice choice_of(const LadderOptions& options) {
  ladder::Choice choice = options.choice;
  if (options.size == "large") choice.size = ladder::Size::large;
  if (!options.from.empty()) choice.arguments = options.from + " " + options.to;
  return choice;
}

/// Says which rungs are wrong or failed.
void tell_faults(const Json& climbed, Context& context) {
  for (const auto& rung : climbed["rungs"]) {
    const bool wrong = rung["status"] == "WRONG";
    if (!wrong && rung["status"] != "failed") continue;
    tell_fault(fmt::format("{}: {}: {}", bench::text_at(rung, "name"), bench::text_at(rung, "status"),
                           rung.value("reason", "")),
               wrong, context);
  }
}

void run_ladder(const ladder::Ladder& what, const LadderOptions& options, Context& context) {
  LadderResults results(options.output, context);
  const bench::Settings settings = ladder_settings(options, context);
  const Device device = Device::open(context.device);
  if (!options.choice.isas.empty() && device.info().api != Api::host)
    refuse("choose --device host, or leave --isa out", "only the host has kernels for several instruction sets");
  ladder::Surroundings surroundings{bench::environment(device), bench::conditions(device), bench::moment()};
  bench::Team team;
  bench::Session session;
  auto lessons = Json::array();
  const auto document = [&] { return ladder::document(what.name, surroundings, settings, lessons); };
  Steps steps("lesson", what.lessons.size());
  const auto tell = [&](const std::string& line) { steps.show(line); };
  const auto measure = [&] {
    for (const ladder::Lesson& lesson : what.lessons) {
      steps.begin();
      lessons.push_back(ladder::climb(what, lesson, choice_of(options), device, team, session, settings, tell));
      surroundings.after = bench::moment();
      results.save(document());
    }
  };
  measure_and_finish(measure, [&](bool complete) {
    if (!complete && lessons.empty()) return;
    if (complete) surroundings.after = bench::conditions(device);
    if (!context.quiet) {
      say("on {}", device.info().label());
      for (const auto& climbed : lessons) tell_missing_peers(climbed);
    }
    results.finish(document());
  });
  for (const auto& climbed : lessons) tell_faults(climbed, context);
}

struct StoredOptions {
  std::string file, output;
};

void show_stored(const StoredOptions& options, const Context& context) {
  LadderResults results(options.output, context);
  const auto document = bench::parse_document(options.file);
  try {
    results.finish(document);
  } catch (const Error& error) {
    if (error.code() != Errc::file) throw;
    throw Error(error.code(), io::printable(options.file) + ": " + error.parts().message, error.parts().remedy);
  }
}

void add_output(App& command, std::string& output) {
  constexpr const char* help =
      "Output file, saved with every lesson: a bar chart where it ends in .svg, else .json, .csv, .md, or a table in "
      ".txt";
  add_value(command, "-o,--output", output, "FILE", help);
}

/// The lessons' own shapes, for help texts.
std::string shapes_of(const ladder::Ladder& what) {
  return joined(what.lessons, "; ",
                [](const ladder::Lesson& lesson) { return concat(lesson.dtype, " ", lesson.shapes.lesson); });
}

void add_ladder_options(App& command, const ladder::Ladder& what, LadderOptions& options) {
  take_only(
      command.add_option("--size", options.size,
                         fmt::format("Sizes of the lessons ({}), or so large that memory and not the launch decides",
                                     shapes_of(what))),
      "lesson|large")
      ->capture_default_str();
  command
      .add_option("--shape", options.choice.shape,
                  what.name == "matmul" ? "Shape of A, then a comma and that of B (default: A's transposed)"
                                        : "Shape of the input")
      ->excludes(option_of(command, "--size"))
      ->type_name("SHAPE");
  take_only(command
                .add_option("--isa", options.choice.isas,
                            "Instruction sets of the host to compare: what is chosen with no more than each")
                ->delimiter(','),
            "baseline|v3|v4|neon");
  add_value(command, "--dtype", options.choice.dtype, dtype_value, "Element type");
  if (what.name == "relayout") {
    Option* const from = add_value(command, "--from", options.from, layout_value, "Layout of the input");
    Option* const to = add_value(command, "--to", options.to, layout_value, "Layout of the output");
    from->needs(to);
    to->needs(from);
  }
  if (!what.peers.empty())
    take_only(command.add_option("--peers", options.peers, "Peers to show beside the rungs")->delimiter(','),
              "all|none|" + joined(what.peers, "|"));
  add_min_seconds(command, options.min_seconds, "Minimum seconds that each rung runs");
  add_output(command, options.output);
}

}  // namespace

void add_ladder(App& app, Context& context) {
  App& group = add_group(
      app, context,
      {"ladder", "One job from the textbook's first kernel to the tuned one: each rung timed, checked and explained.",
       "axisloom ladder transpose\n"
       "axisloom ladder copy --dtype u8 --shape 16777216 -o copy.svg\n"
       "axisloom ladder relayout --from NCHW --to NHWC --dtype f32\n"
       "axisloom ladder matmul --peers none --format json -o matmul.json",
       measuring_options});
  for (const ladder::Ladder& what : ladder::ladders())
    add_command<LadderOptions>(
        group, context,
        {std::string(what.name), std::string(what.summary),
         fmt::format("axisloom ladder {0}\naxisloom ladder {0} --size large -o {0}.svg", what.name), measuring_options},
        [&what](const LadderOptions& options, Context& shared) { run_ladder(what, options, shared); },
        [&what](App& command, LadderOptions& options) { add_ladder_options(command, what, options); });
  add_command<StoredOptions>(
      group, context,
      {"show",
       "Print or draw a stored JSON document of a ladder.",
       "axisloom ladder show transpose.json -o transpose.svg",
       {.format = true}},
      show_stored, [](App& command, StoredOptions& options) {
        add_value(command, "file", options.file, "FILE", "What axisloom ladder wrote as JSON")->required();
        add_output(command, options.output);
      });
}

}  // namespace axisloom::cli
