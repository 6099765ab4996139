// Assembles the parser from the subcommands.
#include "cli/app.hpp"

#include "cli/generated_text.hpp"
#include "cli/messages.hpp"
#include "harness/arguments.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <map>
#include <set>

namespace axisloom::cli {
namespace {

constexpr const char* top_examples =
    "axisloom transpose in.png -o out.png\n"
    "axisloom rearrange \"n (c x) h w -> n c h w x\" x=32 in.npy -o out.npy\n"
    "axisloom relayout NCHW NC/32HW32 in.npy -o out.npy --verify\n"
    "axisloom doctor";

void run_top(const CLI::App& app, const std::string& completion, bool man) {
  if (man || !completion.empty())
    for (const CLI::Option* option : typed_options(app))
      if (option->count() > 0 && option->get_group() == common_group)
        throw Error(Errc::usage,
                    fmt::format("{} takes no {}", man ? "--man" : "--completion", spellings(*option).back()),
                    "leave it out");
  if (man) return print(manual_page(app));
  if (!completion.empty()) return print(completion_script(app, completion));
  if (app.get_subcommands().empty()) throw CLI::RequiredError("A subcommand");
}

void add_format(CLI::App& command, Context& context) {
  static const std::map<std::string, harness::Format> formats{{"table", harness::Format::table},
                                                              {"json", harness::Format::json},
                                                              {"csv", harness::Format::csv},
                                                              {"md", harness::Format::md}};
  take_only(command.add_option_function<std::string>(
                "--format",
                [&context](const std::string& name) {
                  context.format = formats.at(name);
                  context.format_given = true;
                },
                "How results are printed"),
            {"table", "json", "csv", "md"})
      ->group(common_group);
}

/// An empty value would be taken for none.
void refuse_empty_values(CLI::App& command) {
  const auto not_empty = [](const std::string& text) { return text.empty() ? "its value is empty" : std::string(); };
  for (CLI::Option* option : command.get_options())
    if (!option->get_positional() && takes_value(*option)) option->check(CLI::Validator(not_empty, ""));
  for (CLI::App* child : command.get_subcommands(nullptr)) refuse_empty_values(*child);
}

}  // namespace

void add_common_options(CLI::App& command, Context& context, const CommonOptions& which) {
  if (which.device)
    command
        .add_option("--device", context.device,
                    "auto | cpu | gpu | cuda[:N] | opencl[:N] | opencl:NAME; auto takes AXISLOOM_DEVICE when it is set")
        ->type_name("SPEC")
        ->group(common_group);
  if (which.format) add_format(command, context);
  if (which.seed)
    command.add_option("--seed", context.seed, "Seed of everything random")->type_name("NUMBER")->group(common_group);
  if (which.verbose)
    command.add_flag("-v,--verbose", context.verbose, "Show what was decided, and why")->group(common_group);
  if (which.quiet) command.add_flag("-q,--quiet", context.quiet, "Print errors only")->group(common_group);
}

CLI::Option* option_of(CLI::App& command, const std::string& name) {
  return command.get_options([&](const CLI::Option* option) { return option->check_name(name); }).at(0);
}

CLI::Option* take_only(CLI::Option* option, const std::vector<std::string>& words) {
  return option->check(CLI::IsMember(words).description(""))->type_name(harness::joined(words, "|"));
}

void refuse_ignored(const CLI::App& command) {
  std::set<std::string> given;
  for (const CLI::Option* option : typed_options(command))
    if (option->count() > 0) given.insert(spellings(*option).back());
  for (const CLI::App* outer = command.get_parent(); outer != nullptr; outer = outer->get_parent())
    for (const CLI::Option* option : typed_options(*outer)) {
      const std::string name = spellings(*option).back();
      if (option->count() == 0) continue;
      if (command.get_option_no_throw(name) == nullptr)
        throw Error(Errc::usage, fmt::format("{} does not take {}", command.get_name(), name), "leave it out");
      if (!given.insert(name).second) throw Error(Errc::usage, name + " is given twice", "give it once");
    }
  if (given.contains("--verbose") && given.contains("--quiet"))
    throw Error(Errc::usage, "--verbose and --quiet contradict each other", "leave one of them out");
}

void set_action(CLI::App& command, std::function<void()> action) {
  command.final_callback([&command, action = std::move(action)] {
    refuse_ignored(command);
    action();
  });
}

void set_examples(CLI::App& command, const std::string& examples) {
  std::string footer = "Examples:\n  ";
  for (char c : examples) footer += c == '\n' ? std::string("\n  ") : std::string(1, c);
  command.footer(footer);
}

std::unique_ptr<CLI::App> make_app(Context& context) {
  auto app = std::make_unique<CLI::App>("Rearranges arrays at the speed of memory, on OpenCL devices and NVIDIA CUDA.",
                                        "axisloom");
  app->set_help_flag("-h,--help", "Print this help and exit");
  app->set_version_flag("--version", std::string("axisloom ") + AXISLOOM_VERSION, "Print the version and exit");
  app->require_subcommand(0, 1);
  app->get_formatter()->column_width(34);
  set_examples(*app, top_examples);
  add_common_options(*app, context);

  auto completion = std::make_shared<std::string>();
  auto man = std::make_shared<bool>(false);
  take_only(app->add_option("--completion", *completion, "Print the completion script of a shell and exit"),
            {"bash", "zsh", "fish"});
  app->add_flag("--man", *man, "Print the manual page (troff) and exit")->excludes(option_of(*app, "--completion"));
  app->final_callback([parser = app.get(), completion, man] { run_top(*parser, *completion, *man); });

  for (Adding* add :
       {add_operations, add_demo, add_devices, add_doctor, add_check, add_bench, add_ladder, add_cache, add_calibrate})
    add(*app, context);
  refuse_empty_values(*app);
  return app;
}

}  // namespace axisloom::cli
