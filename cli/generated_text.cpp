// Walking the parser.
#include "cli/generated_text.hpp"

#include <algorithm>

namespace axisloom::cli {

std::vector<const Option*> typed_options(const App& command) {
  return command.get_options([](const Option* option) { return !option->get_positional(); });
}

std::vector<const Option*> positionals(const App& command) {
  return command.get_options([](const Option* option) { return option->get_positional(); });
}

bool is_shared(const Option& option) {
  return std::ranges::count(shared_groups, option.get_group()) > 0 || option.check_lname("help");
}

std::vector<const Option*> options_of_group(const App& app, std::string_view group) {
  std::vector<const Option*> found;
  for (const Command& command : all_commands(app))
    for (const Option* option : typed_options(*command.app)) {
      const auto is_it = [&](const Option* known) { return spellings(*known) == spellings(*option); };
      if (option->get_group() == group && std::ranges::none_of(found, is_it)) found.push_back(option);
    }
  return found;
}

std::vector<const App*> subcommands(const App& command) {
  return command.get_subcommands([](const App* child) { return !child->get_name().empty(); });
}

std::vector<Command> all_commands(const App& app) {
  std::vector<Command> all{{app.get_name(), &app}};
  for (const App* child : subcommands(app))
    for (const auto& [path, command] : all_commands(*child)) all.push_back({app.get_name() + " " + path, command});
  return all;
}

Texts spellings(const Option& option) {
  Texts all;
  for (const auto& name : option.get_snames()) all.push_back("-" + name);
  for (const auto& name : option.get_lnames()) all.push_back("--" + name);
  return all;
}

Texts choices(const Option& option) {
  const std::string type = option.get_type_name();
  const auto words = split(type, "|");
  if (words.size() == 1) return {};
  return {words.begin(), words.end()};
}

bool takes_value(const Option& option) {
  return option.get_items_expected_max() > 0;
}

bool repeats(const Option& option) {
  return option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
}

bool takes_path(const Option& option) {
  const std::string type = option.get_type_name();
  return type.find("FILE") != std::string::npos || type.find("FOLDER") != std::string::npos;
}

}  // namespace axisloom::cli
