// Stored documents: printed, compared, drawn.
#include "cli/bench_documents.hpp"

#include "bench/comparison.hpp"
#include "bench/page.hpp"
#include "bench/report.hpp"
#include "bench/standings.hpp"
#include "cli/results.hpp"

#include <filesystem>
#include <map>

namespace axisloom::cli {
namespace {

struct CompareOptions {
  std::string before, after, output;
  double percent = 2;
  bool force = false;
};

struct ReportOptions {
  Texts files;
  std::string output;
};

void run_compare(const CompareOptions& options, Context& context) {
  const Format format = format_of_results(options.output, context);
  Results results(options.output);
  const bench::Document before = bench::load_document(options.before), after = bench::load_document(options.after);
  const bench::Comparison comparison = bench::compared(before, after, options.percent / 100);
  if (!comparison.same_device() && !options.force)
    refuse("compare documents of one device, or force it with --force", "{} was measured on {}, and {} on {}",
           io::printable(options.before), comparison.before, io::printable(options.after), comparison.after);
  results.finish(bench::text_of(comparison, format));
  if (comparison.regression()) context.exit_code = exit_differs;
}

/// The files' names without folders, or whole where two would be the same.
std::vector<bench::NamedDocument> load_all(const Texts& files) {
  std::map<std::string, int> uses;
  const auto short_name = [](const std::string& file) { return std::filesystem::path(file).filename().string(); };
  for (const auto& file : files) ++uses[short_name(file)];
  std::vector<bench::NamedDocument> documents;
  for (const auto& file : files)
    documents.push_back({uses[short_name(file)] == 1 ? short_name(file) : file, bench::load_document(file)});
  return documents;
}

void run_report(const ReportOptions& options, const Context&) {
  require_extension(options.output, {".html", ".htm"});
  Results results(options.output);
  results.finish(bench::page_of(load_all(options.files)));
}

void run_table(const std::string& file, const Context&) {
  print(bench::markdown_of(bench::load_document(file)));
}

std::vector<bench::Document> loaded(const Texts& files) {
  std::vector<bench::Document> documents;
  for (const auto& file : files) documents.push_back(bench::load_document(file));
  return documents;
}

void run_standings(const Texts& files, const Context& context) {
  print(bench::standings_of(loaded(files)), context);
}

void run_chart(const ReportOptions& options, const Context&) {
  Results results(options.output);
  results.finish(bench::standings_chart(loaded(options.files)));
}

template <class Place>
void add_stored(App& command, const std::string& name, const std::string& type, Place& place) {
  add_value(command, name, place, type, "What axisloom bench --format json wrote")->required();
}

void add_output_file(App& command, std::string& output) {
  add_value(command, "-o,--output", output, "FILE", "Output file; standard output when none is given");
}

void add_compare_options(App& command, CompareOptions& options) {
  add_value(command, "old", options.before, "FILE", "The older document")->required();
  add_value(command, "new", options.after, "FILE", "The newer document")->required();
  add_value(command, "--threshold", options.percent, "PERCENT",
            "Percent by which times may differ and still count as the same")
      ->check(CLI::Range(0.0, 1000.0).description(""))
      ->capture_default_str();
  command.add_flag("--force", options.force, "Compare documents of different devices");
  add_output_file(command, options.output);
}

void add_report_options(App& command, ReportOptions& options) {
  add_stored(command, "files", "FILE...", options.files);
  add_output_file(command, options.output);
}

}  // namespace

void add_bench_documents(App& bench, Context& context) {
  add_command<std::string>(
      bench, context,
      {"table", "Print a stored JSON document as a table for a README.", "axisloom bench table results.json"},
      run_table, [](App& command, std::string& file) { add_stored(command, "file", "FILE", file); });
  add_command<Texts>(
      bench, context,
      {"standings",
       "For each suite and library, count the cases in which it was faster than Axisloom, and name the worst.",
       "axisloom bench standings docs/results/h200/full/*-cuda.json",
       {.format = true}},
      run_standings, [](App& command, auto& files) { add_stored(command, "files", "FILE...", files); });
  add_command<ReportOptions>(bench, context,
                             {"chart", "Draw how many times as fast as each library Axisloom is, by suite, as an SVG.",
                              "axisloom bench chart docs/results/cpu/full/*.json -o chart.svg"},
                             run_chart, add_report_options);
  add_command<CompareOptions>(
      bench, context,
      {"compare",
       "Say of each case of two JSON documents whether Axisloom is FASTER, SLOWER, the SAME, or UNCLEAR.",
       "axisloom bench compare old.json new.json\naxisloom bench compare --threshold 5 --format md old.json new.json",
       {.format = true}},
      run_compare, add_compare_options);
  add_command<ReportOptions>(bench, context,
                             {"report", "Write JSON documents as one HTML page with tables, bar charts and rooflines.",
                              "axisloom bench report results.json -o report.html\n"
                              "axisloom bench report docs/results/h200/*.json -o report.html"},
                             run_report, add_report_options);
}

}  // namespace axisloom::cli
