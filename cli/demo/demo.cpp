// axisloom demo: a picture transposed, a picture's planes taken apart and put together, channels packed; checked and
// timed.
#include "app.hpp"
#include "compare.hpp"
#include "demo/card.hpp"
#include "messages.hpp"
#include "streams.hpp"

#include "check/random.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>

namespace axisloom::cli {
namespace {

namespace fs = std::filesystem;

constexpr int timed_runs = 20;

struct Done {
  io::HostArray result;
  PlanReport report;
  double seconds = 0;  // by the device's clock, the best of several runs
  bool right = false;  // every bit as the oracle has it
};

Done carry_out(const Operation& op, const io::HostArray& input, const Device& device, const PlanOptions& options) {
  Done done;
  View views[] = {input.view, result_view(op, std::span(&input.view, 1))};
  for (View& view : views) view.align = static_cast<std::int64_t>(device.info().base_alignment);
  const Plan plan = axisloom::plan(op, views, device, options);
  done.report = plan.report();
  done.result = io::HostArray::allocate(views[1]);
  const Queue queue = device.queue(true);
  const Buffer buffers[] = {device.allocate(input.bytes), device.allocate(done.result.bytes)};
  queue.write(buffers[0], 0, input.span()).wait();
  done.seconds = std::numeric_limits<double>::infinity();
  for (int run = 0; run < timed_runs; ++run) {
    const Event event = plan.run(queue, buffers);
    event.wait();
    done.seconds = std::min(done.seconds, event.seconds());
  }
  queue.read(buffers[1], 0, done.result.span()).wait();
  const OracleResult oracle = oracle_result(op, std::span(&input, 1), views[1]);
  done.right = !first_difference(views[1], oracle.want.memory.get(), done.result.memory.get(), oracle.bound);
  return done;
}

bool same(const io::HostArray& a, const io::HostArray& b) {
  return a.view.shape == b.view.shape && !first_difference(a.view, a.memory.get(), b.memory.get());
}

/// What the demo has shown so far.
class Show {
 public:
  Show(Device device, fs::path folder) : device_(std::move(device)), folder_(std::move(folder)) {}

  io::HostArray step(const char* what, const Operation& op, const io::HostArray& input, const std::string& file,
                     const PlanOptions& options = {}) {
    const Done done = carry_out(op, input, device_, options);
    add_row(what, done, file, done.right);
    if (!file.empty()) save(done.result, file);
    return done.result;
  }
  /// A step whose result must also be an array that is known already.
  void step_back(const char* what, const Operation& op, const io::HostArray& input, const io::HostArray& known) {
    const Done done = carry_out(op, input, device_, {});
    add_row(what, done, "", done.right && same(known, done.result));
  }
  void save(const io::HostArray& array, const std::string& file) const {
    write_file((folder_ / file).string(), array, "");
  }

  bool right() const noexcept { return right_; }
  const Table& table() const noexcept { return table_; }

 private:
  void add_row(const char* what, const Done& done, const std::string& file, bool right) {
    right_ = right_ && right;
    const double rate = static_cast<double>(done.report.bytes_moved) / done.seconds / 1e9;
    table_.add({what, done.report.shapes, done.report.candidate, seconds_cell(done.seconds),
                Cell(rate, fmt::format("{:.2f}", rate)), right ? "passed" : "DIFFERS", file});
  }

  Device device_;
  fs::path folder_;
  bool right_ = true;
  Table table_{{"what", "shapes", "candidate", "time", "GB/s", "check", "file"}};
};

struct DemoOptions {
  std::string picture;
  std::string folder = "axisloom-demo";
};

/// The transpose as textbooks teach it: 16 x 16 items of 4 x 4 bytes each, local memory as it comes, diagonal groups.
PlanOptions textbook_tile() {
  PlanOptions options;
  options.candidate = "tile";
  options.configuration = {{"tile_in", 64}, {"tile_out", 64}, {"items", 256},
                           {"access", 4},   {"layout", 0},    {"order", 2}};
  return options;
}

// Pictures that are neither grey nor colour do not come out of the readers, so rank tells them apart.
void show_picture(Show& show, const io::HostArray& picture, const std::string& name) {
  const bool grey = picture.view.rank() == 2;
  show.step("transpose", grey ? transpose() : rearrange("h w c -> w h c"), picture, name + "-transposed.png");
  if (grey && picture.view.dtype == Dtype::u8)
    show.step("the textbook's way", transpose(), picture, "", textbook_tile());
}

void show_planes(Show& show, const io::HostArray& picture, const std::string& name) {
  const io::HostArray planes = show.step("HWC to CHW", rearrange("h w c -> c h w"), picture, name + "-planes.npy");
  show.step_back("and back", rearrange("c h w -> h w c"), planes, picture);
}

void show_channels(Show& show, std::uint64_t seed) {
  constexpr std::int64_t channels = 50;  // not a multiple of 32: the last block has a tail of zeros
  io::HostArray input = io::HostArray::allocate(View::contiguous(Dtype::i8, {2, channels, 56, 56}));
  Random(seed).fill(input.span());
  const io::HostArray packed = show.step("NCHW to NC/32HW32", relayout("NCHW", "NC/32HW32"), input, "channels.npy");
  show.step_back("and back", relayout("NC/32HW32", "NCHW", channels), packed, input);
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(Errc::file, fmt::format("cannot make the folder {}: {}", folder, error.message()),
                "name another with -o");
}

void run(const DemoOptions& options, Context& context) {
  const Device device = Device::open(context.device);
  make_folder(options.folder);
  Show show(device, options.folder);
  if (options.picture.empty()) {
    const io::HostArray grey = grey_card();
    const io::HostArray colour = colour_card();
    show.save(grey, "card.png");
    show.save(colour, "colour-card.png");
    show_picture(show, grey, "card");
    show_planes(show, colour, "colour-card");
    show_channels(show, context.seed);
  } else {
    const io::HostArray picture = read_file(options.picture, {});
    if (!is_image_file(options.picture, "") || picture.view.rank() < 2 || picture.view.rank() > 3)
      throw Error(Errc::usage, fmt::format("{} is not a picture", options.picture), "name a .png, .jpg or .pnm file");
    const std::string name = fs::path(options.picture).stem().string();
    show_picture(show, picture, name);
    if (picture.view.rank() == 3) show_planes(show, picture, name);
  }
  if (!context.quiet) say(fmt::format("on {}; files in {}", device.info().label(), options.folder));
  print(show.table().text(context.format));
  if (!show.right()) context.exit_code = exit_differs;
}

}  // namespace

void add_demo(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "demo", "Transpose a picture, take its colours apart and pack channels; check every bit and print the times.");
  auto options = std::make_shared<DemoOptions>();
  command->add_option("picture", options->picture, "A .png, .jpg or .pnm file; a test card is drawn when none is given")
      ->type_name("FILE");
  command->add_option("-o,--output", options->folder, "Folder for the results")
      ->type_name("FOLDER")
      ->capture_default_str();
  add_common_options(*command, context);
  set_examples(*command, "axisloom demo\naxisloom demo photo.jpg -o results --device cpu");
  command->final_callback([options, &context] { run(*options, context); });
}

}  // namespace axisloom::cli
