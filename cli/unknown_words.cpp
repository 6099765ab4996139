// The nearest known word is the one that the fewest slips of the hand turn into what was typed.
#include "cli/unknown_words.hpp"

#include "io/quoting.hpp"

#include <algorithm>

namespace axisloom::cli {
namespace {

constexpr size_t letters_per_slip = 3;  // "devics" is near "devices"; of two letters nobody can say what was meant
constexpr size_t least_prefix = 3;      // likewise of a word that was not finished

/// Letters that are missing, too many, wrong, or swapped with their neighbours (Damerau and Levenshtein).
size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> slips(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      slips[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      const size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      slips[i][j] = std::min({slips[i - 1][j] + 1, slips[i][j - 1] + 1, slips[i - 1][j - 1] + wrong});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        slips[i][j] = std::min(slips[i][j], slips[i - 2][j - 2] + 1);
    }
  return slips.back().back();
}

/// Empty where none is near.
std::string nearest(const std::string& word, const Texts& known) {
  std::string found;
  size_t fewest = std::string::npos;
  for (const std::string& candidate : known) {
    const size_t most = candidate.size() / letters_per_slip;
    const bool begun = word.size() >= least_prefix && candidate.starts_with(word);
    if (!begun && (word.size() > candidate.size() + most || candidate.size() > word.size() + most)) continue;
    const size_t slips = begun ? 1 : slips_between(word, candidate);
    if ((begun || slips <= most) && slips < fewest) {
      fewest = slips;
      found = candidate;
    }
  }
  return found;
}

std::string remedy(const App& command, const std::string& meant) {
  const std::string help = path_of(command) + " --help";
  return meant.empty() ? help : fmt::format("did you mean {}? {} lists all", meant, help);
}

Texts options_of(const App& command) {
  Texts names;
  for (const Option* option : typed_options(command))
    for (const std::string& name : spellings(*option)) names.push_back(name);
  return names;
}

bool is_option_of_outer(const App& command, const std::string& name) {
  for (const App* outer = command.get_parent(); outer != nullptr; outer = outer->get_parent())
    if (std::ranges::count(options_of(*outer), name) > 0) return true;
  return false;
}

void refuse_word(const App& command, const std::string& word) {
  if (word.starts_with("-")) refuse_option(command, word.substr(0, word.find('=')));
  if (!subcommands(command).empty()) refuse_command(command, word);
  refuse(remedy(command, ""), "\"{}\" is one argument too many for {}", io::printable(word), path_of(command));
}

}  // namespace

const App& chosen_command(const App& app) {
  const std::vector<App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

std::string path_of(const App& command) {
  const App* const above = command.get_parent();
  return (above ? path_of(*above) + " " : "") + command.get_name();
}

void refuse_unknown_word(const App& app) {
  if (const Texts words = app.remaining(); !words.empty()) refuse_word(app, words.front());
  for (const App* command : app.get_subcommands()) refuse_unknown_word(*command);
}

void refuse_command(const App& above, const std::string& word) {
  const std::string meant = nearest(word, [&] {
    Texts names;
    for (const App* command : subcommands(above)) names.push_back(command->get_name());
    return names;
  }());
  refuse(remedy(above, meant.empty() ? "" : path_of(above) + " " + meant), "{} has no command \"{}\"", path_of(above),
         io::printable(word));
}

void refuse_option(const App& command, const std::string& name) {
  if (is_option_of_outer(command, name)) refuse("leave it out", "{} does not take {}", path_of(command), name);
  refuse(remedy(command, nearest(name, options_of(command))), "{} has no option {}", path_of(command),
         io::printable(name));
}

}  // namespace axisloom::cli
