// The program axisloom: parses, runs, and turns what went wrong into one line and an exit code.
#include "cli/app.hpp"
#include "cli/drivers.hpp"
#include "cli/help.hpp"
#include "cli/messages.hpp"
#include "cli/ranks.hpp"
#include "cli/unknown_words.hpp"

#include "device/process.hpp"

#include <cstdio>
#include <exception>
#include <new>

namespace axisloom::cli {
namespace {

// CLI11 takes its arguments last first. A pattern with nothing on its left ("-> h") would be read as an option.
Texts arguments(int argc, char** argv) {
  Texts reversed;
  for (int i = argc - 1; i > 0; --i) {
    const std::string argument = argv[i];
    reversed.push_back(argument.starts_with("->") ? " " + argument : argument);
  }
  return reversed;
}

// A command line that cannot be parsed. One that stops before a command that is needed gets to see which there are.
int refuse_parsing(const App& app, const CLI::ParseError& error) {
  refuse_unknown_word(app);
  const App& command = chosen_command(app);
  if (!subcommands(command).empty() && error.get_exit_code() == int(CLI::ExitCodes::RequiredError)) {
    print_help(app.help());
    finish_output();
  } else {
    say(error_text(error.what(), path_of(command) + " --help"));
  }
  return exit_usage;
}

int run(App& app, Context& context, int argc, char** argv) {
  try {
    app.parse(arguments(argc, argv));
  } catch (const CLI::CallForHelp&) {
    print_help(app.help());
  } catch (const CLI::CallForAllHelp&) {
    print_help(app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    return refuse_parsing(app, error);
  }
  finish_output();
  return context.exit_code;
}

int run(int argc, char** argv) {
  Context context;
  try {
    const auto app = make_app(context);
    return run(*app, context, argc, argv);
  } catch (const Error& error) {
    say(error_text(error));
    if (error.code() == Errc::no_device) say("see also: axisloom doctor");
    return exit_code(error.code());
  } catch (const NotForRanks& refused) {
    return refuse_on_ranks(refused);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // of the standard library: no more threads, say
    say(error_text(error.what()));
    return exit_code(Errc::device);
  }
}

}  // namespace
}  // namespace axisloom::cli

int main(int argc, char** argv) {
  using namespace axisloom::cli;
  occupy_standard_streams();
  install_signal_handlers();
  axisloom::device::set_before_drivers(arrange_drivers);
  int code = 0;
  try {
    code = run(argc, argv);
  } catch (const std::bad_alloc&) {  // also of the words for another error; these need no memory
    std::fputs("axisloom: out of host memory\nremedy: use smaller arrays\n", stderr);
    code = axisloom::exit_code(axisloom::Errc::out_of_memory);
  }
  leave_drivers();
  return code;
}
