// Completions and manual page name everything that the parser knows.
#include "cli/generated_text.hpp"

#include "cli/app.hpp"

#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace axisloom::cli {
namespace {

void for_each_command(const CLI::App& command, const std::function<void(const CLI::App&)>& visit) {
  visit(command);
  for (const CLI::App* child : subcommands(command)) for_each_command(*child, visit);
}

class CliGeneratedText : public testing::Test {
 protected:
  Context context;
  std::unique_ptr<CLI::App> app = make_app(context);
};

TEST_F(CliGeneratedText, EveryCommandAndOptionIsInEveryText) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(*app, shell);
    for_each_command(*app, [&](const CLI::App& command) {
      EXPECT_NE(script.find(command.get_name()), std::string::npos) << shell << " " << command.get_name();
      for (const CLI::Option* option : typed_options(command))
        for (const std::string& name : option->get_lnames())
          EXPECT_NE(script.find(shell == "fish" ? "-l " + name : "--" + name), std::string::npos)
              << shell << " " << name;
    });
  }
}

TEST_F(CliGeneratedText, TheManualHoldsEveryOptionEscaped) {
  const std::string page = manual_page(*app);
  EXPECT_TRUE(page.starts_with(".TH AXISLOOM 1"));
  EXPECT_NE(page.find("\\-\\-device"), std::string::npos);
  EXPECT_NE(page.find(".SS \"cache clear\""), std::string::npos);
  EXPECT_NE(page.find("\\fItable|\\:json|\\:csv|\\:md\\fR"), std::string::npos);
  // A line that begins with a quote, or a dot and no macro, would vanish from the page.
  EXPECT_EQ(page.find("\n'"), std::string::npos);
}

TEST_F(CliGeneratedText, EveryCommandHasHelpAndExamples) {
  for_each_command(*app, [&](const CLI::App& command) {
    EXPECT_FALSE(command.get_description().empty()) << command.get_name();
    EXPECT_NE(command.get_footer().find("axisloom "), std::string::npos) << command.get_name();
    for (const CLI::Option* option : command.get_options())
      EXPECT_FALSE(option->get_description().empty()) << command.get_name() << " " << option->get_name();
  });
}

TEST_F(CliGeneratedText, ChoicesComeFromTheType) {
  const CLI::App* command = app->get_subcommand("devices");
  EXPECT_EQ(choices(*command->get_option("--format")), (std::vector<std::string>{"table", "json", "csv", "md"}));
  EXPECT_TRUE(choices(*app->get_option("--seed")).empty());
  EXPECT_FALSE(takes_value(*command->get_option("--verbose")));
  EXPECT_TRUE(takes_path(*app->get_subcommand("transpose")->get_option("--output")));
}

TEST_F(CliGeneratedText, AnUnknownShellIsRefused) {
  EXPECT_THROW(completion_script(*app, "csh"), Error);
}

}  // namespace
}  // namespace axisloom::cli
