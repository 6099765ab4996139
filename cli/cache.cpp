// axisloom cache: the compiled programs kept on disk.
#include "cli/app.hpp"
#include "cli/messages.hpp"
#include "cli/pocl_folder.hpp"

#include "jit/jit.hpp"

#include <fmt/format.h>

namespace axisloom::cli {

void add_cache(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("cache", "Show or empty the cache of compiled programs.");
  command->require_subcommand(1);
  set_examples(*command, "axisloom cache info\naxisloom cache clear");

  CLI::App* info = command->add_subcommand("info", "Where the cache is and how much it holds.");
  add_common_options(*info, context, {.format = true});
  set_examples(*info, "axisloom cache info --format json");
  set_action(*info, [&context] {
    const jit::CacheFolder folder = jit::cache_folder();
    harness::Table table({"folder", "entries", "bytes", "note"});
    table.add({folder.path, folder.entries, harness::bytes_cell(folder.bytes), folder.why});
    print(table.text(context.format));
  });

  CLI::App* clear =
      command->add_subcommand("clear", "Remove every compiled program; they are built again when needed.");
  add_common_options(*clear, context, {.quiet = true});
  set_examples(*clear, "axisloom cache clear");
  set_action(*clear, [&context] {
    const u64 removed = jit::clear_cache_folder();
    PoclFolder::clear(jit::cache_path());
    if (!context.quiet) say(fmt::format("axisloom: removed {} compiled program{}", removed, removed == 1 ? "" : "s"));
  });
}

}  // namespace axisloom::cli
