// Times the kernels of calibrate.kernel.
#include "model/calibrate.hpp"

#include "core/folder.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"
#include "device/device.hpp"
#include "jit/environment.hpp"
#include "jit/jit.hpp"

#include <axisloom/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace axisloom::model {
namespace {

#include "model/calibrate.params.h"

constexpr i64 gpu_items = 256;             // of a group
constexpr i64 gpu_in_flight = 4;           // packets of an item, as `plain` has them
constexpr i64 cpu_group_bytes = 64 << 10;  // bytes of a CPU's group: long against its start
constexpr i64 chase_step = 32;             // elements from place to place: no two in a sector or a line
constexpr i64 scalar_stride = 17;          // elements: another line each time, and no pattern that a vector has
// Of the Xeon's core that `core` counts by, an element of a strided loop; "plain" has the same figure.
constexpr double xeon_scalar_seconds = 0.8e-9;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Calibration {
 public:
  Calibration(const Device& device, const CalibrateOptions& options)
      : device_(device),
        options_(options),
        queue_(device.queue(true)),
        untimed_(device.queue()),
        cpu_(device.info().kind == Kind::cpu),
        measured_{device.info()},
        known_(model_of(device.info())) {}

  DeviceModel run() {
    measure_copies();
    measure_latency();
    measure_launch();  // on a device that is awake
    measure_arithmetic();
    if (cpu_) measure_scalar();
    return measured_;
  }

 private:
  using Buffers = std::vector<Buffer>;

  /// A kernel ready to be launched again and again.
  struct Kernel {
    std::string name;
    device::SharedProgram program;
    device::Geometry geometry;
    CalibrateParams params;
  };

  Kernel kernel(const std::string& name, jit::Defines defines, i64 groups, CalibrateParams params, size_t buffers,
                bool alone = false) {
    const i64 items = cpu_ || alone ? 1 : gpu_items;
    std::string upper = name;
    for (char& c : upper) c = char(std::toupper(u8(c)));
    defines.set("PROPERTY", upper).set("AXL_PARAMS_SIZE", i64(sizeof params));
    const jit::Specialisation what{"model/calibrate.kernel", name, defines, unsigned(items), false, true};
    const device::Geometry geometry{u64(groups), unsigned(items), 0, 1};
    return {name, jit::obtain(*device_.impl(), what, {u64(groups), buffers, sizeof params}), geometry, params};
  }

  device::SharedEvent launch(const Kernel& kernel, const Buffers& buffers) {
    const i64 no_offset = 0;
    std::vector<device::Arg> args;
    for (const Buffer& buffer : buffers) {
      args.push_back(device::Arg::of(*buffer.impl()));
      args.push_back(device::Arg::value(no_offset));
    }
    args.push_back(device::Arg::value(kernel.params));
    return queue_.impl()->launch(*kernel.program, kernel.name, kernel.geometry, args, {});
  }

  /// Median seconds of what `once` does, which returns its own. The first time is not counted.
  double median(const std::function<double()>& once) const {
    constexpr size_t least_runs = 5, most_runs = 2000;
    once();
    std::vector<double> times;
    const double end = now() + options_.seconds;
    while (times.size() < least_runs || (now() < end && times.size() < most_runs)) times.push_back(once());
    std::ranges::nth_element(times, times.begin() + i64(times.size() / 2));
    return times[times.size() / 2];
  }

  /// Seconds of a launch by the device's clock.
  double seconds(const Kernel& kernel, const Buffers& buffers) {
    return median([&] {
      const auto event = launch(kernel, buffers);
      event->wait();
      return event->seconds();
    });
  }

  void found(double DeviceModel::*place, double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    measured_.*place = value;
    const auto figure = std::ranges::find(figures(), place, &Figure::place);
    if (options_.found) options_.found(*figure, value);
  }

  size_t array_bytes() const {
    const DeviceInfo& info = device_.info();
    return std::min({options_.largest / (cpu_ ? 4 : 1), info.max_allocation, info.global_memory / 8}) / 4096 * 4096;
  }

  /// On a queue that keeps no times, which take time themselves.
  void measure_launch() {
    const Buffers one{device_.allocate(4096)};
    const Kernel nothing = kernel("nothing", {}, 1, {}, 1);
    std::swap(queue_, untimed_);
    found(&DeviceModel::launch, median([&] {
      const double start = now();
      launch(nothing, one)->wait();
      return now() - start;
    }));
    std::swap(queue_, untimed_);
  }

  Buffer filled(size_t bytes, std::byte value) {
    Buffer array = device_.allocate(bytes);
    queue_.impl()->fill(*array.impl(), 0, bytes, value, {})->wait();
    return array;
  }

  /// Bytes per second, read plus written, of `bytes` copied in the widest packets.
  double copy_rate(const Buffers& arrays, size_t bytes) {
    const i64 packet = cpu_ ? 64 : 16;
    CalibrateParams params{};
    params.count = i64(bytes) / packet;
    params.per_group = cpu_ ? cpu_group_bytes / packet : gpu_items * gpu_in_flight;
    const Kernel copy = kernel("copy", jit::Defines().set("PACKET", cpu_ ? "u32x16" : "u32x4"),
                               ceil_div(params.count, params.per_group), params, 2);
    return 2 * double(bytes) / seconds(copy, arrays);
  }

  void measure_copies() {
    const size_t bytes = array_bytes();
    const Buffers arrays{filled(bytes, std::byte{1}), filled(bytes, std::byte{1})};
    const double whole = copy_rate(arrays, bytes);
    found(&DeviceModel::copy_rate, whole);
    const auto cached = std::min(size_t(known_.cache) / 4, bytes) / 4096 * 4096;
    if (cached > 0) found(&DeviceModel::cached_rate, std::max(whole, copy_rate(arrays, cached)));
  }

  /// A walk through all places of an array, in an order that nothing can foresee (Sattolo's shuffle: one cycle).
  void measure_latency() {
    const size_t bytes = std::min(array_bytes(), std::max(size_t(4 * known_.cache), size_t{64} << 20));
    std::vector<u32> places(bytes / sizeof(u32) / chase_step), next(bytes / sizeof(u32));
    std::iota(places.begin(), places.end(), 0u);
    std::mt19937_64 random(1);
    for (size_t i = places.size() - 1; i > 0; --i) std::swap(places[i], places[random() % i]);
    for (size_t i = 0; i < places.size(); ++i) next[i * chase_step] = u32(places[i] * chase_step);
    const Buffers arrays{device_.allocate(bytes), filled(4096, std::byte{0})};
    queue_.write(arrays[0], 0, std::as_bytes(std::span(next).first(bytes / sizeof(u32)))).wait();
    CalibrateParams params{};
    params.count = 10'000;
    const double all = seconds(kernel("chase", {}, 1, params, 2, true), arrays);
    found(&DeviceModel::latency, all / double(params.count));
  }

  void measure_arithmetic() {
    constexpr int chains = 8;
    const i64 groups = i64(known_.units()) * (cpu_ ? 4 : 8), items = cpu_ ? 1 : gpu_items;
    const auto rate = [&](const std::string& scalar, i64 lanes) {
      jit::Defines defines;
      defines.set("NUMBER", scalar).set("LANES", lanes).set("CHAINS", chains);
      CalibrateParams params{};
      params.count = cpu_ ? 100'000 : 4'000;
      const auto numbers = size_t(groups * items * lanes);
      const Buffers array{filled(numbers * 8, std::byte{0})};
      const double operations = 2.0 * chains * double(params.count) * double(numbers);
      return operations / seconds(kernel("multiply", defines, groups, params, 1), array) / known_.units();
    };
    const i64 floats = cpu_ ? 16 : 1, doubles = cpu_ ? 8 : 1;
    found(&DeviceModel::f32_rate, rate("f32", floats));
    if (device_.info().f64) found(&DeviceModel::f64_rate, rate("f64", doubles));
    found(&DeviceModel::i32_rate, rate("u32", floats));
    found(&DeviceModel::i64_rate, rate("u64", doubles));
  }

  void measure_scalar() {
    constexpr i64 elements = 4096, rounds = 256;  // of a core, in its second-level cache; long against a launch
    const auto groups = i64(known_.units());
    const Buffers arrays{device_.allocate(size_t(groups * elements * scalar_stride * 4)),
                         device_.allocate(size_t(groups * elements * 4))};
    CalibrateParams params{};
    params.per_group = elements;
    params.stride = scalar_stride;
    params.rounds = rounds;
    const Kernel strided = kernel("scalar", {}, groups, params, 2);
    found(&DeviceModel::core, seconds(strided, arrays) / double(elements * rounds) / xeon_scalar_seconds);
  }

  Device device_;
  CalibrateOptions options_;
  Queue queue_, untimed_;
  bool cpu_;
  DeviceModel measured_, known_;
};

std::string line_of(const DeviceModel& model) {
  nlohmann::ordered_json line;
  for (const Figure& figure : figures())
    if (model.*figure.place > 0) line["model"][std::string(figure.name)] = model.*figure.place;
  line["device"] = model.name;
  line["family"] = family(model);
  line["driver"] = model.driver;
  return line.dump() + "\n";
}

}  // namespace

DeviceModel calibrate(const Device& device, const CalibrateOptions& options) {
  return Calibration(device, options).run();
}

std::filesystem::path remember(const DeviceModel& measured) {
  const auto folder = jit::user_folder("XDG_DATA_HOME", ".local/share");
  if (!folder) throw Error(Errc::file, "there is no folder for the user's store", "set HOME or XDG_DATA_HOME");
  const core::OpenedFolder opened = core::open_folder(*folder, false);
  if (!opened.descriptor)
    throw Error(Errc::file, folder->string() + " " + opened.fault, "set XDG_DATA_HOME to a folder of yours");
  std::filesystem::path path = *folder / "devices.jsonl";
  const std::string line = line_of(measured);
  core::Descriptor file(
      openat(opened.descriptor.get(), "devices.jsonl", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  const bool written = file && write(file.get(), line.data(), line.size()) == ssize_t(line.size()) && file.close();
  if (!written)
    throw Error(Errc::file, path.string() + " cannot be written: " + core::system_message(),
                "free some space, or set XDG_DATA_HOME to another folder");
  return path;
}

}  // namespace axisloom::model
