// The manual page, in troff with the man macros.
#include "cli/generated_text.hpp"

namespace axisloom::cli {
namespace {

// troff reads a backslash anywhere, a dash as a hyphen, and a dot or a quote at the start of a line.
std::string escaped(std::string_view text) {
  const auto line = [](std::string_view plain) {
    const std::string dashes = replaced(replaced(plain, "\\", "\\e"), "-", "\\-");
    return (plain.starts_with('.') ? "\\&" : "") + replaced(dashes, "'", "\\(aq");
  };
  return joined(split(text, "\n"), "\n", line);
}

// Inside a macro's quoted argument a double quote is written twice.
std::string argument(std::string_view text) {
  return "\"" + replaced(escaped(text), "\"", "\"\"") + "\"";
}

std::string option_text(const Option& option, const std::string& name) {
  std::string text = ".TP\n\\fB" + escaped(name) + "\\fR";
  const std::string type = option.get_type_name();
  if (takes_value(option) && !option.get_positional() && !type.empty())
    text += " \\fI" + replaced(escaped(type), "|", "|\\:") + "\\fR";  // a long list of choices may be broken
  return text + "\n" + escaped(option.get_description()) + "\n";
}

std::string synopsis(const App& command, const std::string& path) {
  std::string text = ".B " + escaped(path) + "\n";
  if (!typed_options(command).empty()) text += ".RI [ options ]\n";
  for (const Option* option : positionals(command)) {
    const std::string name = escaped(option->get_name(true));
    text += option->get_required() ? ".I " + name + "\n" : ".RI [ " + name + " ]\n";
  }
  if (!subcommands(command).empty()) text += ".I subcommand\n";
  return text + ".br\n";
}

std::string options_text(const App& command) {
  std::string text;
  for (const Option* option : positionals(command)) text += option_text(*option, option->get_name(true));
  for (const Option* option : typed_options(command))
    if (!is_shared(*option)) text += option_text(*option, joined(spellings(*option), ", "));
  return text;
}

/// The page explains once what many commands take.
std::string shared_options_text(const App& app) {
  std::string text;
  for (const char* group : shared_groups) {
    text += ".SS " + argument(group) + "\n";
    for (const Option* option : options_of_group(app, group))
      text += option_text(*option, joined(spellings(*option), ", "));
  }
  return text;
}

std::string examples_text(const App& command) {
  return ".PP\n.EX\n" + escaped(command.get_footer()) + "\n.EE\n";
}

}  // namespace

std::string manual_page(const App& app) {
  std::string text = fmt::format(".TH AXISLOOM 1 \"\" {} \"User Commands\"\n", argument(app.version()));
  text += ".SH NAME\naxisloom \\- rearrange arrays at the speed of memory\n";
  text += ".SH SYNOPSIS\n";
  for (const auto& [path, command] : all_commands(app)) text += synopsis(*command, path);
  text += ".SH DESCRIPTION\n" + escaped(app.get_description()) +
          "\nResults go to standard output, messages to standard error.\n";
  text += ".SH OPTIONS\n" + options_text(app) + shared_options_text(app);
  text += ".SH COMMANDS\n";
  for (const auto& [path, command] : all_commands(app))
    if (command != &app)
      text += ".SS " + argument(path.substr(app.get_name().size() + 1)) + "\n" + escaped(command->get_description()) +
              "\n" + options_text(*command) + examples_text(*command);
  text += ".SH EXIT STATUS\n";
  constexpr const char* meanings[] = {"done",
                                      "a result differs from what it should be",
                                      "usage: the command line is wrong",
                                      "no device",
                                      "a file that cannot be read or written, or is damaged",
                                      "the device or its driver failed, or lacks what is needed"};
  for (int code = 0; code < 6; ++code) text += fmt::format(".TP\n.B {}\n{}\n", code, escaped(meanings[code]));
  text +=
      ".SH ENVIRONMENT\n.TP\n.B AXISLOOM_DEVICE\nDevice that \\fBauto\\fR takes, in the grammar of "
      "\\fB\\-\\-device\\fR.\n";
  text += ".TP\n.B AXISLOOM_CACHE_DIR\nFolder of compiled programs; \\fBoff\\fR keeps them in memory only.\n";
  text += ".TP\n.B AXISLOOM_THREADS\nThreads of the device \\fBhost\\fR, instead of one for each processor.\n";
  text +=
      ".TP\n.B AXISLOOM_ISA\nThe most that its kernels may need: \\fBbaseline\\fR, \\fBv3\\fR, \\fBv4\\fR, "
      "\\fBv4_vnni\\fR, \\fBv4_bf16\\fR or \\fBneon\\fR.\n";
  text +=
      ".TP\n.B AXISLOOM_HOST_COMPILER\nAbsolute path of a C++ compiler, for kernels that were not compiled with the "
      "library.\n";
  text +=
      ".TP\n.B AXISLOOM_MPI\nAbsolute path of libaxisloom_mpi.so, by which the ranks that \\fBmpirun\\fR starts share "
      "moves; \\fBoff\\fR has each process work by itself.\n";
  text += ".SH EXAMPLES\n" + examples_text(app);
  return text;
}

}  // namespace axisloom::cli
