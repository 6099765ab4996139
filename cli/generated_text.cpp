// Walking the parser.
#include "cli/generated_text.hpp"

#include "harness/arguments.hpp"

namespace axisloom::cli {

std::vector<const CLI::Option*> typed_options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return !option->get_positional(); });
}

std::vector<const CLI::Option*> positionals(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::App*> subcommands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* child) { return !child->get_name().empty(); });
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.get_snames()) all.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) all.push_back("--" + name);
  return all;
}

std::vector<std::string> choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::vector<std::string_view> words = harness::split(type, "|");
  return words.size() == 1 ? std::vector<std::string>() : std::vector<std::string>(words.begin(), words.end());
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

bool takes_path(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.find("FILE") != std::string::npos || type.find("FOLDER") != std::string::npos;
}

}  // namespace axisloom::cli
