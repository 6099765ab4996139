// Completion scripts. All three shells get the same logic: walk the typed words down the tree of subcommands, then
// offer the values of the option before the cursor, else options, else subcommands, else files.
#include "cli/generated_text.hpp"
#include "harness/arguments.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

namespace axisloom::cli {
namespace {

using Visit = std::function<void(const std::string& path, const CLI::App& command)>;

void walk(const CLI::App& command, const std::string& path, const Visit& visit) {
  visit(path, command);
  for (const CLI::App* child : subcommands(command)) walk(*child, path + " " + child->get_name(), visit);
}

// Inside single quotes of a POSIX shell or fish; both take the quote apart and escape it outside.
std::string quoted(const std::string& text) {
  std::string result;
  for (char c : text) result += c == '\'' ? std::string("'\\''") : c == '\n' ? std::string(" ") : std::string(1, c);
  return "'" + result + "'";
}

std::string first_sentence(const std::string& text) {
  return text.substr(0, text.find_first_of(".\n;"));
}

std::string case_lines_of_commands(const CLI::App& app) {
  std::string lines;
  walk(app, app.get_name(), [&](const std::string& path, const CLI::App& command) {
    for (const CLI::App* child : subcommands(command))
      lines += fmt::format("      '{0} {1}') command='{0} {1}' ;;\n", path, child->get_name());
  });
  return lines;
}

// One line per spelling of each option with a value: `choice` for a list of words, `path` for files, `other` for the
// rest.
std::string case_lines_of_values(const CLI::App& app, fmt::string_view choice, const std::string& path_action) {
  std::string lines;
  walk(app, app.get_name(), [&](const std::string& path, const CLI::App& command) {
    for (const CLI::Option* option : typed_options(command)) {
      if (!takes_value(*option)) continue;
      std::vector<std::string> patterns;
      for (const std::string& spelling : spellings(*option)) patterns.push_back(quoted(path + " " + spelling));
      const auto words = choices(*option);
      std::string action;
      if (!words.empty()) action = fmt::format(fmt::runtime(choice), fmt::join(words, " "));
      if (takes_path(*option)) action = path_action;
      lines += fmt::format("    {}) {}{}return ;;\n", fmt::join(patterns, "|"), action, action.empty() ? "" : "; ");
    }
  });
  return lines;
}

std::string names(const std::vector<const CLI::App*>& commands) {
  return harness::joined(commands, " ", [](const CLI::App* command) { return command->get_name(); });
}

std::string bash(const CLI::App& app) {
  std::string offers;
  walk(app, app.get_name(), [&](const std::string& path, const CLI::App& command) {
    std::vector<std::string> options;
    for (const CLI::Option* option : typed_options(command))
      for (const std::string& spelling : spellings(*option)) options.push_back(spelling);
    offers += fmt::format("    {}) options='{}'; commands='{}' ;;\n", quoted(path), fmt::join(options, " "),
                          names(subcommands(command)));
  });
  return fmt::format(
      R"(# bash completion for axisloom; made by `axisloom --completion bash`
_axisloom() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=axisloom options commands i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
{}    esac
  done
  COMPREPLY=()
  case "$command $prev" in
{}  esac
  case "$command" in
{}  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ -n $commands ]]; then COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  else COMPREPLY=($(compgen -f -- "$cur"))
  fi
}}
complete -o filenames -F _axisloom axisloom
)",
      case_lines_of_commands(app),
      case_lines_of_values(app, "COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", "COMPREPLY=($(compgen -f -- \"$cur\"))"),
      offers);
}

// `_describe` takes "name:description" with colons in the name escaped.
std::string zsh_entry(const std::string& name, const std::string& description) {
  return quoted(name + ":" + first_sentence(description));
}

std::string zsh(const CLI::App& app) {
  std::string offers;
  walk(app, app.get_name(), [&](const std::string& path, const CLI::App& command) {
    std::vector<std::string> options;
    std::vector<std::string> commands;
    for (const CLI::Option* option : typed_options(command))
      for (const std::string& spelling : spellings(*option))
        options.push_back(zsh_entry(spelling, option->get_description()));
    for (const CLI::App* child : subcommands(command))
      commands.push_back(zsh_entry(child->get_name(), child->get_description()));
    offers += fmt::format("    {})\n      options=({})\n      commands=({}) ;;\n", quoted(path),
                          fmt::join(options, " "), fmt::join(commands, " "));
  });
  return fmt::format(R"(#compdef axisloom
# zsh completion for axisloom; made by `axisloom --completion zsh`
_axisloom() {{
  local command=axisloom i
  local -a options commands
  for ((i = 2; i < CURRENT; ++i)); do
    case "$command ${{words[i]}}" in
{}    esac
  done
  case "$command ${{words[CURRENT-1]}}" in
{}  esac
  case "$command" in
{}  esac
  if [[ $PREFIX == -* ]]; then _describe option options
  elif (( $#commands )); then _describe command commands
  else _files
  fi
}}
if [[ $funcstack[1] == _axisloom ]]; then _axisloom "$@"; else compdef _axisloom axisloom; fi
)",
                     case_lines_of_commands(app), case_lines_of_values(app, "compadd -- {}", "_files"), offers);
}

std::string fish_option(const std::string& path, const CLI::Option& option) {
  std::string line = fmt::format("complete -c axisloom -n {}", quoted("__axisloom_at " + quoted(path)));
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  if (takes_value(option)) {
    const auto words = choices(option);
    line += takes_path(option) ? " -r -F" : " -x";
    if (!words.empty()) line += fmt::format(" -a '{}'", fmt::join(words, " "));
  }
  return line + " -d " + quoted(first_sentence(option.get_description())) + "\n";
}

std::string fish(const CLI::App& app) {
  std::string commands;
  std::string lines;
  walk(app, app.get_name(), [&](const std::string& path, const CLI::App& command) {
    for (const CLI::App* child : subcommands(command)) {
      commands += fmt::format("      case '{0} {1}'\n        set command '{0} {1}'\n", path, child->get_name());
      lines += fmt::format("complete -c axisloom -f -n {} -a {} -d {}\n", quoted("__axisloom_at " + quoted(path)),
                           child->get_name(), quoted(first_sentence(child->get_description())));
    }
    for (const CLI::Option* option : typed_options(command)) lines += fish_option(path, *option);
  });
  return fmt::format(R"(# fish completion for axisloom; made by `axisloom --completion fish`
function __axisloom_at
  set -l command axisloom
  for word in (commandline -opc)[2..-1]
    switch "$command $word"
{}    end
  end
  test "$command" = "$argv[1]"
end
{})",
                     commands, lines);
}

}  // namespace

std::string completion_script(const CLI::App& app, std::string_view shell) {
  if (shell == "bash") return bash(app);
  if (shell == "zsh") return zsh(app);
  if (shell == "fish") return fish(app);
  throw Error(Errc::usage, fmt::format("there is no completion for the shell \"{}\"", shell), "one of bash, zsh, fish");
}

}  // namespace axisloom::cli
