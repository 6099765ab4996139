// axisloom help: what --help prints, asked for by name.
#include "cli/app.hpp"
#include "cli/messages.hpp"
#include "cli/unknown_words.hpp"

#include <algorithm>

namespace axisloom::cli {
namespace {

void show_help(const Texts& words, const Context& context) {
  const App* command = context.command->get_parent();
  for (const std::string& word : words) {
    const std::vector<const App*> known = subcommands(*command);
    const auto found = std::ranges::find(known, word, [](const App* child) { return child->get_name(); });
    if (found == known.end()) refuse_command(*command, word);
    command = *found;
  }
  print(command->get_formatter()->make_help(command, path_of(*command), CLI::AppFormatMode::Normal));
}

}  // namespace

void add_help(App& app, Context& context) {
  add_command<Texts>(app, context,
                     {"help", "Print the help of a command.", "axisloom help transpose\naxisloom help bench compare"},
                     show_help, [](App& command, Texts& words) {
                       add_value(command, "command", words, "COMMAND...", "A command, and one of its own");
                     });
}

}  // namespace axisloom::cli
