// axisloom cache: the compiled programs kept on disk.
#include "cli/app.hpp"
#include "cli/messages.hpp"
#include "cli/pocl_folder.hpp"

#include "jit/jit.hpp"

namespace axisloom::cli {
namespace {

void show_cache(const Context& context) {
  const jit::CacheFolder folder = jit::cache_folder();
  Table table({"folder", "entries", "bytes", "note"});
  table.add({folder.path, folder.entries, bytes_cell(folder.bytes), folder.why});
  print(table, context);
}

void clear_cache(const Context& context) {
  const u64 removed = jit::clear_cache_folder();
  PoclFolder::clear(jit::cache_path());
  if (!context.quiet) say("axisloom: removed {} compiled program{}", removed, removed == 1 ? "" : "s");
}

}  // namespace

void add_cache(App& app, Context& context) {
  App& group = add_group(
      app, context,
      {"cache", "Show or empty the cache of compiled programs.", "axisloom cache info\naxisloom cache clear"});
  add_command(
      group, context,
      {"info", "Where the cache is and how much it holds.", "axisloom cache info --format json", {.format = true}},
      show_cache);
  add_command(group, context,
              {"clear",
               "Remove every compiled program; they are built again when needed.",
               "axisloom cache clear",
               {.quiet = true}},
              clear_cache);
}

}  // namespace axisloom::cli
