// Assembles the parser from the subcommands.
#include "cli/app.hpp"

#include "cli/generated_text.hpp"
#include "cli/help.hpp"
#include "cli/messages.hpp"
#include "cli/ranks.hpp"
#include "cli/unknown_words.hpp"

#include <axisloom/version.hpp>

#include <array>
#include <set>

namespace axisloom::cli {
namespace {

constexpr const char* top_examples =
    "axisloom transpose in.png -o out.png\n"
    "axisloom rearrange \"n (c x) h w -> n c h w x\" x=32 in.npy -o out.npy\n"
    "axisloom relayout NCHW NC/32HW32 in.npy -o out.npy --verify\n"
    "axisloom doctor";

/// What these measure, several processes at once would spoil.
constexpr std::array<const char*, 5> measuring_commands{"demo", "check", "bench", "ladder", "calibrate"};

void run_top(const App& app, const std::string& completion, bool man) {
  if (man || !completion.empty())
    for (const Option* option : typed_options(app))
      if (option->count() > 0 && option->get_group() == common_group)
        refuse("leave it out", "{} takes no {}", man ? "--man" : "--completion", spellings(*option).back());
  if (man) return print(manual_page(app));
  if (!completion.empty()) return print(completion_script(app, completion));
  if (app.get_subcommands().empty()) throw CLI::RequiredError("A subcommand");
}

void add_format(App& command, Context& context) {
  static constexpr std::array<std::string_view, 4> names{"table", "json", "csv", "md"};  // as Format
  const auto choose = [&context](const std::string& name) {
    context.format = Format(std::ranges::find(names, name) - names.begin());
    context.format_given = true;
  };
  take_only(command.add_option_function<std::string>("--format", choose, "How results are printed"), joined(names, "|"))
      ->group(common_group);
}

void set_examples(App& command, const std::string& examples) {
  command.footer("Examples:\n  " + replaced(examples, "\n", "\n  "));
}

/// An empty value would be taken for none.
void refuse_empty_values(App& command) {
  const auto not_empty = [](const std::string& text) { return text.empty() ? "its value is empty" : std::string(); };
  for (Option* option : command.get_options())
    if (!option->get_positional() && takes_value(*option)) option->check(CLI::Validator(not_empty, ""));
  for (App* child : command.get_subcommands(nullptr)) refuse_empty_values(*child);
}

}  // namespace

void add_common_options(App& command, Context& context, const CommonOptions& which) {
  if (which.device)
    add_value(
        command, "--device", context.device, device_value,
        "auto | cpu | gpu | cuda[:N] | opencl[:N] | opencl:NAME | host; auto takes AXISLOOM_DEVICE when it is set")
        ->group(common_group);
  if (which.format) add_format(command, context);
  if (which.seed)
    add_value(command, "--seed", context.seed, "NUMBER", "Seed of everything random")->group(common_group);
  if (which.verbose)
    command.add_flag("-v,--verbose", context.verbose, "Show what was decided, and why")->group(common_group);
  if (which.quiet) command.add_flag("-q,--quiet", context.quiet, "Print errors only")->group(common_group);
}

Option* option_of(App& command, const std::string& name) {
  return command.get_options([&](const Option* option) { return option->check_name(name); }).at(0);
}

bool has_option(const App& command, const std::string& name) {
  return !command.get_options([&](const Option* option) { return option->check_name(name); }).empty();
}

Option* take_only(Option* option, const std::string& words) {
  const auto parts = split(words, "|");
  const Texts known(parts.begin(), parts.end());
  return option->check(CLI::IsMember(known).description(""))->type_name(words);
}

void add_min_seconds(App& command, double& seconds, const std::string& help) {
  add_value(command, "--min-time", seconds, "SECONDS", help)
      ->check(CLI::Range(0.001, 3600.0).description(""))
      ->capture_default_str();
}

void print(const Table& table, const Context& context) {
  print(table.text(context.format),
        [&](size_t number, std::string_view) { return number == 0 && context.format == Format::table; });
}

void refuse_ignored(const App& command) {
  std::set<std::string> given;
  for (const Option* option : typed_options(command))
    if (option->count() > 0) given.insert(spellings(*option).back());
  for (const App* outer = command.get_parent(); outer != nullptr; outer = outer->get_parent())
    for (const Option* option : typed_options(*outer)) {
      const std::string name = spellings(*option).back();
      if (option->count() == 0) continue;
      if (!has_option(command, name)) refuse_option(command, name);
      if (!given.insert(name).second) refuse("give it once", "{} is given twice", name);
    }
  if (given.contains("--verbose") && given.contains("--quiet"))
    refuse("leave one of them out", "--verbose and --quiet contradict each other");
}

App& add_group(App& above, Context& context, const About& about) {
  App* command = above.add_subcommand(about.name, about.summary);
  command->require_subcommand(1);
  add_common_options(*command, context, about.common);
  set_examples(*command, about.examples);
  return *command;
}

void add_command(App& above, Context& context, const About& about, std::function<void(Context& context)> act,
                 const std::function<void(App& command)>& declare) {
  App* command = above.add_subcommand(about.name, about.summary);
  if (declare) declare(*command);
  add_common_options(*command, context, about.common);
  set_examples(*command, about.examples);
  command->final_callback([command, &context, act = std::move(act)] {
    refuse_ignored(*command);
    context.command = command;
    act(context);
  });
}

std::unique_ptr<App> make_app(Context& context) {
  auto app =
      std::make_unique<App>("Rearranges arrays at the speed of memory, on OpenCL devices and NVIDIA CUDA.", "axisloom");
  app->set_help_flag("-h,--help", "Print this help and exit");
  app->set_version_flag("-V,--version", "axisloom " + std::string(version()), "Print the version and exit");
  app->require_subcommand(0, 1);
  app->formatter(help_formatter());
  set_examples(*app, top_examples);
  add_common_options(*app, context, all_options);

  auto completion = std::make_shared<std::string>();
  auto man = std::make_shared<bool>(false);
  take_only(app->add_option("--completion", *completion, "Print the completion script of a shell and exit"),
            "bash|zsh|fish");
  app->add_flag("--man", *man, "Print the manual page (troff) and exit")->excludes(option_of(*app, "--completion"));
  app->final_callback([parser = app.get(), completion, man] { run_top(*parser, *completion, *man); });

  for (Adding* add : {add_operations, add_info, add_demo, add_devices, add_doctor, add_check, add_bench, add_ladder,
                      add_cache, add_calibrate, add_help})
    add(*app, context);
  for (const char* name : measuring_commands)
    app->get_subcommand(name)->preparse_callback([name](size_t) { refuse_several(name); });
  refuse_empty_values(*app);
  return app;
}

}  // namespace axisloom::cli
