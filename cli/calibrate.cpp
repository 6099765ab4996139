// axisloom calibrate: measures a device's figures, by which its kernels are chosen.
#include "cli/app.hpp"
#include "cli/messages.hpp"
#include "harness/table.hpp"

#include "model/calibrate.hpp"
#include "model/device_model.hpp"

#include <axisloom/device.hpp>

#include <fmt/format.h>

#include <memory>
#include <string>

namespace axisloom::cli {
namespace {

harness::Cell cell(const model::Figure& figure, double value) {
  if (!(value > 0)) return {nullptr, ""};
  return {value, fmt::format("{:.4g}{}{}", value, figure.unit.empty() ? "" : " ", figure.unit)};
}

void calibrate(const Context& context, bool dry_run) {
  const Device device = Device::open(context.device);
  const model::DeviceModel before = model::model_of(device.info());
  const model::DeviceModel measured = model::calibrate(device);
  harness::Table table({"figure", "before", "measured", "meaning"});
  for (const model::Figure& figure : model::figures())
    table.add({figure.name, cell(figure, before.*figure.place), cell(figure, measured.*figure.place), figure.meaning});
  print(table.text(context.format));
  if (dry_run) return;
  const std::string path = model::remember(measured).string();
  if (!context.quiet)
    say(fmt::format("axisloom: plans for {} now use these figures instead of those of {}: {}", device.info().label(),
                    before.source, path));
}

}  // namespace

void add_calibrate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure a device and keep its figures, by which kernels are chosen. Takes a few seconds.");
  add_common_options(*command, context, {.device = true, .format = true, .quiet = true});
  const auto dry_run = std::make_shared<bool>(false);
  command->add_flag("--dry-run", *dry_run, "Print the figures, and keep nothing");
  set_examples(*command, "axisloom calibrate\naxisloom calibrate --device cuda:0 --dry-run");
  set_action(*command, [&context, dry_run] { calibrate(context, *dry_run); });
}

}  // namespace axisloom::cli
