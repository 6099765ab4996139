// axisloom calibrate: measures a device's figures, by which its kernels are chosen.
#include "cli/app.hpp"
#include "cli/messages.hpp"

#include "model/calibrate.hpp"
#include "model/device_model.hpp"

namespace axisloom::cli {
namespace {

Cell cell(const model::Figure& figure, double value) {
  if (!(value > 0)) return {nullptr, ""};
  return {value, fmt::format("{:.4g}{}{}", value, figure.unit.empty() ? "" : " ", figure.unit)};
}

void calibrate(bool dry_run, const Context& context) {
  const Device device = Device::open(context.device);
  const model::DeviceModel before = model::model_of(device.info());
  const model::DeviceModel measured = model::calibrate(device);
  Table table({"figure", "before", "measured", "meaning"});
  for (const model::Figure& figure : model::figures())
    table.add({figure.name, cell(figure, before.*figure.place), cell(figure, measured.*figure.place), figure.meaning});
  print(table, context);
  if (dry_run) return;
  const std::string path = model::remember(measured).string();
  if (!context.quiet)
    say("axisloom: plans for {} now use these figures instead of those of {}: {}", device.info().label(), before.source,
        path);
}

}  // namespace

void add_calibrate(App& app, Context& context) {
  const About about{"calibrate",
                    "Measure a device and keep its figures, by which kernels are chosen. Takes a few seconds.",
                    "axisloom calibrate\naxisloom calibrate --device cuda:0 --dry-run"};
  add_command<bool>(app, context, about, calibrate, [&](App& command, bool& dry_run) {
    add_common_options(command, context, {.device = true, .format = true, .quiet = true});
    command.add_flag("--dry-run", dry_run, "Print the figures, and keep nothing");
  });
}

}  // namespace axisloom::cli
