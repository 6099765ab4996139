// Assembles the parser from the subcommands.
#include "app.hpp"

#include "generated_text.hpp"
#include "messages.hpp"

#include <axisloom/error.hpp>

#include <map>

namespace axisloom::cli {
namespace {

constexpr const char* top_examples =
    "axisloom transpose in.png -o out.png\n"
    "axisloom rearrange \"n (c x) h w -> n c h w x\" x=32 in.npy -o out.npy\n"
    "axisloom relayout NCHW NC/32HW32 in.npy -o out.npy --verify\n"
    "axisloom doctor";

void run_top(const CLI::App& app, const std::string& completion, bool man) {
  if (man) return print(manual_page(app));
  if (!completion.empty()) return print(completion_script(app, completion));
  if (app.get_subcommands().empty()) throw CLI::RequiredError("A subcommand");
}

}  // namespace

void add_common_options(CLI::App& command, Context& context) {
  static const std::map<std::string, Format> formats{
      {"table", Format::table}, {"json", Format::json}, {"csv", Format::csv}, {"md", Format::md}};
  command
      .add_option("--device", context.device,
                  "auto | cpu | gpu | cuda[:N] | opencl[:N] | opencl:NAME; auto takes AXISLOOM_DEVICE when it is set")
      ->type_name("SPEC")
      ->group(common_group);
  command
      .add_option_function<std::string>(
          "--format",
          [&context](const std::string& name) {
            context.format = formats.at(name);
            context.format_given = true;
          },
          "How results are printed")
      ->check(CLI::IsMember({"table", "json", "csv", "md"}).description(""))
      ->type_name("table|json|csv|md")
      ->group(common_group);
  command.add_option("--seed", context.seed, "Seed of everything random")->type_name("NUMBER")->group(common_group);
  command.add_flag("-v,--verbose", context.verbose, "Say what was decided, and why")->group(common_group);
  command.add_flag("-q,--quiet", context.quiet, "Say nothing but errors")->group(common_group);
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
  app->add_option("--completion", *completion, "Print the completion script of a shell and exit")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
      ->type_name("bash|zsh|fish");
  app->add_flag("--man", *man, "Print the manual page (troff) and exit");
  app->final_callback([parser = app.get(), completion, man] { run_top(*parser, *completion, *man); });

  add_operations(*app, context);
  add_demo(*app, context);
  add_devices(*app, context);
  add_doctor(*app, context);
  add_check(*app, context);
  add_bench(*app, context);
  add_ladder(*app, context);
  add_cache(*app, context);
  return app;
}

}  // namespace axisloom::cli
