// axisloom help: what --help prints, asked for by name; and what many commands take, described once.
#include "cli/help.hpp"

#include "cli/generated_text.hpp"
#include "cli/messages.hpp"
#include "cli/unknown_words.hpp"

#include <algorithm>

namespace axisloom::cli {
namespace {

constexpr const char* options_topic = "options";

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(34); }

  std::string make_group(std::string group, bool is_positional, std::vector<const Option*> options) const override {
    if (is_described(group, options)) return Formatter::make_group(group, is_positional, options);
    const auto all_spellings = [](const Option* option) { return joined(spellings(*option), ","); };
    return fmt::format("{} (axisloom help {}):\n  {}\n", group, options_topic, joined(options, " ", all_spellings));
  }

  /// The options of a group, all described.
  std::string described(const std::string& group, const std::vector<const Option*>& options) const {
    return Formatter::make_group(group, false, options);
  }

 private:
  static bool is_described(const std::string& group, const std::vector<const Option*>& options) {
    return std::ranges::count(shared_groups, group) == 0 || options.empty();
  }
};

void show_options(const App& app) {
  std::string text = "Options that many commands take; the help of a command names those that it takes.\n";
  for (const char* group : shared_groups) text += HelpFormatter().described(group, options_of_group(app, group));
  print_help(text);
}

void show_help(const Texts& words, const Context& context) {
  const App* command = context.command->get_parent();
  if (words == Texts{options_topic}) return show_options(*command);
  for (const std::string& word : words) {
    const std::vector<const App*> known = subcommands(*command);
    const auto found = std::ranges::find(known, word, [](const App* child) { return child->get_name(); });
    if (found == known.end()) refuse_command(*command, word);
    command = *found;
  }
  print_help(command->get_formatter()->make_help(command, path_of(*command), CLI::AppFormatMode::Normal));
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  return std::make_shared<HelpFormatter>();
}

void print_help(const std::string& text) {
  print(text, [](size_t, std::string_view line) { return !line.starts_with(' ') && line.ends_with(':'); });
}

void add_help(App& app, Context& context) {
  add_command<Texts>(app, context,
                     {"help", "Print the help of a command, or of the options that many take.",
                      "axisloom help transpose\naxisloom help bench compare\naxisloom help options"},
                     show_help, [](App& command, Texts& words) {
                       add_value(command, "command", words, "COMMAND...",
                                 "A command, and one of its own; or the word options");
                     });
}

}  // namespace axisloom::cli
