// The program's parser: one CLI::App, from which help, completions and the man page are all made.
#pragma once

#include "harness/table.hpp"

#include "core/integers.hpp"

#include <axisloom/device.hpp>

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>

namespace axisloom::cli {

/// Options that several subcommands take, and the exit code that the chosen one leaves.
struct Context {
  std::string device = "auto";
  harness::Format format = harness::Format::table;
  bool format_given = false;
  u64 seed = 1;
  bool verbose = false;
  bool quiet = false;
  int exit_code = 0;
};

inline constexpr int exit_done = 0;
inline constexpr int exit_differs = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_no_device = 3;
inline constexpr int exit_file = 4;

/// The whole parser. Parsing runs what was asked for; `context` must outlive the parser.
std::unique_ptr<CLI::App> make_app(Context& context);

/// The option of that name, such as "--keep". CLI11's own search by name ends the process when memory is short.
CLI::Option* option_of(CLI::App& command, const std::string& name);

/// Lets an option take these words only, which then are its type.
CLI::Option* take_only(CLI::Option* option, const std::vector<std::string>& words);

/// Which of the common options mean something to a command; the others it does not take.
struct CommonOptions {
  bool device = false, format = false, seed = false, verbose = false, quiet = false;

  static constexpr CommonOptions all() { return {true, true, true, true, true}; }
};
void add_common_options(CLI::App& command, Context& context, const CommonOptions& which = CommonOptions::all());
inline constexpr CommonOptions measuring_options{.device = true, .format = true, .seed = true, .quiet = true};
/// Refuses options before the command's name that it does not take itself: they would be ignored.
void refuse_ignored(const CLI::App& command);
/// What a command does once it is named, after refuse_ignored().
void set_action(CLI::App& command, std::function<void()> action);
/// Examples below the options: one a line, "what it does" above its command.
void set_examples(CLI::App& command, const std::string& examples);

/// Adds subcommands.
using Adding = void(CLI::App& app, Context& context);
Adding add_devices, add_doctor, add_operations, add_demo, add_check, add_bench, add_ladder, add_cache, add_calibrate;

}  // namespace axisloom::cli
