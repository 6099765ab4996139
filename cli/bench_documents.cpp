// Stored documents: printed, compared, drawn.
#include "cli/bench_documents.hpp"

#include "bench/comparison.hpp"
#include "bench/page.hpp"
#include "bench/report.hpp"
#include "bench/standings.hpp"
#include "cli/messages.hpp"
#include "cli/results.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <map>

namespace axisloom::cli {
namespace {

struct CompareOptions {
  std::string before, after;
  double percent = 2;
  bool force = false;
  std::string output;
};

struct ReportOptions {
  std::vector<std::string> files;
  std::string output;
};

void run_compare(const CompareOptions& options, Context& context) {
  Results results(options.output);
  const bench::Document before = bench::load_document(options.before), after = bench::load_document(options.after);
  const bench::Comparison comparison = bench::compared(before, after, options.percent / 100);
  if (!comparison.same_device() && !options.force)
    throw Error(Errc::usage,
                fmt::format("{} was measured on {}, and {} on {}", io::printable(options.before), comparison.before,
                            io::printable(options.after), comparison.after),
                "compare documents of one device, or force it with --force");
  const harness::Format format = format_of_results(options.output, context.format, context.format_given);
  results.finish(bench::text_of(comparison, format));
  if (comparison.regression()) context.exit_code = exit_differs;
}

/// The files' names without folders, or whole where two would be the same.
std::vector<bench::NamedDocument> load_all(const std::vector<std::string>& files) {
  std::map<std::string, int> uses;
  const auto short_name = [](const std::string& file) { return std::filesystem::path(file).filename().string(); };
  for (const std::string& file : files) ++uses[short_name(file)];
  std::vector<bench::NamedDocument> documents;
  for (const std::string& file : files)
    documents.push_back({uses[short_name(file)] == 1 ? short_name(file) : file, bench::load_document(file)});
  return documents;
}

void add_table(CLI::App& bench_command) {
  CLI::App* command = bench_command.add_subcommand("table", "Print a stored JSON document as a table for a README.");
  auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "What axisloom bench --format json wrote")->type_name("FILE")->required();
  set_examples(*command, "axisloom bench table results.json");
  set_action(*command, [=] { print(bench::markdown_of(bench::load_document(*path))); });
}

void add_standings(CLI::App& bench_command, Context& context) {
  CLI::App* command = bench_command.add_subcommand(
      "standings",
      "For each suite and library, count the cases in which it was faster than Axisloom, and name the worst.");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("files", *files, "What axisloom bench --format json wrote")->type_name("FILE...")->required();
  add_common_options(*command, context, {.format = true});
  set_examples(*command, "axisloom bench standings docs/results/h200/full/*-cuda.json");
  set_action(*command, [=, &context] {
    std::vector<bench::Document> documents;
    for (const std::string& file : *files) documents.push_back(bench::load_document(file));
    print(bench::standings_of(documents).text(context.format));
  });
}

void add_compare(CLI::App& bench_command, Context& context) {
  CLI::App* command = bench_command.add_subcommand(
      "compare", "Say of each case of two JSON documents whether Axisloom is FASTER, SLOWER, the SAME, or UNCLEAR.");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("old", options->before, "The older document")->type_name("FILE")->required();
  command->add_option("new", options->after, "The newer document")->type_name("FILE")->required();
  command->add_option("--threshold", options->percent, "Percent by which times may differ and still count as the same")
      ->check(CLI::Range(0.0, 1000.0).description(""))
      ->type_name("PERCENT")
      ->capture_default_str();
  command->add_flag("--force", options->force, "Compare documents of different devices");
  command->add_option("-o,--output", options->output, "Output file; standard output when none is given")
      ->type_name("FILE");
  add_common_options(*command, context, {.format = true});
  set_examples(
      *command,
      "axisloom bench compare old.json new.json\naxisloom bench compare --threshold 5 --format md old.json new.json");
  set_action(*command, [=, &context] { run_compare(*options, context); });
}

void add_report(CLI::App& bench_command) {
  CLI::App* command = bench_command.add_subcommand(
      "report", "Write JSON documents as one HTML page with tables, bar charts and rooflines.");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("files", options->files, "What axisloom bench --format json wrote")
      ->type_name("FILE...")
      ->required();
  command->add_option("-o,--output", options->output, "Output file; standard output when none is given")
      ->type_name("FILE");
  set_examples(*command,
               "axisloom bench report results.json -o report.html\naxisloom bench report docs/results/h200/*.json -o "
               "report.html");
  set_action(*command, [=] {
    Results results(options->output);
    results.finish(bench::page_of(load_all(options->files)));
  });
}

}  // namespace

void add_bench_documents(CLI::App& bench, Context& context) {
  add_table(bench);
  add_standings(bench, context);
  add_compare(bench, context);
  add_report(bench);
}

}  // namespace axisloom::cli
