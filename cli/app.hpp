// The program's parser: one CLI::App, from which help, completions and the man page are all made.
#pragma once

#include "harness/table.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

namespace axisloom::cli {

using namespace harness;  // whose words for cases, tables and arguments are the program's too
using CLI::App, CLI::Option;

/// Options that several subcommands take, and the exit code that the chosen one leaves.
struct Context {
  std::string device = "auto";
  Format format = Format::table;
  u64 seed = 1;
  bool format_given = false, verbose = false, quiet = false;
  int exit_code = 0;
  const App* command = nullptr;  // the one that was named
};

inline constexpr int exit_differs = 1, exit_usage = 2, exit_no_device = 3;

/// The whole parser. Parsing runs what was asked for; `context` must outlive the parser.
std::unique_ptr<App> make_app(Context& context);

/// The option of that name, such as "--keep". CLI11's own search by name ends the process when memory is short.
Option* option_of(App& command, const std::string& name);
/// Whether it has one.
bool has_option(const App& command, const std::string& name);

/// Adds an option with a value, for which the word `type` stands in help texts.
template <class Value>
Option* add_value(App& command, const std::string& names, Value& value, const std::string& type,
                  const std::string& help) {
  return command.add_option(names, value, help)->type_name(type);
}
/// What stands for a value of these kinds in help texts; completions know the words by it (cli/generated_text.hpp).
inline constexpr const char *dtype_value = "DTYPE", *device_value = "SPEC", *layout_value = "LAYOUT",
                            *reduction_value = "REDUCTION", *peers_value = "PEERS", *profile_value = "PROFILE",
                            *case_value = "CASE-OR-NAME";
/// Lets an option take these words only, "a|b|c", which then are its type.
Option* take_only(Option* option, const std::string& words);
/// Adds --min-time.
void add_min_seconds(App& command, double& seconds, const std::string& help);

/// A table in the format that was asked for, on standard output.
void print(const Table& table, const Context& context);

/// Which of the common options mean something to a command; the others it does not take.
struct CommonOptions {
  bool device = false, format = false, seed = false, verbose = false, quiet = false;
};
inline constexpr CommonOptions all_options{true, true, true, true, true};
inline constexpr CommonOptions measuring_options{.device = true, .format = true, .seed = true, .quiet = true};
void add_common_options(App& command, Context& context, const CommonOptions& which);
/// Refuses options before the command's name that it does not take itself: they would be ignored.
void refuse_ignored(const App& command);

/// What a command is called and does, examples (one a line, "what it does" above its command), and which of the common
/// options it takes.
struct About {
  std::string name, summary, examples;
  CommonOptions common = {};
};
/// Adds a command that has commands of its own, one of which is to be named.
App& add_group(App& above, Context& context, const About& about);
/// Adds a command with the options that `declare` adds, and then the common ones; `act` is what it does once it is
/// named, after refuse_ignored().
void add_command(App& above, Context& context, const About& about, std::function<void(Context& context)> act,
                 const std::function<void(App& command)>& declare = {});
/// The same by run(options, context) and declare(command, options).
template <class Options, class Run, class Declare>
void add_command(App& above, Context& context, const About& about, Run run, const Declare& declare) {
  const auto options = std::make_shared<Options>();
  add_command(
      above, context, about, [=](Context& shared) { run(*options, shared); },
      [&](App& command) { declare(command, *options); });
}

/// Adds subcommands.
using Adding = void(App& app, Context& context);
Adding add_devices, add_doctor, add_operations, add_demo, add_check, add_bench, add_ladder, add_cache, add_calibrate,
    add_help, add_info;

}  // namespace axisloom::cli
