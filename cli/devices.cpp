// axisloom devices: what can be used now.
#include "cli/app.hpp"
#include "cli/drivers.hpp"
#include "cli/messages.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

namespace axisloom::cli {
namespace {

// People get what tells devices apart; programs, and --verbose, get every field.
harness::Table list(const std::vector<DeviceInfo>& infos, bool every_field) {
  std::vector<std::string> columns{"device", "kind", "name", "units", "memory", "max_allocation", "driver", "compiler"};
  if (every_field)
    columns.insert(columns.end(), {"vendor", "platform", "api_version", "architecture", "max_group", "local_memory",
                                   "local_memory_max", "base_alignment", "last_level_cache", "unified_memory", "f64",
                                   "f16", "atomics_64", "byte_stores", "device_scope_order"});
  harness::Table table(columns);
  for (const DeviceInfo& info : infos) {
    std::vector<harness::Cell> row{info.spec(),
                                   name(info.kind),
                                   info.name,
                                   info.compute_units,
                                   harness::bytes_cell(info.global_memory),
                                   harness::bytes_cell(info.max_allocation),
                                   info.driver,
                                   info.compiler};
    if (every_field) {
      const std::vector<harness::Cell> rest{info.vendor,
                                            info.platform,
                                            info.api_version,
                                            info.architecture,
                                            u64{info.max_group},
                                            harness::bytes_cell(info.local_memory),
                                            harness::bytes_cell(info.local_memory_max),
                                            harness::bytes_cell(info.base_alignment),
                                            harness::bytes_cell(info.last_level_cache),
                                            info.unified_memory,
                                            info.f64,
                                            info.f16,
                                            info.atomics_64,
                                            info.byte_stores,
                                            info.device_scope_order};
      row.insert(row.end(), rest.begin(), rest.end());
    }
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

void add_devices(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("devices", "List the devices that can be used.");
  add_common_options(*command, context, {.format = true, .verbose = true});
  set_examples(*command, "axisloom devices\naxisloom devices --format json");
  set_action(*command, [&context] {
    const std::vector<DeviceInfo> infos = all_devices();
    print(list(infos,
               context.verbose || context.format == harness::Format::json || context.format == harness::Format::csv)
              .text(context.format));
    if (!infos.empty()) return;
    say(error_text("no device was found", "axisloom doctor says what was looked for and what to install"));
    context.exit_code = exit_no_device;
  });
}

}  // namespace axisloom::cli
