// Completion scripts. All three shells get the same logic: walk the typed words down the tree of subcommands and count
// arguments, then offer the values of the option before the cursor, else options, else the values of the argument, else
// subcommands, else files.
#include "cli/suggestions.hpp"

namespace axisloom::cli {
namespace {

// Inside single quotes of a POSIX shell or fish; both take the quote apart and escape it outside.
std::string quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\n", " "), "'", "'\\''") + "'";
}

std::string first_sentence(const std::string& text) {
  return text.substr(0, text.find_first_of(".\n;"));
}

std::string quoted_spellings(const std::string& path, const Option* option) {
  return joined(spellings(*option), "|", [&](const std::string& spelling) { return quoted(path + " " + spelling); });
}

/// What becomes of a word that was typed: a command is entered, an option takes the next word along, or an argument is
/// counted. For bash and zsh.
std::string case_lines_of_words(const App& app) {
  std::string lines;
  for (const auto& [path, command] : all_commands(app)) {
    for (const App* child : subcommands(*command))
      lines += fmt::format("      '{0} {1}') command='{0} {1}' n=0 ;;\n", path, child->get_name());
    for (const Option* option : typed_options(*command))
      if (takes_value(*option)) lines += fmt::format("      {}) ((++i)) ;;\n", quoted_spellings(path, option));
  }
  return lines + "      \"$command -\"*) ;;\n      *) ((++n)) ;;\n";
}

/// How a shell offers words, the lines that a command prints, and paths.
struct Offers {
  fmt::string_view words, lines;
  std::string paths;

  /// Empty where nothing is known.
  std::string of(const Suggestions& known) const {
    if (!known.words.empty()) return fmt::format(fmt::runtime(words), joined(known.words, " "));
    if (!known.command.empty()) return fmt::format(fmt::runtime(lines), known.command);
    return known.paths ? paths : "";
  }
};

/// A line per option with a value.
std::string case_lines_of_values(const App& app, const Offers& offers) {
  std::string lines;
  for (const auto& [path, command] : all_commands(app))
    for (const Option* option : typed_options(*command)) {
      if (!takes_value(*option)) continue;
      const std::string action = offers.of(suggestions_of(*option, path));
      lines +=
          fmt::format("    {}) {}{}return ;;\n", quoted_spellings(path, option), action, action.empty() ? "" : "; ");
    }
  return lines;
}

/// A line per argument for which words are known, by its number; the last one may stand several times.
std::string case_lines_of_arguments(const App& app, const Offers& offers) {
  std::string lines;
  for (const auto& [path, command] : all_commands(app)) {
    const std::vector<const Option*> arguments = positionals(*command);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Suggestions known = suggestions_of(*arguments[i], path);
      if (known.words.empty() && known.command.empty()) continue;
      const std::string number = repeats(*arguments[i]) ? "*" : std::to_string(i);
      lines += fmt::format("    {}\\ {}) {}; return ;;\n", quoted(path), number, offers.of(known));
    }
  }
  return lines;
}

std::string bash(const App& app) {
  const Offers offering{"COMPREPLY=($(compgen -W '{}' -- \"$cur\"))",
                        "local IFS=$'\\n'; COMPREPLY=($(compgen -W \"$({})\" -- \"${{cur//\\\\/}}\"))",
                        "COMPREPLY=($(compgen -f -- \"$cur\"))"};
  std::string offers;
  const auto all_spellings = [](const Option* option) { return joined(spellings(*option), " "); };
  for (const auto& [path, command] : all_commands(app))
    offers += fmt::format("    {}) options='{}'; commands='{}' ;;\n", quoted(path),
                          joined(typed_options(*command), " ", all_spellings),
                          joined(subcommands(*command), " ", &App::get_name));
  return fmt::format(
      R"(# bash completion for axisloom; made by `axisloom --completion bash`
_axisloom() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=axisloom options commands i n=0
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
{}    esac
  done
  COMPREPLY=()
  case "$command $prev" in
{}  esac
  case "$command" in
{}  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$cur")); return; fi
  case "$command $n" in
{}  esac
  if [[ -n $commands ]]; then COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  else COMPREPLY=($(compgen -f -- "$cur"))
  fi
}}
complete -o filenames -F _axisloom axisloom
)",
      case_lines_of_words(app), case_lines_of_values(app, offering), offers, case_lines_of_arguments(app, offering));
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
  const Offers offering{"compadd -- {}", "compadd -- ${{(f)\"$({})\"}}", "_files"};
  std::string offers;
  for (const auto& [path, command] : all_commands(app))
    offers +=
        fmt::format("    {})\n      options=({})\n      commands=({}) ;;\n", quoted(path),
                    joined(typed_options(*command), " ", zsh_options), joined(subcommands(*command), " ", zsh_command));
  return fmt::format(R"(#compdef axisloom
# zsh completion for axisloom; made by `axisloom --completion zsh`
_axisloom() {{
  local command=axisloom i n=0
  local -a options commands
  for ((i = 2; i < CURRENT; ++i)); do
    case "$command ${{words[i]}}" in
{}    esac
  done
  case "$command ${{words[CURRENT-1]}}" in
{}  esac
  case "$command" in
{}  esac
  if [[ $PREFIX == -* ]]; then _describe option options; return; fi
  case "$command $n" in
{}  esac
  if (( $#commands )); then _describe command commands
  else _files
  fi
}}
if [[ $funcstack[1] == _axisloom ]]; then _axisloom "$@"; else compdef _axisloom axisloom; fi
)",
                     case_lines_of_words(app), case_lines_of_values(app, offering), offers,
                     case_lines_of_arguments(app, offering));
}

/// What -a is given.
std::string fish_words(const Suggestions& known) {
  return quoted(known.command.empty() ? joined(known.words, " ") : "(" + known.command + ")");
}

std::string fish_option(const std::string& path, const Option& option) {
  std::string line = "complete -c axisloom -n " + quoted("__axisloom_at " + quoted(path));
  for (const auto& name : option.get_snames()) line += " -s " + name;
  for (const auto& name : option.get_lnames()) line += " -l " + name;
  if (takes_value(option)) {
    const Suggestions known = suggestions_of(option, path);
    line += known.paths ? " -r -F" : " -x";
    if (!known.words.empty()) line += " -a " + fish_words(known);
  }
  return line + " -d " + quoted(first_sentence(option.get_description())) + "\n";
}

std::string fish_arguments(const std::string& path, const App& command) {
  std::string lines;
  const std::vector<const Option*> arguments = positionals(command);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Suggestions known = suggestions_of(*arguments[i], path);
    if (known.words.empty() && known.command.empty()) continue;
    const std::string number = repeats(*arguments[i]) ? "" : " " + std::to_string(i);
    lines += fmt::format("complete -c axisloom -f -n {} -a {}\n", quoted("__axisloom_at " + quoted(path) + number),
                         fish_words(known));
  }
  return lines;
}

std::string fish(const App& app) {
  std::string words, lines;
  for (const auto& [path, command] : all_commands(app)) {
    for (const App* child : subcommands(*command)) {
      words += fmt::format("      case '{0} {1}'\n        set command '{0} {1}'\n        set n 0\n", path,
                           child->get_name());
      lines += fmt::format("complete -c axisloom -f -n {} -a {} -d {}\n", quoted("__axisloom_at " + quoted(path)),
                           child->get_name(), quoted(first_sentence(child->get_description())));
    }
    for (const Option* option : typed_options(*command)) {
      lines += fish_option(path, *option);
      if (takes_value(*option))
        words += fmt::format("      case {}\n        set skip 1\n", replaced(quoted_spellings(path, option), "|", " "));
    }
    lines += fish_arguments(path, *command);
  }
  return fmt::format(R"(# fish completion for axisloom; made by `axisloom --completion fish`
function __axisloom_at
  set -l command axisloom
  set -l n 0
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    switch "$command $word"
{}      case "$command -*"
      case '*'
        set n (math $n + 1)
    end
  end
  test "$command" = "$argv[1]"; and begin
    not set -q argv[2]; or test $argv[2] = $n
  end
end
{})",
                     words, lines);
}

}  // namespace

std::string completion_script(const App& app, std::string_view shell) {
  if (shell == "bash") return bash(app);
  if (shell == "zsh") return zsh(app);
  if (shell == "fish") return fish(app);
  refuse("one of bash, zsh, fish", "there is no completion for the shell \"{}\"", shell);
}

}  // namespace axisloom::cli
