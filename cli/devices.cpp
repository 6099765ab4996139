// axisloom devices: what can be used now.
#include "cli/app.hpp"
#include "cli/messages.hpp"

namespace axisloom::cli {
namespace {

// People get what tells devices apart; programs, and --verbose, get every field.
Table list(const std::vector<DeviceInfo>& infos, bool every_field) {
  Texts columns{"device", "kind", "name", "units", "memory", "max_allocation", "driver", "compiler"};
  if (every_field)
    columns.insert(columns.end(), {"vendor", "platform", "api_version", "architecture", "max_group", "local_memory",
                                   "local_memory_max", "base_alignment", "last_level_cache", "unified_memory", "f64",
                                   "f16", "atomics_64", "byte_stores", "device_scope_order"});
  Table table(columns);
  for (const DeviceInfo& info : infos) {
    std::vector<Cell> row{info.spec(),
                          name(info.kind),
                          info.name,
                          info.compute_units,
                          bytes_cell(info.global_memory),
                          bytes_cell(info.max_allocation),
                          info.driver,
                          info.compiler};
    if (every_field)
      row.insert(row.end(), {info.vendor, info.platform, info.api_version, info.architecture, info.max_group,
                             bytes_cell(info.local_memory), bytes_cell(info.local_memory_max),
                             bytes_cell(info.base_alignment), bytes_cell(info.last_level_cache), info.unified_memory,
                             info.f64, info.f16, info.atomics_64, info.byte_stores, info.device_scope_order});
    table.add(std::move(row));
  }
  return table;
}

void list_devices(Context& context) {
  const std::vector<DeviceInfo> infos = devices();
  const bool for_programs = context.format == Format::json || context.format == Format::csv;
  print(list(infos, context.verbose || for_programs), context);
  if (!infos.empty()) return;
  say(error_text("no device was found", "axisloom doctor says what was looked for and what to install"));
  context.exit_code = exit_no_device;
}

}  // namespace

void add_devices(App& app, Context& context) {
  add_command(app, context,
              {"devices",
               "List the devices that can be used.",
               "axisloom devices\naxisloom devices --format json",
               {.format = true, .verbose = true}},
              list_devices);
}

}  // namespace axisloom::cli
