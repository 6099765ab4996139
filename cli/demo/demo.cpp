// axisloom demo: a picture transposed, a picture's planes taken apart and put together, channels packed, a product that
// can be looked at, a sum; checked and timed, on the host and on a device beside it.
#include "cli/app.hpp"
#include "cli/demo/card.hpp"
#include "cli/demo/lessons.hpp"
#include "cli/messages.hpp"
#include "cli/streams.hpp"
#include "harness/random.hpp"

#include "device/device.hpp"
#include "device/environment.hpp"

#include <algorithm>
#include <filesystem>

namespace axisloom::cli {
namespace {

using io::HostArray;

namespace fs = std::filesystem;

struct DemoOptions {
  std::string picture;
  std::string folder = "axisloom-demo";
};

/// The transpose as textbooks teach it: 16 x 16 items of 4 x 4 bytes each, local memory as it comes, diagonal groups.
PlanOptions textbook_tile() {
  return {
      .candidate = "tile",
      .configuration = {{"tile_in", 64}, {"tile_out", 64}, {"items", 256}, {"access", 4}, {"layout", 0}, {"order", 2}}};
}

// Pictures that are neither grey nor colour do not come out of the readers, so rank tells them apart.
void show_picture(Show& show, const HostArray& picture, const std::string& name) {
  const bool grey = picture.view.rank() == 2;
  show.step("transpose", grey ? transpose() : rearrange("h w c -> w h c"), picture, name + "-transposed.png");
  if (grey && picture.view.dtype == Dtype::u8)
    show.step("the textbook's way", transpose(), picture, "", textbook_tile());
}

void show_planes(Show& show, const HostArray& picture, const std::string& name) {
  const HostArray planes = show.step("HWC to CHW", rearrange("h w c -> c h w"), picture, name + "-planes.npy");
  show.step_to("and back", rearrange("c h w -> h w c"), std::span(&planes, 1), picture);
}

void show_channels(Show& show, u64 seed) {
  constexpr i64 channels = 50;  // not a multiple of 32: the last block has a tail of zeros
  HostArray input = HostArray::allocate(View::contiguous(Dtype::i8, {2, channels, 56, 56}));
  Random(seed).fill(input.span());
  const HostArray packed = show.step("NCHW to NC/32HW32", relayout("NCHW", "NC/32HW32"), input, "channels.npy");
  show.step_to("and back", relayout("NC/32HW32", "NCHW", channels), std::span(&packed, 1), input);
}

/// The device that is asked for; else the host, and beside it the first GPU, or else what an OpenCL driver has.
std::vector<Device> demo_devices(const std::string& spec) {
  if (!device::is_automatic(spec) || !device::environment("AXISLOOM_DEVICE").empty()) return {Device::open(spec)};
  std::vector<Device> chosen{Device::open("host")};
  const std::vector<DeviceInfo> present = devices();
  auto beside = std::ranges::find(present, Kind::gpu, &DeviceInfo::kind);
  if (beside == present.end()) beside = std::ranges::find(present, Api::opencl, &DeviceInfo::api);
  if (beside != present.end()) chosen.push_back(Device::open(beside->spec()));
  return chosen;
}

void run_demo(const DemoOptions& options, Context& context) {
  if (!options.picture.empty() && context.command->count("--seed") > 0)
    refuse("leave out --seed", "nothing is random in a demo of a picture");
  const std::vector<Device> devices = demo_devices(context.device);
  make_folder(options.folder);
  Show show(devices, options.folder);
  if (options.picture.empty()) {
    const HostArray grey = grey_card();
    const HostArray colour = colour_card();
    show.save(grey, "card.png");
    show.save(colour, "colour-card.png");
    show_picture(show, grey, "card");
    show_planes(show, colour, "colour-card");
    show_channels(show, context.seed);
    show_product(show);
    show_sum(show);
  } else {
    const HostArray picture = read_file(open_input(options.picture));
    if (!picture.image) refuse("name a .png, .jpg or .pnm file", "{} is not a picture", io::printable(options.picture));
    const std::string name = fs::path(options.picture).stem().string();
    show_picture(show, picture, name);
    if (picture.view.rank() == 3) show_planes(show, picture, name);
  }
  const auto label = [](const Device& device) { return device.info().label(); };
  if (!context.quiet) say("on {}; files in {}", joined(devices, " and ", label), options.folder);
  if (!context.quiet) print(show.table(), context);
  if (show.right()) return;
  say(error_text("a result differs from what it should be", "see the rows that say DIFFERS, which --quiet leaves out"));
  context.exit_code = exit_differs;
}

}  // namespace

void add_demo(App& app, Context& context) {
  const About about{"demo",
                    "Transpose a picture, take its colours apart, pack channels, multiply matrices and sum, on the "
                    "host and on a GPU or OpenCL driver beside it; check and print the times.",
                    "axisloom demo\naxisloom demo photo.jpg -o results --device host", measuring_options};
  add_command<DemoOptions>(app, context, about, run_demo, [](App& command, DemoOptions& options) {
    add_value(command, "picture", options.picture, "FILE",
              "A .png, .jpg or .pnm file; a test card is drawn when none is given");
    add_value(command, "-o,--output", options.folder, "FOLDER", "Folder for the results")->capture_default_str();
  });
}

}  // namespace axisloom::cli
