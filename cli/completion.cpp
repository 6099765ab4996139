// Completion scripts. All three shells get the same logic: walk the typed words down the tree of subcommands, then
// offer the values of the option before the cursor, else options, else subcommands, else files.
#include "cli/generated_text.hpp"

namespace axisloom::cli {
namespace {

// Inside single quotes of a POSIX shell or fish; both take the quote apart and escape it outside.
std::string quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\n", " "), "'", "'\\''") + "'";
}

std::string first_sentence(const std::string& text) {
  return text.substr(0, text.find_first_of(".\n;"));
}

std::string case_lines_of_commands(const App& app) {
  std::string lines;
  for (const auto& [path, command] : all_commands(app))
    for (const App* child : subcommands(*command))
      lines += fmt::format("      '{0} {1}') command='{0} {1}' ;;\n", path, child->get_name());
  return lines;
}

// One line per option with a value, for all its spellings: `choice` for a list of words, `path_action` for files.
std::string case_lines_of_values(const App& app, fmt::string_view choice, const std::string& path_action) {
  std::string lines;
  for (const Command& command : all_commands(app))
    for (const Option* option : typed_options(*command.app)) {
      if (!takes_value(*option)) continue;
      const auto pattern = [&](const std::string& spelling) { return quoted(command.path + " " + spelling); };
      const auto words = choices(*option);
      std::string action;
      if (!words.empty()) action = fmt::format(fmt::runtime(choice), joined(words, " ")) + "; ";
      if (takes_path(*option)) action = path_action + "; ";
      lines += fmt::format("    {}) {}return ;;\n", joined(spellings(*option), "|", pattern), action);
    }
  return lines;
}

std::string bash(const App& app) {
  std::string offers;
  const auto all_spellings = [](const Option* option) { return joined(spellings(*option), " "); };
  for (const auto& [path, command] : all_commands(app))
    offers += fmt::format("    {}) options='{}'; commands='{}' ;;\n", quoted(path),
                          joined(typed_options(*command), " ", all_spellings),
                          joined(subcommands(*command), " ", &App::get_name));
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

std::string zsh_options(const Option* option) {
  return joined(spellings(*option), " ",
                [&](const std::string& spelling) { return zsh_entry(spelling, option->get_description()); });
}

std::string zsh_command(const App* command) {
  return zsh_entry(command->get_name(), command->get_description());
}

std::string zsh(const App& app) {
  std::string offers;
  for (const auto& [path, command] : all_commands(app))
    offers +=
        fmt::format("    {})\n      options=({})\n      commands=({}) ;;\n", quoted(path),
                    joined(typed_options(*command), " ", zsh_options), joined(subcommands(*command), " ", zsh_command));
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

std::string fish_option(const std::string& path, const Option& option) {
  std::string line = "complete -c axisloom -n " + quoted("__axisloom_at " + quoted(path));
  for (const auto& name : option.get_snames()) line += " -s " + name;
  for (const auto& name : option.get_lnames()) line += " -l " + name;
  if (takes_value(option)) {
    const auto words = choices(option);
    line += takes_path(option) ? " -r -F" : " -x";
    if (!words.empty()) line += fmt::format(" -a '{}'", joined(words, " "));
  }
  return line + " -d " + quoted(first_sentence(option.get_description())) + "\n";
}

std::string fish(const App& app) {
  std::string commands, lines;
  for (const auto& [path, command] : all_commands(app)) {
    for (const App* child : subcommands(*command)) {
      commands += fmt::format("      case '{0} {1}'\n        set command '{0} {1}'\n", path, child->get_name());
      lines += fmt::format("complete -c axisloom -f -n {} -a {} -d {}\n", quoted("__axisloom_at " + quoted(path)),
                           child->get_name(), quoted(first_sentence(child->get_description())));
    }
    for (const Option* option : typed_options(*command)) lines += fish_option(path, *option);
  }
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

std::string completion_script(const App& app, std::string_view shell) {
  if (shell == "bash") return bash(app);
  if (shell == "zsh") return zsh(app);
  if (shell == "fish") return fish(app);
  refuse("one of bash, zsh, fish", "there is no completion for the shell \"{}\"", shell);
}

}  // namespace axisloom::cli
